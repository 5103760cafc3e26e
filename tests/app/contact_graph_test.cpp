// Islands and the pattern of W, compared with brute force.
#include "app/viewer/contact_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/fixtures/fresh_seed.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

/// `count` balls, the first of which stands still, and contacts between random ones or with the ground.
struct RandomContacts {
  RandomContacts(int count, int contact_count, std::mt19937& random) {
    for (int i = 0; i < count; ++i) fixtures::add_rigid_sphere(model, 0.1, {double(i), 0, 0}, i > 0);
    std::uniform_int_distribution<int> object(-1, count - 1), colour(-1, 4);
    for (int i = 0; i < contact_count; ++i) {
      ContactRecord& contact = contacts.emplace_back();
      contact.object_a = std::max(0, object(random));
      contact.object_b = object(random);
      contact.colour = colour(random);
    }
  }
  bool couples(const ContactRecord& c, const ContactRecord& d) const {
    for (const std::int32_t a : {c.object_a, c.object_b})
      for (const std::int32_t b : {d.object_a, d.object_b})
        if (a == b && a > 0) return true;
    return false;
  }
  Model model;
  std::vector<ContactRecord> contacts;
};

TEST(ContactGraph, IslandsAreWhatContactsAndJointsReach) {
  const unsigned seed = fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int repeat = 0; repeat < 50; ++repeat) {
    RandomContacts of(12, repeat % 12, random);
    if (repeat % 3 == 0) fixtures::add_ball_joint(of.model, 2, 5);
    const std::vector<std::int32_t> islands = islands_of(of.model, of.contacts);
    ASSERT_EQ(islands.size(), of.model.objects.size());
    EXPECT_EQ(islands[0], -1) << "stands still";
    for (std::int32_t i = 1; i < 12; ++i) {
      // What object i reaches, step by step.
      std::set<std::int32_t> reached{i};
      for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        const auto reach = [&](std::int32_t a, std::int32_t b) {
          if (a <= 0 || b <= 0) return;
          if (reached.count(a) + reached.count(b) > 0) reached.insert({a, b});
        };
        for (const ContactRecord& c : of.contacts) reach(c.object_a, c.object_b);
        for (const Joint& j : of.model.joints) reach(j.a, j.b);
      }
      EXPECT_EQ(islands[static_cast<std::size_t>(i)], *reached.begin());
    }
  }
}

TEST(ContactGraph, ThePatternIsThatOfAllPairs) {
  const unsigned seed = fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const int count : {0, 1, 7, 40}) {
    RandomContacts of(9, count, random);
    for (const int cells : {5, 40})
      for (const ContactOrder order : {ContactOrder::found, ContactOrder::swept}) {
        std::vector<ContactRecord> sorted = of.contacts;
        if (order == ContactOrder::swept) std::ranges::stable_sort(sorted, {}, &ContactRecord::colour);
        const MatrixPattern pattern = pattern_of(of.model, of.contacts, cells, order);
        const auto n = sorted.size(), m = static_cast<std::size_t>(pattern.cells);
        ASSERT_EQ(m, std::min<std::size_t>(n, static_cast<std::size_t>(cells)));
        std::vector<double> blocks(m * m, 0), filled(m * m, 0);
        double all = 0;
        for (std::size_t c = 0; c < n; ++c)
          for (std::size_t d = 0; d < n; ++d) {
            const std::size_t cell = c * m / n * m + d * m / n;
            ++blocks[cell];
            filled[cell] += of.couples(sorted[c], sorted[d]);
            all += of.couples(sorted[c], sorted[d]);
          }
        for (std::size_t k = 0; k < m * m; ++k) EXPECT_NEAR(pattern.share[k], filled[k] / blocks[k], 1e-6);
        EXPECT_NEAR(pattern.filled, n > 0 ? all / static_cast<double>(n * n) : 0, 1e-12);
      }
  }
}

TEST(ContactGraph, IslandsNextToEachOtherHaveDifferentColours) {
  for (std::int32_t i = 0; i < 100; ++i)
    for (std::int32_t j = i + 1; j < i + 4; ++j)
      EXPECT_GT(norm(island_color(i) - island_color(j)), 0.15f) << i << ", " << j;
}

}  // namespace
}  // namespace stickslip
