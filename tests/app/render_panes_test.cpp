// Pictures of several panes: each is what a picture of its own would be.
#include <array>
#include <stdexcept>

#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

class PanesTest : public RenderTest {
 protected:
  static constexpr int kGap = 4;  // [px] between two panes

  /// Two panes side by side in a picture of kWidth x kHeight: the scene, and the cube elsewhere.
  std::array<Pane, 2> two_panes() const {
    const int width = (kWidth - kGap) / 2;
    return {Pane{view, 0, 0, width, kHeight}, Pane{view, width + kGap, 0, width, kHeight, there, {}}};
  }
  Image alone(const Pane& pane) const {
    renderer->set_positions(pane.positions.empty() ? here : std::span<const Vec3f>(pane.positions));
    const Image image = renderer->render_offscreen(pane.view, pane.width, pane.height);
    renderer->set_positions(here);
    return image;
  }
  /// Edges may fall on another sample, as a pane's corner is not at the origin: few pixels differ.
  static void expect_equal(const Image& a, const Image& b, const char* what) {
    ASSERT_EQ(a.rgba.size(), b.rgba.size());
    EXPECT_LE(pixels_that_differ(a, b, 2), a.rgba.size() / 4 / 500) << what;
  }

  const std::vector<Vec3f> here = moved_nodes(model, {0, 0, 0}), there = moved_nodes(model, {0.3f, 0.2f, 0});
};

TEST_F(PanesTest, EachPaneIsWhatAPictureOfItsStateAndSizeShows) {
  for (const Quality quality : {Quality::light, Quality::medium}) {
    renderer->set_quality(quality);
    const std::array<Pane, 2> panes = two_panes();
    const Image both = renderer->render_offscreen(panes, kWidth, kHeight);
    for (const Pane& pane : panes) expect_equal(part(both, pane), alone(pane), "a pane and a picture");
    EXPECT_GT(pixels_that_differ(part(both, panes[0]), part(both, panes[1])), 1000u);
    for (int x = panes[0].width; x < panes[1].x; ++x)
      EXPECT_EQ(brightness(both.pixel(x, kHeight / 2)), 0) << "between the panes";
  }
}

TEST_F(PanesTest, APictureAfterPanesIsThatBeforeThem) {
  const Image before = draw();
  const std::array<Pane, 2> panes = two_panes();
  const Image first = renderer->render_offscreen(panes, kWidth, kHeight);
  EXPECT_EQ(draw().rgba, before.rgba);
  EXPECT_EQ(renderer->render_offscreen(panes, kWidth, kHeight).rgba, first.rgba);
  EXPECT_EQ(draw().rgba, before.rgba);
}

/// Contacts, colours of surfaces and of objects are those of the pane.
TEST_F(PanesTest, MarksAndColoursBelongToTheirPane) {
  const std::array<Pane, 2> plain = two_panes();
  std::array<Pane, 2> panes = plain;
  const std::array<ContactRecord, 1> contacts{{{.point = {0.5f, 0.5f, 0.5f}, .normal = {0, 1, 0}}}};
  panes[1].view.contacts = contacts;
  panes[1].view.overlays.contacts = true;
  const std::array<Vec3f, 1> green{{{0, 0.8f, 0.1f}}};
  panes[1].colors = green;
  const Image before = renderer->render_offscreen(plain, kWidth, kHeight);
  const Image after = renderer->render_offscreen(panes, kWidth, kHeight);
  EXPECT_EQ(part(after, panes[0]).rgba, part(before, panes[0]).rgba);
  const Image right = part(after, panes[1]);
  const std::uint8_t* front = pixel_of(right, {0.3f, 0.5f, 0.5f});
  EXPECT_GT(front[1], front[0] + 50) << "green, not orange";
  panes[1].view.overlays.contacts = false;
  EXPECT_GT(pixels_that_differ(after, renderer->render_offscreen(panes, kWidth, kHeight)), 10u) << "the mark";
  const std::vector<float> heat(model.node_count(), 1.f);
  panes[1].view.heat = heat;
  const Image hot = renderer->render_offscreen(panes, kWidth, kHeight);
  EXPECT_EQ(part(hot, panes[0]).rgba, part(before, panes[0]).rgba);
  EXPECT_GT(pixels_that_differ(part(hot, panes[1]), right), 500u);
}

TEST_F(PanesTest, FourPanesAndTheirTransparency) {
  std::array<Pane, 4> panes;
  for (int i = 0; i < 4; ++i) {
    Pane& pane = panes[static_cast<std::size_t>(i)];
    pane = {view, i % 2 * kWidth / 2, i / 2 * kHeight / 2, kWidth / 2, kHeight / 2};
    pane.view.transparent = true;
    if (i > 0) pane.positions = there;
  }
  const Image image = renderer->render_offscreen(panes, kWidth, kHeight);
  for (const Pane& pane : panes) {
    const Image own = part(image, pane);
    expect_equal(own, alone(pane), "a quarter");
    EXPECT_EQ(own.pixel(2, 2)[3], 0) << "no sky";
  }
}

TEST_F(PanesTest, APaneIsCutAtThePicturesEdgeAndNeedsAllNodes) {
  std::array<Pane, 2> panes = two_panes();
  panes[0].x = -10;
  panes[1].y = kHeight;  // outside
  EXPECT_NO_THROW(renderer->render_offscreen(panes, kWidth, kHeight));
  panes[0].positions = std::span(there).first(5);
  EXPECT_THROW(renderer->render_offscreen(panes, kWidth, kHeight), std::invalid_argument);
  panes[0].positions = there;
  const std::array<Vec3f, 2> colors{};
  panes[0].colors = colors;
  EXPECT_THROW(renderer->render_offscreen(panes, kWidth, kHeight), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
