// Manifolds in lanes of packs, and the kernels' access to them: a thread processes one lane of a pack on
// CUDA, a whole pack on the CPU.
#pragma once

#include <cstdint>

#include "gpu/rigid/manifold/manifold.h"

namespace stickslip {

/// Values per body in the velocity array: linear velocity, 0, spin, 0.
inline constexpr int kMotionFields = 8;

/// Backend memory, aligned as lanes are.
struct ManifoldView {
  double* data;                // packs x kManifoldFields x width
  double* impulse;             // packs x kImpulseFields x width
  const std::int32_t* body;    // packs x 2 x width, sides a and b; ~b for an immovable one
  const std::uint8_t* points;  // per pack: the maximum over its lanes
  double* v;                   // per body, and one more for the world: kMotionFields each
};

}  // namespace stickslip

// The following definitions differ between the backends.
namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA
inline constexpr int kPackWidth = 32;
inline constexpr int kPackLanes = 1;  // per thread
using PackNumber = double;
#else
inline constexpr int kPackWidth = kLaneCount;
inline constexpr int kPackLanes = kPackWidth;
using PackNumber = WideLanes;
#endif

namespace pack_detail {

SS_HD inline std::size_t body_row(std::int32_t body) {
  return static_cast<std::size_t>(body < 0 ? ~body : body) * kMotionFields;
}

#if STICKSLIP_ON_CUDA

SS_HD inline void load_motion(const double* v, const std::int32_t* body, Vec<double, 3>& linear,
                              Vec<double, 3>& spin) {
  const double* row = v + body_row(*body);
  for (int i = 0; i < 3; ++i) {
    linear[i] = row[i];
    spin[i] = row[4 + i];
  }
}

SS_HD inline void store_motion(double* v, const std::int32_t* body, const Vec<double, 3>& linear,
                               const Vec<double, 3>& spin) {
  if (*body < 0) return;
  double* row = v + body_row(*body);
  for (int i = 0; i < 3; ++i) {
    row[i] = linear[i];
    row[4 + i] = spin[i];
  }
}

#else

// A body's values are one row of a matrix that is transposed (8 lanes), or of two (4).
inline void load_motion(const double* v, const std::int32_t* body, Vec<WideLanes, 3>& linear,
                        Vec<WideLanes, 3>& spin) {
  constexpr int kSpin = kPackWidth == 8 ? 4 : 0;
  WideLanes first[kPackWidth], second[kPackWidth];
  for (int l = 0; l < kPackWidth; ++l) {
    const double* row = v + body_row(body[l]);
    first[l] = WideLanes::load(row);
    if (kPackWidth == 4) second[l] = WideLanes::load(row + 4);
  }
  transpose(first);
  if (kPackWidth == 4) transpose(second);
  for (int i = 0; i < 3; ++i) {
    linear[i] = first[i];
    spin[i] = kPackWidth == 8 ? first[kSpin + i] : second[i];
  }
}

inline void store_motion(double* v, const std::int32_t* body, const Vec<WideLanes, 3>& linear,
                         const Vec<WideLanes, 3>& spin) {
  constexpr int kSpin = kPackWidth == 8 ? 4 : 0;
  WideLanes first[kPackWidth], second[kPackWidth];
  for (int i = 0; i < kPackWidth; ++i) first[i] = second[i] = WideLanes(0.0);
  for (int i = 0; i < 3; ++i) {
    first[i] = linear[i];
    (kPackWidth == 8 ? first[kSpin + i] : second[i]) = spin[i];
  }
  transpose(first);
  if (kPackWidth == 4) transpose(second);
  for (int l = 0; l < kPackWidth; ++l) {
    if (body[l] < 0) continue;
    double* row = v + body_row(body[l]);
    first[l].store(row);
    if (kPackWidth == 4) second[l].store(row + 4);
  }
}

#endif

}  // namespace pack_detail

/// Runs op(cell, impulse, points, motion) on the manifolds of thread `i` and their bodies. `Op::moves`: the
/// bodies take the changed `motion`.
template <class Op>
SS_HD inline auto run_on_pack(const ManifoldView& view, std::size_t i, const Op& op) {
  constexpr std::size_t threads = kPackWidth / kPackLanes;
  const std::size_t pack = i / threads, lane = i % threads;
  const PackCell<const double> cell{view.data + pack * kManifoldFields * kPackWidth + lane, kPackWidth};
  const PackCell<double> impulse{view.impulse + pack * kImpulseFields * kPackWidth + lane, kPackWidth};
  const std::int32_t* body = view.body + pack * 2 * kPackWidth + lane;
  PairMotion<PackNumber> motion;
  pack_detail::load_motion(view.v, body, motion.va, motion.wa);
  pack_detail::load_motion(view.v, body + kPackWidth, motion.vb, motion.wb);
  if constexpr (Op::moves) {
    op(cell, impulse, view.points[pack], motion);
    pack_detail::store_motion(view.v, body, motion.va, motion.wa);
    pack_detail::store_motion(view.v, body + kPackWidth, motion.vb, motion.wb);
  } else {
    return op(cell, impulse, view.points[pack], motion);
  }
}

struct SweepOp {
  static constexpr bool moves = true;
  ManifoldSweep sweep;
  SS_HD void operator()(const PackCell<const double>& cell, const PackCell<double>& impulse, int points,
                        PairMotion<PackNumber>& m) const {
    sweep_manifold<PackNumber>(cell, impulse, points, sweep, m);
  }
};

struct ApplyOp {
  static constexpr bool moves = true;
  SS_HD void operator()(const PackCell<const double>& cell, const PackCell<double>& impulse, int points,
                        PairMotion<PackNumber>& m) const {
    push_manifold<PackNumber>(cell, {impulse.at, impulse.width}, points, m);
  }
};

/// Sums of a thread: |e|^2 and |u|^2.
struct JudgeOp {
  static constexpr bool moves = false;
  SS_HD Vec<double, 2> operator()(const PackCell<const double>& cell, const PackCell<double>& impulse,
                                  int points, const PairMotion<PackNumber>& m) const {
    const auto sums = judge_manifold<PackNumber>(cell, {impulse.at, impulse.width}, points, m);
    return {sum(sums.error2), sum(sums.speed2)};
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
