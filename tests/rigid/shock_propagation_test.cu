#include "gpu/rigid/shock_propagation.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/law/natural_map.h"
#include "tests/backend_test.h"
#include "tests/rigid/rigid_problem.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::RigidOne;
using V3d = Vec<double, 3>;

constexpr double kShockDt = 1.0 / 60, kShockRadius = 0.1;

/// Balls on the floor y = 0 after a step of gravity, and their contacts.
struct BallPile {
  std::vector<RigidOne> bodies;
  std::vector<ConstraintBlock<3>> blocks;

  void add(const V3d& x, double mass) {
    RigidOne& b = bodies.emplace_back();
    b.mass = mass;
    b.pose.x = x;
    const double turn = 0.4 * mass * kShockRadius * kShockRadius;
    b.inertia = {turn, turn, turn};
    b.velocity = {0, -9.81 * kShockDt, 0};
  }
  void touch(std::int32_t a, std::int32_t b) {
    const V3d xa = bodies[static_cast<std::size_t>(a)].pose.x,
              xb = b < 0 ? V3d{xa[0], -xa[1], xa[2]} : bodies[static_cast<std::size_t>(b)].pose.x;
    const RigidContact c{a, b, 0.5 * (xa + xb), normalized(xa - xb), 0, 0, -1};
    SurfacePair pair{};
    pair.mu = pair.mu_across = 0.5;
    pair.friction_kind = FrictionKind::isotropic;
    blocks.push_back(contact_block<3>(c, fixtures::at_step(bodies, a), fixtures::at_step(bodies, b), pair,
                                      {{kShockDt, 0.2}, 0.5}));
  }
  void find(double margin) {
    for (std::size_t a = 0; a < bodies.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b)
        if (norm(bodies[a].pose.x - bodies[b].pose.x) < 2 * kShockRadius + margin)
          touch(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
      if (bodies[a].pose.x[1] < kShockRadius + margin) touch(static_cast<std::int32_t>(a), -1);
    }
  }
};

BallPile column(int balls) {
  BallPile pile;
  for (int i = 0; i < balls; ++i) pile.add({0, kShockRadius * (2 * i + 1), 0}, i % 3 == 2 ? 50 : 1);
  pile.find(1e-6);
  return pile;
}

/// Rows of balls in the gaps of the row below, in a plane.
BallPile pyramid(int rows) {
  BallPile pile;
  const double side = 2.02 * kShockRadius,
               rise = std::sqrt(4 * kShockRadius * kShockRadius - side * side / 4);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < rows - row; ++i)
      pile.add({side * (i + 0.5 * row), kShockRadius + rise * row, 0}, 1 + (i * 7 + row * 3) % 5);
  pile.find(0.05 * kShockRadius);
  return pile;
}

BallPile random_pile(int balls) {
  std::mt19937 rng(7);
  BallPile pile;
  for (int i = 0; i < balls; ++i) {
    const double mass = 1 + std::fabs(fixtures::random_vector(rng, 2)[0]);
    pile.add(V3d{0, 0.5, 0} + fixtures::random_vector(rng, 0.4), mass);
  }
  pile.find(0.02);
  return pile;
}

/// Result of the pass for a pile with impulses r.
struct ShockResult {
  std::vector<V3d> velocity, spin;
  std::vector<std::int32_t> level;
  std::vector<V3d> r;

  /// u of block c.
  V3d rates(const BallPile& pile, std::size_t c) const {
    const ConstraintBlock<3>& block = pile.blocks[c];
    V3d u = block.w;
    for (int side = 0; side < 2; ++side) {
      if (block.body[side] < 0) continue;
      const auto b = static_cast<std::size_t>(block.body[side]);
      const Vec<double, 6> v{velocity[b][0], velocity[b][1], velocity[b][2],
                             spin[b][0],     spin[b][1],     spin[b][2]};
      for (int i = 0; i < 3; ++i) u[i] += dot(block.jacobian[side][i], v);
    }
    return u;
  }
};

