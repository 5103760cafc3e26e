// Pictures without a window: their content, and no message of the validation layers.
#include <algorithm>
#include <cstdlib>

#include "gpu/model/rigid_body.h"
#include "render_fixture.h"

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/resource.h>
#endif

namespace stickslip {
namespace {

TEST_F(RenderTest, ShowsTheCubeInItsColorOnALightGround) {
  const Image image = draw();
  ASSERT_EQ(image.width, kWidth);
  ASSERT_EQ(image.height, kHeight);
  ASSERT_EQ(image.rgba.size(), std::size_t{4} * kWidth * kHeight);
  const std::uint8_t* cube = pixel_of(image, {0, 0.5f, 0.5f});
  EXPECT_GT(cube[0], cube[1] + 30) << "orange: more red than green";
  EXPECT_GT(cube[1], cube[2] + 15) << "and more green than blue";
  const std::uint8_t* ground = pixel_of(image, {-1.45f, 0, 1.05f});
  EXPECT_LT(std::abs(ground[0] - ground[2]), 25) << "grey";
  EXPECT_GT(brightness(ground), 400);
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) ASSERT_EQ(image.rgba[i], 255);
}

TEST_F(RenderTest, SamePictureTwiceAndAnotherFromElsewhere) {
  const Image first = draw();
  EXPECT_EQ(draw().rgba, first.rgba);
  view.camera.yaw += 0.7f;
  EXPECT_GT(pixels_that_differ(draw(), first), std::size_t{kWidth * kHeight / 20});
}

TEST_F(RenderTest, FollowsPositions) {
  const Image before = draw();
  renderer->set_positions(moved_nodes(model, {0.8f, 0, 0}));
  const Image after = draw();
  const auto orange = [&](const Image& image, const Vec3f& point) {
    const std::uint8_t* p = pixel_of(image, point);
    return p[0] > p[2] + 45;
  };
  EXPECT_TRUE(orange(before, {-0.4f, 0.9f, 0.5f}));
  EXPECT_FALSE(orange(after, {-0.4f, 0.9f, 0.5f}));
  EXPECT_TRUE(orange(after, {0.8f, 0.5f, 0.5f}));
  EXPECT_GT(pixels_that_differ(before, after), 500u);
  EXPECT_THROW(renderer->set_positions(std::vector<Vec3f>(3)), std::invalid_argument);
}

/// The fixture's cube as a rigid body, with the same surface.
Model rigid_cube(const Model& elastic) {
  Model model;
  model.materials = elastic.materials;
  model.material_names = elastic.material_names;
  BodyPart part = make_part(ShapeKind::box, {0.5, 0.5, 0.5});
  const Object& cube = elastic.objects[0];
  for (std::int32_t i = cube.node_begin; i < cube.node_end; ++i)
    part.nodes.push_back(elastic.positions[i] - Vec<double, 3>{0, 0.5, 0});
  part.triangles = elastic.triangles;
  BodyStart start;
  start.pose.x = {0, 0.5, 0};
  add_body(model, "cube", assemble({part}), 0, start).color = cube.color;
  model.half_spaces = elastic.half_spaces;
  finalize(model);
  return model;
}

TEST_F(RenderTest, RigidBodiesAreDrawnAsElasticOnes) {
  const Image elastic = draw();
  view.overlays.wireframe = true;
  const Image elastic_wire = draw();
  const Model rigid = rigid_cube(model);
  renderer->set_scene(rigid);
  EXPECT_GT(renderer->bounds().radius(), 0.8f);
  EXPECT_LT(pixels_that_differ(draw(), elastic_wire), 20u) << "their edges";
  view.overlays.wireframe = false;
  EXPECT_LT(pixels_that_differ(draw(), elastic), 20u) << "shadows, too";
}

/// The fixture's cube as a rigid body, each side divided into n x n squares.
Model fine_cube(const Model& elastic, int n) {
  Model model;
  model.materials = elastic.materials;
  model.material_names = elastic.material_names;
  BodyPart part = make_part(ShapeKind::box, {0.5, 0.5, 0.5});
  for (int side = 0; side < 6; ++side) {
    const int axis = side / 2;
    const double sign = side % 2 == 0 ? -0.5 : 0.5;
    const auto first = static_cast<std::int32_t>(part.nodes.size());
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j) {
        Vec<double, 3> x{0, 0, 0};
        x[axis] = sign;
        x[(axis + 1) % 3] = static_cast<double>(i) / n - 0.5;
        x[(axis + 2) % 3] = static_cast<double>(j) / n - 0.5;
        part.nodes.push_back(x);
      }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const std::int32_t a = first + i * (n + 1) + j, b = a + n + 1;
        for (const Vec3i& t : {Vec3i{a, b, b + 1}, Vec3i{a, b + 1, a + 1}})
          part.triangles.push_back(sign > 0 ? t : Vec3i{t[0], t[2], t[1]});
      }
  }
  BodyStart start;
  start.pose.x = {0, 0.5, 0};
  add_body(model, "cube", assemble({part}), 0, start).color = elastic.objects[0].color;
  model.half_spaces = elastic.half_spaces;
  finalize(model);
  return model;
}

