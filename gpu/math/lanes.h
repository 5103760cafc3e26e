// Lanes: several doubles that go through the same arithmetic at once, on processors of the CPU backend; see
// pick.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "gpu/math/pick.h"

#if !STICKSLIP_ON_CUDA && (defined(__AVX512F__) || defined(__AVX__))
#include <immintrin.h>
#endif

namespace stickslip {

SS_HD inline double sum(double a) { return a; }

#if !STICKSLIP_ON_CUDA

namespace lanes_detail {

// GCC drops attributes that depend on a template's argument.
template <int N>
struct Packs;
template <>
struct Packs<4> {
  using Pack = double __attribute__((vector_size(32), may_alias));
  using Mask = std::int64_t __attribute__((vector_size(32)));
};
template <>
struct Packs<8> {
  using Pack = double __attribute__((vector_size(64), may_alias));
  using Mask = std::int64_t __attribute__((vector_size(64)));
};

}  // namespace lanes_detail

/// N = 4 or 8 doubles. Comparisons give masks for `pick`.
template <int N>
struct Lanes {
  using Pack = typename lanes_detail::Packs<N>::Pack;
  using Mask = typename lanes_detail::Packs<N>::Mask;
  Pack v;

  Lanes() = default;
  Lanes(Pack pack) : v(pack) {}
  Lanes(double value) : v(Pack{} + value) {}

  /// N doubles in memory, aligned as a pack is.
  static Lanes load(const double* at) { return *reinterpret_cast<const Pack*>(at); }
  void store(double* at) const { *reinterpret_cast<Pack*>(at) = v; }

  Lanes& operator+=(Lanes b) { return *this = {v + b.v}; }
  Lanes& operator-=(Lanes b) { return *this = {v - b.v}; }
  Lanes& operator*=(Lanes b) { return *this = {v * b.v}; }
  friend Lanes operator+(Lanes a, Lanes b) { return {a.v + b.v}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {a.v - b.v}; }
  friend Lanes operator*(Lanes a, Lanes b) { return {a.v * b.v}; }
  friend Lanes operator/(Lanes a, Lanes b) { return {a.v / b.v}; }
  friend Lanes operator-(Lanes a) { return {-a.v}; }
  friend Mask operator<(Lanes a, Lanes b) { return a.v < b.v; }
  friend Mask operator>(Lanes a, Lanes b) { return a.v > b.v; }
  friend Mask operator<=(Lanes a, Lanes b) { return a.v <= b.v; }

  friend Lanes pick(Mask where, Lanes a, Lanes b) { return {where ? a.v : b.v}; }
  friend Lanes larger(Lanes a, Lanes b) { return pick(a > b, a, b); }
  friend Lanes root(Lanes a) {
#if defined(__AVX512F__)
    if constexpr (N == 8) return {_mm512_maskz_sqrt_pd(0xff, a.v)};
#endif
#if defined(__AVX__)
    if constexpr (N == 4) return {_mm256_sqrt_pd(a.v)};
#endif
    for (int i = 0; i < N; ++i) a.v[i] = std::sqrt(a.v[i]);
    return a;
  }
  friend Lanes log(Lanes a) {
    for (int i = 0; i < N; ++i) a.v[i] = std::log(a.v[i]);
    return a;
  }
  friend Lanes log1p(Lanes a) {
    for (int i = 0; i < N; ++i) a.v[i] = std::log1p(a.v[i]);
    return a;
  }
  friend bool any_less(Lanes a, Lanes b) { return any(a.v < b.v); }
  friend bool all_less(Lanes a, Lanes b) { return !any(~(a.v < b.v)); }
  friend double sum(Lanes a) {
    double s = 0;
    for (int i = 0; i < N; ++i) s += a.v[i];
    return s;
  }

 private:
  static bool any(Mask mask) {
    std::int64_t found = 0;
    for (int i = 0; i < N; ++i) found |= mask[i];
    return found != 0;
  }
};

/// As many as a register holds.
#if defined(__AVX512F__)
inline constexpr int kLaneCount = 8;
#else
inline constexpr int kLaneCount = 4;
#endif
using WideLanes = Lanes<kLaneCount>;

namespace lanes_detail {

/// Of rows a and b that are `step` apart: the pairs of step x step squares of the transpose.
template <int N, int Step, std::size_t... I>
inline void swap_squares(Lanes<N>& a, Lanes<N>& b, std::index_sequence<I...>) {
  const auto first = __builtin_shufflevector(a.v, b.v, (I & Step ? N + I - Step : I)...);
  const auto second = __builtin_shufflevector(a.v, b.v, (I & Step ? N + I : I + Step)...);
  a.v = first;
  b.v = second;
}

template <int N, int Step>
inline void transpose_by(Lanes<N>* row) {
  for (int i = 0; i < N; ++i)
    if ((i & Step) == 0) swap_squares<N, Step>(row[i], row[i + Step], std::make_index_sequence<N>{});
}

}  // namespace lanes_detail

/// Lane j of row i becomes lane i of row j.
template <int N>
inline void transpose(Lanes<N> (&row)[N]) {
  static_assert(N == 4 || N == 8);
  lanes_detail::transpose_by<N, 1>(row);
  lanes_detail::transpose_by<N, 2>(row);
  if constexpr (N == 8) lanes_detail::transpose_by<N, 4>(row);
}

#endif

}  // namespace stickslip
