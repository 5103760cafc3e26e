#include "gpu/rigid/position_projection.cuh"

#include <Eigen/Dense>
#include <random>
#include <vector>

#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using V3d = Vec<double, 3>;

/// Balls that overlap each other and a floor, in host memory.
struct Heap {
  std::vector<Pose> pose;
  std::vector<BodyInverse> inverse;
  std::vector<RigidContact> contacts;
  double radius = 0.1;

  double gap(std::size_t a, std::size_t b) const { return norm(pose[a].x - pose[b].x) - 2 * radius; }

  void add(const V3d& x, double mass) {
    pose.push_back({x, Quat::identity()});
    const double turn = mass > 0 ? 1 / (0.4 * mass * radius * radius) : 0;
    inverse.push_back({mass > 0 ? 1 / mass : 0.0, {turn, turn, turn, 0, 0, 0}});
  }
  void find(double margin, bool floor) {
    contacts.clear();
    for (std::size_t a = 0; a < pose.size(); ++a) {
      for (std::size_t b = a + 1; b < pose.size(); ++b)
        if (gap(a, b) < margin)
          contacts.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                              0.5 * (pose[a].x + pose[b].x), normalized(pose[a].x - pose[b].x), gap(a, b), 0,
                              -1});
      const double above = pose[a].x[1] - radius;
      if (floor && above < margin)
        contacts.push_back({static_cast<std::int32_t>(a),
                            -1,
                            pose[a].x - V3d{0, radius + 0.5 * above, 0},
                            {0, 1, 0},
                            above,
                            0,
                            -1});
    }
  }
  double overlap() const {
    double most = 0;
    for (const RigidContact& c : contacts)
      most = std::max(most, c.b < 0 ? radius - pose[static_cast<std::size_t>(c.a)].x[1]
                                    : -gap(static_cast<std::size_t>(c.a), static_cast<std::size_t>(c.b)));
    return most;
  }
  /// Returns the displacements d of the contacts.
  std::vector<double> project(Context& ctx, const ProjectionOptions& options) {
    const Buffer<Pose> found(ctx, std::span<const Pose>(pose));
    Buffer<Pose> now(ctx, std::span<const Pose>(pose));
    const Buffer<BodyInverse> mass(ctx, std::span<const BodyInverse>(inverse));
    const Buffer<RigidContact> list(ctx, std::span<const RigidContact>(contacts));
    PositionProjection projection;
    ProjectionProblem p;
    p.contacts = list.data();
    p.contact_count = contacts.size();
    p.found_at = found.data();
    p.inverse = mass.data();
    p.bodies = pose.size();
    p.pose = now.data();
    projection.project(ctx, p, options);
    pose = now.download(ctx);
    std::vector<double> d(projection.count());
    copy_to_host(ctx, d.data(), projection.displacement(), d.size());
    return d;
  }
};

Heap random_heap(std::mt19937& rng, int balls) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Heap heap;
  const double side = 0.21 * std::cbrt(balls);
  for (int i = 0; i < balls; ++i) {
    const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
    heap.add(0.5 * side * V3d{x, y + 1, z} + V3d{0, 0.1, 0}, 1 + std::fabs(x));
  }
  heap.find(0.05, true);
  return heap;
}