ShockResult shock(Context& ctx, const BallPile& pile, const std::vector<V3d>& impulses, int sweeps,
                  std::size_t joint_blocks = 0) {
  const std::size_t n = pile.bodies.size();
  std::vector<BodyInverse> inverses;
  std::vector<double> velocities;
  std::vector<V3d> v, w;
  for (const RigidOne& b : pile.bodies) {
    inverses.push_back(b.at_step().inverse);
    for (int i = 0; i < 3; ++i) velocities.push_back(b.velocity[i]);
    for (int i = 0; i < 3; ++i) velocities.push_back(b.spin[i]);
    v.push_back(b.velocity);
    w.push_back(b.spin);
  }
  const Buffer<BodyInverse> inverse(ctx, std::span<const BodyInverse>(inverses));
  const Buffer<double> free(ctx, std::span<const double>(velocities));
  const Buffer<ConstraintBlock<3>> blocks(ctx, std::span<const ConstraintBlock<3>>(pile.blocks));
  const Buffer<V3d> r(ctx, std::span<const V3d>(impulses));
  Buffer<V3d> velocity(ctx, std::span<const V3d>(v)), spin(ctx, std::span<const V3d>(w));
  Buffer<ContactLaw<3>> laws(ctx, pile.blocks.size());
  Delassus<3> W;
  const BlockWriter<3> writer = W.begin(ctx, pile.blocks.size(), inverse.data(), free.data(), n);
  const ConstraintBlock<3>* block = blocks.data();
  ContactLaw<3>* law = laws.data();
  launch(ctx, pile.blocks.size(), [=] SS_LAMBDA(std::size_t c) {
    writer.put(c, block[c]);
    law[c] = block[c].law;
  });
  W.finish(ctx);
  ShockPropagation<3> pass;
  pass.propagate(ctx, W, laws.data(), joint_blocks, r.data(), free.data(), sweeps, velocity.data(),
                 spin.data());
  ShockResult result{velocity.download(ctx), spin.download(ctx), std::vector<std::int32_t>(n),
                     std::vector<V3d>(pile.blocks.size())};
  copy_to_host(ctx, result.level.data(), pass.level(), n);
  copy_to_host(ctx, result.r.data(), pass.impulses(), result.r.size());
  return result;
}

/// A small impulse at every contact: all contacts are loaded.
std::vector<V3d> slight(const BallPile& pile) { return {pile.blocks.size(), V3d{1e-6, 0, 0}}; }

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(ShockPropagation, LevelsAreWaysToTheGround) {
  const BallPile pile = random_pile(200);
  const ShockResult result = shock(ctx, pile, slight(pile), 1);
  std::vector<std::int32_t> wanted(pile.bodies.size(), ShockPropagation<3>::kNoLevel);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ConstraintBlock<3>& block : pile.blocks)
      for (int side = 0; side < 2; ++side) {
        const std::int32_t b = block.body[side], other = block.body[1 - side];
        const std::int32_t below = other < 0 ? 0 : wanted[static_cast<std::size_t>(other)];
        if (b < 0 || below == ShockPropagation<3>::kNoLevel ||
            wanted[static_cast<std::size_t>(b)] <= below + 1)
          continue;
        wanted[static_cast<std::size_t>(b)] = below + 1;
        changed = true;
      }
  }
  EXPECT_EQ(result.level, wanted);
  const auto highest = std::max_element(wanted.begin(), wanted.end(), [](std::int32_t a, std::int32_t b) {
    return a % ShockPropagation<3>::kNoLevel < b % ShockPropagation<3>::kNoLevel;
  });
  EXPECT_GT(*highest, 3);
}

/// From negligible impulses a column stands after one pass, in any order of its contacts.
BACKEND_TEST(ShockPropagation, HoldsAColumnUp) {
  const BallPile pile = column(30);
  const ShockResult result = shock(ctx, pile, slight(pile), 3);
  for (std::size_t b = 0; b < pile.bodies.size(); ++b) {
    EXPECT_EQ(result.level[b], static_cast<std::int32_t>(b) + 1);
    EXPECT_LT(norm(result.velocity[b]), 1e-9);
  }
}

