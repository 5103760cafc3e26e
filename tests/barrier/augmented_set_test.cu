// The augmented set compared with a search over all pairs of primitives, and its multipliers with the
// formulas.
#include <algorithm>
#include <random>
#include <tuple>

#include "gpu/barrier/augmented_set.cuh"
#include "gpu/broadphase/broadphase.cuh"
#include "tests/backend_test.h"
#include "tests/core/fixture.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr Real kDHat = Real(2e-3), kGap = Real(1.4e-3), kSigma = 300;
constexpr double kTolerance = sizeof(Real) < 8 ? 1e-2 : 1e-6;  // relative, of forces

double largest(Context& ctx, const AugmentedSet& set) {
  Buffer<double> out(ctx, 1);
  set.launch_largest(ctx, out.data());
  return read_back(ctx, out.data());
}

struct PairLess {
  static auto order(const ContactPair& p) {
    return std::make_tuple(int(p.kind), p.plane, p.nodes[0], p.nodes[1], p.nodes[2], p.nodes[3]);
  }
  bool operator()(const ContactPair& a, const ContactPair& b) const { return order(a) < order(b); }
  bool operator()(const AugmentedPair& a, const AugmentedPair& b) const {
    return order(a.pair) < order(b.pair);
  }
};

/// Two boxes with uneven faces, one closely above the other and that above a half-space.
struct Stack {
  explicit Stack(Context& ctx, unsigned seed) {
    fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0512, 0}, 3);
    fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1524, 0.017}, 2);
    model.half_spaces.push_back({});
    finalize(model);
    device.upload(ctx, model);
    broad_phase.set_topology(surface_view(device));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> noise(-2e-4, 2e-4);
    for (const auto& p : model.positions)
      start.push_back((p + fixtures::Vec3d{noise(random), noise(random), noise(random)}).cast<Real>());
    place(ctx, 0, 0);
  }

  /// Places the boxes at their start, with the upper one raised by `lift` and rotated by `slope` about z.
  void place(Context& ctx, Real lift, Real slope) {
    x = start;
    const Object& upper = model.objects[1];
    for (int i = upper.node_begin; i < upper.node_end; ++i)
      x[i] += Vec3{0, lift + slope * (x[i][0] - Real(0.013)), 0};
    device_x.upload(ctx, x);
    broad_phase.find(ctx, device_x.data(), nullptr, kDHat, device.scripted.data());
    near = make_proximity(device, broad_phase.view());
    active.build(ctx, near, device_x.data(), kDHat);
  }

  void select(Context& ctx, bool shrank, AugmentationEnd end) {
    set.select(ctx, near, active, device_x.data(), shrank, {kGap, MultiplierUpdate::derivative, end});
  }
  void update(Context& ctx, MultiplierUpdate how) {
    set.update_multipliers(ctx, near, device_x.data(), kDHat, kSigma, how);
  }

  std::vector<AugmentedPair> pairs(Context& ctx) const {
    std::vector<AugmentedPair> pairs(set.size());
    copy_to_host(ctx, pairs.data(), set.pairs(), pairs.size());
    std::sort(pairs.begin(), pairs.end(), PairLess());
    return pairs;
  }

  Real distance(const ContactPair& pair) const {
    const Vec4i& v = pair.nodes;
    if (pair.kind == ContactPair::half_space) return x[v[0]][1];
    return std::sqrt(pair.kind == ContactPair::point_triangle
                         ? point_triangle_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                         : edge_edge_d2(x[v[0]], x[v[1]], x[v[2]], x[v[3]]));
  }

  /// All pairs of the model closer than `gap`, without a broad phase; in order.
  std::vector<ContactPair> closer_than(Real gap) const {
    std::vector<ContactPair> found;
    const auto consider = [&](const ContactPair& pair) {
      if (distance(pair) < gap) found.push_back(pair);
    };
    for (const std::int32_t p : model.surface_nodes) {
      consider({ContactPair::half_space, 0, {p, -1, -1, -1}});
      for (const Vec3i& t : model.triangles)
        if (p != t[0] && p != t[1] && p != t[2])
          consider({ContactPair::point_triangle, -1, {p, t[0], t[1], t[2]}});
    }
    for (std::size_t i = 0; i < model.edges.size(); ++i)
      for (std::size_t j = i + 1; j < model.edges.size(); ++j) {
        const Vec2i a = model.edges[i], b = model.edges[j];
        if (a[0] != b[0] && a[0] != b[1] && a[1] != b[0] && a[1] != b[1])
          consider({ContactPair::edge_edge, -1, {a[0], a[1], b[0], b[1]}});
      }
    std::sort(found.begin(), found.end(), PairLess());
    return found;
  }

  Model model;
  DeviceModel device;
  BroadPhase broad_phase;
  Proximity near{};
  ContactSet active;
  AugmentedSet set;
  std::vector<Vec3> start, x;
  Buffer<Vec3> device_x;
};

