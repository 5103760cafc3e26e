// The Delassus operator W = H A^-1 H' + E of a contact problem, on the backend.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/dfcp/operator/row_lanes.h"
#include "gpu/dfcp/problem/constraint_block.h"
#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/dfcp/problem/dual_products.h"
#include "gpu/math/mat.h"

namespace stickslip::STICKSLIP_BACKEND {

/// W in compressed block rows. Blocks of a row ascend; the diagonal one is always there.
template <int D>
struct BlockRows {
  const std::int32_t* start;   // blocks + 1
  const std::int32_t* column;  // of each entry
  const Mat<double, D>* value;

  /// Row c of W x.
  SS_HD Vec<double, D> times(std::size_t c, const Vec<double, D>* x) const {
    const std::int32_t begin = start[c], end = start[c + 1];
#if !STICKSLIP_ON_CUDA && defined(__AVX2__) && defined(__FMA__)
    if constexpr (D == 3) return row_times_lanes(value + begin, column + begin, end - begin, x);
#endif
    Vec<double, D> sum = Vec<double, D>::zero();
    for (std::int32_t k = begin; k < end; ++k) {
      const Mat<double, D>& m = value[k];
      const Vec<double, D>& v = x[column[k]];
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) sum[i] += m(i, j) * v[j];
    }
    return sum;
  }
};

/// H and A^-1 by bodies: u_c = sum_k H_k v_body(k), v_b += (A^-1 H')_k r_c.
template <int D>
struct BodyRows {
  std::int64_t dofs;                 // of a body: 3 or 6
  const std::int32_t* start;         // blocks + 1, into the entries
  const std::int32_t* body;          // of each entry; -1: immovable
  const double* jacobian;            // entries x D x dofs: H
  const double* response;            // entries x dofs x D: A^-1 H'; null: computed from `inverse`
  const BodyInverse* inverse;        // per body of 6 dofs; null where `response` is given
  const Vec<double, D>* compliance;  // diagonal of E, per block

  /// Row c of H v.
  SS_HD Vec<double, D> times(std::size_t c, const double* v) const {
    return dofs == 6 ? times_of<6>(c, v) : times_of<3>(c, v);
  }
  template <int N>
  SS_HD Vec<double, D> times_of(std::size_t c, const double* v) const {
    Vec<double, D> sum = Vec<double, D>::zero();
    for (std::int32_t k = start[c]; k < start[c + 1]; ++k) {
      if (body[k] < 0) continue;
      const double* h = jacobian + static_cast<std::size_t>(k) * D * N;
      const double* vb = v + static_cast<std::size_t>(body[k]) * N;
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < N; ++j) sum[i] += h[i * N + j] * vb[j];
    }
    return sum;
  }
  /// v += A^-1 H_c' dr. Not for concurrent blocks that share a body.
  SS_HD void push(std::size_t c, const Vec<double, D>& dr, double* v) const {
    if (response == nullptr) return push_bodies(c, dr, v);
    for (std::int32_t k = start[c]; k < start[c + 1]; ++k) {
      const double* b = response + static_cast<std::size_t>(k) * D * dofs;
      double* vb = v + static_cast<std::size_t>(body[k]) * dofs;
      for (int j = 0; j < dofs; ++j)
        for (int i = 0; i < D; ++i) vb[j] += b[j * D + i] * dr[i];
    }
  }
  SS_HD void push_bodies(std::size_t c, const Vec<double, D>& dr, double* v) const {
    for (std::int32_t k = start[c]; k < start[c + 1]; ++k) {
      if (body[k] < 0) continue;
      const Vec<double, 6> dv = inverse[body[k]].times(wrench(k, dr));
      double* vb = v + static_cast<std::size_t>(body[k]) * 6;
      for (int j = 0; j < 6; ++j) vb[j] += dv[j];
    }
  }
  /// H' r of entry k of a body with 6 dofs.
  SS_HD Vec<double, 6> wrench(std::int32_t k, const Vec<double, D>& r) const {
    const double* h = jacobian + static_cast<std::size_t>(k) * D * 6;
    Vec<double, 6> f = Vec<double, 6>::zero();
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < 6; ++j) f[j] += h[i * 6 + j] * r[i];
    return f;
  }
};

