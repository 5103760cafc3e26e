// Patterns of cloth, rods and solids move with the material, and are means where they are too small for
// pixels.
#include <cmath>
#include <numbers>

#include "app/io/scene/scene.h"
#include "app/render/checker.h"
#include "app/render/mesh_topology.h"
#include "app/render/threads.h"
#include "gpu/model/rigid_body.h"
#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

Model empty_model() {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("any");
  return model;
}

/// A square sheet of 1 m in the plane y = 0.
Model sheet() {
  Model model = empty_model();
  const SurfaceMesh mesh = make_sheet(1, 1, 0.1);
  add_cloth(model, "sheet", mesh.nodes, mesh.triangles, 0, 1e-3).color = {0.7f, 0.6f, 0.3f};
  finalize(model);
  return model;
}

/// A straight rod along x of ten segments of 0.1 m.
Model rod() {
  Model model = empty_model();
  std::vector<Vec<double, 3>> nodes;
  std::vector<Vec2i> segments;
  for (int i = 0; i <= 10; ++i) nodes.push_back({0.1 * i - 0.5, 0, 0});
  for (int i = 0; i < 10; ++i) segments.push_back({i, i + 1});
  add_rods(model, "rod", nodes, segments, 0, 0.05).color = {0.7f, 0.3f, 0.3f};
  finalize(model);
  return model;
}

/// A rigid body of about 0.6 m, turned by 30 degrees about x, away from the origin.
Model rigid_body(const std::string& shape) {
  return parse_scene("[[material]]\nname = 'wood'\n[[object]]\nname = 'body'\nbody = 'rigid'\n" + shape +
                         "\nposition = [1, 2, 3]\nrotation = [30, 0, 0]\ncolor = [0.7, 0.5, 0.3]\n",
                     "/somewhere/rolls.toml")
      .model;
}
const char* const ball = "shape = 'sphere'\nradius = 0.3";

/// The nodes of the body with its centre there, turned about z.
std::vector<Vec3f> turned(const Model& model, const Vec3f& center, float degrees) {
  std::vector<Vec3f> positions;
  const float c = std::cos(degrees * std::numbers::pi_v<float> / 180),
              s = std::sin(degrees * std::numbers::pi_v<float> / 180);
  for (const auto& rest : model.rest_positions) {
    const Vec3f x = rest.cast<float>();
    positions.push_back(center + Vec3f{c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]});
  }
  return positions;
}

/// An elastic box of 0.6 x 0.3 x 0.9 m that is turned about a skew axis, away from the origin.
Model turned_solid() {
  Model model = empty_model();
  TetMesh mesh = make_box({0.6, 0.3, 0.9}, 0.15);
  const Quat turn = turn_of_x(normalized(Vec<double, 3>{1, 2, 2}));
  for (auto& x : mesh.nodes) x = turn.rotate(x) + Vec<double, 3>{3, 2, 1};
  add_solid(model, "box", mesh.nodes, mesh.tets, 0).color = {0.7f, 0.5f, 0.3f};
  finalize(model);
  return model;
}

/// Whether an object's nodes in the checker fill a box with this corner, and each lies in a face of it.
void expect_cells(const Model& model, const Vec3f& cells) {
  Vec3f sorted = cells, corner = Vec3f::zero();
  const Object& object = model.objects[0];
  const std::vector<Vec3f> places = checker_places(model, object);
  for (const Vec3i& t : model.triangles)
    for (int k = 0; k < 3; ++k) {
      const Vec3f& place = places[static_cast<std::size_t>(t[k] - object.node_begin)];
      corner = max(corner, place);
      for (int c = 0; c < 3; ++c) EXPECT_GE(place[c], -1e-4f);
    }
  for (const Vec3i& t : model.triangles)
    for (int k = 0; k < 3; ++k) {
      const Vec3f& place = places[static_cast<std::size_t>(t[k] - object.node_begin)];
      bool in_face = false;
      for (int c = 0; c < 3; ++c)
        in_face = in_face || std::abs(place[c]) < 1e-4f || std::abs(place[c] - corner[c]) < 1e-4f;
      EXPECT_TRUE(in_face) << "axes are those of the faces";
    }
  std::sort(corner.v, corner.v + 3);
  std::sort(sorted.v, sorted.v + 3);
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(corner[c], sorted[c], 1e-4f) << c;
}