TEST_F(RenderTest, ManyTrianglesAreDrawnAsFew) {
  const Model fine = fine_cube(model, 64);
  ASSERT_GT(fine.triangles.size(), 20000u) << "where depth comes first and insides are left out";
  for (const Quality quality : {Quality::light, Quality::high}) {
    renderer->set_quality(quality);
    renderer->set_scene(model);
    const Image coarse = draw();
    renderer->set_scene(fine);
    EXPECT_LT(pixels_that_differ(draw(), coarse), 60u) << quality_name(quality);
  }
}

TEST_F(RenderTest, JointsShowAnchorsAndAxes) {
  const Image plain = draw();
  const JointMark marks[] = {{{-0.9f, 0.5f, 0.8f}, {-0.5f, 0.5f, 0.8f}, {0, 1, 0}}};
  view.joints = marks;
  EXPECT_EQ(pixels_that_differ(draw(), plain), 0u) << "they were not asked for";
  view.overlays.joints = true;
  const Image image = draw();
  EXPECT_GT(pixels_that_differ(image, plain), 40u);
  const std::uint8_t* between = pixel_of(image, {-0.7f, 0.5f, 0.8f});
  EXPECT_GT(between[1], between[0] + 40) << "a line where the sides drifted apart";
}

TEST_F(RenderTest, PinsAreMarkedWhereTheirNodesAre) {
  const Image plain = draw();
  const std::int32_t pins[] = {model.triangles[0][0]};
  view.pins = pins;
  EXPECT_EQ(pixels_that_differ(draw(), plain), 0u) << "they were not asked for";
  view.overlays.pins = true;
  EXPECT_GT(pixels_that_differ(draw(), plain), 8u);
}

TEST_F(RenderTest, CollidersWithoutASurfaceAreLinesAndDots) {
  Model wired = cube_on_ground();
  const Image plain = draw();
  const std::vector<Vec<double, 3>> nodes{{-1.2, 0.5, 0.8}, {-0.8, 0.5, 0.8}, {1, 0.5, 0.8}};
  add_point_collider(wired, "wire", nodes, {{0, 1}}, 0, {}).color = {0.9f, 0.1f, 0.8f};
  finalize(wired);
  renderer->set_scene(wired);
  const Image image = draw();
  for (const Vec3f& place : {Vec3f{-1, 0.5f, 0.8f}, Vec3f{1, 0.5f, 0.8f}}) {
    const std::uint8_t *seen = pixel_of(image, place), *before = pixel_of(plain, place);
    EXPECT_GT(seen[0], seen[1] + 60) << "magenta";
    EXPECT_LT(std::abs(before[0] - before[1]), 30);
  }
  const Vec3f between{0.2f, 0.5f, 0.8f};
  EXPECT_NEAR(brightness(pixel_of(image, between)), brightness(pixel_of(plain, between)), 30)
      << "the last node is a point of its own";
}

TEST_F(RenderTest, TheCubeThrowsAShadow) {
  for (const Quality quality : {Quality::light, Quality::medium, Quality::high}) {
    SCOPED_TRACE(quality_name(quality));
    renderer->set_quality(quality);
    renderer->set_positions(moved_nodes(model, {0, 0, 0}));
    const Image with = draw();
    renderer->set_positions(moved_nodes(model, {0, 500, 0}));  // out of sight, and out of the light maps
    const Image without = draw();
    int darker = 0, shadowed = 0, brighter = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const std::uint8_t *p = with.pixel(x, y), *q = without.pixel(x, y);
        if (p[0] > p[2] + 30) continue;  // the cube itself
        darker += brightness(p) < brightness(q) - 15;
        shadowed += brightness(p) < 0.8 * brightness(q);
        brighter += brightness(p) > brightness(q) + 15;
      }
    EXPECT_GT(shadowed, 700);
    EXPECT_LT(darker, kWidth * kHeight / 4) << "most of the ground stays lit";
    EXPECT_LT(brighter, 60) << "but for the cube's outline nothing gets brighter";
  }
}

