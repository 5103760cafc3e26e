#include "gpu/linear/sparse_cholesky.h"

#include <algorithm>
#include <string>

#include "gpu/model/report.h"

#if STICKSLIP_HAS_EIGEN
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#endif

namespace stickslip {

#if STICKSLIP_HAS_EIGEN

bool has_cholesky() { return true; }

std::vector<Vec3> solve_cholesky(const HostBlocks& a, std::span<const Vec3> b,
                                 std::span<const std::uint8_t> fixed) {
  const std::size_t n = a.node_count;
  if (n > kMostCholeskyNodes)
    throw SimulationError("linear_solver = cholesky takes at most " + std::to_string(kMostCholeskyNodes) +
                          " nodes, and these are " + std::to_string(n) + ": use pcg");
  const auto moves = [&](std::int32_t i) { return fixed.empty() || fixed[i] == 0; };
  std::vector<Eigen::Triplet<double>> lower;
  lower.reserve(9 * a.blocks.size() + 3 * n);
  for (std::size_t k = 0; k < a.blocks.size(); ++k) {
    const std::int32_t i = a.places[k][0], j = a.places[k][1];
    if (!moves(i) || !moves(j)) continue;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const int row = 3 * i + r, column = 3 * j + c;
        if (i == j && row < column) continue;
        lower.emplace_back(std::max(row, column), std::min(row, column), a.blocks[k](r, c));
      }
  }
  const auto rows = static_cast<Eigen::Index>(3 * n);
  Eigen::VectorXd rhs = Eigen::VectorXd::Zero(rows);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      const auto row = static_cast<int>(3 * i) + c;
      if (moves(static_cast<std::int32_t>(i))) rhs[row] = b[i][c];
      else lower.emplace_back(row, row, 1.0);
    }
  Eigen::SparseMatrix<double> matrix(rows, rows);
  matrix.setFromTriplets(lower.begin(), lower.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(matrix);
  if (factors.info() != Eigen::Success || !(factors.vectorD().minCoeff() > 0))
    throw SimulationError("linear_solver = cholesky: the matrix is not positive definite");
  const Eigen::VectorXd solution = factors.solve(rhs);
  std::vector<Vec3> x(n);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) x[i][c] = static_cast<Real>(solution[static_cast<Eigen::Index>(3 * i) + c]);
  return x;
}

struct SparseFactors::State {
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors;
};

bool SparseFactors::factorise(const SymmetricRows& a) {
  const auto n = static_cast<Eigen::Index>(a.offsets.size()) - 1;
  std::vector<Eigen::Triplet<double>> lower;
  lower.reserve(a.indices.size() / 2 + a.offsets.size());
  for (int i = 0; i < n; ++i)
    for (std::int32_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.indices[k] <= i) lower.emplace_back(i, a.indices[k], a.values[k]);
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(lower.begin(), lower.end());
  state_ = std::make_unique<State>();
  state_->factors.compute(matrix);
  const bool good = state_->factors.info() == Eigen::Success && state_->factors.vectorD().minCoeff() > 0;
  if (!good) state_.reset();
  return good;
}

void SparseFactors::solve(double* x, int columns) const {
  Eigen::Map<Eigen::MatrixXd> map(x, state_->factors.rows(), columns);
  const Eigen::MatrixXd solution = state_->factors.solve(map);
  map = solution;
}

struct GeneralFactors::State {
  Eigen::SparseLU<Eigen::SparseMatrix<double>> factors;
};

bool GeneralFactors::factorise(const GeneralRows& a) {
  const auto n = static_cast<Eigen::Index>(a.offsets.size()) - 1;
  const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>> rows(
      n, n, static_cast<Eigen::Index>(a.values.size()), a.offsets.data(), a.indices.data(), a.values.data());
  const Eigen::SparseMatrix<double> matrix = rows;
  state_ = std::make_unique<State>();
  state_->factors.compute(matrix);
  const bool good = state_->factors.info() == Eigen::Success;
  if (!good) state_.reset();
  return good;
}

void GeneralFactors::solve(double* x, int columns) const {
  Eigen::Map<Eigen::MatrixXd> map(x, state_->factors.rows(), columns);
  const Eigen::MatrixXd right = map;
  map = state_->factors.solve(right);
}

#else

bool has_cholesky() { return false; }

struct SparseFactors::State {};

bool SparseFactors::factorise(const SymmetricRows&) {
  throw SimulationError("a sparse factorisation needs Eigen, which this build was made without");
}

void SparseFactors::solve(double*, int) const {}

struct GeneralFactors::State {};

bool GeneralFactors::factorise(const GeneralRows&) {
  throw SimulationError("a sparse factorisation needs Eigen, which this build was made without");
}

void GeneralFactors::solve(double*, int) const {}

std::vector<Vec3> solve_cholesky(const HostBlocks&, std::span<const Vec3>, std::span<const std::uint8_t>) {
  throw SimulationError("linear_solver = cholesky needs Eigen, which this build was made without: use pcg");
}

#endif

SparseFactors::SparseFactors() = default;
SparseFactors::~SparseFactors() = default;
SparseFactors::SparseFactors(SparseFactors&&) noexcept = default;
SparseFactors& SparseFactors::operator=(SparseFactors&&) noexcept = default;

GeneralFactors::GeneralFactors() = default;
GeneralFactors::~GeneralFactors() = default;
GeneralFactors::GeneralFactors(GeneralFactors&&) noexcept = default;
GeneralFactors& GeneralFactors::operator=(GeneralFactors&&) noexcept = default;

}  // namespace stickslip