void expect_pairs(const std::vector<AugmentedPair>& found, const std::vector<ContactPair>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].pair == expected[i]) << i;
}

const AugmentedPair* find(const std::vector<AugmentedPair>& pairs, const ContactPair& pair) {
  const auto at = std::lower_bound(pairs.begin(), pairs.end(), AugmentedPair{pair, 0}, PairLess());
  return at != pairs.end() && at->pair == pair ? &*at : nullptr;
}

/// |b'(d)| by finite differences.
double barrier_slope(double d) {
  const double h = 1e-6 * d;
  return (barrier(d - h, double(kDHat)) - barrier(d + h, double(kDHat))) / (2 * h);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(AugmentedSet, TakesExactlyThePairsCloserThanTheGap) {
  for (const AugmentationEnd end : {AugmentationEnd::together, AugmentationEnd::singly}) {
    FRESH_SEED(seed);
    Stack s(ctx, seed);
    s.place(ctx, Real(2e-4), Real(0.014));
    s.select(ctx, true, end);
    const std::vector<AugmentedPair> pairs = s.pairs(ctx);
    expect_pairs(pairs, s.closer_than(kGap));
    ASSERT_GT(pairs.size(), 10u);
    ASSERT_LT(pairs.size(), s.active.active_count()) << "some contacts are farther than the gap";
    EXPECT_NE(pairs.front().pair.kind, pairs.back().pair.kind);
    for (const AugmentedPair& p : pairs) EXPECT_EQ(p.multiplier, 0);
  }
}

BACKEND_TEST(AugmentedSet, MultipliersGrowByTheForceOrByTheBarrier) {
  FRESH_SEED(seed);
  Stack s(ctx, seed);
  s.select(ctx, true, AugmentationEnd::singly);
  std::vector<AugmentedPair> before = s.pairs(ctx);
  for (const MultiplierUpdate how : {MultiplierUpdate::value, MultiplierUpdate::derivative,
                                     MultiplierUpdate::value, MultiplierUpdate::derivative}) {
    s.update(ctx, how);
    const std::vector<AugmentedPair> after = s.pairs(ctx);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double d = s.distance(after[i].pair);
      const double growth =
          kSigma * (how == MultiplierUpdate::value ? barrier(d, double(kDHat)) : barrier_slope(d));
      EXPECT_GT(growth, 0);
      const double expected = before[i].multiplier + growth;
      EXPECT_NEAR(after[i].multiplier, expected, kTolerance * expected) << i;
    }
    before = after;
  }
  const auto most = std::max_element(
      before.begin(), before.end(), [](const auto& a, const auto& b) { return a.multiplier < b.multiplier; });
  EXPECT_EQ(largest(ctx, s.set), most->multiplier);
}

BACKEND_TEST(AugmentedSet, AMultiplierFadesBeyondDHatAndIsZeroBeyondItsReach) {
  FRESH_SEED(seed);
  int inside = 0, tail = 0, free = 0;
  // One stack in three hundred has no pair in the tail.
  for (unsigned k = 0; k < 3; ++k) {
    Stack s(ctx, seed + k);
    s.select(ctx, true, AugmentationEnd::singly);
    s.update(ctx, MultiplierUpdate::derivative);
    const std::vector<AugmentedPair> before = s.pairs(ctx);
    s.place(ctx, Real(2.6e-3), Real(0.05));
    s.update(ctx, MultiplierUpdate::value);
    for (const AugmentedPair& now : s.pairs(ctx))
      if (s.distance(now.pair) > kDHat) {
        EXPECT_EQ(now.multiplier, find(before, now.pair)->multiplier) << "b is zero there";
      }
    // Again with the same multipliers.
    s.place(ctx, 0, 0);
    s.set.clear();
    s.select(ctx, true, AugmentationEnd::singly);
    s.update(ctx, MultiplierUpdate::derivative);
    s.place(ctx, Real(2.6e-3), Real(0.05));
    s.update(ctx, MultiplierUpdate::derivative);
    for (const AugmentedPair& now : s.pairs(ctx)) {
      const double m = find(before, now.pair)->multiplier, d = s.distance(now.pair);
      double expected = m + kSigma * barrier_slope(d);
      if (d < kDHat) {
        ++inside;
      } else {
        const double stiffness = std::max(double(kSigma), m / kDHat);
        expected = std::max(0.0, m - stiffness * (d - kDHat));
        ++(expected > 0 ? tail : free);
      }
      EXPECT_NEAR(now.multiplier, expected, kTolerance * m);
      if (expected == 0) {
        EXPECT_EQ(now.multiplier, 0);
      }
    }
  }
  EXPECT_GT(inside, 0);
  EXPECT_GT(tail, 0);
  EXPECT_GT(free, 0);
}

