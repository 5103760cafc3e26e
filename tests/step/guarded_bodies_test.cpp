// penetration_guard between elastic solids and rigid bodies: no point of a solid's surface is inside a body.
// The bodies of these tests are convex, so planes say what is inside; collision detection has no part in it.
#include <algorithm>
#include <cmath>
#include <functional>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using Vec3d = Vec<double, 3>;

/// A body and the signed distance of its surface, in the frame of its parts: exact inside.
struct BodyCase {
  std::string name;
  std::function<BodyForm(Model&)> form;
  std::function<double(const Vec3d&)> distance;
  double error = 0;  // [m] of the surface that collides
};

double cube_distance(const Vec3d& p, double half) {
  return std::max({std::abs(p[0]), std::abs(p[1]), std::abs(p[2])}) - half;
}
std::vector<Vec3d> cube_nodes(double half) {
  std::vector<Vec3d> nodes;
  for (int i = 0; i < 8; ++i)
    nodes.push_back({i & 4 ? half : -half, i & 2 ? half : -half, i & 1 ? half : -half});
  return nodes;
}
const std::vector<Vec3i> kCubeTriangles{{0, 1, 2}, {1, 3, 2}, {4, 6, 5}, {5, 6, 7}, {0, 4, 1}, {1, 4, 5},
                                        {2, 3, 6}, {3, 7, 6}, {0, 2, 4}, {2, 6, 4}, {1, 5, 3}, {3, 5, 7}};

/// All smaller than the elements of the plates.
std::vector<BodyCase> body_cases() {
  constexpr double r = 0.02;
  return {
      {"sphere",
       [](Model&) {
         return assemble({make_part(ShapeKind::sphere, {r, 0, 0})});
       },
       [](const Vec3d& p) { return norm(p) - r; }},
      {"box",
       [](Model&) {
         return assemble({make_part(ShapeKind::box, {r, r, r})});
       },
       [](const Vec3d& p) { return cube_distance(p, r); }},
      {"hull",
       [](Model& model) {
         return assemble(
             {make_hull_part(model, {{r, 0, 0}, {-r, 0, 0}, {0, r, 0}, {0, -r, 0}, {0, 0, r}, {0, 0, -r}})});
       },
       [](const Vec3d& p) {
         return (std::abs(p[0]) + std::abs(p[1]) + std::abs(p[2]) - r) / std::sqrt(3.0);
       }},
      {"mesh",
       [](Model& model) { return assemble({make_mesh_part(model, cube_nodes(r), kCubeTriangles, 24)}); },
       [](const Vec3d& p) { return cube_distance(p, r); }, 2 * r / 24},
      {"two spheres",
       [](Model&) {
         return assemble({make_part(ShapeKind::sphere, {r / 2, 0, 0}, {{0, r, 0}, Quat::identity()}),
                          make_part(ShapeKind::sphere, {r / 2, 0, 0}, {{0, -r, 0}, Quat::identity()})});
       },
       [](const Vec3d& p) {
         return std::min(norm(p - Vec3d{0, r, 0}), norm(p + Vec3d{0, r, 0})) - r / 2;
       }},
  };
}

class GuardedBodies : public fixtures::SolidStepTest {
 protected:
  GuardedBodies() {
    params.dt = 1.0 / 60;
    params.gravity = 0;
    params.pcg_tolerance = 1e-6;
    params.penetration_guard = true;
    params.continuous = false;  // contacts are those within contact_margin
    contact.tolerance = 1e-3;
    contact.max_iterations = 100;
  }