TEST(Patterns, SolidsHaveACheckerOfWholeCellsAlongTheirFaces) {
  expect_cells(rigid_body("shape = 'box'\nsize = [0.6, 0.6, 0.6]"), {3, 3, 3});
  expect_cells(turned_solid(), {5, 3, 8});
  // Cells of a plate are no smaller than an eighth of its length.
  expect_cells(rigid_body("shape = 'box'\nsize = [0.4, 0.01, 0.8]"), {4, 1, 8});
}

TEST(Patterns, AreOnAllThatMovesAndHasASurface) {
  const Model round = rigid_body(ball), box = rigid_body("shape = 'box'\nsize = [0.6, 0.6, 0.6]");
  EXPECT_TRUE(has_pattern(round, round.objects[0]));
  EXPECT_TRUE(has_pattern(box, box.objects[0]));
  EXPECT_FALSE(has_checker(round, round.objects[0])) << "it has octants";
  EXPECT_TRUE(has_pattern(sheet(), sheet().objects[0]));
  EXPECT_TRUE(has_pattern(cube_on_ground(), cube_on_ground().objects[0]));
  const Model floor = parse_scene(
                          "[[material]]\nname = 'wood'\n[[collider]]\nname = 'floor'\n"
                          "shape = 'box'\nsize = [1, 0.1, 1]\n[[object]]\nname = 'body'\n"
                          "body = 'rigid'\nshape = 'box'\nsize = [0.1, 0.1, 0.1]\n"
                          "position = [0, 1, 0]\n",
                          "/somewhere/floor.toml")
                          .model;
  for (const Object& object : floor.objects) EXPECT_EQ(has_pattern(floor, object), object.name == "body");
}

TEST(Patterns, OfRoundBodiesAreInTheirFrames) {
  const Model round = rigid_body(ball);
  for (const shared::MeshVertex& vertex : build_topology(round).vertices) {
    const Vec<float, 3> place{vertex.place_x, vertex.place_y, vertex.place_z};
    EXPECT_EQ(place, round.rest_positions[vertex.node].cast<float>());
    EXPECT_NEAR(norm(place), 0.3, 0.02) << "from the centre, not where the body is";
  }
}

TEST(Threads, RunAlongTheWarpOfFlatClothWithoutStretch) {
  Model model = sheet();
  model.objects[0].warp = {1, 0, 1};
  const std::vector<ThreadPlaces> places = thread_places(model, model.objects[0]);
  ASSERT_EQ(places.size(), model.triangles.size());
  for (std::size_t t = 0; t < places.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec<double, 3> edge = model.rest_positions[model.triangles[t][static_cast<int>((k + 1) % 3)]] -
                                  model.rest_positions[model.triangles[t][static_cast<int>(k)]];
      const Vec<float, 2> shown = places[t][(k + 1) % 3] - places[t][k];
      EXPECT_NEAR(norm(shown), norm(edge), 1e-6);
      EXPECT_NEAR(shown[0], (edge[0] + edge[2]) / std::numbers::sqrt2, 1e-6);
    }
  EXPECT_NEAR(threads_per_metre(model, model.objects[0]), 96, 1e-3);
}

TEST(Threads, OfSewnClothAreThoseOfItsPattern) {
  Model model = empty_model();
  model.cloth_patterns.push_back({{{{{0, 0}, {1, 0}, {1, 1}}}, {{{3, 0}, {4, 1}, {3, 1}}}}});
  add_cloth(model, "cloth", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}, 0, 1e-3)
      .cloth_pattern = 0;
  finalize(model);
  const std::vector<ThreadPlaces> places = thread_places(model, model.objects[0]);
  EXPECT_EQ(places[1][1], (Vec<float, 2>{4, 1}));
  EXPECT_NEAR(threads_per_metre(model, model.objects[0]), 96, 1e-3) << "two halves of a square metre";
}

