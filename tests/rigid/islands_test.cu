#include "gpu/rigid/islands.cuh"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gpu/core/launch.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using V3d = Vec<double, 3>;

/// Bodies, their speeds and their contacts, in host memory.
struct Crowd {
  std::vector<std::uint8_t> moves;
  std::vector<V3d> velocity, spin;
  std::vector<RigidContact> contacts;
  std::vector<DeviceJoint> joints;
  std::int32_t disturbed = -1;

  explicit Crowd(std::size_t n) : moves(n, 1), velocity(n, V3d{0, 0, 0}), spin(n, V3d{0, 0, 0}) {}

  void touch(std::int32_t a, std::int32_t b) { contacts.push_back({a, b, {}, {}, 0, 0, -1}); }
  void join(std::int32_t a, std::int32_t b) {
    DeviceJoint j{};
    j.a = a;
    j.b = b;
    joints.push_back(j);
  }
  void update(Context& ctx, Islands& islands, const SleepOptions& options) {
    const Buffer<std::uint8_t> m(ctx, std::span<const std::uint8_t>(moves));
    Buffer<V3d> v(ctx, std::span<const V3d>(velocity)), w(ctx, std::span<const V3d>(spin));
    const Buffer<RigidContact> c(ctx, std::span<const RigidContact>(contacts));
    const Buffer<DeviceJoint> j(ctx, std::span<const DeviceJoint>(joints));
    Buffer<double> reach(ctx, moves.size());
    fill(ctx, reach.data(), reach.size(), 0.5);
    islands.update(ctx,
                   {moves.size(), m.data(), reach.data(), v.data(), w.data(), c.data(), contacts.size(),
                    j.data(), joints.size(), disturbed},
                   options);
    velocity = v.download(ctx);
    spin = w.download(ctx);
  }
  std::vector<std::int32_t> labels(Context& ctx, const Islands& islands) const {
    std::vector<std::int32_t> label(moves.size());
    copy_to_host(ctx, label.data(), islands.label(), label.size());
    return label;
  }
  std::vector<int> asleep(Context& ctx, const Islands& islands) const {
    std::vector<std::uint8_t> flag(moves.size());
    copy_to_host(ctx, flag.data(), islands.asleep(), flag.size());
    return {flag.begin(), flag.end()};
  }
  /// Expected labels, by iterating over all pairs until nothing changes.
  std::vector<std::int32_t> expected_labels() const {
    std::vector<std::int32_t> label(moves.size());
    std::iota(label.begin(), label.end(), 0);
    const auto lower = [&](std::int32_t a, std::int32_t b) {
      if (b < 0 || moves[static_cast<std::size_t>(a)] == 0 || moves[static_cast<std::size_t>(b)] == 0)
        return false;
      std::int32_t &x = label[static_cast<std::size_t>(a)], &y = label[static_cast<std::size_t>(b)];
      const bool change = x != y;
      x = y = std::min(x, y);
      return change;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const RigidContact& c : contacts) changed |= lower(c.a, c.b);
      for (const DeviceJoint& j : joints) changed |= lower(j.a, j.b);
    }
    for (std::size_t b = 0; b < moves.size(); ++b)
      if (moves[b] == 0) label[b] = -1;
    return label;
  }
};

constexpr SleepOptions kSleep{true, 0.02, 0.5, 0.1};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Islands, AreTheConnectedParts) {
  std::mt19937 rng(1);
  for (const int edges : {0, 100, 300, 900}) {
    Crowd crowd(400);
    std::uniform_int_distribution<std::int32_t> body(0, 399);
    for (std::uint8_t& m : crowd.moves) m = body(rng) < 360 ? 1 : 0;
    for (int e = 0; e < edges; ++e) {
      const std::int32_t a = body(rng), b = body(rng);
      if (a == b) continue;
      if (e % 5 == 0) crowd.join(a, b);
      else crowd.touch(a, b);
    }
    crowd.touch(3, -1);
    crowd.join(5, -1);
    Islands islands;
    crowd.update(ctx, islands, {});
    const std::vector<std::int32_t> wanted = crowd.expected_labels();
    EXPECT_EQ(crowd.labels(ctx, islands), wanted);
    std::int32_t roots = 0;
    for (std::size_t b = 0; b < wanted.size(); ++b) roots += wanted[b] == static_cast<std::int32_t>(b);
    const IslandCounts counts = islands.counts(ctx);
    EXPECT_EQ(counts.islands, roots);
    EXPECT_EQ(counts.asleep, 0);
  }
}

/// Chains in the worst orders: long paths to the root, and many threads at one label.
BACKEND_TEST(Islands, AChainInAnyOrderIsOneIsland) {
  constexpr std::int32_t kLinks = 30000;
  std::mt19937 rng(2);
  for (int order = 0; order < 3; ++order) {
    Crowd crowd(kLinks);
    std::vector<std::int32_t> at(kLinks);
    std::iota(at.begin(), at.end(), 0);
    if (order == 1) std::reverse(at.begin(), at.end());
    if (order == 2) std::shuffle(at.begin(), at.end(), rng);
    for (std::size_t i = 0; i + 1 < at.size(); ++i) crowd.touch(at[i], at[i + 1]);
    Islands islands;
    crowd.update(ctx, islands, {});
    const std::vector<std::int32_t> label = crowd.labels(ctx, islands);
    EXPECT_EQ(*std::max_element(label.begin(), label.end()), 0);
    EXPECT_EQ(islands.counts(ctx).islands, 1);
  }
}