BACKEND_TEST(AugmentedSet, MultipliersFollowTheirPairIntoANewSelection) {
  for (const AugmentationEnd end : {AugmentationEnd::together, AugmentationEnd::singly}) {
    FRESH_SEED(seed);
    Stack s(ctx, seed);
    s.place(ctx, Real(2e-4), Real(-0.008));
    s.select(ctx, true, end);
    s.update(ctx, MultiplierUpdate::derivative);
    const std::vector<AugmentedPair> before = s.pairs(ctx);
    // One side opens, the other closes.
    s.place(ctx, Real(2e-4), Real(0.014));
    s.select(ctx, true, end);
    const std::vector<AugmentedPair> after = s.pairs(ctx);
    int kept = 0, fresh = 0;
    for (const AugmentedPair& p : after) {
      const AugmentedPair* old = find(before, p.pair);
      EXPECT_EQ(p.multiplier, old ? old->multiplier : 0);
      ++(old ? kept : fresh);
    }
    EXPECT_GT(kept, 0);
    EXPECT_GT(fresh, 0);
    const std::vector<ContactPair> close = s.closer_than(kGap);
    int left = 0;
    for (const AugmentedPair& p : before)
      left += !std::binary_search(close.begin(), close.end(), p.pair, PairLess());
    EXPECT_GT(left, 0);
    if (end == AugmentationEnd::together) {
      expect_pairs(after, close);
    } else {
      EXPECT_EQ(after.size(), close.size() + static_cast<std::size_t>(left))
          << "what opened keeps its multiplier until that is zero";
    }
  }
}

BACKEND_TEST(AugmentedSet, TogetherKeepsTheSetUntilTheSmallestDistanceShrinksOrIsWide) {
  FRESH_SEED(seed);
  Stack s(ctx, seed);
  s.select(ctx, false, AugmentationEnd::together);
  const std::vector<ContactPair> first = s.closer_than(kGap);
  expect_pairs(s.pairs(ctx), first);
  s.update(ctx, MultiplierUpdate::derivative);
  const std::vector<AugmentedPair> before = s.pairs(ctx);

  s.place(ctx, Real(2e-4), Real(0.014));
  s.select(ctx, false, AugmentationEnd::together);
  expect_pairs(s.pairs(ctx), first);
  for (const AugmentedPair& p : s.pairs(ctx)) EXPECT_EQ(p.multiplier, find(before, p.pair)->multiplier);
  const std::vector<ContactPair> second = s.closer_than(kGap);
  ASSERT_FALSE(std::equal(first.begin(), first.end(), second.begin(), second.end()));
  s.select(ctx, true, AugmentationEnd::together);
  expect_pairs(s.pairs(ctx), second);

  // Both boxes rise from the ground.
  for (Vec3& p : s.start) p[1] += Real(8e-4);
  s.place(ctx, Real(8e-4), 0);
  ASSERT_TRUE(s.closer_than(kGap).empty());
  ASSERT_GT(s.active.active_count(), 0u) << "the barrier still acts";
  s.select(ctx, false, AugmentationEnd::together);
  EXPECT_EQ(s.set.size(), 0u);
}