TEST(Threads, OnAClosedSurfaceShrinkByNoMoreThanSqrt3) {
  Model model = empty_model();
  TetMesh ball = make_sphere(0.5, 0.2);
  add_solid(model, "ball", ball.nodes, ball.tets, 0);
  finalize(model);
  const Model solid = std::move(model);
  model = empty_model();
  std::vector<std::int32_t> place(solid.node_count(), -1);
  std::vector<Vec<double, 3>> nodes;
  std::vector<Vec3i> triangles = solid.triangles;
  for (Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k) {
      std::int32_t& to = place[static_cast<std::size_t>(t[k])];
      if (to < 0) {
        to = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(solid.positions[static_cast<std::size_t>(t[k])]);
      }
      t[k] = to;
    }
  add_cloth(model, "skin", nodes, triangles, 0, 1e-3);
  finalize(model);
  const std::vector<ThreadPlaces> places = thread_places(model, model.objects[0]);
  for (std::size_t t = 0; t < places.size(); ++t) {
    const Vec<float, 2> a = places[t][1] - places[t][0], b = places[t][2] - places[t][0];
    const auto at = [&](int k) { return model.rest_positions[model.triangles[t][k]]; };
    const double area = norm(cross(at(1) - at(0), at(2) - at(0)));
    EXPECT_GE(std::abs(a[0] * b[1] - a[1] * b[0]), 0.999 * area / std::numbers::sqrt3);
    EXPECT_LE(std::abs(a[0] * b[1] - a[1] * b[0]), 1.001 * area);
  }
}

class RenderPatternsTest : public RenderTest {
 protected:
  void show(const Model& what, const Vec3f& eye, const Vec3f& target) {
    model = what;
    renderer->set_scene(model);
    view.camera = Camera::look_at(eye, target, 40);
    view.transparent = true;
    view.patterns = true;
  }
  void SetUp() override {
    RenderTest::SetUp();
    if (renderer) renderer->set_quality(Quality::medium);
  }
  /// The mean of brightness over what is drawn.
  static double mean(const Image& image) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < image.rgba.size(); i += 4)
      if (image.rgba[i + 3] == 255) {
        sum += brightness(&image.rgba[i]);
        ++count;
      }
    return sum / count;
  }
};

TEST_F(RenderPatternsTest, CloseThreadsShowAndFarOnesLeaveTheirMean) {
  for (const float distance : {0.5f, 1.5f}) {
    show(sheet(), {0, distance, 0.3f * distance}, {0, 0, 0});
    const Image woven = draw();
    view.patterns = false;
    const Image plain = draw();
    EXPECT_GT(pixels_that_differ(woven, plain, 8), 4000u) << distance;
    EXPECT_NEAR(mean(woven), mean(plain), 0.03 * mean(plain)) << distance;
  }
  show(sheet(), {0, 40, 12}, {0, 0, 0});
  const Image woven = draw();
  view.patterns = false;
  EXPECT_EQ(pixels_that_differ(woven, draw(), 12), 0u) << "bands are a fourth of a pixel there";
}

TEST_F(RenderPatternsTest, ThreadsMoveWithTheCloth) {
  show(sheet(), {0, 0.5f, 0.15f}, {0, 0, 0});
  const Image before = draw();
  const Vec3f by{0.0137f, 0, 0.0071f};  // no whole number of threads
  renderer->set_positions(moved_nodes(model, by));
  EXPECT_GT(pixels_that_differ(before, draw(), 8), 4000u) << "they are not those of the place";
  view.camera = Camera::look_at(Vec3f{0, 0.5f, 0.15f} + by, by, 40);
  EXPECT_LT(pixels_that_differ(before, draw(), 8), 200u);
}

TEST_F(RenderPatternsTest, ScalesOfSurfacesHaveNoPattern) {
  show(sheet(), {0, 0.5f, 0.15f}, {0, 0, 0});
  const std::vector<float> heat(model.node_count(), 0.5f);
  view.heat = heat;
  const Image woven = draw();
  view.patterns = false;
  EXPECT_EQ(pixels_that_differ(woven, draw(), 2), 0u);
}

