// penetration_guard: states of velocity-level steps have no edge that passes through a triangle. The count is
// by exact signs over all pairs of the model, without collision detection or trees.
#include <cmath>
#include <set>

#include "gpu/geometry/segment_triangle.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/clip_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::BoxBody;
using Vec3d = Vec<double, 3>;

/// Edges that pass through triangles with which they share no node.
int count_intersections(const Model& model, const std::vector<Vec3d>& x) {
  std::set<std::pair<int, int>> edges;
  for (const Vec3i& t : model.triangles)
    for (int c = 0; c < 3; ++c) edges.insert(std::minmax(t[c], t[(c + 1) % 3]));
  int count = 0;
  for (const auto& [a, b] : edges)
    for (const Vec3i& t : model.triangles) {
      bool shared = false;
      for (int c = 0; c < 3; ++c) shared = shared || t[c] == a || t[c] == b;
      if (!shared && segment_intersects_triangle(x[a], x[b], x[t[0]], x[t[1]], x[t[2]])) ++count;
    }
  return count;
}

double energy(const StepReport& r) { return r.kinetic_energy + r.gravity_energy + r.elastic_energy; }

class GuardedSteps : public fixtures::SolidStepTest {
 protected:
  GuardedSteps() {
    params.dt = 1.0 / 60;
    params.gravity = 0;
    params.pcg_tolerance = 1e-6;
    params.penetration_guard = true;
    contact.tolerance = 1e-3;
  }

  struct Run {
    int intersections = 0;  // in any state
    int solves = 0, shortened = 0;
    double cut = 0, rise = 0;  // [m] largest; [J] largest gain of energy above the least so far
    StepReport last;
    State state;
  };
  /// Steps of a model; the end of each is checked.
  Run run(Model model, int steps) {
    load(model);
    Run out;
    double least = 1e300;
    for (int i = 0; i < steps; ++i) {
      out.last = engine->step();
      out.state = engine->state();
      const int found = count_intersections(model, out.state.positions);
      out.intersections += found;
      EXPECT_EQ(out.last.contact_solve->guard.has_value(), params.penetration_guard);
      if (const auto& guard = out.last.contact_solve->guard) {
        EXPECT_EQ(guard->intersections, found) << out.last.frame;
        out.solves += guard->solves;
        out.shortened += guard->shortened;
        out.cut = std::max(out.cut, guard->cut);
        if (guard->cut > params.contact_slop) {
          EXPECT_FALSE(out.last.converged) << "a step that was cut";
        }
      }
      out.rise = std::max(out.rise, energy(out.last) - least);
      least = std::min(least, energy(out.last));
    }
    return out;
  }
};

/// A thin plate across x.
void add_plate(Model& model, const std::string& name, const Vec3d& center, const Vec3d& velocity,
               BoxBody kind) {
  add_box(model, name, {0.01, 0.3, 0.3}, center, 3, 7, velocity, kind);
}

double mean_x(const Model& model, const State& state, int object) {
  const Object& o = model.objects[static_cast<std::size_t>(object)];
  return fixtures::mean(state.positions, o.node_begin, o.node_end)[0];
}
/// How far object 1 is ahead of object 0 along the normal of the plates, which slide along each other.
double ahead_of(const Model& model, const State& state) {
  const auto center = [&](const Object& o) {
    return fixtures::mean(state.positions, o.node_begin, o.node_end);
  };
  const double angle = 7 * M_PI / 180;
  return dot(Vec3d{std::cos(angle), std::sin(angle), 0}, center(model.objects[1]) - center(model.objects[0]));
}

