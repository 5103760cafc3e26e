// Steps with nodal_projection = positions: position-based projection in place of that of [Daviet20 Alg.3].
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/coupled_models.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class NodalProjectionRules : public fixtures::SolidStepTest {
 protected:
  NodalProjectionRules() {
    params.coupling = SolidCoupling::nodal_admm;
    params.admm_tolerance = 1e-11;
    params.admm_iterations = 10000;
    params.admm_sleep = 0;
    params.projection_sweeps = 200;
    params.gravity = 0;
  }
};

/// A tet that hardly resists: its lowest node is a particle, and touches two frictionless planes.
struct ParticleInAGroove {
  Model model;
  Vec3d normals[2], start;

  ParticleInAGroove(const Vec3d& a, const Vec3d& b, const Vec3d& velocity)
      : normals{a / norm(a), b / norm(b)}, start(velocity) {
    model.materials.push_back({});
    model.material_names.push_back("dust");
    model.materials[0].young = 1;
    model.materials[0].mu = 0;
    add_solid(model, "tet", {{0, 0, 0}, {0.1, 0.3, 0}, {-0.1, 0.3, 0.1}, {0, 0.3, -0.1}}, {{0, 1, 2, 3}}, 0);
    std::fill(model.velocities.begin(), model.velocities.end(), velocity);
    for (const Vec3d& n : normals) model.half_spaces.push_back({n, 0, 0, false});
  }

  /// Moves v out of one half-space after the other until it is in both.
  Vec3d by_positions(int first) const {
    Vec3d v = start;
    for (int sweep = 0; sweep < 10000; ++sweep)
      for (const int k : {first, 1 - first}) v -= std::min(0.0, dot(v, normals[k])) * normals[k];
    return v;
  }
  /// The nearest velocity in both, where both planes act.
  Vec3d exact() const {
    const Vec3d line = cross(normals[0], normals[1]);
    return dot(start, line) / norm2(line) * line;
  }
};

/// [Daviet20 Fig.5]: position-based projection stops as soon as both contacts are open, and their work is
/// positive. The judge finds it.
TEST_P(NodalProjectionRules, TwoContactsOfANodeDoPositiveWork) {
  const Vec3d directions[][3] = {{{0.3, 1, 0}, {-0.5, 1, 0.2}, {0.1, -1, 0.3}},
                                 {{0.1, 1, 0.6}, {0.2, 1, -0.7}, {-0.6, -2, 0.1}},
                                 {{-0.4, 1, 0}, {0.1, 1, 0}, {0.1, -1, -1}}};
  params.dt = 1e-4;  // the forces of the tet move nothing in it
  for (const auto& d : directions) {
    ParticleInAGroove groove(d[0], d[1], d[2]);
    const Vec3d v0 = groove.start;
    params.nodal_projection = ProjectionRule::impulses;
    load(groove.model);
    step();
    const Vec3d exact = engine->state().velocities[0];
    EXPECT_LT(norm(exact - groove.exact()), 1e-6 * norm(v0));
    EXPECT_LT(std::fabs(dot(exact - v0, exact)), 1e-6 * norm2(v0));

    params.nodal_projection = ProjectionRule::positions;
    load(groove.model);
    const StepReport report = engine->step();
    const Vec3d v = engine->state().velocities[0];
    EXPECT_LT(std::min(norm(v - groove.by_positions(0)), norm(v - groove.by_positions(1))), 1e-6 * norm(v0));
    EXPECT_GT(dot(v - v0, v), 0.02 * norm2(v0));
    EXPECT_GT(norm(v - exact), 0.05 * norm(v0));
    EXPECT_FALSE(report.converged);
    EXPECT_NE(report.stop_reason.find("nodal_projection = positions"), std::string::npos)
        << report.stop_reason;
    EXPECT_GT(report.judgement->residual, 0.05);
    EXPECT_GT(report.judgement->law.complementarity, 1e-3 * norm2(v0));
    EXPECT_LT(report.judgement->law.approach, 1e-6 * norm(v0));
  }
}

/// Contacts of different nodes do not act on each other in the projection: both rules end at Coulomb's law.
TEST_P(NodalProjectionRules, OneContactPerNodeIsSolvedExactly) {
  params.gravity = -9.81;
  for (const bool isotropic : {true, false})
    for (const double sleep : {0.0, 0.01}) {
      params.admm_isotropic = isotropic;
      params.admm_sleep = sleep;
      params.projection_sweeps = isotropic ? 1 : 10;
      std::vector<State> states;
      for (const ProjectionRule rule : {ProjectionRule::impulses, ProjectionRule::positions}) {
        params.nodal_projection = rule;
        Model model;
        fixtures::add_floor(model);
        fixtures::add_box(model, "block", {0.3, 0.2, 0.3}, {0, 0.1, 0}, 2, 0, {1, -0.2, 0.3});
        load(model);
        EXPECT_EQ(run(10).contact_solve->message, "");
        states.push_back(engine->state());
      }
      double most = 0;
      for (std::size_t i = 0; i < states[0].velocities.size(); ++i)
        most = std::max(most, norm(states[0].velocities[i] - states[1].velocities[i]));
      EXPECT_LT(most, 1e-6) << isotropic << sleep;
    }
}

/// Impulses of position-based projection add up in their cones, with the momentum that they give.
TEST_P(NodalProjectionRules, AFreePairKeepsItsMomentumAndItsCones) {
  params.projection_sweeps = 10;
  params.admm_iterations = 30;
  params.nodal_projection = ProjectionRule::positions;
  Model model = fixtures::free_pair();
  load(model);
  const StepReport first = engine->step();
  bool touched = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = engine->step();
    touched = touched || report.contacts > 0;
    EXPECT_LT(norm(report.momentum - first.momentum), 1e-8 * norm(first.momentum)) << report.frame;
    EXPECT_LE(report.contact_solve->law->cone, 1e-9 * report.contact_solve->law->impulse) << report.frame;
  }
  EXPECT_TRUE(touched);
}

INSTANTIATE_ON_BACKENDS(NodalProjectionRules);

}  // namespace
}  // namespace stickslip