BACKEND_TEST(AugmentedSet, SinglyKeepsAPairUntilItsMultiplierIsZero) {
  FRESH_SEED(seed);
  Stack s(ctx, seed);
  s.select(ctx, true, AugmentationEnd::singly);
  s.update(ctx, MultiplierUpdate::derivative);
  const std::vector<AugmentedPair> all = s.pairs(ctx);
  s.place(ctx, Real(2.6e-3), Real(0.05));
  s.select(ctx, false, AugmentationEnd::singly);
  EXPECT_EQ(s.pairs(ctx).size(), all.size()) << "every multiplier is positive still";

  s.update(ctx, MultiplierUpdate::derivative);
  const std::vector<AugmentedPair> updated = s.pairs(ctx);
  s.select(ctx, false, AugmentationEnd::singly);
  const std::vector<AugmentedPair> left = s.pairs(ctx);
  std::size_t zero = 0;
  for (const AugmentedPair& p : updated) {
    zero += p.multiplier == 0;
    EXPECT_EQ(find(left, p.pair) != nullptr, p.multiplier > 0);
  }
  EXPECT_GT(zero, 0u);
  EXPECT_EQ(left.size(), updated.size() - zero);

  // All pairs are far apart now.
  for (Vec3& p : s.start) p[1] += Real(0.05);
  s.place(ctx, Real(0.05), 0);
  ASSERT_EQ(s.active.active_count(), 0u);
  s.update(ctx, MultiplierUpdate::derivative);
  s.select(ctx, false, AugmentationEnd::singly);
  EXPECT_EQ(s.set.size(), 0u);
  EXPECT_EQ(largest(ctx, s.set), 0);
}

BACKEND_TEST(AugmentedSet, APairIsFoundAtItsPlaceAndNoOtherIs) {
  FRESH_SEED(seed);
  Stack s(ctx, seed);
  s.select(ctx, true, AugmentationEnd::singly);
  const std::size_t n = s.set.size();
  std::vector<AugmentedPair> pairs(n);
  std::vector<std::uint64_t> keys(n);
  copy_to_host(ctx, pairs.data(), s.set.pairs(), n);
  copy_to_host(ctx, keys.data(), s.set.keys(), n);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(keys[i], pair_key(pairs[i].pair));
    EXPECT_EQ(find_pair(pairs.data(), keys.data(), n, pairs[i].pair), static_cast<std::int32_t>(i));
  }
  std::size_t others = 0;
  for (const ContactPair& pair : s.closer_than(Real(0.05))) {
    if (s.distance(pair) < kGap) continue;
    ++others;
    EXPECT_EQ(find_pair(pairs.data(), keys.data(), n, pair), -1);
  }
  EXPECT_GT(others, 100u);
  EXPECT_EQ(find_pair(pairs.data(), keys.data(), 0, pairs[0].pair), -1);
}

BACKEND_TEST(AugmentedSet, PairsThatShareAKeyAreDistinguished) {
  const ContactPair wanted{ContactPair::edge_edge, -1, {4, 7, 9, 11}};
  const ContactPair other{ContactPair::point_triangle, -1, {4, 7, 9, 11}};
  const ContactPair plane_0{ContactPair::half_space, 0, {4, -1, -1, -1}};
  const ContactPair plane_1{ContactPair::half_space, 1, {4, -1, -1, -1}};
  EXPECT_NE(pair_key(wanted), pair_key(other));
  EXPECT_NE(pair_key(plane_0), pair_key(plane_1));
  const std::vector<AugmentedPair> pairs{{other, 1}, {plane_0, 2}, {wanted, 3}, {plane_1, 4}};
  const std::vector<std::uint64_t> keys(pairs.size(), pair_key(wanted));
  EXPECT_EQ(find_pair(pairs.data(), keys.data(), 4, wanted), 2);
  EXPECT_EQ(find_pair(pairs.data(), keys.data(), 2, wanted), -1);
}

BACKEND_TEST(AugmentedSet, IsTheSameForAnyNumberOfThreads) {
  FRESH_SEED(seed);
  std::vector<AugmentedPair> first;
  for_thread_counts([&](Context& threads) {
    Stack s(threads, seed);
    for (const Real slope : {Real(0), Real(4e-3), Real(8e-3)}) {
      s.place(threads, 0, slope);
      s.select(threads, true, AugmentationEnd::singly);
      s.update(threads, MultiplierUpdate::derivative);
    }
    std::vector<AugmentedPair> pairs(s.set.size());
    copy_to_host(threads, pairs.data(), s.set.pairs(), pairs.size());
    if (first.empty()) first = pairs;
    ASSERT_EQ(pairs.size(), first.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_TRUE(pairs[i].pair == first[i].pair) << i;
      EXPECT_EQ(pairs[i].multiplier, first[i].multiplier) << i;
    }
  });
  EXPECT_GT(first.size(), 10u);
}