TEST_P(GuardedSteps, APlateThatCrossesAnotherInOneStepStopsThere) {
  for (const BoxBody kind : {BoxBody::deformable, BoxBody::affine})
    for (const bool guard : {false, true}) {
      SCOPED_TRACE(std::string(kind == BoxBody::affine ? "affine" : "deformable") +
                   (guard ? ", guarded" : ""));
      params.penetration_guard = guard;
      params.continuous = false;  // contacts are those within contact_margin
      Model model;
      add_plate(model, "fast", {-0.1, 0.02, 0.01}, {12, 0, 0}, kind);  // 0.2 m per step
      add_plate(model, "still", {0, 0, 0}, {0, 0, 0}, kind);
      model.materials[0].young = 1e6;
      const double ahead = ahead_of(model, run(model, 1).state);
      engine = make_engine(GetParam(), 2);
      const Run r = run(model, 10);
      if (guard) {
        EXPECT_EQ(r.intersections, 0);
        EXPECT_GT(ahead, 0.009) << "in front of it, until both turn";
        EXPECT_GT(r.solves, 0);
      } else {
        EXPECT_LT(ahead, -0.09) << "it passes through";
      }
      const double mass = 1000 * 0.01 * 0.3 * 0.3;
      EXPECT_NEAR(r.last.momentum[0], 12 * mass, 1e-3 * 12 * mass);
      // In one step the plates begin to turn, and the linearised forces may create a tenth of the energy.
      EXPECT_LT(r.rise, 0.1 * 0.5 * mass * 144);
    }
}

TEST_P(GuardedSteps, TwoFastCubesBounceOffOrStayTogether) {
  Model model;
  add_box(model, "a", {0.2, 0.2, 0.2}, {-0.3, 0.04, 0.03}, 2, 20, {15, 0, 0});
  add_box(model, "b", {0.2, 0.2, 0.2}, {0.1, 0, 0}, 2, 0, {-15, 0, 0}, BoxBody::affine);
  model.materials[0].young = 1e6;
  const Run first = run(model, 2);  // later they turn about each other
  EXPECT_GT(mean_x(model, first.state, 1), mean_x(model, first.state, 0));
  engine = make_engine(GetParam(), 2);
  const Run r = run(model, 20);
  EXPECT_EQ(r.intersections, 0);
  EXPECT_NEAR(r.last.momentum[0], 0, 1e-3 * 8 * 15);
}

