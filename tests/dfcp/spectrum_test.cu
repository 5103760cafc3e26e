// Products with W in lanes, and the estimate of its eigenvalues.
#include "gpu/dfcp/operator/spectrum.cuh"

#include <random>

#include "gpu/dfcp/problem/generators.h"
#include "tests/backend_test.h"
#include "tests/dfcp/dense_eigenvalues.h"
#include "tests/dfcp/random_local_problem.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::dense_eigenvalues;

template <int D>
Spectrum spectrum_of(Context& ctx, const ContactProblem& problem, bool factored = false) {
  Delassus<D> W;
  W.build(ctx, problem, factored);
  return estimate_spectrum(ctx, W);
}

/// Requires a lower bound of the largest and an upper bound of the smallest eigenvalue, within the given
/// shares of the largest.
void expect_bounds(const Spectrum& s, const std::vector<double>& exact, double below, double above) {
  const double largest = exact.back(), smallest = exact.front();
  EXPECT_LE(s.largest, largest * (1 + 1e-12));
  EXPECT_GE(s.largest, largest * (1 - below));
  EXPECT_GE(s.smallest, smallest - 1e-12 * largest);
  EXPECT_LE(s.smallest, smallest + above * largest);
}

/// The plain loop over a row, in the type that BlockRows::times returns.
template <int D>
Vec<double, D> row_times(const Mat<double, D>* value, const std::int32_t* column, int count,
                         const Vec<double, D>* x) {
  Vec<double, D> sum = Vec<double, D>::zero();
  for (int k = 0; k < count; ++k) sum += value[k] * x[column[k]];
  return sum;
}

template <int D>
void expect_rows_times(std::mt19937& random) {
  std::normal_distribution<double> normal;
  for (const int count : {0, 1, 2, 3, 17, 200}) {
    std::vector<Mat<double, D>> value(static_cast<std::size_t>(count));
    std::vector<Vec<double, D>> x(static_cast<std::size_t>(count) + 1);
    std::vector<std::int32_t> column, start{0, count};
    double size = 0;
    for (auto& m : value)
      for (double& entry : m.m) entry = normal(random);
    for (auto& v : x)
      for (int i = 0; i < D; ++i) v[i] = normal(random);
    for (int k = 0; k < count; ++k) column.push_back((7 * k + 1) % (count + 1));
    for (int k = 0; k < count; ++k) size += norm(x[static_cast<std::size_t>(column[k])]);
    const BlockRows<D> rows{start.data(), column.data(), value.data()};
    EXPECT_LE(norm(rows.times(0, x.data()) - row_times(value.data(), column.data(), count, x.data())),
              1e-14 * size);
  }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(BlockRows, LanesAgreeWithThePlainLoop) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  expect_rows_times<3>(random);
  expect_rows_times<4>(random);
}

/// Values that a lane reads beyond its block do not affect the result.
BACKEND_TEST(BlockRows, NeighboursDoNotLeak) {
  std::vector<Mat<double, 3>> value(2);
  for (double& x : value[0].m) x = 1;
  for (double& x : value[1].m) x = 1e300;
  std::vector<Vec<double, 3>> x{{1, 2, 3}, {1e300, 1e300, 1e300}};
  const std::vector<std::int32_t> start{0, 1, 1}, column{0, 1};
  const BlockRows<3> rows{start.data(), column.data(), value.data()};
  EXPECT_TRUE((rows.times(0, x.data()) == Vec<double, 3>{6, 6, 6}));
  EXPECT_TRUE((rows.times(1, x.data()) == Vec<double, 3>::zero()));
}

BACKEND_TEST(Spectrum, IsExactWhereItSeesAllDirections) {
  for (const char* name : {"slide_full_w", "two_stacked", "coupled_nodes", "groove"}) {
    const ContactProblem problem = fixtures::known_contact(name).problem;
    SCOPED_TRACE(name);
    expect_bounds(spectrum_of<3>(ctx, problem), dense_eigenvalues(problem), 1e-10, 1e-10);
  }
  const ContactProblem torsional = fixtures::known_contact("torsional_slide").problem;
  expect_bounds(spectrum_of<4>(ctx, torsional), dense_eigenvalues(torsional), 1e-10, 1e-10);
}

BACKEND_TEST(Spectrum, BoundsTheEigenvaluesOfLargerProblems) {
  for (const ContactProblem& problem :
       {random_stacks(12, 3, 5), granular_column(60, 2), tasora_b1(20, 1), mass_chain(10, 1e3),
        fixtures::random_local_problem(20, 80, 0.1, 0.5, 1),
        fixtures::random_local_problem(20, 30, 0, 0.5, 2)}) {
    SCOPED_TRACE(problem.title);
    const std::vector<double> exact = dense_eigenvalues(problem);
    expect_bounds(spectrum_of<3>(ctx, problem), exact, 0.05, 0.05);
    if (problem.form == ContactProblem::Form::bodies) {
      expect_bounds(spectrum_of<3>(ctx, problem, true), exact, 0.05, 0.05);
    }
  }
}

BACKEND_TEST(Spectrum, OfNothingIsZero) {
  const Spectrum none = estimate_spectrum(ctx, Delassus<3>{});
  EXPECT_EQ(none.largest, 0);
  EXPECT_EQ(none.smallest, 0);
}