  struct Run {
    double least = 1e300;  // [m] least distance of any point of the surface, in any state
    bool in_front = true;  // in all states the point nearest to the body was at first on the -x side
    int solves = 0, unguarded = 0;
    StepReport last;
    State state;
  };
  /// Steps of a model with one plate, object 0, and one body.
  Run run(Model model, const BodyCase& body, const BodyForm& form, int steps) {
    load(model);
    Run out;
    for (int i = 0; i < steps; ++i) {
      out.last = engine->step();
      out.state = engine->state();
      const Pose& pose = out.state.bodies[0].pose;
      double least = 1e300;
      bool in_front = true;
      for (const Vec3i& t : model.triangles) {
        if (t[0] >= model.objects[0].node_end) continue;
        const auto corner = [&](const std::vector<Vec3d>& of, int c) { return of[t[c]]; };
        const Vec3d normal = cross(corner(model.positions, 1) - corner(model.positions, 0),
                                   corner(model.positions, 2) - corner(model.positions, 0));
        constexpr int n = 12;
        for (int a = 0; a <= n; ++a)
          for (int b = 0; a + b <= n; ++b) {
            const std::vector<Vec3d>& x = out.state.positions;
            const Vec3d p = (1.0 / n) * (double(a) * corner(x, 0) + double(b) * corner(x, 1) +
                                         double(n - a - b) * corner(x, 2));
            const double distance = body.distance(form.frame.apply(pose.apply_back(p)));
            if (distance >= least) continue;
            least = distance;
            in_front = normal[0] <= 0;  // a rim that bends towards it may be nearest
          }
      }
      out.least = std::min(out.least, least);
      out.in_front = out.in_front && in_front;
      EXPECT_EQ(out.last.contact_solve->guard.has_value(), params.penetration_guard);
      if (const auto& guard = out.last.contact_solve->guard) {
        out.solves += guard->solves;
        out.unguarded += guard->unguarded;
      }
    }
    return out;
  }
};

void add_plate(Model& model, const Vec3d& velocity) {
  add_box(model, "plate", {0.01, 0.3, 0.3}, {0, 0, 0}, 3, 7, velocity);
  model.materials[0].young = 1e6;
}

TEST_P(GuardedBodies, AFastBodyDoesNotPassThroughAThinPlate) {
  for (const BodyCase& body : body_cases())
    for (const bool guard : {false, true}) {
      SCOPED_TRACE(body.name + (guard ? ", guarded" : ""));
      params.penetration_guard = guard;
      Model model;
      add_plate(model, {0, 0, 0});
      const BodyForm form = body.form(model);
      BodyStart start;
      start.pose = {{-0.1, 0.033, 0.021}, rotation_by(Vec3d{0.3, 0.2, 0.1})};
      start.velocity = {12, 0, 0};  // 0.2 m per step
      start.spin = {5, 20, -9};
      start.mass = 0.1;
      add_body(model, "body", form, 0, start);
      engine = make_engine(GetParam(), 2);
      const Run r = run(model, body, form, 4);
      if (guard) {
        EXPECT_GT(r.least, -body.error);
        EXPECT_TRUE(r.in_front);
        EXPECT_GT(r.solves, 0);
        EXPECT_EQ(r.unguarded, 0);
      } else {
        EXPECT_FALSE(r.in_front) << "it passes through";
      }
      EXPECT_NEAR(r.last.momentum[0], 1.2, 1e-3 * 1.2);
    }
}

TEST_P(GuardedBodies, AFastPlateDoesNotPassThroughAFixedBody) {
  for (const BodyCase& body : body_cases()) {
    SCOPED_TRACE(body.name);
    Model model;
    add_plate(model, {-12, 0, 0});
    const BodyForm form = body.form(model);
    BodyStart start;
    start.pose = {{-0.1, 0.033, 0.021}, rotation_by(Vec3d{0.3, 0.2, 0.1})};
    start.moves = false;
    add_body(model, "body", form, 0, start);
    engine = make_engine(GetParam(), 2);
    const Run r = run(model, body, form, 4);
    EXPECT_GT(r.least, -body.error);
    EXPECT_GT(r.solves, 0);
    EXPECT_EQ(r.unguarded, 0);
  }
}

