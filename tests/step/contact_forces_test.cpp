// The forces of contacts as a viewer shows them, on a block that rests or slides on an incline.
#include <algorithm>
#include <cmath>
#include <memory>

#include "gpu/contact_lab.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/solid_step_fixture.h"
#include "tests/step/barrier_bodies_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kIncline = 0.3, kBlockMass = 1000 * 0.4 * 0.1 * 0.4;  // [rad], [kg]

/// A flat block on a half-space: rigid, or elastic.
Model block_on_incline(double mu, bool rigid, fixtures::BoxBody kind = fixtures::BoxBody::deformable) {
  Model model;
  const Vec3d up{std::sin(kIncline), std::cos(kIncline), 0};
  if (rigid) {
    fixtures::add_rigid_box(model, {0.2, 0.05, 0.2}, fixtures::pose_at(0.0501 * up, {0, 0, -kIncline}));
  } else {
    fixtures::add_box(model, "block", {0.4, 0.1, 0.4}, 0.0501 * up, 2, -kIncline * 180 / M_PI, {0, 0, 0},
                      kind);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.02;
  }
  model.half_spaces.push_back({up, 0, mu});
  model.materials[0].mu = mu;
  return model;
}

/// At rest the forces carry the weight; a block that slides has friction mu N uphill, and all of its cone.
void expect_forces(const Snapshot& snapshot, double mu, double percent) {
  const Vec3d down{std::cos(kIncline), -std::sin(kIncline), 0};
  const double weight = 9.81 * kBlockMass, near = 0.01 * percent * weight;
  Vec3d normal{0, 0, 0}, friction{0, 0, 0};
  double least_share = 1e30, largest_share = 0;
  for (const ContactRecord& c : snapshot.contacts) {
    ASSERT_LT(c.object_b, 0) << "the block is side a";
    normal += static_cast<double>(c.normal_force) * c.normal.cast<double>();
    friction += c.friction.cast<double>();
    EXPECT_NEAR(dot(c.friction, c.normal), 0, 1e-4 * weight);
    if (c.normal_force < 1e-3 * weight) continue;
    EXPECT_NEAR(norm(c.friction), c.cone_share * mu * c.normal_force, 1e-3 * weight);
    EXPECT_NEAR(c.mu, mu, 1e-5);
    least_share = std::min<double>(least_share, c.cone_share);
    largest_share = std::max<double>(largest_share, c.cone_share);
  }
  if (mu > std::tan(kIncline)) {
    EXPECT_LT(norm(normal + friction - Vec3d{0, weight, 0}), near);
    EXPECT_LT(largest_share, 1 + 1e-3);
  } else {
    EXPECT_LT(norm(friction + (mu * weight * std::cos(kIncline)) * down), near);
    EXPECT_NEAR(least_share, 1, 0.01);
    EXPECT_NEAR(largest_share, 1, 0.01);
  }
}

class ContactForces : public fixtures::SolidStepTest {};

TEST_P(ContactForces, OfABlockOnAnInclineAtVelocityLevel) {
  struct Kind {
    bool rigid;
    fixtures::BoxBody body;
  };
  for (const Kind& kind :
       {Kind{true, fixtures::BoxBody::deformable}, Kind{false, fixtures::BoxBody::deformable},
        Kind{false, fixtures::BoxBody::affine}})
    for (const double mu : {0.15, 0.6}) {
      SCOPED_TRACE(testing::Message()
                   << (kind.rigid ? "rigid " : "elastic ") << static_cast<int>(kind.body) << " mu " << mu);
      Model model = block_on_incline(mu, kind.rigid, kind.body);
      load(model);
      run(80);
      Snapshot snapshot;
      engine->snapshot(snapshot);
      expect_forces(snapshot, mu, 0.5);
    }
}

/// Errors of the records are those of the step's contact problem: its largest is the lab's, and all are small
/// after a precise solve.
TEST_P(ContactForces, ErrorsAreThoseOfTheProblem) {
  Model model = block_on_incline(0.15, true);
  const auto largest = [&] {
    Snapshot snapshot;
    engine->snapshot(snapshot);
    EXPECT_FALSE(snapshot.contacts.empty());
    double error = 0;
    for (const ContactRecord& c : snapshot.contacts) {
      EXPECT_GE(c.error, 0);
      error = std::max<double>(error, c.error);
    }
    return error;
  };
  params.contact_solver = ContactSolverKind::nsgs;
  params.cold_start_iterations = 0;
  for (const int iterations : {1, 3, 2000}) {
    contact.max_iterations = iterations;
    contact.tolerance = 1e-8;
    load(model);
    for (int i = 0; i < 3; ++i) engine->step();
    const ContactProblem problem = engine->freeze();
    const std::unique_ptr<ContactLab> lab = make_contact_lab(backend());
    lab->load(problem);
    const double expected = lab->judge(problem.solution).largest_error, seen = largest();
    EXPECT_NEAR(seen, expected, 1e-5 * expected + 1e-9) << iterations;
    EXPECT_EQ(seen > 1e-6, iterations < 2000) << seen;
  }
}

class BarrierContactForces : public fixtures::BarrierBodiesTest {};

TEST_P(BarrierContactForces, OfABlockOnAnIncline) {
  for (const bool rigid : {true, false})
    for (const double mu : {0.15, 0.6}) {
      SCOPED_TRACE(testing::Message() << (rigid ? "rigid " : "elastic ") << mu);
      Model model = block_on_incline(mu, rigid);
      if (!rigid) finalize(model);
      load(model);
      for (int i = 0; i < 60; ++i) EngineTestOf::step();
      Snapshot snapshot;
      engine->snapshot(snapshot);
      expect_forces(snapshot, mu, 3);
    }
}

INSTANTIATE_ON_BACKENDS(ContactForces);
INSTANTIATE_ON_BARRIERS(BarrierContactForces);

}  // namespace
}  // namespace stickslip
