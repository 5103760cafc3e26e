// Reduction to (W, q) and recovery of velocities, compared with dense algebra.
#include "gpu/dfcp/problem/contact_problem.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>
#include <stdexcept>

#include "gpu/dfcp/problem/dual_products.h"
#include "gpu/dfcp/problem/dynamics_inverse.h"
#include "gpu/linear/sparse_cholesky.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd to_dense(const SparseRows& m) {
  MatrixXd out = MatrixXd::Zero(m.rows, m.columns);
  for (int i = 0; i < m.rows; ++i)
    for (int k = m.offsets[i]; k < m.offsets[i + 1]; ++k) out(i, m.indices[k]) += m.values[k];
  return out;
}

SparseRows to_sparse(const MatrixXd& m) {
  SparseRows out;
  out.rows = static_cast<int>(m.rows());
  out.columns = static_cast<int>(m.cols());
  out.offsets.push_back(0);
  for (int i = 0; i < out.rows; ++i) {
    for (int j = 0; j < out.columns; ++j)
      if (m(i, j) != 0) {
        out.indices.push_back(j);
        out.values.push_back(m(i, j));
      }
    out.offsets.push_back(static_cast<int>(out.indices.size()));
  }
  return out;
}

VectorXd to_vector(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

std::vector<double> to_std(const VectorXd& x) { return {x.begin(), x.end()}; }

class Numbers {
 public:
  explicit Numbers(unsigned seed) : engine_(seed) {}
  double operator()() { return uniform_(engine_); }
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  MatrixXd matrix(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [&] { return (*this)(); });
  }
  /// Exactly symmetric.
  MatrixXd positive(int n) {
    const MatrixXd a = matrix(n, n);
    const MatrixXd b = a * a.transpose() + 0.1 * MatrixXd::Identity(n, n);
    return 0.5 * (b + b.transpose());
  }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// Blocks of up to three bodies. Body 0 cannot move; every block has another body too.
ContactProblem random_bodies(int dim, int dofs, int bodies, int blocks, Numbers& random) {
  ContactProblem p;
  p.dim = dim;
  p.form = ContactProblem::Form::bodies;
  p.body_dofs = dofs;
  p.block_start = {0};
  for (int b = 0; b < bodies; ++b) {
    const MatrixXd m = b == 0 ? MatrixXd::Zero(dofs, dofs) : random.positive(dofs);
    p.inverse_mass.insert(p.inverse_mass.end(), m.data(), m.data() + m.size());
    for (int i = 0; i < dofs; ++i) p.f.push_back(random());
  }
  for (int c = 0; c < blocks; ++c) {
    const int first = 1 + random.below(bodies - 1), count = 1 + random.below(3);
    for (int k = 0; k < count; ++k) {
      JacobianBlock& block = p.jacobian.emplace_back();
      block.body = (first + k) % bodies;
      for (int i = 0; i < dim * dofs; ++i) block.rows[i] = random();
    }
    p.block_start.push_back(static_cast<int>(p.jacobian.size()));
    p.laws.emplace_back().mu = {0.5, 0.5, 0.5};
    for (int i = 0; i < dim; ++i) p.w.push_back(random());
  }
  return p;
}

/// H and A^-1 of a problem in the form `bodies`.
std::pair<MatrixXd, MatrixXd> dense_bodies(const ContactProblem& p) {
  const int n = p.body_dofs, dim = p.dim, dofs = static_cast<int>(p.dofs());
  MatrixXd h = MatrixXd::Zero(static_cast<int>(p.size()), dofs), inverse = MatrixXd::Zero(dofs, dofs);
  for (int c = 0; c < static_cast<int>(p.blocks()); ++c)
    for (int e = p.block_start[c]; e < p.block_start[c + 1]; ++e)
      for (int i = 0; i < dim * n; ++i)
        h(c * dim + i / n, p.jacobian[e].body * n + i % n) = p.jacobian[e].rows[i];
  for (int k = 0; k < static_cast<int>(p.inverse_mass.size()); ++k)
    inverse(k / (n * n) * n + k / n % n, k / (n * n) * n + k % n) = p.inverse_mass[k];
  return {h, inverse};
}

void expect_shape(const ContactProblem& local) {
  const SparseRows& w = local.W;
  ASSERT_EQ(w.offsets.size(), local.size() + 1);
  for (int i = 0; i < w.rows; ++i) {
    ASSERT_EQ((w.offsets[i + 1] - w.offsets[i]) % local.dim, 0);
    const int first_row = i / local.dim * local.dim;
    for (int k = w.offsets[i]; k < w.offsets[i + 1]; ++k) {
      const int within = k - w.offsets[i];
      EXPECT_EQ(w.indices[k], w.indices[w.offsets[first_row] + within]);
      EXPECT_EQ(w.indices[k] % local.dim, within % local.dim);
      EXPECT_TRUE(within == 0 || w.indices[k] > w.indices[k - 1]);
    }
  }
  EXPECT_NO_THROW(check(local));
}

TEST(ContactProblem, BodiesGiveTheDenseDelassusMatrix) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int dim : {3, 4})
    for (const int dofs : {3, 6}) {
      ContactProblem p = random_bodies(dim, dofs, 9, 25, random);
      p.laws[4].compliance = 0.25;
      ASSERT_NO_THROW(check(p));
      const ContactProblem local = to_local(p);
      expect_shape(local);
      const auto [h, inverse] = dense_bodies(p);
      MatrixXd w = h * inverse * h.transpose();
      for (int i = 0; i < dim; ++i) w(4 * dim + i, 4 * dim + i) += 0.25;
      const MatrixXd ours = to_dense(local.W);
      EXPECT_LT((ours - w).cwiseAbs().maxCoeff(), 1e-13 * w.cwiseAbs().maxCoeff());
      EXPECT_EQ(ours, ours.transpose());
      EXPECT_GT(ours.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), -1e-12);
      const VectorXd q = to_vector(p.w) + h * inverse * to_vector(p.f);
      EXPECT_LT((to_vector(local.q) - q).cwiseAbs().maxCoeff(), 1e-12);

      const VectorXd r = random.matrix(static_cast<int>(p.size()), 1);
      const VectorXd v = inverse * (to_vector(p.f) + h.transpose() * r);
      EXPECT_LT((to_vector(velocities(p, to_std(r))) - v).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_EQ(local.laws[4].compliance, 0);
    }
}

