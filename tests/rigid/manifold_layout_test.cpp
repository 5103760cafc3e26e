// Which manifolds may be swept in parallel.
#include "gpu/rigid/manifold/manifold_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

namespace stickslip {
namespace {

/// Pairs of neighbours in a long cloud of bodies; every tenth body is immovable.
struct Neighbours {
  std::vector<Pose> pose;
  std::vector<BodyInverse> inverse;
  std::vector<RigidContact> contacts;
  std::vector<ManifoldRange> ranges;

  explicit Neighbours(int bodies) {
    std::mt19937 rng(5);
    std::uniform_real_distribution<double> in(0, 1);
    for (int b = 0; b < bodies; ++b) {
      pose.push_back({{0.01 * bodies * in(rng), in(rng), in(rng)}, Quat::identity()});
      inverse.push_back({b % 10 == 9 ? 0.0 : 1.0, {1, 1, 1, 0, 0, 0}});
    }
    for (int a = 0; a < bodies; ++a) {
      for (int b = a + 1; b < bodies; ++b)
        if (norm(pose[static_cast<std::size_t>(a)].x - pose[static_cast<std::size_t>(b)].x) < 0.3)
          touch(a, b);
      if (a % 5 == 0) touch(a, -1);
    }
  }
  void touch(std::int32_t a, std::int32_t b) {
    ranges.push_back({static_cast<std::int32_t>(contacts.size()), 1});
    contacts.push_back({a, b, {0, 0, 0}, {0, 1, 0}, 0, 0, -1});
  }
  ManifoldBodies bodies() const { return {contacts.data(), ranges.data(), inverse.data()}; }
};

struct Placed {
  ManifoldLayout layout;
  std::vector<std::int32_t> slot;

  Placed(const Neighbours& cloud, int width, int slabs, const ParallelFor& parallel = serial_for)
      : layout(width, parallel), slot(cloud.ranges.size()) {
    layout.cut_into_slabs(cloud.pose.data(), cloud.inverse.data(), cloud.pose.size(), slabs);
    layout.place(cloud.bodies(), cloud.ranges.size(), slot.data());
  }
  std::size_t run_of(std::int32_t pack) const {
    std::size_t run = 0;
    while (layout.runs()[run + 1] <= pack) ++run;
    return run;
  }
};

class ManifoldLayoutOf : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(ManifoldLayoutOf, PacksAndRunsOfABatchShareNoBody) {
  const auto [width, slabs] = GetParam();
  const Neighbours cloud(400);
  const Placed placed(cloud, width, slabs);
  std::set<std::int32_t> slots;
  std::set<std::pair<std::int32_t, std::int32_t>> body_in_pack;
  std::map<std::int32_t, std::size_t> slab_of_body;
  ASSERT_EQ(placed.layout.runs().size(), static_cast<std::size_t>(slabs) + 2);
  ASSERT_EQ(placed.layout.batches().back(), static_cast<std::size_t>(slabs) + 1);
  std::size_t across = 0;
  for (std::size_t m = 0; m < cloud.ranges.size(); ++m) {
    const std::int32_t pack = placed.slot[m] / width;
    ASSERT_GE(placed.slot[m], 0);
    ASSERT_LT(static_cast<std::size_t>(pack), placed.layout.packs());
    EXPECT_TRUE(slots.insert(placed.slot[m]).second) << "two manifolds in one lane";
    const std::size_t run = placed.run_of(pack);
    across += run == static_cast<std::size_t>(slabs) ? 1 : 0;
    cloud.bodies().visit(m, [&](std::int32_t b) {
      EXPECT_TRUE(body_in_pack.insert({pack, b}).second) << "body " << b << " twice in a pack";
      if (run < static_cast<std::size_t>(slabs)) {
        EXPECT_EQ(slab_of_body.emplace(b, run).first->second, run);
      }
    });
  }
  EXPECT_LT(across, cloud.ranges.size() / 2);
}

TEST_P(ManifoldLayoutOf, ABodyTakesItsTurnsInTheOrderOfTheList) {
  const auto [width, slabs] = GetParam();
  const Neighbours cloud(400);
  const Placed placed(cloud, width, slabs);
  std::map<std::pair<std::int32_t, std::size_t>, std::int32_t>
      last;  // pack of a body's last manifold in a run
  for (std::size_t m = 0; m < cloud.ranges.size(); ++m) {
    const std::int32_t pack = placed.slot[m] / width;
    cloud.bodies().visit(m, [&](std::int32_t b) {
      const auto [at, first] = last.try_emplace({b, placed.run_of(pack)}, pack);
      if (first) return;
      EXPECT_GT(pack, at->second) << "manifold " << m << " of body " << b;
      at->second = pack;
    });
  }
}

TEST_P(ManifoldLayoutOf, PacksAreFullWhereThereIsEnough) {
  const auto [width, slabs] = GetParam();
  const Neighbours cloud(3000);
  const Placed placed(cloud, width, slabs);
  const double filled = static_cast<double>(cloud.ranges.size()) /
                        static_cast<double>(placed.layout.packs() * static_cast<std::size_t>(width));
  EXPECT_GT(filled, 0.8);
}

TEST_P(ManifoldLayoutOf, DoesNotDependOnTheOrderOfThreads) {
  const auto [width, slabs] = GetParam();
  const Neighbours cloud(3000);
  const Placed serial(cloud, width, slabs);
  const ParallelFor backwards = [](std::size_t n, const std::function<void(std::size_t)>& f) {
    for (std::size_t i = n; i > 0; --i) f(i - 1);
  };
  const ParallelFor threads = [](std::size_t n, const std::function<void(std::size_t)>& f) {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < n; ++i) all.emplace_back([&f, i] { f(i); });
  };
  for (const ParallelFor& parallel : {backwards, threads}) {
    const Placed other(cloud, width, slabs, parallel);
    EXPECT_EQ(other.slot, serial.slot);
    EXPECT_EQ(other.layout.runs(), serial.layout.runs());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, ManifoldLayoutOf,
                         testing::Values(std::pair{4, 1}, std::pair{8, 1}, std::pair{8, 2}, std::pair{8, 8}));

TEST(ManifoldLayout, OfNothingHasNoPacks) {
  const Neighbours none(0);
  EXPECT_EQ(Placed(none, 8, 4).layout.packs(), 0u);
}

}  // namespace
}  // namespace stickslip