TEST_F(RenderTest, ShadowsLieBehindTheCubeAndNotOnItsLitTop) {
  const Image image = draw();
  const int top = brightness(pixel_of(image, {0, 1, 0}));
  int darkest = top;
  for (float x = -0.4f; x < 0.45f; x += 0.1f)
    for (float z = -0.4f; z < 0.45f; z += 0.1f)
      darkest = std::min(darkest, brightness(pixel_of(image, {x, 1, z})));
  EXPECT_GT(darkest, top - 30) << "a lit flat face has one brightness: no stripes of self-shadow";
}

TEST_F(RenderTest, ContactsAreMarkedInTheColorOfTheirState) {
  const Image plain = draw();
  std::vector<ContactRecord> contacts(3);
  const Vec3f places[] = {{-0.3f, 1, 0.3f}, {0, 1, 0.3f}, {0.3f, 1, 0.3f}};
  for (int i = 0; i < 3; ++i) {
    contacts[i].point = places[i];
    contacts[i].normal = {0, 1, 0};
    contacts[i].state = static_cast<ContactState>(i);
  }
  view.contacts = contacts;
  EXPECT_EQ(draw().rgba, plain.rgba) << "contacts without their overlay are not shown";
  view.overlays.contacts = true;
  const Image marked = draw();
  EXPECT_GT(pixels_that_differ(marked, plain), 60u);
  for (const int i : {1, 2}) {
    const Vec3f color = contact_color(shown_state(contacts[i], view.error_limit));
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(pixel_of(marked, places[i])[c], 255 * color[c], 3) << "state " << i;
  }
  contacts[1].error = 1;
  view.error_limit = 0.5f;
  const Image missed = draw();
  const Vec3f color = contact_color(ShownState::unconverged);
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(pixel_of(missed, places[1])[c], 255 * color[c], 3) << "unconverged";
  contacts[1].error = 0.1f;
  EXPECT_EQ(draw().rgba, marked.rgba) << "within the limit";
  view.overlays.normals = true;
  EXPECT_GT(pixels_that_differ(draw(), marked), 60u);
}

/// Whether a pixel near the mark at `at` has the colour.
bool has_color_near(const Image& image, const Vec3f& at, const Vec3f& color) {
  for (int y = static_cast<int>(at[1]) - 14; y <= static_cast<int>(at[1]) + 14; ++y)
    for (int x = static_cast<int>(at[0]) - 14; x <= static_cast<int>(at[0]) + 14; ++x) {
      const std::uint8_t* pixel = image.pixel(x, y);
      bool same = true;
      for (int c = 0; c < 3; ++c) same = same && std::abs(pixel[c] - 255 * color[c]) <= 4;
      if (same) return true;
    }
  return false;
}

TEST_F(RenderTest, RingsMarkContactsWithAMultiplierAndTheOneThatIsPicked) {
  std::vector<ContactRecord> contacts(2);
  contacts[0].point = {-0.3f, 1, 0.3f};
  contacts[1].point = {0.3f, 1, 0.3f};
  contacts[1].augmented = true;
  view.contacts = contacts;
  view.overlays.contacts = true;
  const Image marked = draw();
  EXPECT_FALSE(
      has_color_near(marked, view.camera.project(contacts[0].point, kWidth, kHeight), multiplier_color()));
  EXPECT_TRUE(
      has_color_near(marked, view.camera.project(contacts[1].point, kWidth, kHeight), multiplier_color()));
  view.overlays.multipliers = false;
  const Image without = draw();
  EXPECT_FALSE(
      has_color_near(without, view.camera.project(contacts[1].point, kWidth, kHeight), multiplier_color()));
  view.highlighted_contact = contacts[0].point;
  EXPECT_GT(pixels_that_differ(draw(), without), 20u);
}

TEST_F(RenderTest, HiddenContactsShineThrough) {
  std::vector<ContactRecord> contacts(1);
  contacts[0].point = {0, 0, 0};  // under the cube
  contacts[0].normal = {0, 1, 0};
  contacts[0].state = ContactState::slip;
  const Image plain = draw();
  view.contacts = contacts;
  view.overlays.contacts = true;
  EXPECT_GT(pixels_that_differ(draw(), plain), 20u);
}