/// A of rigid parts of 6, 12 and 1 dofs and one mesh-like part of `large`, in scattered order.
ContactProblem random_global(int large, Numbers& random) {
  const std::array<int, 4> sizes{6, 12, 1, large};
  const int n = 19 + large;
  MatrixXd a = MatrixXd::Zero(n, n);
  for (int part = 0, first = 0; part < 4; first += sizes[part++]) {
    if (part < 3) a.block(first, first, sizes[part], sizes[part]) = random.positive(sizes[part]);
    else
      for (int i = 0; i < large; ++i) {
        a(first + i, first + i) = 4.5;
        for (const int j : {i - 1, i - 7})
          if (j >= 0) a(first + i, first + j) = a(first + j, first + i) = random();
      }
  }
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i * 7 % n;  // n is not a multiple of 7
  ContactProblem p;
  p.form = ContactProblem::Form::global;
  MatrixXd scattered(n, n), h = MatrixXd::Zero(30, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) scattered(order[i], order[j]) = a(i, j);
  for (int i = 0; i < 30; ++i)
    for (int k = 0; k < 5; ++k) h(i, (i / 3 * 11 + k * k * 3) % n) = random();
  p.A = to_sparse(scattered);
  p.H = to_sparse(h);
  p.laws.resize(10);
  for (int i = 0; i < n; ++i) p.f.push_back(random());
  for (int i = 0; i < 30; ++i) p.w.push_back(random());
  return p;
}

