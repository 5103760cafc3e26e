#include "tests/reference/exact_ccd.h"

#include <gtest/gtest.h>

#include "bench/program/ccd_queries.h"
#include "tests/fixtures/shared_data.h"

namespace stickslip::testing {
namespace {

TEST(ExactPolynomial, RootsAreFoundInOrderAndCompareExactly) {
  // (3 t - 1)^2 (2 t - 1) (t - 2)
  const Polynomial p = Polynomial{-1, 3} * Polynomial{-1, 3} * Polynomial{-1, 2} * Polynomial{-2, 1};
  std::vector<Root> roots = Root::in_unit_interval(p);
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-1, 3}), 0);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-1, 3} * Polynomial{5, 7, 1}), 0);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-1, 2}), -1);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-333333333, 1000000000}), 1);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-333333334, 1000000000}), -1);
  EXPECT_EQ(roots[0].compare_to(Dyadic::from(1.0 / 3)), 1);  // 1/3 rounds down
  EXPECT_EQ(roots[0].compare_to(Dyadic::from(std::nextafter(1.0 / 3, 1.0))), -1);
  EXPECT_EQ(roots[1].compare_to(Dyadic::from(0.5)), 0);
  EXPECT_EQ(roots[1].sign_of(Polynomial{-1, 2}), 0);
  EXPECT_EQ(roots[1].sign_of(p), 0);
}

TEST(ExactPolynomial, RootsAtTheEndsOfTheIntervalAndNoRoots) {
  EXPECT_EQ(Root::in_unit_interval(Polynomial{-1, 1}).size(), 1u);
  EXPECT_EQ(Root::in_unit_interval(Polynomial{0, 1}).size(), 0u);
  EXPECT_EQ(Root::in_unit_interval(Polynomial{1, 0, 1}).size(), 0u);
  EXPECT_EQ(Root::in_unit_interval(Polynomial{7}).size(), 0u);
  // sqrt(1/2): 2 t^2 - 1; the sign of a polynomial at an irrational root.
  std::vector<Root> roots = Root::in_unit_interval(Polynomial{-1, 0, 2});
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-1, 0, 2} * Polynomial{3, 1}), 0);
  EXPECT_EQ(roots[0].sign_of(Polynomial{-70710678, 100000000}), 1);
  EXPECT_EQ(roots[0].compare_to(Dyadic::from(0.7071067811)), 1);
  EXPECT_EQ(roots[0].compare_to(Dyadic::from(0.7071067812)), -1);
}