BACKEND_TEST(Islands, FallAsleepWhenAllHaveRested) {
  Crowd crowd(4);  // 0, 1 touch; 2 is alone, 3 does not move
  crowd.moves[3] = 0;
  crowd.touch(0, 1);
  crowd.touch(1, 3);
  crowd.touch(2, 3);
  Islands islands;
  for (int step = 1; step <= 8; ++step) {
    crowd.velocity[1] = {step < 4 ? 1.0 : 0.01, 0, 0};
    crowd.update(ctx, islands, kSleep);
    const std::vector<int> asleep = crowd.asleep(ctx, islands);
    const int first = step >= 8 ? 1 : 0, second = step >= 5 ? 1 : 0;
    EXPECT_EQ(asleep, (std::vector<int>{first, first, second, 0})) << "step " << step;
  }
  EXPECT_EQ(crowd.velocity[1], (V3d{0, 0, 0}));
  EXPECT_EQ(islands.counts(ctx).asleep, 3);
}

BACKEND_TEST(Islands, SpinCountsAtTheFarthestPoint) {
  Crowd crowd(2);
  crowd.spin[0] = {0, 0.05, 0};  // 0.025 m/s at 0.5 m
  crowd.spin[1] = {0, 0.03, 0};
  Islands islands;
  for (int step = 0; step < 8; ++step) crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 1}));
}

/// Three in a row sleep; a fourth arrives. All wake up and fall asleep again later.
BACKEND_TEST(Islands, WakeWhenSomethingAwakeArrives) {
  Crowd crowd(4);
  crowd.touch(0, 1);
  crowd.touch(1, 2);
  Islands islands;
  crowd.velocity[3] = {5, 0, 0};
  for (int step = 0; step < 6; ++step) crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{1, 1, 1, 0}));
  crowd.touch(2, 3);
  crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0, 0}));
  crowd.contacts.pop_back();  // it bounced off, but the contact existed
  for (int step = 1; step <= 5; ++step) {
    EXPECT_EQ(crowd.asleep(ctx, islands)[0], 0) << step;
    crowd.update(ctx, islands, kSleep);
  }
  EXPECT_EQ(crowd.asleep(ctx, islands)[0], 1);
}

BACKEND_TEST(Islands, WakeByScriptsPullsAndEdits) {
  Crowd crowd(3);
  crowd.moves[2] = 0;
  crowd.touch(0, 1);
  crowd.join(1, 2);
  Islands islands;
  const auto sleep = [&] {
    for (int step = 0; step < 6; ++step) crowd.update(ctx, islands, kSleep);
    EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{1, 1, 0}));
  };
  sleep();
  crowd.velocity[2] = {0, 1, 0};  // the script continues
  crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0}));
  crowd.velocity[2] = {0, 0, 0};
  sleep();
  crowd.disturbed = 0;
  crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0}));
  crowd.disturbed = -1;
  sleep();
  islands.reset(ctx, 3);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0}));
  crowd.update(ctx, islands, kSleep);
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0}));
  sleep();
  crowd.update(ctx, islands, {});  // sleeping switched off
  EXPECT_EQ(crowd.asleep(ctx, islands), (std::vector<int>{0, 0, 0}));
}

BACKEND_TEST(Islands, SteadyUseAllocatesAndReadsNothing) {
  Islands islands;
  const Buffer<std::uint8_t> moves(ctx, std::vector<std::uint8_t>{1, 1, 0});
  Buffer<V3d> still(ctx, std::vector<V3d>(6, V3d{0, 0, 0}));
  const Buffer<double> reach(ctx, std::vector<double>(3, 1.0));
  for (int step = 0; step < 3; ++step) {
    if (step == 1) ctx.counters() = {};
    islands.update(
        ctx, {3, moves.data(), reach.data(), still.data(), still.data() + 3, nullptr, 0, nullptr, 0}, kSleep);
  }
  EXPECT_EQ(ctx.counters().allocations, 0u);
  EXPECT_EQ(ctx.counters().copies_to_host, 0u);
}

BACKEND_TEST(Islands, ReachIsThatOfTheFarthestShape) {
  Model model;
  const auto add = [&](ShapeKind kind, const V3d& size, const V3d& at) {
    Shape shape;
    shape.kind = kind;
    shape.size = size;
    shape.pose.x = at;
    model.shapes.push_back(shape);
  };
  add(ShapeKind::sphere, {0.2, 0, 0}, {1, 0, 0});
  add(ShapeKind::box, {1, 2, 2}, {0, 0, 0});
  add(ShapeKind::capsule, {0.1, 0.5, 0.1}, {0, 0, 0});
  add(ShapeKind::cylinder, {3, 4, 3}, {0, 0, 0});
  for (const std::int32_t end : {2, 3, 4}) {
    Body body;
    body.shape_begin = end == 2 ? 0 : end - 1;
    body.shape_end = end;
    model.bodies.push_back(body);
  }
  EXPECT_EQ(body_reaches(model), (std::vector<double>{3, 0.6, 5}));
}