TEST(ContactProblem, SparseAGivesTheDenseDelassusMatrix) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int large : {10, 60}) {
    const ContactProblem p = random_global(large, random);
    ASSERT_NO_THROW(check(p));
    const ContactProblem local = to_local(p);
    expect_shape(local);
    const MatrixXd h = to_dense(p.H), inverse = to_dense(p.A).inverse();
    const MatrixXd w = h * inverse * h.transpose(), ours = to_dense(local.W);
    EXPECT_LT((ours - w).cwiseAbs().maxCoeff(), 1e-10 * w.cwiseAbs().maxCoeff());
    EXPECT_EQ(ours, ours.transpose());
    const VectorXd q = to_vector(p.w) + h * inverse * to_vector(p.f);
    EXPECT_LT((to_vector(local.q) - q).cwiseAbs().maxCoeff(), 1e-10 * q.cwiseAbs().maxCoeff());
    const VectorXd r = random.matrix(30, 1);
    const VectorXd v = inverse * (to_vector(p.f) + h.transpose() * r);
    EXPECT_LT((to_vector(velocities(p, to_std(r))) - v).cwiseAbs().maxCoeff(),
              1e-10 * v.cwiseAbs().maxCoeff());
  }
}

/// Off-diagonal entries of A that differ from their mirror images, in some of its parts, or in one triangle
/// only.
void spoil_symmetry(MatrixXd& a, bool one_sided, Numbers& random) {
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < i; ++j) {
      if (a(i, j) == 0) continue;
      const double skew = 0.3 * random();
      a(i, j) = one_sided ? 0 : a(i, j) + skew;
      a(j, i) = one_sided ? a(j, i) : a(j, i) - skew;
    }
}

TEST(ContactProblem, AnUnsymmetricAIsUsedAsItStands) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int large : {10, 60})
    for (const bool one_sided : {false, true}) {
      ContactProblem p = random_global(large, random);
      MatrixXd a = to_dense(p.A);
      spoil_symmetry(a, one_sided, random);
      p.A = to_sparse(a);
      EXPECT_EQ(asymmetry_of(p.A).one_sided, one_sided);
      ASSERT_NO_THROW(check(p));
      const ContactProblem local = to_local(p);
      const MatrixXd h = to_dense(p.H), inverse = a.inverse();
      const MatrixXd w = h * inverse * h.transpose(), ours = to_dense(local.W);
      EXPECT_LT((ours - w).cwiseAbs().maxCoeff(), 1e-10 * w.cwiseAbs().maxCoeff());
      const VectorXd q = to_vector(p.w) + h * inverse * to_vector(p.f);
      EXPECT_LT((to_vector(local.q) - q).cwiseAbs().maxCoeff(), 1e-10 * q.cwiseAbs().maxCoeff());
      const std::vector<double> r = to_std(random.matrix(30, 1));
      const std::vector<double> v = velocities(p, r);
      EXPECT_LT(equation_residual(p, v, r), 1e-12);
      EXPECT_LT((a * to_vector(v) - h.transpose() * to_vector(r) - to_vector(p.f)).norm(),
                1e-12 * to_vector(p.f).norm());
    }
}

/// One part only: the others keep their Cholesky factors, and W is not symmetric.
TEST(ContactProblem, OneUnsymmetricPartIsEnough) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_global(20, random);
  MatrixXd a = to_dense(p.A);
  a(0, 7) += 0.05;  // of the part of 6
  p.A = to_sparse(a);
  const MatrixXd h = to_dense(p.H), w = h * a.inverse() * h.transpose();
  EXPECT_LT((to_dense(to_local(p).W) - w).cwiseAbs().maxCoeff(), 1e-10 * w.cwiseAbs().maxCoeff());
}