/// The bar turns by 1 rad in a step: its ends would pass the plate on an arc.
TEST_P(GuardedBodies, ASpinningBarDoesNotSwingThroughAPlate) {
  const Vec3d half{0.1, 0.008, 0.008};
  const BodyCase bar{
      "bar", [half](Model&) { return assemble({make_part(ShapeKind::box, half)}); },
      [half](const Vec3d& p) {
        return std::max({std::abs(p[0]) - half[0], std::abs(p[1]) - half[1], std::abs(p[2]) - half[2]});
      }};
  for (const bool guard : {false, true}) {
    SCOPED_TRACE(guard ? "guarded" : "not guarded");
    params.penetration_guard = guard;
    Model model;
    add_plate(model, {0, 0, 0});
    const BodyForm form = bar.form(model);
    BodyStart start;
    start.pose = {{-0.07, 0.05, 0.02}, rotation_by(Vec3d{0, 0, 1.4})};
    start.spin = {0, 0, -60};
    start.mass = 0.1;
    add_body(model, "bar", form, 0, start);
    engine = make_engine(GetParam(), 2);
    const Run r = run(model, bar, form, 6);
    if (guard) EXPECT_GT(r.least, 0);
    else EXPECT_LT(r.least, -0.004);
  }
}

TEST_P(GuardedBodies, ABodyComesToRestOnASolidWithTheKeptGap) {
  params.gravity = -9.81;
  params.continuous = true;
  for (const BodyCase& body : body_cases()) {
    SCOPED_TRACE(body.name);
    Model model;
    add_box(model, "block", {0.12, 0.06, 0.12}, {0, 0.032, 0}, 3);
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.5, false});
    model.materials[0].young = 1e5;
    model.materials[0].damping = 0.01;
    const BodyForm form = body.form(model);
    BodyStart start;
    start.pose.x = {0.003, 0.1, 0.002};
    start.mass = 0.05;
    add_body(model, "body", form, 0, start);
    engine = make_engine(GetParam(), 2);
    const Run r = run(model, body, form, 60);
    EXPECT_GT(r.least, -body.error);
    EXPECT_EQ(r.unguarded, 0);
    EXPECT_EQ(r.last.contact_solve->guard->shortened, 0);
    EXPECT_LT(std::abs(r.state.bodies[0].velocity[1]), 0.02);
  }
}

/// All turn by 0.1 rad in a step, nearer to each other than what contacts keep.
TEST_P(GuardedBodies, ABodyThatTurnsWithASolidIsNoCrossing) {
  Model model;
  add_box(model, "block", {0.3, 0.06, 0.3}, {0, -0.03, 0}, 2);
  model.materials[0].young = 1e6;
  const Vec3d turn{0, 0, 6};
  for (std::size_t i = 0; i < model.positions.size(); ++i)
    model.velocities[i] = cross(turn, model.positions[i]);
  BodyStart start;
  start.pose.x = {0.1, 0.0152, 0};
  start.velocity = cross(turn, start.pose.x);
  start.spin = turn;
  start.mass = 0.2;
  add_body(model, "plate", assemble({make_part(ShapeKind::box, {0.18, 0.015, 0.18})}), 0, start);
  engine = make_engine(GetParam(), 2);
  load(model);
  for (int i = 0; i < 5; ++i) {
    const GuardRecord guard = *engine->step().contact_solve->guard;
    EXPECT_EQ(guard.shortened, 0);
    EXPECT_EQ(guard.unguarded, 0);
    EXPECT_LT(guard.solves, 3);
  }
}

TEST_P(GuardedBodies, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<State> ends;
  for (const int threads : {1, 3}) {
    Model model;
    add_plate(model, {0, 0, 0});
    for (const BodyCase& body : body_cases()) {
      BodyStart start;
      const auto k = static_cast<double>(model.bodies.size());
      start.pose.x = {-0.1, 0.06 * (k - 2), 0.02 * k};
      start.velocity = {8 + k, 0, 0};
      start.spin = {5, 20, -9};
      start.mass = 0.1;
      add_body(model, body.name, body.form(model), 0, start);
    }
    engine = make_engine(GetParam(), threads);
    load(model);
    for (int i = 0; i < 5; ++i) engine->step();
    ends.push_back(engine->state());
  }
  EXPECT_EQ(ends[0].positions, ends[1].positions);
  for (std::size_t b = 0; b < ends[0].bodies.size(); ++b)
    EXPECT_EQ(ends[0].bodies[b].pose.x, ends[1].bodies[b].pose.x);
}

INSTANTIATE_ON_BACKENDS(GuardedBodies);

}  // namespace
}  // namespace stickslip
