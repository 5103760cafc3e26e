// Steps with admm_search_every: contacts that appear within a contact problem. Distances are those of lines,
// without collision detection.
#include <algorithm>
#include <cmath>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using fixtures::add_rod;
using fixtures::kThickness;
using fixtures::rod_distance;
using fixtures::thin_model;
using fixtures::ThinTest;
using fixtures::Vec3d;

class NodalSearch : public ThinTest {
 protected:
  NodalSearch() {
    choose(SolverKind::velocity);
    params.coupling = SolidCoupling::nodal_admm;
    params.admm_tolerance = 1e-7;
    params.admm_iterations = 2000;
    params.gravity = 0;
    params.dt = 1.0 / 60;
  }

  /// A rod falls by 0.2 m a step on one that rests 0.03 m above a third. Only the second one can touch the
  /// third: the first one passes it at a distance.
  Model chain() {
    Model model = thin_model(true);
    add_rod(model, {0, 0.03, -0.08}, {1, 0, 0}, 0.3, 6, {0, -12, 0});
    add_rod(model, {0, 0, 0}, {0, 0, 1}, 0.2, 5, {0, 0, 0});
    add_rod(model, {0, -0.03, -0.045}, {1, 0, 0}, 0.3, 6, {0, 0, 0});
    return model;
  }
};

/// [m] By how much the line of rod a is above that of rod b, where they cross seen along y.
double height_over(const Model& model, const std::vector<Vec3d>& x, const Object& a, const Object& b) {
  double least = 1e300;
  for (std::int32_t s = a.segment_begin; s < a.segment_end; ++s)
    for (std::int32_t t = b.segment_begin; t < b.segment_end; ++t) {
      const Vec2i p = model.segments[static_cast<std::size_t>(s)],
                  q = model.segments[static_cast<std::size_t>(t)];
      const Vec3d from = x[p[0]], along = x[p[1]] - from, other = x[q[0]], beside = x[q[1]] - other;
      const Vec3d between = other - from;
      const double area = along[0] * beside[2] - along[2] * beside[0];
      const double k = (between[0] * beside[2] - between[2] * beside[0]) / area,
                   l = (between[0] * along[2] - between[2] * along[0]) / area;
      if (k < 0 || k > 1 || l < 0 || l > 1) continue;
      least = std::min(least, from[1] + k * along[1] - other[1] - l * beside[1]);
    }
  return least;
}

TEST_P(NodalSearch, AFibreThatIsStruckDoesNotPassAnotherOne) {
  for (const int every : {0, 1, 5, 1000})
    for (const NodalIntegrator integrator : {NodalIntegrator::newton, NodalIntegrator::admm}) {
      SCOPED_TRACE(every);
      params.admm_search_every = every;
      params.nodal_integrator = integrator;
      Model model = chain();
      load(model);
      const StepReport report = engine->step();
      const State state = engine->state();
      const double height = height_over(model, state.positions, model.objects[1], model.objects[2]);
      EXPECT_LE(report.contact_solve->rounds, params.admm_iterations);
      if (every == 0) {
        EXPECT_LT(height, -kThickness) << "it has passed";
      } else {
        EXPECT_TRUE(report.converged || integrator == NodalIntegrator::admm) << report.stop_reason;
        EXPECT_GT(height, 0);
        EXPECT_GT(rod_distance(model, state.positions, model.objects[1], model.objects[2]),
                  0.999 * kThickness);
        EXPECT_GT(height_over(model, state.positions, model.objects[0], model.objects[1]),
                  0.999 * kThickness);
      }
    }
}

/// The struck one is a rigid body: the search goes along its motion with the impulses found so far.
TEST_P(NodalSearch, ABodyThatIsStruckDoesNotPassAFibre) {
  constexpr double kRadius = 0.02;
  for (const int every : {0, 5}) {
    params.admm_search_every = every;
    Model model = thin_model(true);
    add_rod(model, {0.1, 0.06, 0.015}, {1, 0, 0}, 0.2, 6, {0, -12, 0});
    fixtures::add_rigid_sphere(model, kRadius, {0.005, 0, 0});
    add_rod(model, {0, -0.05, -0.01}, {1, 0, 0}, 0.3, 6, {0, 0, 0});
    load(model);
    const StepReport report = engine->step();
    const State state = engine->state();
    const Object& fibre = model.objects[2];
    double least = 1e300;  // [m] from the centre to the fibre
    for (std::int32_t s = fibre.segment_begin; s < fibre.segment_end; ++s) {
      const Vec2i e = model.segments[static_cast<std::size_t>(s)];
      const Vec3d a = state.positions[e[0]], b = state.positions[e[1]], p = state.bodies[0].pose.x;
      const double t = std::clamp(dot(p - a, b - a) / norm2(b - a), 0.0, 1.0);
      least = std::min(least, norm(a + t * (b - a) - p));
    }
    if (every == 0) {
      EXPECT_LT(least, 0.9 * (kRadius + kThickness / 2)) << "the ball goes into it";
    } else {
      EXPECT_TRUE(report.converged) << report.stop_reason;
      EXPECT_GT(least, 0.999 * (kRadius + kThickness / 2));
    }
  }
}

INSTANTIATE_ON_BACKENDS(NodalSearch);

}  // namespace
}  // namespace stickslip