double condition_of(const MatrixXd& a) {
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
  return values.maxCoeff() / values.minCoeff();
}

constexpr double kDense = 1e-13;  // rounding of the dense inverse, times the condition of A

/// |A x - b| <= t |b| bounds the error of an entry h' x of W by t |h| |A^-1| |b|, and the largest entry of W
/// is at least |h| |b| / |A| of the largest row.
TEST(ContactProblem, ConjugateGradientsHaveTheWOfDenseAlgebra) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int large : {20, 61}) {  // 61 is no multiple of three
    const ContactProblem p = random_global(large, random);
    const MatrixXd h = to_dense(p.H), a = to_dense(p.A), w = h * a.inverse() * h.transpose();
    InverseReport report;
    long last = 0;
    for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
      const MatrixXd ours = to_dense(to_local(p, {tolerance}, &report).W);
      EXPECT_LT((ours - w).cwiseAbs().maxCoeff(),
                (tolerance + kDense) * condition_of(a) * w.cwiseAbs().maxCoeff());
      EXPECT_GT(report.solves, 0);
      EXPECT_GT(report.iterations, last);
      last = report.iterations;
    }
    to_local(p, {}, &report);
    EXPECT_EQ(report.solves, 0) << "factors";
  }
}

/// Products and q are those of to_local: with cohesion, compliance and rows on which no impulse acts.
TEST(ContactProblem, ProductsThroughTheInverseAreThoseOfW) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int large : {20, 61}) {
    ContactProblem p = random_global(large, random);
    p.laws[2].cohesion = 0.7;
    p.laws[5].compliance = 0.2;
    MatrixXd h = to_dense(p.H);
    h.row(4).setZero();
    p.H = to_sparse(h);
    p.w[4] = 0;
    const ContactProblem local = to_local(p);
    const MatrixXd w = to_dense(local.W), a = to_dense(p.A);
    const VectorXd r = random.matrix(30, 1);
    const double size =
        h.rowwise().norm().maxCoeff() / Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues().minCoeff();
    long last = 0;
    for (const double tolerance : {0.0, 1e-4, 1e-8}) {
      SCOPED_TRACE(tolerance);
      const DualProducts products(p, {tolerance});
      std::vector<double> u(30);
      products.apply(r.data(), u.data());
      const double apex = 0.7 * h.norm();
      EXPECT_LT((to_vector(u) - w * r).cwiseAbs().maxCoeff(),
                (tolerance + kDense * condition_of(a)) * size * (h.transpose() * r).norm());
      EXPECT_LT((to_vector(products.q()) - to_vector(local.q)).cwiseAbs().maxCoeff(),
                (tolerance + kDense * condition_of(a)) * size * (to_vector(p.f).norm() + apex));
      EXPECT_EQ(products.report().solves, tolerance > 0 ? 3 : 0)
          << "of f, the apices and r in the large part";
      EXPECT_TRUE(tolerance == 0 || products.report().iterations > last);
      last = products.report().iterations;
    }
    EXPECT_THROW(DualProducts(local, {1e-8}), std::invalid_argument);
    p.w[4] = -1;
    EXPECT_THROW(DualProducts(p, {1e-8}), std::invalid_argument);
    EXPECT_THROW(to_local(p), std::invalid_argument);
  }
}

TEST(ContactProblem, EquationResidualIsOfTheGivenA) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_global(10, random);
  const std::vector<double> r = to_std(random.matrix(30, 1));
  std::vector<double> v = velocities(p, r);
  v[3] += 0.5;
  const VectorXd off =
      to_dense(p.A) * to_vector(v) - to_dense(p.H).transpose() * to_vector(r) - to_vector(p.f);
  EXPECT_NEAR(equation_residual(p, v, r), off.norm() / to_vector(p.f).norm(), 1e-12);
  EXPECT_THROW(equation_residual(to_local(p), {}, r), std::invalid_argument);
}