/// The arrays to which a running scene's kernels write the blocks between rigid
/// bodies; see `Delassus::begin`.
template <int D>
struct BlockWriter {
  const BodyInverse* inverse;  // per body
  const double* free;          // 6 per body
  std::int32_t* body;          // of each entry: two per block
  double* jacobian;
  Vec<double, D>*q, *compliance;
  Mat<double, D>* diagonal;
  double* scale;

  /// Writes block c: H, E, W_cc and q_c = H free + w. Zero between immovable bodies: no impulse could stop
  /// a nonzero velocity there.
  SS_HD void put(std::size_t c, const ConstraintBlock<D>& block) const {
    Mat<double, D> w = Mat<double, D>::zero();
    Vec<double, D> u = block.w;
    bool moves = false;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t e = 2 * c + side;
      const std::int32_t b = block.body[side];
      const bool pushed = b >= 0 && inverse[b].mass > 0;
      moves = moves || pushed;
      body[e] = pushed ? b : -1;
      for (int i = 0; i < D; ++i) {
        const Vec<double, 6>& row = block.jacobian[side][i];
        for (int j = 0; j < 6; ++j) jacobian[(e * D + static_cast<std::size_t>(i)) * 6 + j] = row[j];
        if (b < 0) continue;
        for (int j = 0; j < 6; ++j) u[i] += row[j] * free[6 * static_cast<std::size_t>(b) + j];
        if (!pushed) continue;
        const Vec<double, 6> response = inverse[b].times(row);
        for (int j = i; j < D; ++j) w(j, i) += dot(block.jacobian[side][j], response);
      }
    }
    for (int i = 0; i < D; ++i) {
      w(i, i) += block.compliance[i];
      for (int j = 0; j < i; ++j) w(j, i) = w(i, j);
    }
    q[c] = moves ? u : Vec<double, D>::zero();
    compliance[c] = block.compliance;
    diagonal[c] = w;
    scale[c] = trace(w) / D;
  }
};

struct BodyEntries;

template <int D>
class Delassus {
 public:
  /// Assembles W of any problem (`to_local` if need be), or keeps the factors of a `bodies` problem.
  void build(Context& ctx, const ContactProblem& problem, bool factored);
  /// Assembles W of a global problem with A^-1 of these options; see `inverse_report`.
  void build_by_columns(Context& ctx, const ContactProblem& problem, const InverseOptions& options);
  /// Applies W of a global problem as H A^-1 H', on the host: for solvers with SolverTrait::products, as rows
  /// and entries do not exist. The diagonal, its scales and norm_q are those of `scales`, another form of
  /// this problem.
  void build_products(Context& ctx, const ContactProblem& problem, const InverseOptions& options,
                      const Delassus& scales);

  /// Allocates the factors of `count` blocks between rigid bodies, which kernels then write; `free` is A^-1
  /// f, 6 numbers per body. Nothing is copied to the host; `finish` reads one value.
  BlockWriter<D> begin(Context& ctx, std::size_t count, const BodyInverse* inverse, const double* free,
                       std::size_t bodies);
  void finish(Context& ctx);
  /// q += H change, 6 numbers per movable body: for velocities without impulses that changed since the blocks
  /// were written. norm_q does not change.
  void move_free(Context& ctx, const double* change);
  /// Limits each block's part of norm_q, the norm that residuals are relative to, to `most` [m/s]. Call
  /// before `finish` sums q up. One block with a large q would otherwise hide the errors of all others.
  void limit_block_speed(double most) { most_speed_ = most; }
  /// Residuals are relative to at least `least` [m/s].
  void raise_norm_q(double least) { norm_q_ = norm_q_ < least ? least : norm_q_; }
  /// Makes residuals relative to the same norm as in another form of this problem.
  void set_norm_q(double norm) { norm_q_ = norm; }

  std::size_t blocks() const { return blocks_; }
  bool factored() const { return factored_; }
  bool by_products() const { return products_ != nullptr; }
  /// Of PCG with A since the last of these builds.
  InverseReport inverse_report() const { return products_ ? products_->report() : columns_report_; }