/// Every block satisfies its law at the end: blocks above do not disturb blocks below.
BACKEND_TEST(ShockPropagation, LeavesNoBlockBehind) {
  BallPile pile = pyramid(7);
  pile.bodies[9].velocity += V3d{0.3, -2, 0.1};
  pile.bodies[27].velocity += V3d{0, -5, 0};
  const ShockResult result = shock(ctx, pile, slight(pile), 2000);
  EXPECT_EQ(result.level.back(), 7);
  for (std::size_t c = 0; c < pile.blocks.size(); ++c)
    EXPECT_LT(block_error(pile.blocks[c].law, 1.0, result.r[c], result.rates(pile, c)), 1e-6)
        << "block " << c;
}

/// Impulses that solve the problem are unchanged, and so are velocities.
BACKEND_TEST(ShockPropagation, SolvedProblemsAreFixedPoints) {
  BallPile pile = random_pile(40);
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  std::vector<RigidOne> solved = pile.bodies;
  const Eigen::VectorXd x = fixtures::solve_by_lab<3>(*lab, "nsgs", solved, pile.blocks, 1e-11);
  std::vector<V3d> r(pile.blocks.size());
  for (std::size_t c = 0; c < r.size(); ++c)
    for (int i = 0; i < 3; ++i) r[c][i] = x[3 * static_cast<Eigen::Index>(c) + i];
  const ShockResult result = shock(ctx, pile, r, 5);
  int levelled = 0;
  for (std::size_t b = 0; b < solved.size(); ++b) {
    if (result.level[b] == ShockPropagation<3>::kNoLevel) continue;
    ++levelled;
    EXPECT_LT(norm(result.velocity[b] - solved[b].velocity), 1e-8);
    EXPECT_LT(norm(result.spin[b] - solved[b].spin), 1e-7);
  }
  EXPECT_GT(levelled, 5);
}

/// Unsupported bodies keep their velocity.
BACKEND_TEST(ShockPropagation, LeavesWhatFliesAlone) {
  BallPile pile;
  pile.add({0, 1, 0}, 1);
  pile.add({0, 1.2, 0}, 1);
  pile.touch(1, 0);
  const ShockResult result = shock(ctx, pile, slight(pile), 3);
  EXPECT_EQ(result.level[1], ShockPropagation<3>::kNoLevel);
  EXPECT_EQ(result.velocity[1], pile.bodies[1].velocity);
}

/// A joint is included on the way up, but does not count as ground.
BACKEND_TEST(ShockPropagation, JointsTakeTheirTurn) {
  BallPile pile = column(1);
  pile.add({0.4, kShockRadius, 0}, 1);
  pile.touch(1, -1);
  pile.add({0.2, 2, 0}, 1);
  DeviceJoint j{};
  j.kind = JointKind::ball;
  j.a = 0;
  j.b = 1;
  j.frame_a = {{0.2, 0, 0}, Quat::identity()};
  j.frame_b = {{-0.2, 0, 0}, Quat::identity()};
  ConstraintBlock<3> block;
  pile.bodies[1].velocity[2] = 1;
  fill_joint_block(j, 0, fixtures::at_step(pile.bodies, 0), fixtures::at_step(pile.bodies, 1),
                   ErrorFeedback{kShockDt, 0.2}, block);
  pile.blocks.insert(pile.blocks.begin(), block);
  j.b = 2;
  j.frame_b = {{0, kShockRadius - 2, 0}, Quat::identity()};
  fill_joint_block(j, 0, fixtures::at_step(pile.bodies, 0), fixtures::at_step(pile.bodies, 2),
                   ErrorFeedback{kShockDt, 0.2}, block);
  pile.blocks.insert(pile.blocks.begin(), block);
  const ShockResult result = shock(ctx, pile, slight(pile), 2000, 2);
  EXPECT_EQ(result.level, (std::vector<std::int32_t>{1, 1, ShockPropagation<3>::kNoLevel}));
  EXPECT_LT(norm(result.rates(pile, 1)), 1e-8);
  EXPECT_EQ(result.velocity[2], pile.bodies[2].velocity);
}

BACKEND_TEST(ShockPropagation, RepeatsBitByBit) {
  const BallPile pile = random_pile(300);
  Context single(1);
  const ShockResult one = shock(ctx, pile, slight(pile), 5), other = shock(single, pile, slight(pile), 5);
  EXPECT_EQ(one.velocity, other.velocity);
  EXPECT_EQ(one.spin, other.spin);
}