/// The error message of to_local for p; empty if it accepts p.
std::string refusal(const ContactProblem& p, const InverseOptions& options = {}) {
  try {
    to_local(p, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ContactProblem, ConjugateGradientsTakeDefiniteSymmetricMatricesAlone) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_global(20, random);
  const MatrixXd a = to_dense(p.A);
  MatrixXd skew = a;
  for (int i = 0; i < skew.rows(); ++i)
    for (int j = 0; j < i; ++j) skew(i, j) *= 1.01;
  p.A = to_sparse(skew);
  EXPECT_EQ(refusal(p), "");
  EXPECT_NE(refusal(p, {1e-8}).find("A is not symmetric in its connected part of 20 dofs"), std::string::npos)
      << refusal(p, {1e-8});
  EXPECT_THROW(DualProducts(p, {1e-8}), std::invalid_argument);
  p.A = to_sparse(-a);
  EXPECT_NE(refusal(p, {1e-8}).find("A is not positive definite"), std::string::npos) << refusal(p, {1e-8});
  // The diagonal blocks of the preconditioner are definite here, and the matrix is not.
  MatrixXd indefinite = MatrixXd::Identity(a.rows(), a.rows());
  for (int i = 0; i + 3 < a.rows(); ++i)
    for (const int j : {i + 3, i + 4})
      if (j < a.rows()) indefinite(i, j) = indefinite(j, i) = 2;
  p.A = to_sparse(indefinite);
  EXPECT_NE(refusal(p, {1e-8}).find("A is not positive definite"), std::string::npos) << refusal(p, {1e-8});
}

TEST(ContactProblem, RefusesAnUnsymmetricAWhoseSymmetricPartIsIndefinite) {
  FRESH_SEED(seed);
  Numbers random(seed);
  for (const int large : {10, 60}) {
    ContactProblem p = random_global(large, random);
    MatrixXd a = to_dense(p.A);
    const int n = static_cast<int>(a.rows());
    const int first = large == 10 ? 0 : 19 * 7 % n, other = large == 10 ? 7 : 20 * 7 % n;  // both in one part
    a(first, other) = 3 * std::sqrt(a(first, first) * a(other, other));
    a(other, first) = 0;
    p.A = to_sparse(a);
    ASSERT_NO_THROW(check(p));
    EXPECT_NE(refusal(p).find("symmetric part is not positive definite"), std::string::npos) << refusal(p);
  }
}

TEST(ContactProblem, RefusesAnIndefiniteA) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_global(20, random);
  MatrixXd a = to_dense(p.A);
  a(0, 0) = 1e-9;  // the first dof of the 6
  p.A = to_sparse(a);
  ASSERT_NO_THROW(check(p));
  EXPECT_NE(refusal(p).find("connected part of 6 dofs that begins with dof 0"), std::string::npos)
      << refusal(p);
}

TEST(ContactProblem, LocalKeepsItsValuesAndCompletesBlocks) {
  ContactProblem p;
  MatrixXd w = MatrixXd::Zero(6, 6);
  w.diagonal() << 2, 1, 1, 3, 1, 0;
  w(0, 4) = 0.5;
  w(4, 0) = 0.501;
  p.W = to_sparse(w);
  p.q = {1, 2, 3, 4, 5, 0};
  p.laws.resize(2);
  ASSERT_NO_THROW(check(p));
  const ContactProblem local = to_local(p);
  expect_shape(local);
  EXPECT_EQ(local.W.values.size(), 36U);
  w(5, 5) = 1;  // an empty row is kept regular
  EXPECT_EQ(to_dense(local.W), w);
  EXPECT_EQ(local.q, p.q);
  EXPECT_THROW(velocities(p, std::vector<double>(6)), std::invalid_argument);
}

