// Random block systems in the solver's form, and as Eigen matrices.
#pragma once

#include <Eigen/Sparse>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gpu/math/corner_blocks.h"
#include "gpu/math/mat.h"

namespace stickslip::test {

using Sparse = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;

/// Bound on rounding errors relative to the size of the terms.
inline constexpr double kRounding = sizeof(Real) == 8 ? 1e-13 : 1e-5;

/// Stencils with blocks. Unused corners are -1 and have blocks of NaN, which must not be read.
struct Elements {
  std::vector<Vec4i> nodes;
  std::vector<Mat3> blocks;  // 10 per stencil
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Real uniform(Real low = -1, Real high = 1) {
    return std::uniform_real_distribution<Real>(low, high)(engine_);
  }
  std::int32_t index(std::size_t n) {
    return std::uniform_int_distribution<std::int32_t>(0, static_cast<std::int32_t>(n) - 1)(engine_);
  }
  std::vector<Vec3> vectors(std::size_t n) {
    std::vector<Vec3> x(n);
    for (Vec3& v : x) v = {uniform(), uniform(), uniform()};
    return x;
  }
  /// `corners` different nodes out of n; the rest -1.
  Vec4i stencil(std::size_t n, int corners) {
    Vec4i nodes{-1, -1, -1, -1};
    for (int a = 0; a < corners; ++a) {
      std::int32_t node = index(n);
      while (std::find(nodes.v, nodes.v + a, node) != nodes.v + a) node = index(n);
      nodes[a] = node;
    }
    return nodes;
  }

 private:
  std::mt19937 engine_;
};

/// Appends the lower blocks of weight J J' + shift I for a random J of 12 x `rank` over the used corners.
inline void add_element(Elements& elements, Random& random, const Vec4i& nodes, int rank, Real weight,
                        Real shift) {
  std::vector<std::array<Real, 12>> columns(rank);
  for (auto& column : columns)
    for (Real& v : column) v = random.uniform();
  elements.nodes.push_back(nodes);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) {
      Mat3 block = Mat3::zero();
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          if (a == b && r == c) block(r, c) = shift;
          for (const auto& column : columns) block(r, c) += weight * column[3 * a + r] * column[3 * b + c];
          if (nodes[a] < 0 || nodes[b] < 0) block(r, c) = std::numeric_limits<Real>::quiet_NaN();
        }
      elements.blocks.push_back(block);
    }
}

/// Tets of the Kuhn subdivision of a lattice with nx ny nz nodes.
inline std::vector<Vec4i> lattice_tets(int nx, int ny, int nz) {
  const auto node = [&](int x, int y, int z) { return x + nx * (y + ny * z); };
  constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::vector<Vec4i> tets;
  for (int z = 0; z + 1 < nz; ++z)
    for (int y = 0; y + 1 < ny; ++y)
      for (int x = 0; x + 1 < nx; ++x)
        for (const auto& order : orders) {
          int corner[3] = {x, y, z};
          Vec4i tet{};
          tet[0] = node(x, y, z);
          for (int k = 0; k < 3; ++k) {
            ++corner[order[k]];
            tet[k + 1] = node(corner[0], corner[1], corner[2]);
          }
          tets.push_back(tet);
        }
  return tets;
}

inline void append(std::vector<Eigen::Triplet<double>>& triplets, const Elements& elements) {
  for (std::size_t s = 0; s < elements.nodes.size(); ++s)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b) {
        const int i = elements.nodes[s][a], j = elements.nodes[s][b];
        if (i < 0 || j < 0) continue;
        const Mat3& block = elements.blocks[kCornerBlocks * s + corner_block(a, b)];
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) {
            triplets.emplace_back(3 * i + r, 3 * j + c, block(r, c));
            if (a != b) triplets.emplace_back(3 * j + c, 3 * i + r, block(r, c));
          }
      }
}

/// The sum of all elements and of diagonal[i] I at node i.
inline Sparse to_eigen(std::size_t node_count, const Elements& tets, const Elements& stencils,
                       const std::vector<Real>& diagonal) {
  std::vector<Eigen::Triplet<double>> triplets;
  append(triplets, tets);
  append(triplets, stencils);
  for (std::size_t i = 0; i < 3 * node_count; ++i) triplets.emplace_back(i, i, diagonal[i / 3]);
  Sparse a(3 * node_count, 3 * node_count);
  a.setFromTriplets(triplets.begin(), triplets.end());
  return a;
}

inline Vector to_eigen(const std::vector<Vec3>& x) {
  Vector v(3 * x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int r = 0; r < 3; ++r) v[3 * i + r] = x[i][r];
  return v;
}

/// A lattice and random elements of one to four nodes, contacts of two to four corners (some nodes in many of
/// them), isolated nodes.
struct System {
  std::size_t node_count = 0;
  Elements tets, stencils;
  std::vector<Real> diagonal;
  Sparse matrix() const { return to_eigen(node_count, tets, stencils, diagonal); }
};

inline System make_system(Random& random, int nx, int ny, int nz, std::size_t stencil_count,
                          Real contact_weight = 10) {
  System s;
  const std::size_t lattice = static_cast<std::size_t>(nx) * ny * nz;
  const std::size_t strays = 40, isolated = 7;
  s.node_count = lattice + strays + isolated;
  for (const Vec4i& tet : lattice_tets(nx, ny, nz)) add_element(s.tets, random, tet, 3, Real(1), Real(0));
  for (int t = 0; t < 30; ++t) {
    const int corners = t < 15 ? 4 : 1 + t % 3;
    Vec4i element = random.stencil(strays, corners);
    for (int a = 0; a < corners; ++a) element[a] += static_cast<std::int32_t>(lattice);
    add_element(s.tets, random, element, 2, Real(1), Real(0));
  }
  for (std::size_t k = 0; k < stencil_count; ++k) {
    const std::size_t among = k % 4 == 0 ? std::min<std::size_t>(9, s.node_count) : s.node_count;
    add_element(s.stencils, random, random.stencil(among, 1 + static_cast<int>(k % 4)), 1, contact_weight,
                Real(0));
  }
  for (std::size_t i = 0; i < s.node_count; ++i) s.diagonal.push_back(random.uniform(Real(0.5), Real(2)));
  return s;
}

/// A lattice of nx * ny * nz nodes from `first` on, with springs of stiffness one between all corners of its
/// tets.
inline void add_springs(System& system, std::int32_t first, int nx, int ny, int nz) {
  for (const Vec4i& tet : lattice_tets(nx, ny, nz)) {
    system.tets.nodes.push_back({tet[0] + first, tet[1] + first, tet[2] + first, tet[3] + first});
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b <= a; ++b) system.tets.blocks.push_back(Mat3::identity() * Real(a == b ? 3 : -1));
  }
}

}  // namespace stickslip::test
