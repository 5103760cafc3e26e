// The same renderer in a window, with a user interface on top.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include "render_fixture.h"
#include "tests/app/x_display.h"
#include "tests/app/x_picture.h"

namespace stickslip {
namespace {

class RenderWindowTest : public ::testing::Test {
 protected:
  void start_renderer() {
    renderer = std::make_unique<Renderer>(
        RendererOptions{.window = window, .quality = Quality::light, .validation = true});
    renderer->set_scene(cube_on_ground());
  }
  void SetUp() override {
    if (!display_.ready() || !glfwInit()) GTEST_SKIP() << "needs Xvfb and xdotool";
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    window = glfwCreateWindow(400, 300, "test", nullptr, nullptr);
    ASSERT_TRUE(window);
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui_ImplGlfw_InitForVulkan(window, true);
    try {
      start_renderer();
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    view.camera = front_camera();
  }
  void TearDown() override {
    if (renderer) {
      EXPECT_EQ(renderer->validation_messages().size(), 0u)
          << "first: " << renderer->validation_messages().front();
    }
    renderer.reset();
    if (window) {
      ImGui_ImplGlfw_Shutdown();
      ImGui::DestroyContext();
      glfwDestroyWindow(window);
    }
    glfwTerminate();
  }

  bool draw(bool with_panel, Image* shown = nullptr) {
    glfwPollEvents();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    if (with_panel) {
      ImGui::SetNextWindowPos({10, 10});
      ImGui::SetNextWindowSize({120, 80});
      ImGui::Begin("panel");
      ImGui::Text("hello");
      ImGui::End();
    }
    ImGui::Render();
    return renderer->draw_window(view, ImGui::GetDrawData(), shown);
  }
  /// Draws until the window manager has resized the window.
  Image draw_at(int width, int height) {
    glfwSetWindowSize(window, width, height);
    Image shown;
    for (int i = 0; i < 100 && (shown.width != width || shown.height != height); ++i) draw(false, &shown);
    return shown;
  }

  test::XDisplay display_;
  GLFWwindow* window = nullptr;
  std::unique_ptr<Renderer> renderer;
  FrameView view;
};

TEST_F(RenderWindowTest, ShowsTheSceneAndThePanelOnTop) {
  Image plain, with_panel;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(draw(false, &plain));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(draw(true, &with_panel));
  ASSERT_EQ(plain.width, 400);
  ASSERT_EQ(plain.height, 300);
  const std::uint8_t* cube = plain.pixel(200, 150);
  EXPECT_GT(cube[0], cube[2] + 45) << "the cube is orange here too";
  EXPECT_GT(pixels_that_differ(plain, with_panel), 5000u);
  EXPECT_EQ(brightness(plain.pixel(390, 290)), brightness(with_panel.pixel(390, 290)));
  EXPECT_EQ(pixels_that_differ(plain, renderer->render_offscreen(view, 400, 300)), 0u)
      << "a picture is what the window shows, without the panel";
}

// A note that a video is in progress is for the user, not for the video.
TEST_F(RenderWindowTest, MarksAreInTheWindowAndNotInItsPictures) {
  constexpr ImU32 kMark = IM_COL32(250, 10, 240, 255);
  const auto draw_both = [&](Image* shown) {
    glfwPollEvents();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    ImGui::GetForegroundDrawList()->AddRectFilled({300, 20}, {340, 60}, kMark);
    ImGui::Render();
    return renderer->draw_window(view, nullptr, shown, ImGui::GetDrawData());
  };
  const auto is_marked = [](const Image& picture) {
    const std::uint8_t* p = picture.pixel(320, 40);
    return p[0] > 240 && p[1] < 20 && p[2] > 230;
  };
  for (const bool taken : {true, false}) {
    SCOPED_TRACE(taken);
    Image shown;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(draw_both(taken ? &shown : nullptr));
    if (taken) {
      EXPECT_FALSE(is_marked(shown));
    }
    EXPECT_TRUE(test::eventually([&] {
      draw_both(nullptr);
      const Image seen = test::shown_in_window(test::XDisplay::window("^test$"));
      return seen.width == 400 && is_marked(seen);
    }));
  }
}

TEST_F(RenderWindowTest, ASwapchainAndSharedMemoryShowTheSame) {
  view.left = 0.25f;
  view.right = 0.75f;
  const auto seen_with = [&](bool shared) {
    if (!shared) setenv("STICKSLIP_SWAPCHAIN", "1", 1);
    renderer.reset();
    start_renderer();
    unsetenv("STICKSLIP_SWAPCHAIN");
    renderer->set_window_color({0.2f, 0.4f, 0.6f});
    EXPECT_EQ(renderer->shares_window(), shared);
    Image shown, seen;
    draw_at(360, 280);
    EXPECT_TRUE(test::eventually([&] {
      draw(true, &shown);
      seen = test::shown_in_window(test::XDisplay::window("^test$"));
      return seen.width == 360 && seen.height == 280 && pixels_that_differ(seen, shown) == 0;
    }));
    return seen;
  };
  const Image through_memory = seen_with(true), through_swapchain = seen_with(false);
  EXPECT_EQ(pixels_that_differ(through_memory, through_swapchain), 0u);
  const std::uint8_t* beside = through_memory.pixel(350, 140);
  EXPECT_EQ((std::array<int, 3>{beside[0], beside[1], beside[2]}), (std::array<int, 3>{51, 102, 153}));
}

TEST_F(RenderWindowTest, FollowsTheWindowsSizeAndQuality) {
  ASSERT_TRUE(draw(false));
  const Image larger = draw_at(500, 350);
  EXPECT_EQ(larger.width, 500);
  EXPECT_EQ(larger.height, 350);
  renderer->set_quality(Quality::medium);
  const Image smaller = draw_at(200, 160);
  EXPECT_EQ(smaller.width, 200);
  EXPECT_EQ(smaller.height, 160);
}

TEST_F(RenderWindowTest, PicturesInFlightHoldTheirPositions) {
  const Model model = cube_on_ground();
  const PositionOffer offer = renderer->offer_positions({ShareKind::mapped, ""});
  const auto publish = [&] {
    return offer.slots->write([&](std::size_t slot, std::uint64_t) {
      std::ranges::copy(moved_nodes(model, {0, 0, 0}),
                        reinterpret_cast<Vec3f*>(offer.target.host + slot * offer.target.stride));
      return PublishedBox{{-0.5f, 0, -0.5f}, {0.5f, 1, 0.5f}};
    });
  };
  const auto show = [&](const SlotHold& published) { renderer->set_positions(published); };
  /// Number of slots that a writer finds while pictures and the renderer hold some.
  const auto free_slots = [&] {
    std::vector<SlotHold> found;
    for (SlotHold next = publish(); next; next = publish()) found.push_back(next);
    std::vector<std::size_t> indices;
    for (const SlotHold& hold : found) indices.push_back(hold.index());
    return indices;
  };
  show(publish());
  ASSERT_TRUE(draw(false));
  EXPECT_EQ(free_slots().size(), PositionSlots::count - 1);
  show(publish());
  EXPECT_EQ(free_slots().size(), PositionSlots::count - 2) << "the first picture may still be drawn";
  ASSERT_TRUE(draw(false));
  show(publish());
  EXPECT_EQ(free_slots().size(), PositionSlots::count - 3);
  ASSERT_TRUE(draw(false));
  EXPECT_EQ(free_slots().size(), PositionSlots::count - 2) << "the third follows the end of the first";
  renderer->set_scene(model);
  EXPECT_TRUE(free_slots().empty());
  ASSERT_TRUE(draw(false));
}

}  // namespace
}  // namespace stickslip
