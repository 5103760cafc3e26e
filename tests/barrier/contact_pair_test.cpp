#include <gtest/gtest.h>

#include <random>

#include "gpu/barrier/contact.h"

namespace stickslip {
namespace {

// Boxes may settle that a pair is far apart, and must never say so of one that is near.
TEST(ContactPair, GapsBelowAReachAreExact) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<Real> place(-1, 1), thickness(0, Real(0.2)), reaches(Real(0.01), Real(0.8));
  int settled = 0, near_pairs = 0;
  for (int round = 0; round < 20000; ++round) {
    Vec3 x[4];
    for (Vec3& v : x) v = {place(engine), place(engine), round % 3 == 0 ? Real(0) : place(engine)};
    const Real radius[4] = {thickness(engine), thickness(engine), thickness(engine), thickness(engine)};
    Proximity near{};
    if (round % 2 == 0) near.radius = radius;
    const ContactPair pair{
        round % 4 < 2 ? ContactPair::point_triangle : ContactPair::edge_edge, -1, {0, 1, 2, 3}};
    const Real reach = reaches(engine), gap = pair_gap(near, pair, x),
               got = pair_gap_below(near, pair, x, reach);
    if (gap < reach) {
      EXPECT_EQ(got, gap);
      ++near_pairs;
    } else {
      EXPECT_GE(got, reach);
      settled += got != gap;
    }
  }
  EXPECT_GT(settled, 1000);
  EXPECT_GT(near_pairs, 1000);
}

}  // namespace
}  // namespace stickslip