TEST(ContactProblem, CohesionMovesIntoQ) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_bodies(3, 6, 5, 8, random);
  p.laws[2].cohesion = 0.7;
  p.laws[2].compliance = 0.1;
  p.laws[5].set = FrictionSet::bilateral;
  p.guess = to_std(random.matrix(24, 1));
  const ContactProblem local = to_local(p);
  EXPECT_EQ(local.laws[2].cohesion, 0);
  EXPECT_DOUBLE_EQ(local.guess[6], p.guess[6] + 0.7);
  EXPECT_EQ(local.guess[7], p.guess[7]);
  const std::vector<double> back = without_cohesion(p, local.guess);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_DOUBLE_EQ(back[i], p.guess[i]);
  // The velocities of physical impulses r: u = H v(r) + w + E r.
  const auto [h, inverse] = dense_bodies(p);
  VectorXd u = h * to_vector(velocities(p, p.guess)) + to_vector(p.w);
  for (int i = 6; i < 9; ++i) u[i] += 0.1 * p.guess[i];
  const VectorXd ours = to_dense(local.W) * to_vector(local.guess) + to_vector(local.q);
  EXPECT_LT((ours - u).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ContactProblem, EmptyRowsAreKeptRegular) {
  FRESH_SEED(seed);
  Numbers random(seed);
  ContactProblem p = random_bodies(3, 6, 4, 5, random);
  const auto clear = [&](int block, int row) {
    for (int e = p.block_start[block]; e < p.block_start[block + 1]; ++e)
      for (int j = 0; j < 6; ++j) p.jacobian[e].rows[6 * row + j] = 0;
    p.w[3 * block + row] = 0;
  };
  p.laws[1].set = FrictionSet::bilateral;
  clear(1, 2);
  clear(3, 1);
  const std::vector<double> e = row_compliance(p);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(e[i], i == 5 || i == 10 ? 1 : 0) << i;
  const MatrixXd w = to_dense(to_local(p).W);
  for (const int row : {5, 10}) {
    EXPECT_EQ(w(row, row), 1);
    EXPECT_EQ(w.row(row).cwiseAbs().sum(), 1);
  }
  p.w[5] = 0.3;  // no impulse can stop that
  EXPECT_THROW(to_local(p), std::invalid_argument);
  p.w[5] = 0;
  clear(0, 0);
  p.w[0] = 2;  // a contact that opens without impulses
  EXPECT_NO_THROW(to_local(p));
  p.w[0] = -2;
  EXPECT_THROW(to_local(p), std::invalid_argument);
}

TEST(ContactProblem, Counts) {
  Numbers random(1);
  ContactProblem p = random_bodies(4, 3, 6, 7, random);
  p.laws[0].set = FrictionSet::bilateral;
  EXPECT_EQ(p.blocks(), 7U);
  EXPECT_EQ(p.contacts(), 6U);
  EXPECT_EQ(p.size(), 28U);
  EXPECT_EQ(p.dofs(), 18U);
  EXPECT_EQ(to_local(p).dofs(), 0U);
  EXPECT_THROW(velocities(p, std::vector<double>(27)), std::invalid_argument);
}

TEST(SparseFactors, SolvesAndRefuses) {
  if (!has_cholesky()) GTEST_SKIP() << "this build has no Eigen";
  FRESH_SEED(seed);
  Numbers random(seed);
  const MatrixXd a = random.positive(20), b = random.matrix(20, 3);
  const SparseRows rows = to_sparse(a);
  SparseFactors factors;
  ASSERT_TRUE(factors.factorise({rows.offsets, rows.indices, rows.values}));
  MatrixXd x = b;
  factors.solve(x.data(), 3);
  EXPECT_LT((a * x - b).cwiseAbs().maxCoeff(), 1e-9);
  const SparseRows negative = to_sparse(a - 10 * MatrixXd::Identity(20, 20));
  EXPECT_FALSE(factors.factorise({negative.offsets, negative.indices, negative.values}));
}

}  // namespace
}  // namespace stickslip