TEST_P(GuardedSteps, AColliderPushesAPlateAheadOfItself) {
  Model model;
  Motion motion;
  motion.velocity = {3, 0, 0};
  model.materials.push_back({});
  model.material_names.push_back("default");
  const auto lattice = fixtures::box_lattice({0.05, 0.6, 0.6}, {-0.1, 0, 0}, {1, 1, 1});
  std::vector<Vec3i> triangles{{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                               {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (Vec3i& t : triangles) std::swap(t[1], t[2]);
  add_collider(model, "wall", lattice.nodes, triangles, 0, motion);
  add_plate(model, "plate", {0, 0, 0}, {-5, 0, 0}, BoxBody::deformable);
  const Run r = run(model, 15);
  EXPECT_EQ(r.intersections, 0);
  EXPECT_GT(mean_x(model, r.state, 1), mean_x(model, r.state, 0));
  EXPECT_GT(fixtures::mean(r.state.velocities, 8, static_cast<int>(r.state.velocities.size()))[0], 2.5);
}

TEST_P(GuardedSteps, TheArmsOfAClipNeverCross) {
  params.dt = 0.01;
  const fixtures::Clip clip = fixtures::clip_model(0.06, false);
  const Run r = run(clip.model, 60);
  EXPECT_EQ(r.intersections, 0);
  double least = 1;
  for (const auto& [low, high] : clip.facing)
    least = std::min(least, r.state.positions[high][1] - r.state.positions[low][1]);
  EXPECT_GT(least, 0);
  EXPECT_LT(least, 3e-3) << "the arms touch";
}

TEST_P(GuardedSteps, AHeapComesToRestWithoutIntersections) {
  params.gravity = -9.81;
  params.dt = 0.01;
  double height[2], speed[2];
  for (const bool guard : {false, true}) {
    params.penetration_guard = guard;
    Model model;
    fixtures::add_floor(model);
    for (int i = 0; i < 4; ++i)
      add_box(model, "box " + std::to_string(i), {0.16, 0.12, 0.14}, {0.003 * i, 0.08 + 0.13 * i, 0.002 * i},
              2, 0, {0, -1, 0}, i % 2 == 0 ? BoxBody::deformable : BoxBody::affine);
    model.materials[0].young = 1e5;
    model.materials[0].mu = 0.5;
    model.materials[0].damping = 0.005;
    const Run r = run(model, 120);
    if (guard) {
      EXPECT_EQ(r.intersections, 0);
      for (const Vec3d& p : r.state.positions) EXPECT_GT(p[1], 0);
    }
    EXPECT_LT(r.rise, 0.02);
    const Object& top = model.objects.back();
    height[guard] = fixtures::mean(r.state.positions, top.node_begin, top.node_end)[1];
    speed[guard] = norm(fixtures::mean(r.state.velocities, top.node_begin, top.node_end));
  }
  // Each contact keeps up to 1 mm.
  EXPECT_NEAR(height[1], height[0], 6e-3);
  EXPECT_LT(speed[0], 0.02);
  EXPECT_LT(speed[1], 0.02);
}

TEST_P(GuardedSteps, MotionsThatWouldReachTheFloorStopShort) {
  params.continuous = false;  // contacts with the floor are those within contact_margin
  Model model;
  fixtures::add_floor(model);
  add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.15, 0}, 2, 20, {0, -12, 0});
  model.materials[0].young = 1e6;
  load(model);
  const StepReport first = engine->step();
  ASSERT_TRUE(first.contact_solve->guard);
  EXPECT_GT(first.contact_solve->guard->shortened, 0);
  EXPECT_GT(first.contact_solve->guard->cut, 0.1);
  EXPECT_FALSE(first.converged);
  EXPECT_NE(first.stop_reason.find("penetration_guard"), std::string::npos) << first.stop_reason;
  for (int i = 0; i < 4; ++i) {
    engine->step();
    for (const Vec3d& p : engine->state().positions) EXPECT_GT(p[1], 0);
  }
}

TEST_P(GuardedSteps, ASteadyStepAllocatesNothing) {
  params.gravity = -9.81;
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 3; ++i)
    add_box(model, "box " + std::to_string(i), {0.2, 0.1, 0.2}, {0.01 * i, 0.06 + 0.11 * i, 0.02 * i}, 2);
  model.materials[0].young = 1e5;
  model.materials[0].damping = 0.01;
  load(model);
  for (int i = 0; i < 60; ++i) engine->step();
  for (int i = 0; i < 10; ++i) {
    const StepReport report = engine->step();
    EXPECT_EQ(report.contact_solve->guard->shortened, 0) << report.frame;
    EXPECT_EQ(report.counters.allocations, 0u) << report.frame;
  }
}

TEST_P(GuardedSteps, OverlapsAtTheStartAreCountedAndTakenBack) {
  Model model;
  add_box(model, "a", {0.2, 0.2, 0.2}, {0, 0, 0}, 2);
  add_box(model, "b", {0.2, 0.2, 0.2}, {0.198, 0.03, 0.04}, 2);
  model.materials[0].young = 1e6;
  load(model);
  const StepReport first = engine->step();
  ASSERT_TRUE(first.contact_solve->guard);
  EXPECT_GT(first.contact_solve->guard->unguarded, 0);
  StepReport last;
  for (int i = 0; i < 60; ++i) last = engine->step();
  EXPECT_EQ(last.contact_solve->guard->unguarded, 0);
  EXPECT_EQ(count_intersections(model, engine->state().positions), 0);
}

TEST_P(GuardedSteps, RefusesTheMidpointRule) {
  params.integrator = RigidIntegrator::midpoint;
  Model model;
  add_box(model, "a", {0.2, 0.2, 0.2}, {0, 0, 0}, 1);
  load(model);
  EXPECT_FALSE(engine->step().contact_solve->guard) << "an engine ignores it; scene files refuse it";
}

INSTANTIATE_ON_BACKENDS(GuardedSteps);

}  // namespace
}  // namespace stickslip
