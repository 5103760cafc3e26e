// Cloth has two sides, which are lit and coloured alike.
#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

class RenderClothTest : public RenderTest {
 protected:
  /// A flat blue sheet of 1 m at this height, whose triangles face up or down.
  static Model sheet(bool faces_up, double edge, double height = 0.5) {
    Model model;
    model.materials.push_back({});
    model.material_names.push_back("any");
    SurfaceMesh mesh = make_sheet(1, 1, edge);
    for (auto& x : mesh.nodes) x[1] = height;
    if (!faces_up)
      for (Vec3i& t : mesh.triangles) std::swap(t[1], t[2]);
    add_cloth(model, "sheet", mesh.nodes, mesh.triangles, 0, edge / 10).color = {0.15f, 0.3f, 0.85f};
    finalize(model);
    return model;
  }
  Image picture(const Model& shown, const Vec3f& eye) {
    renderer->set_scene(shown);
    view.camera = Camera::look_at(eye, {0, 0.5f, 0}, 40);
    return draw();
  }
  static constexpr Vec3f kAbove{0.4f, 2.0f, 1.2f}, kBelow{0.4f, -1.0f, 1.2f};
};

TEST_F(RenderClothTest, BothSidesHaveTheLightThatFallsOnThem) {
  // 0.1: drawn as few triangles; 0.008: as many, whose closed surfaces hide their insides.
  for (const double edge : {0.1, 0.008}) {
    SCOPED_TRACE(edge);
    const Model up = sheet(true, edge), down = sheet(false, edge);
    EXPECT_EQ(up.triangles.size() > 20000, edge < 0.01);
    for (const Vec3f& eye : {kAbove, kBelow}) {
      SCOPED_TRACE(eye[1]);
      const Image front = picture(up, eye), back = picture(down, eye);
      for (const Vec3f& point : {Vec3f{0, 0.5f, 0}, Vec3f{0.3f, 0.5f, -0.2f}, Vec3f{-0.3f, 0.5f, 0.3f}}) {
        const std::uint8_t *a = pixel_of(front, point), *b = pixel_of(back, point);
        EXPECT_GT(a[2], a[0] + 30) << "blue";
        for (int c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], 12) << "the side that faces the eye decides";
      }
      EXPECT_LT(pixels_that_differ(front, back), std::size_t{kWidth * kHeight / 200});
    }
  }
}

TEST_F(RenderClothTest, TheSideTowardsTheSunIsTheBrighterOne) {
  const Model up = sheet(true, 0.1), down = sheet(false, 0.1);
  for (const Model* model : {&up, &down}) {
    const int top = brightness(pixel_of(picture(*model, kAbove), {0, 0.5f, 0}));
    const int bottom = brightness(pixel_of(picture(*model, kBelow), {0, 0.5f, 0}));
    EXPECT_GT(top, bottom + 40);
    EXPECT_GT(bottom, 60) << "the sky lights it";
  }
}

}  // namespace
}  // namespace stickslip
