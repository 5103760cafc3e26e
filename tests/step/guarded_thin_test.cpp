// penetration_guard with cloth and rods: they keep their thickness. Distances are by brute force over all
// primitives, and to rigid bodies by samples; collision detection has no part in it.
#include <algorithm>
#include <cmath>
#include <random>

#include "gpu/geometry/segment_triangle.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using fixtures::add_floor;
using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::add_rod;
using fixtures::add_sheet;
using fixtures::distance_between;
using fixtures::kThickness;
using fixtures::pose_at;
using fixtures::rod_distance;
using fixtures::thin_model;
using fixtures::ThinTest;
using fixtures::Vec3d;

/// Whether an edge or a segment passes through a triangle with which it shares no node.
bool is_pierced(const Model& model, const std::vector<Vec3d>& x) {
  for (const Vec2i& e : model.edges)
    for (const Vec3i& t : model.triangles) {
      bool shared = false;
      for (int c = 0; c < 3; ++c) shared = shared || t[c] == e[0] || t[c] == e[1];
      if (!shared && segment_intersects_triangle(x[e[0]], x[e[1]], x[t[0]], x[t[1]], x[t[2]])) return true;
    }
  return false;
}

class GuardedThin : public ThinTest {
 protected:
  GuardedThin() {
    choose(SolverKind::velocity);
    params.penetration_guard = true;
  }

  Vec3d random_in(double size) {
    return {size * (2 * uniform(rng) - 1), size * (2 * uniform(rng) - 1), size * (2 * uniform(rng) - 1)};
  }
  /// A sheet or a rod in a random direction through about `middle`.
  const Object& add_thin(Model& model, const Vec3d& middle, const Vec3d& velocity) {
    const Vec3d direction = normalized(random_in(1));
    if (uniform(rng) < 0.5)
      return add_rod(model, middle, direction, 0.2, 2 + static_cast<int>(4 * uniform(rng)), velocity);
    Object& sheet = add_sheet(model, 0, 0.2, 1 + static_cast<int>(3 * uniform(rng)), 0, velocity);
    const Mat<double, 3> turn = rotation_by(2.0 * random_in(1)).matrix();
    for (std::int32_t n = sheet.node_begin; n < sheet.node_end; ++n) {
      model.positions[n] = middle + turn * model.positions[n];
      model.rest_positions[n] = model.positions[n];
    }
    return sheet;
  }

  std::mt19937 rng{11};
  std::uniform_real_distribution<double> uniform{0, 1};
};

// Up to two thicknesses a step.
TEST_P(GuardedThin, RandomSheetsAndRodsKeepTheirThickness) {
  int scenes = 0, touched = 0;
  for (int draw = 0; draw < 300; ++draw) {
    SCOPED_TRACE(draw);
    Model model = thin_model();
    model.materials[0].young = std::pow(10, 5 + 2 * uniform(rng));
    for (int k = 0; k < 4; ++k) add_thin(model, Vec3d{0, 0.18, 0} + random_in(0.1), random_in(2));
    model.half_spaces.push_back({});
    const std::size_t objects = model.objects.size();
    finalize(model);
    const auto gaps = [&](const std::vector<Vec3d>& x, double& between, double& above) {
      for (std::size_t a = 0; a < objects; ++a)
        for (std::size_t b = a + 1; b < objects; ++b)
          between =
              std::min(between, distance_between(model, x, model.objects[a], model.objects[b]) - kThickness);
      for (const std::int32_t n : model.surface_nodes)
        above = std::min(above, x[static_cast<std::size_t>(n)][1] - kThickness / 2);
    };
    double between = 1, above = 1;
    gaps(model.positions, between, above);
    if (!(std::min(between, above) > 1e-4) || is_pierced(model, model.positions)) continue;
    ++scenes;
    load(model);
    for (int i = 0; i < 25; ++i) {
      engine->step();
      const std::vector<Vec3d> x = positions();
      EXPECT_FALSE(is_pierced(model, x)) << i;
      gaps(x, between, above);
      ASSERT_GT(between, 0) << i;
      ASSERT_GT(above, 0) << i;
    }
    touched += between < 1e-3 ? 1 : 0;
  }
  EXPECT_GT(scenes, 15);
  EXPECT_GT(touched, scenes / 2);  // or the test shows nothing
}

/// [m] From a point to a box about the origin.
double box_distance(const Vec3d& p, const Vec3d& half) {
  Vec3d out{0, 0, 0};
  double inside = -1e300;
  for (int c = 0; c < 3; ++c) {
    out[c] = std::max(std::abs(p[c]) - half[c], 0.0);
    inside = std::max(inside, std::abs(p[c]) - half[c]);
  }
  return inside < 0 ? inside : norm(out);
}