TEST_F(RenderTest, WireframeHighlightAndDragLineShow) {
  const Image plain = draw();
  view.overlays.wireframe = true;
  EXPECT_GT(pixels_that_differ(draw(), plain), 500u);
  view.overlays.wireframe = false;
  view.highlighted_object = 0;
  const Image highlighted = draw();
  EXPECT_GT(brightness(pixel_of(highlighted, {0, 0.5f, 0.5f})), brightness(pixel_of(plain, {0, 0.5f, 0.5f})));
  EXPECT_EQ(brightness(pixel_of(highlighted, {-1.45f, 0, 1.05f})),
            brightness(pixel_of(plain, {-1.45f, 0, 1.05f})));
  view.highlighted_object = -1;
  view.drag = DragLine{{0, 1, 0}, {1, 1.5f, 0}};
  EXPECT_GT(pixels_that_differ(draw(), plain), 40u);
}

/// The cube's front half is taken away: its front shows the inside of its back, and the ground before it.
TEST_F(RenderTest, AClippingPlaneOpensBodiesAndLeavesContacts) {
  const Image plain = draw();
  const std::vector<ContactRecord> contacts{{.point = {0.2f, 0.9f, 0.4f}, .normal = {0, 1, 0}}};
  view.clip = ClipPlane{{0, 0, 1}, 0};
  const Image open = draw();
  EXPECT_GT(pixels_that_differ(open, plain), 1000u);
  EXPECT_NE(brightness(pixel_of(open, {0.45f, 0.05f, 0.5f})),
            brightness(pixel_of(plain, {0.45f, 0.05f, 0.5f})));
  EXPECT_EQ(brightness(pixel_of(open, {0, 1, -0.4f})), brightness(pixel_of(plain, {0, 1, -0.4f})))
      << "the back half stays";
  view.overlays.wireframe = true;
  const Image edges = draw();
  EXPECT_GT(pixels_that_differ(edges, open), 100u);
  EXPECT_EQ(brightness(pixel_of(edges, {0.5f, 0.02f, 0.45f})),
            brightness(pixel_of(open, {0.5f, 0.02f, 0.45f})))
      << "edges go with their surfaces";
  view.overlays.wireframe = false;
  view.overlays.contacts = true;
  view.contacts = contacts;
  EXPECT_GT(pixels_that_differ(draw(), open), 20u) << "the mark of a contact in the half that is gone";
  view.contacts = {};
  view.clip = ClipPlane{{0, 0, 1}, 5};
  EXPECT_EQ(draw().rgba, plain.rgba) << "it passes beside";
}

TEST_F(RenderTest, XRayDrawsAShareOfThePixelsOfBodies) {
  const Image plain = draw();
  view.clip = ClipPlane{{0, 1, 0}, -1};
  const Image none = draw();
  const std::size_t all = pixels_that_differ(plain, none, 30);
  view.clip.reset();
  view.x_ray = 0.5f;
  const std::size_t half = pixels_that_differ(draw(), none, 30);
  view.x_ray = 0.25f;
  const std::size_t quarter = pixels_that_differ(draw(), none, 30);
  EXPECT_GT(half, quarter);
  EXPECT_GT(all, half);
  EXPECT_GT(quarter, all / 10);
}

TEST_F(RenderTest, ObjectColorsCanChange) {
  renderer->set_object_color(0, {0.1f, 0.2f, 0.9f});
  const Image image = draw();
  const std::uint8_t* cube = pixel_of(image, {0, 0.5f, 0.5f});
  EXPECT_GT(cube[2], cube[0] + 40);
  EXPECT_THROW(renderer->set_object_color(7, {1, 1, 1}), std::out_of_range);
}

TEST_F(RenderTest, SurfacesTakeTheColoursOfAScale) {
  const Image plain = draw();
  std::vector<float> heat(model.node_count(), 1.f);
  view.heat = heat;
  const Image hot = draw();
  const std::uint8_t* cube = pixel_of(hot, {0, 0.5f, 0.5f});
  EXPECT_GT(cube[0], cube[2] + 60) << "yellow";
  EXPECT_GT(cube[1], cube[2] + 60);
  std::ranges::fill(heat, 0.f);
  const Image blue = draw();
  const std::uint8_t* cold = pixel_of(blue, {0, 0.5f, 0.5f});
  EXPECT_GT(cold[2], cold[0]) << "dark blue";
  std::ranges::fill(heat, -1.f);
  EXPECT_EQ(draw().rgba, plain.rgba) << "the objects' own colours";
  view.heat = {};
  EXPECT_EQ(draw().rgba, plain.rgba);
}