using P = Vec<double, 3>;
ExactContact point_triangle(P from, P to, const P& drift = P::zero()) {
  const P start[4] = {from, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
  const P end[4] = {to, drift, P{1, 0, 0} + drift, P{0, 0, 1} + drift};
  return {PairKind::vertex_face, ExactMotion::between(start, end)};
}
/// An edge from (-1, 0, 0) to (1, 0, 0) at rest.
ExactContact edges(P b0, P b1, P b0_end, P b1_end) {
  const P start[4] = {{-1, 0, 0}, {1, 0, 0}, b0, b1}, end[4] = {{-1, 0, 0}, {1, 0, 0}, b0_end, b1_end};
  return {PairKind::edge_edge, ExactMotion::between(start, end)};
}

TEST(ExactContact, OfAPointAndATriangle) {
  ExactContact through = point_triangle({0.25, 1, 0.25}, {0.25, -2, 0.25});
  EXPECT_TRUE(through.collides());
  EXPECT_FALSE(through.by(1.0 / 3));
  EXPECT_TRUE(through.by(std::nextafter(1.0 / 3, 1.0)));
  // Onto a side, a corner, the slanted side, and one bit beside each.
  EXPECT_TRUE(point_triangle({0.5, 1, 0}, {0.5, -1, 0}).collides());
  EXPECT_FALSE(point_triangle({0.5, 1, -1e-300}, {0.5, -1, -1e-300}).collides());
  EXPECT_TRUE(point_triangle({0, 1, 0}, {0, -1, 0}).collides());
  EXPECT_FALSE(point_triangle({-1e-300, 1, 0}, {-1e-300, -1, 0}).collides());
  EXPECT_TRUE(point_triangle({0.5, 1, 0.5}, {0.5, -1, 0.5}).collides());
  EXPECT_FALSE(point_triangle({0.5, 1, 0.5 + 0x1p-53}, {0.5, -1, 0.5 + 0x1p-53}).collides());
  // Contact at t = 0 and at t = 1 only; and barely no contact.
  EXPECT_TRUE(point_triangle({0.25, 0, 0.25}, {0.25, 1, 0.25}).by(0));
  EXPECT_TRUE(point_triangle({0.25, 1, 0.25}, {0.25, 0, 0.25}).by(1));
  EXPECT_FALSE(point_triangle({0.25, 1, 0.25}, {0.25, 0, 0.25}).by(std::nextafter(1.0, 0.0)));
  EXPECT_FALSE(point_triangle({0.25, 1, 0.25}, {0.25, 0x1p-1000, 0.25}).collides());
  // Within the plane: past a corner, into a side, at rest inside, a plane that moves along.
  EXPECT_TRUE(point_triangle({-1, 0, 0.25}, {0, 0, 0.25}).by(1));
  EXPECT_FALSE(point_triangle({-1, 0, 0.25}, {-0x1p-60, 0, 0.25}).collides());
  EXPECT_TRUE(point_triangle({-1, 0, 1}, {1, 0, -1}).by(0.5));
  EXPECT_FALSE(point_triangle({-1, 0, 1}, {1, 0, -1 - 1e-15}).by(0.5 - 1e-3));
  EXPECT_TRUE(point_triangle({0.25, 0, 0.25}, {0.25, 0, 0.25}).by(0));
  EXPECT_TRUE(point_triangle({-1, 0, 0.25}, {2, 7, 0.25}, {0, 7, 0}).by(1.0 / 2));
  // A common translation does not change the result.
  EXPECT_FALSE(point_triangle({0.25, 1, 0.25}, {0.25, 1e9 + 1, 0.25}, {0, 1e9, 0}).collides());
}

TEST(ExactContact, OfFlatTriangles) {
  const auto contact = [](P point, P to, P t0, P t1, P t2) {
    const P start[4] = {point, t0, t1, t2}, end[4] = {to, t0, t1, t2};
    return ExactContact(PairKind::vertex_face, ExactMotion::between(start, end)).collides();
  };
  EXPECT_TRUE(contact({0.5, 1, 0}, {0.5, -1, 0}, {0, 0, 0}, {1, 0, 0}, {0.75, 0, 0}));
  EXPECT_FALSE(contact({0.5, 1, 0}, {0.5, -1, 1e-30}, {0, 0, 0}, {1, 0, 0}, {0.75, 0, 0}));
  EXPECT_FALSE(contact({1.5, 1, 0}, {1.5, -1, 0}, {0, 0, 0}, {1, 0, 0}, {0.75, 0, 0}));
  EXPECT_TRUE(contact({0, 1, 0}, {0, -1, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}));
  EXPECT_FALSE(contact({0, 1, 0}, {1e-100, -1, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}));
}

TEST(ExactContact, OfEdges) {
  ExactContact crossing = edges({0, 1, -1}, {0, 1, 1}, {0, -2, -1}, {0, -2, 1});
  EXPECT_FALSE(crossing.by(1.0 / 3));
  EXPECT_TRUE(crossing.by(std::nextafter(1.0 / 3, 1.0)));
  // One end barely reaches the other edge, or barely misses it.
  EXPECT_TRUE(edges({0, 1, 0}, {0, 1, 1}, {0, -1, 0}, {0, -1, 1}).by(0.5));
  EXPECT_FALSE(edges({0, 1, 1e-300}, {0, 1, 1}, {0, -1, 1e-300}, {0, -1, 1}).collides());
  EXPECT_TRUE(edges({1, 1, 0}, {2, 1, 1}, {1, -1, 0}, {2, -1, 1}).by(0.5));
  // Parallel edges touch along their length, slide along their common line, or miss.
  EXPECT_TRUE(edges({-2, 1, 0}, {5, 1, 0}, {-2, -1, 0}, {5, -1, 0}).by(0.5));
  EXPECT_FALSE(edges({1.5, 1, 0}, {5, 1, 0}, {1.5, -1, 0}, {5, -1, 0}).collides());
  EXPECT_TRUE(edges({3, 0, 0}, {2, 0, 0}, {0, 0, 0}, {-1, 0, 0}).by(1.0 / 3 + 1e-15));
  EXPECT_FALSE(edges({3, 0, 0}, {2, 0, 0}, {0, 0, 0}, {-1, 0, 0}).by(1.0 / 3));
  EXPECT_FALSE(edges({3, 0, 0}, {2, 0, 0}, {2.5, 0, 0}, {1 + 0x1p-50, 0, 0}).collides());
  // In one plane: an edge rotates its end onto the other.
  EXPECT_TRUE(edges({0, 1, 0}, {0, 2, 0}, {0, -1, 0}, {0, 2, 0}).by(0.5));
  EXPECT_FALSE(edges({2, 1, 0}, {2, 2, 0}, {2, -1, 0}, {2, 2, 0}).collides());
  // Crossing from the start, without motion.
  EXPECT_TRUE(edges({0, 0, -1}, {0, 0, 1}, {0, 0, -1}, {0, 0, 1}).by(0));
  EXPECT_FALSE(edges({0, 1e-200, -1}, {0, 1e-200, 1}, {0, 1e-200, -1}, {0, 1e-200, 1}).collides());
  // Without length.
  EXPECT_TRUE(edges({0, 1, 0}, {0, 1, 0}, {0, -1, 0}, {0, -1, 0}).by(0.5));
  EXPECT_FALSE(edges({0, 1, 1e-9}, {0, 1, 1e-9}, {0, -1, 1e-9}, {0, -1, 1e-9}).collides());
}

TEST(ExactContact, AgreesWithTheGroundTruthOfOthers) {
  const std::vector<std::filesystem::path> files = shared_files("ccd", ".csv");
  if (files.empty()) GTEST_SKIP() << "no query files at " << shared_data() / "ccd";
  for (const auto& file : files) {
    const CcdQueryFile input = load_ccd_queries(file);
    for (std::size_t n = 0; n < input.queries.size(); ++n) {
      const CcdQuery& query = input.queries[n];
      const ExactContact contact(input.kind, ExactMotion::between(query.start, query.end));
      EXPECT_EQ(contact.collides(), query.collides) << file << " query " << n;
    }
  }
}

}  // namespace
}  // namespace stickslip::testing
