// Centrelines of rods, hair files, and scenes with rods.
#include "app/io/mesh/strands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>

#include "app/io/scene/scene.h"
#include "gpu/model/element_group.h"
#include "tests/app/ipc_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

double length_of(const std::vector<Vec3d>& strand) {
  double length = 0;
  for (std::size_t i = 1; i < strand.size(); ++i) length += norm(strand[i] - strand[i - 1]);
  return length;
}

TEST(Strands, AHelixHasItsLengthRadiusAndPitch) {
  const Strands strands = make_strand(2, 400, {Curl::Style::curly, 0.03, 0.02});
  ASSERT_EQ(strands.points.size(), 1U);
  EXPECT_EQ(strands.segments(), 400U);
  const std::vector<Vec3d>& points = strands.points[0];
  EXPECT_NEAR(length_of(points), 2, 4e-3);  // chords are shorter than arcs
  for (const Vec3d& p : points) EXPECT_NEAR(std::hypot(p[0], p[2]), 0.03, 1e-12);
  const double turns = 2 / std::hypot(2 * std::numbers::pi * 0.03, 0.02);
  EXPECT_NEAR(points.back()[1], -0.02 * turns, 1e-12);
}

TEST(Strands, ARingIsClosed) {
  const Strands ring = make_ring_strand(0.5, 60);
  EXPECT_TRUE(ring.closed);
  EXPECT_EQ(ring.segments(), 60U);
}

TEST(Strands, ACurvePassesThroughItsPoints) {
  std::vector<Vec3d> corners;
  for (int i = 0; i <= 12; ++i)
    corners.push_back({std::cos(i * std::numbers::pi / 12), std::sin(i * std::numbers::pi / 12), 0});
  const Strands arc = make_curve_strand(corners, 48);
  ASSERT_EQ(arc.segments(), 48U);
  EXPECT_EQ(arc.points[0].front(), corners.front());
  EXPECT_LT(norm(arc.points[0].back() - corners.back()), 1e-12);
  EXPECT_LT(norm(arc.points[0][24] - corners[6]), 1e-3);
  // Less exact between the two points at each end, beyond which the curve goes on without curvature.
  for (std::size_t i = 0; i < 49; ++i)
    EXPECT_NEAR(norm(arc.points[0][i]), 1, i >= 4 && i <= 44 ? 2e-3 : 6e-3) << i;
  const double segment = norm(arc.points[0][1] - arc.points[0][0]);
  for (std::size_t i = 1; i < 49; ++i)
    EXPECT_NEAR(norm(arc.points[0][i] - arc.points[0][i - 1]), segment, 1e-3 * segment);
}

TEST(Strands, AtRestKeepsLengthsAndDividesThemByTheStretch) {
  const Strands helix = make_strand(1, 40, {Curl::Style::curly, 0.03, 0.02});
  EXPECT_EQ(at_rest(helix, 1, false).points, helix.points);
  const Strands straight = at_rest(helix, 1, true);
  EXPECT_NEAR(norm(straight.points[0].back() - straight.points[0].front()), length_of(helix.points[0]),
              1e-12);
  const Strands ring = make_ring_strand(0.5, 60), loose = at_rest(ring, 2, false);
  EXPECT_TRUE(loose.closed);
  EXPECT_NEAR(length_of(loose.points[0]), length_of(ring.points[0]) / 2, 1e-12);
  EXPECT_NEAR(norm(loose.points[0][0] - loose.points[0][30]), 0.5, 1e-12);
}

TEST(Strands, RootsOfASphereAreSpreadOverItsCap) {
  const std::vector<Root> roots = roots_on_sphere(2, 500, std::numbers::pi / 3);
  ASSERT_EQ(roots.size(), 500U);
  double nearest = 1e9;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    EXPECT_NEAR(norm(roots[i].point), 2, 1e-12);
    EXPECT_GE(roots[i].normal[1], 0.5);
    for (std::size_t j = 0; j < i; ++j) nearest = std::min(nearest, norm(roots[i].point - roots[j].point));
  }
  // The cap has the area 2 pi r^2 / 2: 0.025 per root.
  EXPECT_GT(nearest, 0.5 * std::sqrt(0.025));
}