/// W and phi of the contacts, assembled independently.
void dense_problem(const Heap& heap, Eigen::MatrixXd& w, Eigen::VectorXd& phi) {
  const auto n = static_cast<Eigen::Index>(heap.contacts.size()),
             m = static_cast<Eigen::Index>(heap.pose.size());
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(n, 3 * m), a = Eigen::MatrixXd::Zero(3 * m, 3 * m);
  phi.resize(n);
  for (Eigen::Index b = 0; b < m; ++b)
    for (int i = 0; i < 3; ++i) a(3 * b + i, 3 * b + i) = heap.inverse[static_cast<std::size_t>(b)].mass;
  for (Eigen::Index c = 0; c < n; ++c) {
    const RigidContact& contact = heap.contacts[static_cast<std::size_t>(c)];
    phi[c] = contact.gap;
    for (int i = 0; i < 3; ++i) {
      h(c, 3 * contact.a + i) = contact.normal[i];
      if (contact.b >= 0) h(c, 3 * contact.b + i) = -contact.normal[i];
    }
  }
  w = h * a * h.transpose();  // normals go through the centres: balls do not rotate
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(PositionProjection, FindsTheDisplacementsOfTheComplementarityProblem) {
  std::mt19937 rng(1);
  Heap heap = random_heap(rng, 30);
  Eigen::MatrixXd w;
  Eigen::VectorXd phi;
  dense_problem(heap, w, phi);
  ASSERT_GT(phi.size(), 30);
  const std::vector<double> d = heap.project(ctx, {20000, 0.0});
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(d.data(), phi.size());
  const Eigen::VectorXd gap = w * x + phi;
  EXPECT_GE(x.minCoeff(), 0);
  EXPECT_GT(gap.minCoeff(), -1e-9);
  EXPECT_LT(x.cwiseProduct(gap).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT(x.maxCoeff(), 1e-3);
}

BACKEND_TEST(PositionProjection, TakesOverlapsBack) {
  std::mt19937 rng(2);
  Heap heap = random_heap(rng, 60);
  const double before = heap.overlap();
  ASSERT_GT(before, 0.03);
  for (int step = 0; step < 30; ++step) {
    heap.project(ctx, {10, 1e-4});
    heap.find(0.05, true);
  }
  EXPECT_LT(heap.overlap(), 1e-3);
}

/// The centre of mass, overlaps within the slop and immovable bodies do not move.
BACKEND_TEST(PositionProjection, FreeBodiesKeepTheirCentreOfMass) {
  Heap heap;
  heap.add({0, 5, 0}, 1);
  heap.add({0.17, 5.02, 0}, 3);
  heap.add({0, 7, 0}, 1);
  heap.add({0, 7.19995, 0}, 2);
  heap.add({3, 1, 0}, 0);
  heap.add({3, 1.15, 0}, 2);
  heap.find(0.05, false);
  ASSERT_EQ(heap.contacts.size(), 3u);
  const std::vector<Pose> before = heap.pose;
  const auto d = heap.project(ctx, {200, 1e-4});
  const V3d first = heap.pose[0].x - before[0].x, second = heap.pose[1].x - before[1].x;
  EXPECT_LT(norm(first + 3.0 * second), 1e-14);
  EXPECT_NEAR(heap.gap(0, 1), -1e-4, 1e-6);
  EXPECT_EQ(heap.pose[2].x, before[2].x);
  EXPECT_EQ(heap.pose[3].x, before[3].x);
  EXPECT_EQ(heap.pose[4].x, before[4].x);
  EXPECT_NEAR(heap.gap(4, 5), -1e-4, 1e-6);
}

BACKEND_TEST(PositionProjection, GoesNoFurtherThanAllowed) {
  Heap heap;
  heap.add({0, 0.05, 0}, 1);
  heap.find(0.05, true);
  heap.project(ctx, {10, 0.0, 0.01});
  EXPECT_NEAR(heap.pose[0].x[1], 0.06, 1e-12);
}

/// Contact gaps are updated with the bodies' motion: a contact that has opened since is left alone.
BACKEND_TEST(PositionProjection, MeasuresWhereBodiesAreNow) {
  for (const double moved : {-0.03, 0.03}) {
    const std::vector<Pose> found{{{0, 0.09, 0}, Quat::identity()}};
    const std::vector<Pose> now{{{0.2, 0.09 + moved, 0}, Quat::identity()}};
    const std::vector<BodyInverse> inverse{{1, {100, 100, 100, 0, 0, 0}}};
    const std::vector<RigidContact> list{{0, -1, {0, -0.005, 0}, {0, 1, 0}, -0.01, 0, -1}};
    const Buffer<Pose> at(ctx, std::span<const Pose>(found));
    Buffer<Pose> pose(ctx, std::span<const Pose>(now));
    const Buffer<BodyInverse> mass(ctx, std::span<const BodyInverse>(inverse));
    const Buffer<RigidContact> contacts(ctx, std::span<const RigidContact>(list));
    PositionProjection projection;
    projection.project(
        ctx, {nullptr, nullptr, nullptr, 0, contacts.data(), 1, at.data(), mass.data(), 1, pose.data()},
        {10, 0.0});
    EXPECT_NEAR(read_back(ctx, pose.data()).x[1], moved < 0 ? 0.1 : 0.12, 1e-12);
  }
}

/// A chain that was pulled apart is joined again, and the limit of its last hinge holds.
BACKEND_TEST(PositionProjection, JoinsWhatJointsHold) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto noise = [&](double size) {
    const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
    return size * V3d{x, y, z};
  };
  constexpr int kLinks = 8;
  std::vector<Pose> pose;
  std::vector<BodyInverse> inverse;
  std::vector<DeviceJoint> joints;
  std::vector<std::int32_t> block_joint, block_part;
  const JointKind kinds[] = {JointKind::fixed, JointKind::ball, JointKind::hinge, JointKind::slider};
  for (int i = 0; i < kLinks; ++i) {
    pose.push_back({V3d{0.2 * i + 0.1, 0, 0} + noise(0.01), rotation_by(noise(0.05))});
    inverse.push_back({2.0, {300, 250, 270, 10, 0, 0}});
    DeviceJoint j{};
    j.kind = kinds[i % 4];
    j.a = i;
    j.b = i - 1;
    j.frame_a = {{-0.1, 0, 0}, Quat::identity()};
    j.frame_b = {{i > 0 ? 0.1 : 0.0, 0, 0}, Quat::identity()};
    j.low = 0.02;
    j.high = 0.1;
    joints.push_back(j);
    for (int k = 0; k < joint_block_count(j); ++k) {
      block_joint.push_back(i);
      block_part.push_back(k);
    }
  }
  const Buffer<DeviceJoint> on_device(ctx, std::span<const DeviceJoint>(joints));
  const Buffer<std::int32_t> of(ctx, std::span<const std::int32_t>(block_joint)),
      part(ctx, std::span<const std::int32_t>(block_part));
  const Buffer<BodyInverse> mass(ctx, std::span<const BodyInverse>(inverse));
  Buffer<Pose> now(ctx, std::span<const Pose>(pose));
  const auto error = [&] {
    const std::vector<Pose> at = now.download(ctx);
    double most = 0;
    for (std::size_t k = 0; k < block_joint.size(); ++k) {
      const DeviceJoint& j = joints[static_cast<std::size_t>(block_joint[k])];
      const auto body = [&](std::int32_t b) {
        BodyAtStep s = BodyAtStep::world();
        if (b >= 0) s.pose = at[static_cast<std::size_t>(b)];
        if (b >= 0) s.inverse = inverse[static_cast<std::size_t>(b)];
        return s;
      };
      ConstraintBlock<3> block;
      fill_joint_block(j, block_part[k], body(j.a), body(j.b), whole_error(), block);
      const bool bilateral = block.law.set == FrictionSet::bilateral;
      most = std::max(most, bilateral ? norm(block.w) : std::max(0.0, -block.w[0]));
    }
    return most;
  };
  const double before = error();
  EXPECT_GT(before, 0.01);
  PositionProjection projection;
  for (int step = 0; step < 20; ++step)
    projection.project(ctx,
                       {on_device.data(), of.data(), part.data(), block_joint.size(), nullptr, 0, now.data(),
                        mass.data(), pose.size(), now.data()},
                       {50, 0.0});
  EXPECT_LT(error(), 1e-4 * before);
}

BACKEND_TEST(PositionProjection, RepeatsBitByBit) {
  std::mt19937 rng(4);
  Heap one = random_heap(rng, 400);
  Heap other = one;
  Context single(1);
  one.project(ctx, {10, 1e-4});
  other.project(single, {10, 1e-4});
  for (std::size_t b = 0; b < one.pose.size(); ++b) EXPECT_EQ(one.pose[b].x, other.pose[b].x);
}

BACKEND_TEST(PositionProjection, SteadyUseAllocatesNothing) {
  std::mt19937 rng(5);
  const Heap heap = random_heap(rng, 100);
  const Buffer<Pose> found(ctx, std::span<const Pose>(heap.pose));
  Buffer<Pose> now(ctx, std::span<const Pose>(heap.pose));
  const Buffer<BodyInverse> mass(ctx, std::span<const BodyInverse>(heap.inverse));
  const Buffer<RigidContact> list(ctx, std::span<const RigidContact>(heap.contacts));
  PositionProjection projection;
  for (int step = 0; step < 3; ++step) {
    if (step == 1) ctx.counters() = {};
    projection.project(ctx,
                       {nullptr, nullptr, nullptr, 0, list.data(), heap.contacts.size(), found.data(),
                        mass.data(), heap.pose.size(), now.data()},
                       {4, 1e-4});
  }
  EXPECT_EQ(ctx.counters().allocations, 0u);
  EXPECT_EQ(ctx.counters().copies_to_host, 0u);
}
