// Cloth on a backend, evaluated at host positions. For .cu tests.
#pragma once

#include <Eigen/Sparse>

#include "gpu/energy/energy_terms.cuh"
#include "tests/energy/numeric.h"
#include "tests/fixtures/cloth_model.h"

namespace stickslip::STICKSLIP_BACKEND {

using namespace stickslip::test;

/// Young's modulus [Pa] and Poisson's ratio, damping [s].
inline Material cloth_material(double young, double poisson, double damping = 0) {
  Material m;
  m.young = young;
  m.poisson = poisson;
  m.damping = damping;
  return m;
}

struct ClothSheet {
  Context& ctx;
  Model model;
  EnergyTerms terms;
  Real dt = Real(0.1);
  std::vector<Vec3> x, x_t;

  ClothSheet(Context& context, Model m) : ctx(context), model(std::move(m)) {
    terms.load(ctx, model);
    for (const auto& p : model.rest_positions) x.push_back(p.template cast<Real>());
    x_t = x;
  }

  int nodes() const { return static_cast<int>(x.size()); }
  double energy() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    Buffer<double> out(ctx, 1);
    terms.energy(ctx, {a.data(), b.data(), dt}, out.data());
    return read_back(ctx, out.data());
  }
  Column by_nodes(const std::vector<Vec3>& corners) const {
    Column sum = Column::Zero(3 * nodes());
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const std::int32_t node = terms.stencils()[c / 4][static_cast<int>(c % 4)];
      for (int k = 0; k < 3 && node >= 0; ++k) sum[3 * node + k] += corners[c][k];
    }
    return sum;
  }
  Column gradient() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), out(ctx, 4 * terms.size());
    terms.gradient(ctx, {a.data(), b.data(), dt}, {0, terms.size()}, out.data());
    return by_nodes(out.download(ctx));
  }
  /// The assembled Hessian, and the gradient that comes with it.
  std::pair<Column, Eigen::SparseMatrix<double>> gradient_and_hessian() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), corners(ctx, 4 * terms.size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * terms.size());
    terms.gradient_and_hessian(ctx, {a.data(), b.data(), dt}, {0, terms.size()}, corners.data(),
                               blocks.data());
    const std::vector<Mat3> host = blocks.download(ctx);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t s = 0; s < terms.size(); ++s) {
      const Vec4i& n = terms.stencils()[s];
      for (int row = 0; row < 4; ++row)
        for (int column = 0; column <= row && n[row] >= 0; ++column) {
          const Mat3& block = host[kCornerBlocks * s + static_cast<std::size_t>(corner_block(row, column))];
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
              entries.emplace_back(3 * n[row] + i, 3 * n[column] + j, block(i, j));
              if (row != column) entries.emplace_back(3 * n[column] + j, 3 * n[row] + i, block(i, j));
            }
        }
    }
    Eigen::SparseMatrix<double> h(3 * nodes(), 3 * nodes());
    h.setFromTriplets(entries.begin(), entries.end());
    return {by_nodes(corners.download(ctx)), h};
  }

  /// Moves nodes that are not `held` to a minimum of the energy minus load . x, from where they are, by
  /// Newton's method: until the residual is `tolerance` times the load. Returns the iterations, or -1.
  int settle(const std::vector<bool>& held, const Column& load, double tolerance = 1e-8, int most = 300) {
    std::vector<int> unknown(x.size(), -1);
    int n = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!held[i]) unknown[i] = n++;
    const auto potential = [&] {
      double sum = energy();
      for (int i = 0; i < nodes(); ++i)
        for (int k = 0; k < 3; ++k) sum -= load[3 * i + k] * x[static_cast<std::size_t>(i)][k];
      return sum;
    };
    for (int iteration = 0; iteration < most; ++iteration) {
      const auto [g, h] = gradient_and_hessian();
      Column residual(3 * n);
      std::vector<Eigen::Triplet<double>> entries;
      for (int i = 0; i < nodes(); ++i)
        for (int k = 0; k < 3 && unknown[i] >= 0; ++k)
          residual[3 * unknown[i] + k] = g[3 * i + k] - load[3 * i + k];
      if (residual.norm() <= tolerance * load.norm()) return iteration;
      double scale = 0;
      for (int c = 0; c < h.outerSize(); ++c)
        for (Eigen::SparseMatrix<double>::InnerIterator entry(h, c); entry; ++entry) {
          const int row = unknown[entry.row() / 3], column = unknown[entry.col() / 3];
          if (row < 0 || column < 0) continue;
          if (row == column) scale = std::max(scale, entry.value());
          entries.emplace_back(3 * row + static_cast<int>(entry.row() % 3),
                               3 * column + static_cast<int>(entry.col() % 3), entry.value());
        }
      for (int i = 0; i < 3 * n; ++i) entries.emplace_back(i, i, 1e-13 * scale);
      Eigen::SparseMatrix<double> a(3 * n, 3 * n);
      a.setFromTriplets(entries.begin(), entries.end());
      const Column step = Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>(a).solve(-residual);
      const std::vector<Vec3> before = x;
      const double start = potential(), slope = residual.dot(step);
      for (double length = 1; length > 1e-6; length /= 2) {
        for (std::size_t i = 0; i < x.size(); ++i)
          for (int k = 0; k < 3 && unknown[i] >= 0; ++k)
            x[i][k] = before[i][k] + static_cast<Real>(length * step[3 * unknown[i] + k]);
        if (potential() <= start + 1e-4 * length * slope + 1e-12 * std::abs(start)) break;
      }
    }
    return -1;
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