TEST_F(RenderPatternsTest, ATurnShowsOnABall) {
  show(rigid_body(ball), {0, 0, 1.5f}, {0, 0, 0});
  renderer->set_positions(turned(model, {0, 0, 0}, 0));
  const Image before = draw();
  // The octants: light and dark are opposite above and beside each other.
  const auto at = [&](const Image& image, float x, float y) {
    return brightness(pixel_of(image, {x, y, std::sqrt(0.09f - x * x - y * y)}));
  };
  renderer->set_positions(turned(model, {0, 0, 0}, 90));
  const Image quarter = draw();
  renderer->set_positions(turned(model, {0, 0, 0}, 180));
  const Image half = draw();
  for (const float x : {-0.1f, 0.1f})
    for (const float y : {-0.1f, 0.1f}) {
      const bool is_light = x * y > 0;
      EXPECT_EQ(at(before, x, y) > at(quarter, x, y), is_light) << x << ", " << y;
      EXPECT_GT(std::abs(at(before, x, y) - at(quarter, x, y)), 30) << x << ", " << y;
      EXPECT_LT(std::abs(at(before, x, y) - at(half, x, y)), 12) << x << ", " << y;
    }
  EXPECT_GT(pixels_that_differ(before, quarter, 30), 5000u);
  view.patterns = false;
  const Image plain = draw();
  EXPECT_NEAR(mean(before), mean(plain), 0.08 * mean(plain));
  renderer->set_positions(turned(model, {0, 0, 0}, 90));
  EXPECT_LT(pixels_that_differ(plain, draw(), 30), 1000u)
      << "without patterns its outline alone shows a turn";
}

TEST_F(RenderPatternsTest, ATurnShowsOnABox) {
  show(rigid_body("shape = 'box'\nsize = [0.6, 0.6, 0.6]"), {0, 0, 1.5f}, {0, 0, 0});
  renderer->set_positions(turned(model, {0, 0, 0}, 0));
  const Image before = draw();
  renderer->set_positions(turned(model, {0, 0, 0}, 20));
  const Image after = draw();
  view.patterns = false;
  const Image plain_after = draw();
  renderer->set_positions(turned(model, {0, 0, 0}, 0));
  const Image plain = draw();
  EXPECT_NEAR(mean(before), mean(plain), 0.03 * mean(plain));
  const auto tone = [&](int i, int j) {
    const Vec3f at{0.2f * static_cast<float>(i), 0.2f * static_cast<float>(j), 0.3f};
    return brightness(pixel_of(before, at)) - brightness(pixel_of(plain, at));
  };
  // Three cells by three, with corners of one tone.
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) {
      EXPECT_EQ(tone(i, j) > 0, (i + j) % 2 == 0 ? tone(0, 0) > 0 : tone(0, 0) < 0) << i << ", " << j;
      EXPECT_GT(std::abs(tone(i, j)), 15) << i << ", " << j;
    }
  EXPECT_GT(pixels_that_differ(before, after, 8), pixels_that_differ(plain, plain_after, 8) + 2000u)
      << "not only the outline shows it";
}

TEST_F(RenderPatternsTest, FacesOfASolidDoNotFlickerWhereCellsEndInThem) {
  show(cube_on_ground(), {0, 0.5f, 3}, {0, 0.5f, 0});
  const Image checked = draw();
  view.patterns = false;
  const Image plain = draw();
  // Within a cell of the front face all pixels are on one side of the plain ones.
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      int lighter = 0, darker = 0;
      for (int a = -4; a <= 4; ++a)
        for (int b = -4; b <= 4; ++b) {
          const Vec3f at{(static_cast<float>(i - 1) + 0.09f * static_cast<float>(a)) / 3,
                         0.5f + (static_cast<float>(j - 1) + 0.09f * static_cast<float>(b)) / 3, 0.5f};
          const int difference = brightness(pixel_of(checked, at)) - brightness(pixel_of(plain, at));
          lighter += difference > 8;
          darker += difference < -8;
        }
      EXPECT_EQ(std::max(lighter, darker), 81) << i << ", " << j;
    }
}