TEST_P(GuardedThin, RandomThinObjectsKeepOutOfRigidBodies) {
  int scenes = 0, touched = 0;
  for (int draw = 0; draw < 80; ++draw) {
    SCOPED_TRACE(draw);
    params.gravity = draw % 2 == 0 ? 0 : 9.81;
    Model model = thin_model();
    add_floor(model, -0.3);
    const Vec3d half = Vec3d{0.03, 0.03, 0.03} + 0.5 * (random_in(0.03) + Vec3d{0.03, 0.03, 0.03});
    const bool ball = uniform(rng) < 0.3;
    const Pose start = pose_at(random_in(0.02), 2.0 * random_in(1));
    if (ball) add_rigid_sphere(model, half[0], start.x, uniform(rng) < 0.5);
    else add_rigid_box(model, half, start, uniform(rng) < 0.5);
    if (model.bodies[0].moves) {
      model.bodies[0].velocity = random_in(1);
      model.bodies[0].spin = random_in(10);
    }
    model.materials[0].young = std::pow(10, 5 + 2 * uniform(rng));
    const std::size_t first = model.objects.size();
    for (int k = 0; k < 3; ++k) {
      const Vec3d from = 0.2 * normalized(random_in(1));
      add_thin(model, from, -(5 + 10 * uniform(rng)) * from);
    }
    finalize(model);
    const auto least_gap = [&](const std::vector<Vec3d>& x, const Pose& pose) {
      double least = 1;
      const auto test = [&](const Vec3d& p) {
        const Vec3d q = pose.apply_back(p);
        least = std::min(least, (ball ? norm(q) - half[0] : box_distance(q, half)) - kThickness / 2);
      };
      constexpr int n = 40;
      for (const Vec2i& s : model.segments)
        for (int k = 0; k <= n; ++k) test(x[s[0]] + (double(k) / n) * (x[s[1]] - x[s[0]]));
      for (const Vec3i& t : model.triangles)
        for (int a = 0; a <= n; ++a)
          for (int b = 0; a + b <= n; ++b)
            test(x[t[0]] + (double(a) / n) * (x[t[1]] - x[t[0]]) + (double(b) / n) * (x[t[2]] - x[t[0]]));
      return least;
    };
    if (!(least_gap(model.positions, start) > 1e-4)) continue;
    double apart = 1;
    for (std::size_t a = first; a < model.objects.size(); ++a)
      for (std::size_t b = a + 1; b < model.objects.size(); ++b)
        apart = std::min(apart, distance_between(model, model.positions, model.objects[a], model.objects[b]));
    if (!(apart > kThickness) || is_pierced(model, model.positions)) continue;
    ++scenes;
    load(model);
    double least = 1;
    for (int i = 0; i < 20; ++i) {
      engine->step();
      const State state = engine->state();
      least = std::min(least, least_gap(state.positions, state.bodies[0].pose));
      ASSERT_GT(least, 0) << i << (ball ? ", ball" : ", box");
    }
    touched += least < 1e-3 ? 1 : 0;
  }
  EXPECT_GT(scenes, 15);
  EXPECT_GT(touched, scenes / 2);
}

// The first segments of two strands, whose scripts bring them nearer than their thickness. If the guard
// stopped them there, they would fall behind further with every step, and stretch what hangs on them.
TEST_P(GuardedThin, ScriptsThatBringRodsTogetherAreNotStopped) {
  Model model = thin_model(true);
  for (const double side : {-1.0, 1.0}) {
    const Object& rod = add_rod(model, {side * kThickness, 0, 0}, {0, 1, 0}, 0.2, 4, {0, 0, 0});
    const Vec2i first = model.segments[static_cast<std::size_t>(rod.segment_begin)];
    ScriptedNodes held{{first[0], first[1]}, {}};
    if (side < 0) held.motion.velocity = {0.1, 0, 0};
    held.motion.end = 0.14;
    model.scripted.push_back(held);
  }
  finalize(model);
  load(model);
  const auto held = model.scripted[0].nodes;
  for (int i = 1; i <= 40; ++i) {
    const StepReport report = engine->step();
    const std::vector<Vec3d> x = positions();
    const double way = std::min(0.1 * i * params.dt, 0.014);
    for (const std::int32_t n : held)
      EXPECT_NEAR(x[static_cast<std::size_t>(n)][0], way - kThickness, 1e-9) << i;
    for (const Vec2i& s : model.segments)
      EXPECT_NEAR(norm(x[static_cast<std::size_t>(s[1])] - x[static_cast<std::size_t>(s[0])]), 0.05, 1e-3)
          << i;
    EXPECT_EQ(report.contact_solve->guard->shortened, 0) << i;
  }
  // Their scripted parts overlap by 4 mm, what is free bends away.
  const std::vector<Vec3d> x = positions();
  EXPECT_NEAR(rod_distance(model, x, model.objects[0], model.objects[1]), 0.006, 1e-6);
  const auto end_of = [&](int rod) { return x[static_cast<std::size_t>(model.segments[4 * rod + 3][1])]; };
  EXPECT_GT(end_of(1)[0] - end_of(0)[0], kThickness);
}

INSTANTIATE_ON_BACKENDS(GuardedThin);

}  // namespace
}  // namespace stickslip
