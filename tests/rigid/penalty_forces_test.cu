#include "gpu/rigid/penalty_forces.cuh"

#include <random>
#include <vector>

#include "tests/backend_test.h"
#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using fixtures::RigidOne;
using V3d = Vec<double, 3>;

}  // namespace
}  // namespace stickslip

/// The change of velocities is A^-1 H' r, and the momentum of two free bodies is conserved.
BACKEND_TEST(PenaltyForces, PushBothBodies) {
  std::mt19937 rng(1);
  constexpr int kBodies = 6;
  std::vector<RigidOne> bodies(kBodies);
  for (RigidOne& b : bodies) {
    b.mass = 1 + std::fabs(fixtures::random_vector(rng, 1)[0]);
    b.inertia = V3d{1, 2, 1.5} + fixtures::random_vector(rng, 0.4);
    b.pose = fixtures::random_pose(rng, 1);
    b.velocity = fixtures::random_vector(rng, 1);
    b.spin = fixtures::random_vector(rng, 1);
  }
  bodies[5].mass = 0;
  const PenaltyOptions o{1e-3, 1e5, 10, 1e-2, 9.81};
  std::vector<RigidContact> contacts;
  std::vector<ConstraintBlock<4>> blocks;
  for (int c = 0; c < 20; ++c) {
    const std::int32_t a = c % 5, b = c % 7 == 0 ? -1 : (c % 3 == 0 ? 5 : (a + 1) % 5);
    contacts.push_back({a, b, fixtures::random_vector(rng, 1), normalized(fixtures::random_vector(rng, 1)),
                        fixtures::random_vector(rng, 0.01)[0], 0, -1});
    SurfacePair pair = fixtures::grained_pair(0.5, 0.5);
    pair.torsion_radius = 0.1;
    blocks.push_back(contact_block<4>(contacts.back(), fixtures::at_step(bodies, a),
                                      fixtures::at_step(bodies, b), pair, {{o.dt}, 0.5}));
  }
  std::vector<Pose> pose;
  std::vector<V3d> velocity, spin;
  std::vector<BodyInverse> inverse;
  for (const RigidOne& b : bodies) {
    const BodyAtStep at = b.at_step();
    pose.push_back(at.pose);
    velocity.push_back(at.velocity);
    spin.push_back(at.spin);
    inverse.push_back(at.inverse);
  }
  const Buffer<Pose> x(ctx, std::span<const Pose>(pose));
  const Buffer<V3d> v(ctx, std::span<const V3d>(velocity)), w(ctx, std::span<const V3d>(spin));
  const Buffer<BodyInverse> m(ctx, std::span<const BodyInverse>(inverse));
  const Buffer<RigidContact> list(ctx, std::span<const RigidContact>(contacts));
  const Buffer<ConstraintBlock<4>> block(ctx, std::span<const ConstraintBlock<4>>(blocks));
  Buffer<double> free(ctx, std::vector<double>(6 * kBodies, 0.25));
  BodiesView view{};
  view.pose = x.data();
  view.velocity = v.data();
  view.spin = w.data();
  view.inverse = m.data();
  PenaltyForces<4> penalty;
  Buffer<double> largest(ctx, 1);
  penalty.push(ctx, {block.data(), list.data(), contacts.size(), {}, view, kBodies, o}, free.data(),
               largest.data());

  std::vector<Vec<double, 4>> r(contacts.size());
  copy_to_host(ctx, r.data(), penalty.impulses(), r.size());
  const fixtures::DenseRows dense = fixtures::dense_rows(bodies, blocks);
  Eigen::VectorXd flat(4 * static_cast<Eigen::Index>(r.size()));
  int pushed = 0;
  double steepest = 0;
  for (std::size_t c = 0; c < r.size(); ++c) {
    EXPECT_EQ(r[c][0] > 0, contacts[c].gap < 0 && r[c][0] != 0);
    EXPECT_LE(std::sqrt(r[c][1] * r[c][1] + r[c][2] * r[c][2] + r[c][3] * r[c][3]), 0.5 * r[c][0] + 1e-15);
    pushed += r[c][0] > 0;
    if (r[c][0] > 0) {
      const double mobility =
          rigid_detail::row_mobility(blocks[c], 0, fixtures::at_step(bodies, contacts[c].a).inverse,
                                     fixtures::at_step(bodies, contacts[c].b).inverse);
      steepest = std::max(steepest, o.dt * o.dt * o.stiffness * mobility + 2 * o.dt * o.damping * mobility);
    }
    for (int i = 0; i < 4; ++i) flat[4 * static_cast<Eigen::Index>(c) + i] = r[c][i];
  }
  EXPECT_GT(pushed, 5);
  EXPECT_NEAR(read_back(ctx, largest.data()), steepest, 1e-12 * steepest);
  const Eigen::VectorXd wanted = dense.inverse * dense.H.transpose() * flat;
  const std::vector<double> got = free.download(ctx);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i] - 0.25, wanted[static_cast<Eigen::Index>(i)], 1e-13);
}