TEST_F(RenderTest, ATransparentPictureHasNoBackground) {
  const Image plain = draw();
  view.transparent = true;
  const Image clear = draw();
  EXPECT_EQ(clear.pixel(2, 2)[3], 0);
  const std::uint8_t *cube = pixel_of(clear, {0, 0.5f, 0.5f}), *before = pixel_of(plain, {0, 0.5f, 0.5f});
  EXPECT_EQ(cube[3], 255);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(cube[c], before[c]);
  view.transparent = false;
  EXPECT_EQ(draw().rgba, plain.rgba);
}

TEST_F(RenderTest, AnySizeAndNoOther) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 301}, {641, 359}, {64, 64}}) {
    const Image image = renderer->render_offscreen(view, width, height);
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.height, height);
    EXPECT_EQ(image.rgba.size(), std::size_t{4} * width * height);
  }
  EXPECT_THROW(renderer->render_offscreen(view, 0, 10), std::invalid_argument);
  EXPECT_THROW(renderer->render_offscreen(view, 10, 1 << 24), std::invalid_argument);
}

TEST_F(RenderTest, TiltedHalfSpacesAndEmptyScenes) {
  const Image plain = draw();
  model.half_spaces.push_back({normalized(Vec<double, 3>{1, 0.3, 0}), -1.5, 0.3});
  renderer->set_scene(model);
  EXPECT_GT(pixels_that_differ(draw(), plain), 500u);
  renderer->set_scene(Model{});
  const Image empty = draw();
  EXPECT_GT(brightness(empty.pixel(5, 5)), 300) << "the sky";
}

#if defined(__GLIBC__)
// Megabytes that go back to the system after each picture cost more than the picture. A picture of this size
// has 900 pages. Kept memory leaves 90 to 130 faults a picture (threads of the software device differ), and
// memory that goes back 990.
TEST_F(RenderTest, PicturesReuseTheirMemory) {
  constexpr int kAtStart = 128 << 10;  // [B] limits of the C library when a program starts
  mallopt(M_MMAP_THRESHOLD, kAtStart);
  mallopt(M_TRIM_THRESHOLD, kAtStart);
  mallopt(M_TOP_PAD, kAtStart);
  Renderer fresh(RendererOptions{.quality = Quality::light});
  if (!fresh.software_device()) GTEST_SKIP() << "a real device has memory of its own";
  fresh.set_scene(cube_on_ground(0.05));
  const auto page_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  constexpr int kWarm = 8, kPictures = 10;
  for (int i = 0; i < kWarm; ++i) fresh.render_offscreen(view, 1280, 720);
  const auto before = page_faults();
  for (int i = 0; i < kPictures; ++i) fresh.render_offscreen(view, 1280, 720);
  EXPECT_LT((page_faults() - before) / kPictures, 300);
}
#endif

TEST_F(RenderTest, EveryFeatureAtEveryQualityWithoutAComplaint) {
  if (!renderer->validation_active()) GTEST_SKIP() << "the validation layer is not installed";
  model.half_spaces.push_back({normalized(Vec<double, 3>{1, 0.3, 0}), -1.5, 0.3});
  std::vector<ContactRecord> contacts(1000);
  for (const Quality quality : {Quality::high, Quality::medium, Quality::light}) {
    renderer->set_quality(quality);
    renderer->set_scene(model);
    view.overlays = {true, true, true};
    contacts[0].augmented = true;
    view.highlighted_contact = contacts[0].point;
    view.contacts = contacts;
    view.drag = DragLine{};
    view.highlighted_object = 0;
    draw();
    view.contacts = {};
    draw();
  }
  EXPECT_EQ(renderer->quality(), Quality::light);
}

TEST_F(RenderTest, BoundsFollowTheBodies) {
  renderer->set_positions(moved_nodes(model, {2, 0, 0}));
  EXPECT_NEAR(renderer->bounds().low[0], 1.5f, 1e-5f);
  EXPECT_NEAR(renderer->bounds().high[1], 1.f, 1e-5f);
}

TEST(Render, SaysWhenThereIsNoVulkan) {
  setenv("VK_ICD_FILENAMES", "/nowhere.json", 1);
  setenv("VK_DRIVER_FILES", "/nowhere.json", 1);
  EXPECT_THROW(Renderer(), NoDeviceError);
  unsetenv("VK_ICD_FILENAMES");
  unsetenv("VK_DRIVER_FILES");
}

TEST(Render, QualityNames) {
  for (const Quality q : {Quality::automatic, Quality::light, Quality::medium, Quality::high})
    EXPECT_EQ(parse_quality(quality_name(q)), q);
  EXPECT_THROW(parse_quality("ultra"), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
