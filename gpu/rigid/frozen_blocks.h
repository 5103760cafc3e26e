// The contact problem of a step on the host, copied from the backend.
#pragma once

#include <vector>

#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Sets A^-1 and f = A free of body b of a problem.
inline void put_body(ContactProblem& p, std::size_t b, const BodyInverse& inverse, const double* free) {
  if (!(inverse.mass > 0)) return;
  double* a = p.inverse_mass.data() + 36 * b;
  const Mat<double, 3> turn = inverse.inertia_matrix();
  for (int i = 0; i < 3; ++i) {
    a[7 * i] = inverse.mass;
    for (int j = 0; j < 3; ++j) a[6 * (3 + i) + 3 + j] = turn(i, j);
  }
  // A particle (see Coupling) has no inertia, and no spin.
  const Vec<double, 3> spin{free[3], free[4], free[5]};
  const Vec<double, 3> angular =
      determinant(turn) > 0 ? stickslip::inverse(turn) * spin : Vec<double, 3>{0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    p.f[6 * b + i] = free[i] / inverse.mass;
    p.f[6 * b + 3 + i] = angular[static_cast<int>(i)];
  }
}

/// The parts of a Delassus operator that `problem` reads, on the host.
template <int D>
struct FrozenBlocks {
  std::vector<std::int32_t> body;
  std::vector<double> jacobian, free;
  std::vector<Vec<double, D>> q, compliance;
  std::vector<ContactLaw<D>> law;

  /// Appends block c, with w = q - H free of the movable bodies; the part of the others is already in q.
  void put(ContactProblem& p, std::size_t c) const {
    Vec<double, D> w = q[c];
    bool touched[D] = {};
    for (std::size_t e = 2 * c; e < 2 * c + 2; ++e) {
      if (body[e] < 0) continue;
      JacobianBlock& entry = p.jacobian.emplace_back();
      entry.body = body[e];
      for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
          const double h = jacobian[(e * D + i) * 6 + j];
          entry.rows[6 * i + j] = h;
          touched[i] = touched[i] || h != 0;
          w[static_cast<int>(i)] -= h * free[6 * static_cast<std::size_t>(body[e]) + j];
        }
    }
    p.block_start.push_back(static_cast<std::int32_t>(p.jacobian.size()));
    BlockLaw& to = p.laws.emplace_back();
    to.set = law[c].set;
    to.flow = law[c].flow;
    for (int i = 0; i < D - 1; ++i) to.mu[static_cast<std::size_t>(i)] = law[c].mu[i];
    for (int i = 0; i < D; ++i) {
      p.w.push_back(w[i]);
      // The compliance of an unused row is a placeholder (finish_rows): the problem needs none.
      p.softness.push_back(touched[i] || w[i] != 0 ? compliance[c][i] : 0.0);
    }
  }
};

}  // namespace stickslip