TEST(Strands, RootsOfASurfaceLieOnItWithinTheCap) {
  const SurfaceMesh roof{{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {{0, 2, 1}, {0, 1, 3}}};
  for (const Root& root : roots_on_surface(roof, 50, 1, 3)) {
    EXPECT_EQ(root.normal, (Vec3d{0, 1, 0}));
    EXPECT_EQ(root.point[1], 0);
    EXPECT_LE(root.point[0] + root.point[2], 1 + 1e-12);
  }
  const SurfaceMesh floor{roof.nodes, {{0, 1, 2}}};
  EXPECT_THROW(roots_on_surface(floor, 5, 1, 3), std::invalid_argument);
}

TEST(Strands, HairHasItsLengthAndStaysOffTheSphere) {
  for (const Curl::Style style :
       {Curl::Style::straight, Curl::Style::wavy, Curl::Style::curly, Curl::Style::frizzy}) {
    Groom groom;
    groom.length = 0.4;
    groom.segments = 24;
    groom.droop = 0.7;
    groom.unruly = 0.2;
    groom.gap = 0.01;
    groom.clear = 0.1;
    groom.curl = {style, 0.005, 0.05};
    const Strands hair = make_hair(roots_on_sphere(0.1, 40, 1.5), groom);
    ASSERT_EQ(hair.points.size(), 40U);
    for (const auto& strand : hair.points) {
      ASSERT_EQ(strand.size(), 25U);
      EXPECT_NEAR(norm(strand[0]), 0.11, 1e-9);
      EXPECT_GT(length_of(strand), 0.3);
      if (style != Curl::Style::straight) continue;
      for (const Vec3d& p : strand) EXPECT_GT(norm(p), 0.1 + 0.005);
    }
    groom.seed = 1;
    EXPECT_EQ(make_hair(roots_on_sphere(0.1, 40, 1.5), groom).points, hair.points);
  }
}

/// A HAIR file of strands with the given numbers of segments.
std::string hair_bytes(const std::vector<std::uint16_t>& segments, std::uint32_t arrays = 3,
                       std::uint32_t default_segments = 0) {
  std::string bytes = "HAIR";
  const auto add = [&](const auto& value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes.append(raw, sizeof(value));
  };
  std::uint32_t points = 0;
  for (const std::uint16_t s : segments) points += s + 1U;
  add(static_cast<std::uint32_t>(segments.size()));
  add(points);
  add(arrays);
  add(default_segments);
  bytes.resize(128, '\0');
  if (arrays & 1U)
    for (const std::uint16_t s : segments) add(s);
  for (std::size_t h = 0; h < segments.size(); ++h)
    for (int i = 0; i <= segments[h]; ++i)
      for (const float c : {float(h), -float(i), 0.5f}) add(c);
  return bytes;
}

class HairFile : public ::testing::Test {
 protected:
  testing::IpcFolder folder;

  Strands load(const std::string& bytes) const {
    std::ofstream(folder.root / "a.hair", std::ios::binary) << bytes;
    return load_hair(folder.root / "a.hair");
  }
  std::string fault(const std::string& bytes) const {
    try {
      load(bytes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(HairFile, ReadsStrandsOfDifferentAndOfEqualLength) {
  const Strands strands = load(hair_bytes({3, 1, 2}));
  ASSERT_EQ(strands.points.size(), 3U);
  EXPECT_EQ(strands.points[0].size(), 4U);
  EXPECT_EQ(strands.points[2][1], (Vec3d{2, -1, 0.5}));
  EXPECT_EQ(load(hair_bytes({2, 2}, 2, 2)).points[1].size(), 3U);
  EXPECT_EQ(thinned(strands, 2).points.size(), 2U);
  const Strands fine = resampled(strands, 6);
  EXPECT_EQ(fine.points[0].size(), 7U);
  EXPECT_NEAR(fine.points[0][1][1], -0.5, 1e-12);
}

TEST_F(HairFile, LeavesOutPointsAndStrandsWithoutLength) {
  std::string bytes = hair_bytes({3, 0});
  std::memcpy(&bytes[128 + 4 + 12], &bytes[128 + 4], 12);  // the second point is the first one
  const Strands strands = load(bytes);
  ASSERT_EQ(strands.points.size(), 1U);
  EXPECT_EQ(strands.points[0].size(), 3U);
}

TEST_F(HairFile, SaysWhichStrandsAndPointsAreLeftOut) {
  const std::string name = (folder.root / "a.hair").string();
  std::string bytes = hair_bytes({2, 0, 3, 0});
  std::memcpy(&bytes[128 + 8 + 12 * 6], &bytes[128 + 8 + 12 * 5], 12);  // of the third strand
  std::ofstream(folder.root / "a.hair", std::ios::binary) << bytes;
  const std::string rods =
      "[[material]]\nname = 'm'\n[[object]]\nname = 'r'\nbody = 'rods'\ndiameter = 0.01\nmaterial = 'm'\n"
      "file = 'a.hair'\n";
  const Scene scene = parse_scene(rods, folder.root / "test.toml");
  EXPECT_EQ(scene.model.segments.size(), 4U);
  EXPECT_EQ(scene.notes, (std::vector<std::string>{
                             name + ": strand 2 of 4 and 1 more have no length: left out",
                             name + ": 1 point is where the one before is: left out, first in strand 3"}));
  std::ofstream(folder.root / "a.hair", std::ios::binary) << hair_bytes({2, 0});
  EXPECT_EQ(parse_scene(rods, folder.root / "test.toml").notes,
            std::vector<std::string>{name + ": strand 2 of 2 has no length: left out"});
  std::ofstream(folder.root / "a.hair", std::ios::binary) << hair_bytes({2, 1});
  EXPECT_TRUE(parse_scene(rods, folder.root / "test.toml").notes.empty());
}

TEST_F(HairFile, BadFilesAreRefused) {
  const auto expect_fault = [&](const std::string& bytes, const char* part) {
    const std::string text = fault(bytes);
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  };
  expect_fault("v 0 0 0\n", "begins with the letters HAIR");
  expect_fault(hair_bytes({3}).substr(0, 100), "128 bytes");
  expect_fault(hair_bytes({}), "has no strands");
  expect_fault(hair_bytes({3}, 1), "has no points");
  expect_fault(hair_bytes({3, 2}, 2, 2), "need 6 points, and it has 7");
  std::string wrong = hair_bytes({3, 2});
  wrong[8] = 9;
  expect_fault(wrong, "have 7 points, and its header says 9");
  expect_fault(hair_bytes({3, 2}).substr(0, 140), "");
  EXPECT_NE(fault(hair_bytes({3, 2}).substr(0, 140)), "");
  std::string huge = hair_bytes({3});
  huge[7] = 0x7f;
  EXPECT_NE(fault(huge), "");
  std::string nan = hair_bytes({1});
  const float bad = std::nanf("");
  std::memcpy(&nan[130], &bad, 4);
  expect_fault(nan, "is not finite");
  expect_fault(hair_bytes({0, 0}), "no strand has a length");
}

const std::string head =
    "[[material]]\nname = 'wire'\n[[object]]\nname = 'rod'\nbody = 'rods'\ndiameter = 0.01\n";

TEST(RodScene, AStrandHasItsNodesGhostsAndHeldRoot) {
  const Scene scene = parse_scene(
      head +
          "shape = 'strand'\nlength = 1\nsegments = 5\naspect = 2\nhold = 'root'\nposition = [0, 2, 0]\n"
          "motion = { velocity = [0, 1, 0] }\n",
      "a.toml");
  const Model& model = scene.model;
  ASSERT_EQ(model.objects.size(), 1U);
  const Object& rod = model.objects[0];
  EXPECT_TRUE(rod.is_rods());
  EXPECT_EQ(rod.thickness, 0.01);
  EXPECT_EQ(rod.aspect, 2);
  EXPECT_EQ(model.node_count(), 11U);
  ASSERT_EQ(model.scripted.size(), 1U);
  EXPECT_EQ(model.scripted[0].nodes, (std::vector<std::int32_t>{0, 5, 6}));
  EXPECT_FALSE(model.scripted[0].is_static());
  EXPECT_EQ(model.positions[5], (Vec3d{0, 2, 0}));
}

TEST(RodScene, TwistIsDynamicOrQuasistatic) {
  const std::string rod = head +
                          "shape = 'strand'\nlength = 1\nsegments = 4\ncount = [2, 1, 1]\n"
                          "spacing = [1, 1, 1]\n";
  const auto quasistatic = [&](const std::string& line) {
    const Model model = parse_scene(rod + line, "a.toml").model;
    EXPECT_EQ(model.objects.size(), 2U);
    EXPECT_EQ(model.objects[0].quasistatic_twist, model.objects[1].quasistatic_twist);
    return model.objects[0].quasistatic_twist;
  };
  EXPECT_FALSE(quasistatic(""));
  EXPECT_FALSE(quasistatic("twist = 'dynamic'\n"));
  EXPECT_TRUE(quasistatic("twist = 'quasistatic'\n"));
  try {
    quasistatic("twist = 'static'\n");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("quasistatic"), std::string::npos) << error.what();
  }
}

// A pin takes the ghosts of segments that it holds, and none that only lies in its box.
TEST(RodScene, PinsHoldTheFramesOfWholeSegments) {
  const std::string rod = head + "shape = 'strand'\nlength = 1\nsegments = 4\n";
  const Scene boxed =
      parse_scene(rod + "[[pin]]\nbox = { min = [-1, -0.3, -1], max = [1, 1, 1] }\n", "a.toml");
  EXPECT_EQ(boxed.model.scripted[0].nodes, (std::vector<std::int32_t>{4, 5, 0}));
  const Scene listed = parse_scene(rod + "[[pin]]\nobject = 'rod'\nnodes = [0, 4]\n", "a.toml");
  EXPECT_EQ(listed.model.scripted[0].nodes, (std::vector<std::int32_t>{4, 8}));
}

// At the start the curve lies as given; without stress it is straight and shorter, with ghosts beside it.
TEST(RodScene, ARestShapeMayDifferFromTheStart) {
  const Scene scene = parse_scene(head +
                                      "shape = 'curve'\npoints = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]\n"
                                      "segments = 8\nrest = 'straight'\nstretch = 2\n",
                                  "a.toml");
  const Model& model = scene.model;
  const auto first = static_cast<std::size_t>(model.objects[0].collides_from);
  EXPECT_LT(norm(model.positions[first + 8] - Vec3d{1, 1, 0}), 1e-12);
  double length = 0;
  for (std::size_t i = first; i < first + 8; ++i) length += norm(model.positions[i + 1] - model.positions[i]);
  EXPECT_NEAR(norm(model.rest_positions[first + 8] - model.rest_positions[first]), length / 2, 1e-12);
  const Vec3d middle = 0.5 * (model.rest_positions[first] + model.rest_positions[first + 1]);
  const Vec3d along = model.rest_positions[first + 1] - model.rest_positions[first];
  EXPECT_NEAR(dot(model.rest_positions[0] - middle, along), 0, 1e-12);
}

TEST(RodScene, HairIsOneObjectWithHeldRoots) {
  const Scene scene =
      parse_scene(head +
                      "shape = 'hair'\nradius = 0.2\nstrands = 30\nlength = 0.3\nsegments = 6\ncap = 45\n"
                      "style = 'curly'\ncurl_radius = 0.01\ncurl_pitch = 0.1\n",
                  "a.toml");
  ASSERT_EQ(scene.model.objects.size(), 1U);
  const RodCount count = count_rods(scene.model, scene.model.objects[0]);
  EXPECT_EQ(count.strands, 30U);
  EXPECT_EQ(count.segments, 180U);
  EXPECT_EQ(scene.model.scripted.at(0).nodes.size(), 90U);
}

std::vector<Vec3d> held_points(const Model& model, const std::vector<std::int32_t>& nodes) {
  std::vector<Vec3d> out;
  for (const std::int32_t i : nodes)
    if (i >= model.objects[model.node_object[i]].collides_from) out.push_back(model.positions[i]);
  return out;
}
bool holds(const std::vector<Vec3d>& points, const Vec3d& p) {
  return std::any_of(points.begin(), points.end(), [&](const Vec3d& q) { return norm(q - p) < 1e-12; });
}

// Of 2, 3 and 100 parts of each segment, 2, 3 and 9 fit: 0.1 m, and a diameter of 0.01 m.
std::string fault_of_density(const std::string& text, std::optional<double> density,
                             const std::filesystem::path& file = "test.toml") {
  try {
    parse_scene(text, file, {}, density);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RodScene, TheDensityMultipliesStrandsOfHair) {
  const std::string hair = head +
                           "material = 'wire'\nshape = 'hair'\nradius = 0.2\nstrands = 30\nlength = 0.3\n"
                           "segments = 6\ncap = 45\n";
  const auto segments = [&](const std::string& text, std::optional<double> density) {
    return parse_scene(text, "test.toml", {}, density).model.segments.size();
  };
  EXPECT_EQ(segments(hair, {}), 30U * 6);
  EXPECT_EQ(segments(hair, 2.5), 75U * 6);
  EXPECT_EQ(segments(hair, 0.1), 3U * 6);
  EXPECT_EQ(segments(hair, 0.001), 6U) << "at least one strand";
  EXPECT_EQ(segments("density = 2\n" + hair, {}), 60U * 6);
  EXPECT_EQ(segments("density = 2\n" + hair, 3), 90U * 6) << "that of the call replaces the scene's";
  EXPECT_EQ(parse_scene("density = 2\n" + hair, "test.toml").density, 2);
  EXPECT_EQ(parse_scene(hair, "test.toml", 2, 2).model.segments.size(), 60U * 12) << "beside a scale";

  EXPECT_NO_THROW(load_scene("helix", {}, 1));
  EXPECT_THROW(load_scene("helix", {}, 2), InputError) << "it has no hair";
  EXPECT_NE(fault_of_density("density = 1e4\n" + head +
                                 "material = 'wire'\nshape = 'hair'\nradius = 0.2\nlength = 1\n"
                                 "segments = 1\nstrands = 101\n",
                             {})
                .find("are 1010000 with the scene's density"),
            std::string::npos);
  EXPECT_NE(fault_of_density("density = 0\n" + hair, {}).find("density"), std::string::npos);
}

TEST_F(HairFile, TheDensityPicksStrandsOfAFile) {
  std::ofstream(folder.root / "a.hair", std::ios::binary) << hair_bytes({2, 2, 2, 2, 2, 2});
  const std::string rods = head + "material = 'wire'\nfile = 'a.hair'\n";
  const auto segments = [&](const std::string& text, std::optional<double> density) {
    return parse_scene(text, folder.root / "test.toml", {}, density).model.segments.size();
  };
  EXPECT_EQ(segments(rods, {}), 12U);
  EXPECT_EQ(segments(rods, 0.5), 6U);
  EXPECT_EQ(segments(rods + "strands = 2\n", {}), 4U);
  EXPECT_EQ(segments(rods + "strands = 2\n", 3), 12U);
  EXPECT_NE(
      fault_of_density(rods, 2, folder.root / "test.toml").find("has 6 strands, and a density of 2 needs 12"),
      std::string::npos);
  EXPECT_EQ(load_scene((folder.root / "a.hair").string(), {}, 0.5).model.segments.size(), 6U);
}

TEST(RodScene, TheScaleRefinesRodsAndLeavesPinsInPlace) {
  const std::string rod = head + "shape = 'strand'\nlength = 1\nsegments = 10\nhold = 'ends'\n";
  const std::string pins = "[[pin]]\nobject = 'rod'\nnodes = [3, 5, 6]\n";
  const auto at = [&](double scale) { return parse_scene(rod + pins, "a.toml", scale).model; };
  const Model coarse = at(1);
  for (const auto& [scale, parts] : {std::pair{2.0, 2}, {1.5, 2}, {3.0, 3}, {100.0, 9}}) {
    SCOPED_TRACE(scale);
    const Model fine = at(scale);
    EXPECT_EQ(fine.segments.size(), 10U * parts);
    ASSERT_EQ(fine.scripted.size(), 2U);
    for (const std::size_t k : {0, 1}) {
      const std::vector<Vec3d> before = held_points(coarse, coarse.scripted[k].nodes),
                               after = held_points(fine, fine.scripted[k].nodes);
      for (const Vec3d& p : before) EXPECT_TRUE(holds(after, p)) << p[1];
      // Two held segments, or one and a point: with the points inside, and a frame for each part.
      const std::size_t segments = k == 0 ? 2 : 1;
      EXPECT_EQ(after.size(), before.size() + segments * (parts - 1));
      EXPECT_EQ(fine.scripted[k].nodes.size() - after.size(), segments * parts);
    }
  }
}

TEST(RodScene, TheScaleKeepsRingsAndForces) {
  const std::string loads =
      "[[force]]\nobject = 'rod'\nnodes = [0]\nacceleration = [0, 1, 0]\n"
      "[[force]]\nobject = 'rod'\nnodes = [2, 3]\nacceleration = [0, 1, 0]\n";
  // The mass of a point, with halves of the segments beside it, times its acceleration.
  const auto force = [&](const Model& model, const NodeForce& load) {
    double mass = 0;
    for (const Vec2i& s : model.segments)
      for (int c = 0; c < 2; ++c)
        if (std::find(load.nodes.begin(), load.nodes.end(), s[c]) != load.nodes.end())
          mass += norm(model.positions[s[1]] - model.positions[s[0]]) / 2;
    return mass * load.acceleration[1];
  };
  for (const char* shape :
       {"shape = 'strand'\nlength = 1\nsegments = 4\n", "shape = 'ring'\nradius = 0.3\nsegments = 40\n"}) {
    const Model coarse = parse_scene(head + shape + loads, "a.toml", 1).model,
                fine = parse_scene(head + shape + loads, "a.toml", 3).model;
    EXPECT_EQ(fine.segments.size(), 3 * coarse.segments.size());
    for (const std::size_t k : {0, 1}) {
      const double before = force(coarse, coarse.forces[k]);
      EXPECT_NEAR(force(fine, fine.forces[k]), before, 5e-3 * before) << shape;  // chords of the ring
    }
    EXPECT_LT(norm(coarse.positions[coarse.forces[0].nodes[0]] - fine.positions[fine.forces[0].nodes[0]]),
              1e-12);
  }
  const Model listed =
      parse_scene(
          head + "shape = 'ring'\nradius = 0.3\nsegments = 40\n[[pin]]\nobject = 'rod'\nnodes = [39, 0]\n",
          "a.toml", 3)
          .model;
  EXPECT_EQ(listed.scripted[0].nodes.size(), 7U) << "four points and three frames, over the end of the list";
}

TEST(RodScene, MistakesAreRefused) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      parse_scene(head + text, "a.toml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect_fault = [&](const std::string& text, const char* part) {
    EXPECT_NE(fault(text).find(part), std::string::npos) << part << " in: " << fault(text);
  };
  expect_fault("shape = 'strad'\n", "did you mean 'strand'?");
  expect_fault("shape = 'strand'\nlength = 1\n", "needs the whole number segments");
  expect_fault("shape = 'ring'\nradius = 1\nsegments = 2\n", "a ring has at least 3");
  expect_fault("shape = 'curve'\nsegments = 5\n", "a curve has at least 2");
  expect_fault("shape = 'curve'\nsegments = 5\npoints = [[0, 0, 0], [0, 0, 0]]\n", "must differ");
  expect_fault("shape = 'ring'\nradius = 1\nsegments = 9\nrest = 'straight'\n", "cannot be straight");
  expect_fault("shape = 'strand'\nlength = 1\nsegments = 5\nrest = 'straigt'\n", "did you mean 'straight'?");
  expect_fault("shape = 'hair'\nstrands = 5\nlength = 1\nsegments = 3\n", "needs either the radius");
  expect_fault("shape = 'strand'\nlength = 1\nsegments = 5\nmotion = { velocity = [0, 1, 0] }\n",
               "none are held");
  expect_fault("shape = 'strand'\nlength = 1\nsegments = 5\nhold = 'rot'\n", "did you mean 'root'?");
  expect_fault("file = 'a.obj'\n", "rods are read from .hair files");
  expect_fault("shape = 'strand'\nlength = 1\nsegments = 5\nedge = 2\n", "edge");
}

}  // namespace
}  // namespace stickslip