TEST_F(RenderPatternsTest, CheckersMoveWithSolidsAndFadeFarAway) {
  show(cube_on_ground(), {0, 0.5f, 3}, {0, 0.5f, 0});
  const Image before = draw();
  const Vec3f by{0.137f, 0, 0.071f};
  renderer->set_positions(moved_nodes(model, by));
  view.camera = Camera::look_at(Vec3f{0, 0.5f, 3} + by, Vec3f{0, 0.5f, 0} + by, 40);
  EXPECT_LT(pixels_that_differ(before, draw(), 12), 200u);
  renderer->set_positions(moved_nodes(model, {0, 0, 0}));
  view.camera = Camera::look_at({3, 20, 60}, {0, 0.5f, 0}, 40);
  const Image far = draw();
  view.patterns = false;
  EXPECT_EQ(pixels_that_differ(far, draw(), 2), 0u);
}

/// The first node of the rod is a ghost: its ten ghosts come before the nodes.
TEST_F(RenderPatternsTest, ScalesColourRodsByTheirNodes) {
  show(rod(), {0, 0, 0.6f}, {0, 0, 0});
  const Image woven = draw();
  std::vector<float> heat(model.node_count(), -1.f);
  view.heat = heat;
  EXPECT_EQ(pixels_that_differ(woven, draw(), 2), 0u) << "values below 0 leave the object's colour";
  for (std::size_t i = 10; i < heat.size(); ++i) heat[i] = i < 15 ? 0.f : 1.f;
  view.heat = heat;
  const Image scale = draw();
  const std::uint8_t *left = pixel_of(scale, {-0.15f, 0, 0.025f}),
                     *right = pixel_of(scale, {0.15f, 0, 0.025f});
  EXPECT_GT(left[2], left[1]) << "the lowest place is dark blue";
  EXPECT_GT(right[1], 2 * right[2]) << "the highest is yellow";
  EXPECT_GT(right[0], left[0] + 60);
  heat[17] = -1;  // its neighbours have the same value
  view.heat = heat;
  EXPECT_EQ(pixels_that_differ(scale, draw(), 2), 0u) << "both segments have the values of their other ends";
}

TEST_F(RenderPatternsTest, ATurnOfTheFrameShowsOnARod) {
  show(rod(), {0, 0, 0.6f}, {0, 0, 0});
  const Image before = draw();
  std::vector<Vec3f> positions = moved_nodes(model, {0, 0, 0});
  for (std::int32_t ghost = 0; ghost < 10; ++ghost)
    for (int c = 1; c < 3; ++c) positions[static_cast<std::size_t>(ghost)][c] *= -1;
  renderer->set_positions(positions);
  const Image turned = draw();
  EXPECT_GT(pixels_that_differ(before, turned, 8), 1000u);
  EXPECT_NEAR(mean(turned), mean(before), 0.05 * mean(before));
  view.patterns = false;
  const Image plain = draw();
  renderer->set_positions(moved_nodes(model, {0, 0, 0}));
  EXPECT_EQ(pixels_that_differ(plain, draw(), 2), 0u) << "without patterns a turn is not seen";
}

TEST_F(RenderPatternsTest, AShiftAlongItselfShowsOnARod) {
  show(rod(), {0, 0, 0.3f}, {0, 0, 0});
  const Image before = draw();
  renderer->set_positions(moved_nodes(model, {0.1f, 0, 0}));  // half a cell: both ends are out of sight
  EXPECT_GT(pixels_that_differ(before, draw(), 8), 1000u);
  renderer->set_positions(moved_nodes(model, {0, 0, 0}));
  EXPECT_EQ(pixels_that_differ(before, draw(), 2), 0u);
  view.patterns = false;
  const Image plain = draw();
  renderer->set_positions(moved_nodes(model, {0.1f, 0, 0}));
  EXPECT_LT(pixels_that_differ(plain, draw(), 8), 100u) << "without patterns it is not seen";
}

}  // namespace
}  // namespace stickslip