  /// y = W x (+ q when `with_q`). x and y must not alias.
  void apply(Context& ctx, const Vec<double, D>* x, Vec<double, D>* y, bool with_q) const;
  /// Factored only: v = A^-1 H' x, the body velocities that x alone causes.
  void body_velocities(Context& ctx, const Vec<double, D>* x, double* v) const;

  const Vec<double, D>* q() const { return q_.data(); }
  /// For changes as those of `move_free`.
  Vec<double, D>* moving_q() { return q_.data(); }
  const Mat<double, D>* diagonal() const {
    return diagonal_.data();
  }  // the symmetric part of W_cc, per block
  /// s_c = trace(W_cc) / D, never zero: an immovable block gets the mean of the others.
  const double* scale() const { return scale_.data(); }
  double mean_diagonal() const { return mean_diagonal_; }
  /// The norm that residuals are relative to: |q|_2 [m/s], or the caller's value
  /// (limit_block_speed, raise_norm_q).
  double norm_q() const { return norm_q_; }

  BlockRows<D> rows() const { return {start_.data(), column_.data(), value_.data()}; }
  BodyRows<D> body_rows() const;
  std::size_t bodies() const { return bodies_; }
  int body_dofs() const { return dofs_; }

  /// The conflict graph of the blocks: those of row c are neighbours[start[c] .. start[c+1]), c itself among
  /// them. Host memory; empty after `begin` and `finish`: see `gather_start`.
  std::span<const std::int32_t> pattern_start() const { return host_start_; }
  std::span<const std::int32_t> pattern_column() const { return host_column_; }
  /// Values in that order on the host, for factorisations. No copy on the CPU backend.
  std::span<const Mat<double, D>> host_values(Context& ctx) const;
  /// Entries of body b: gather_entry()[gather_start()[b] .. gather_start()[b + 1]), ascending; the block of
  /// each entry. Factored only, backend memory.
  const std::int32_t* gather_start() const { return gather_start_.data(); }
  const std::int32_t* gather_entry() const { return gather_entry_.data(); }
  const std::int32_t* entry_block() const { return entry_block_.data(); }
  /// Cost of W x in block products, estimated.
  double work() const {
    return factored_ ? kFactoredWork * static_cast<double>(blocks_)
                     : static_cast<double>(host_column_.size());
  }
  /// First entry of H of each block, without immovable bodies; empty for an assembled W.
  std::span<const std::int32_t> body_start() const { return host_body_start_; }

 private:
  void build_assembled(Context& ctx, const ContactProblem& local);
  void build_factored(Context& ctx, const ContactProblem& problem);
  void build_pattern(const BodyEntries& entries);
  void move_apices(Context& ctx, const ContactProblem& problem, std::vector<Vec<double, D>>& q);
  void set_q(Context& ctx, const std::vector<Vec<double, D>>& q);
  void finish_diagonal(Context& ctx, std::vector<Mat<double, D>>& diagonal);
  void gather_entries(Context& ctx, std::size_t entries);
  void sum_up_blocks(Context& ctx);
  void begin_build(std::size_t blocks);

  static constexpr double kFactoredWork = 8;

  bool factored_ = false, from_blocks_ = false;
  std::size_t blocks_ = 0, bodies_ = 0;
  int dofs_ = 0;
  double mean_diagonal_ = 0, norm_q_ = 0;
  double most_speed_ = std::numeric_limits<double>::infinity();
  Buffer<std::int32_t> start_, column_;  // assembled: of W; factored: block -> entries
  Buffer<Mat<double, D>> value_, diagonal_;
  Buffer<Vec<double, D>> q_, compliance_;
  Buffer<double> scale_, jacobian_, response_;
  Buffer<std::int32_t> gather_start_, gather_entry_, entry_block_;  // body -> entries
  Buffer<std::uint32_t> gather_keys_;
  Buffer<BodyInverse> inverse_;
  Buffer<Vec<double, 2>> sums_;
  mutable Buffer<double> v_;  // factored: apply's body velocities
  std::unique_ptr<DualProducts> products_;
  InverseReport columns_report_;
  mutable std::vector<double> host_r_, host_u_;  // of products_
  std::vector<std::int32_t> host_start_, host_column_, host_body_start_;
  mutable std::vector<Mat<double, D>> host_value_;
};

extern template class Delassus<3>;
extern template class Delassus<4>;
extern template class Delassus<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
