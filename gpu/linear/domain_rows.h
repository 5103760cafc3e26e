// The product of a domain's inverse with a vector, in a processor's vector registers. CPU backend only.
#pragma once

#include "gpu/linear/domains.cuh"

namespace stickslip::cpu {

/// The numbers of a domain's slots, padded with zeros.
template <int N>
struct alignas(32) DomainRows {
  float v[InverseFactors<N>::kPadded] = {};
};

namespace domain_detail {

using Lanes8 = float __attribute__((vector_size(32), may_alias));
using UnalignedLanes8 = float __attribute__((vector_size(32), aligned(4), may_alias));

/// {a0 + a1, a2 + a3, ..., b6 + b7}
inline Lanes8 sum_neighbours(const Lanes8& a, const Lanes8& b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

/// The sums of the lanes of eight vectors.
inline Lanes8 sum_each(const Lanes8* a) {
  return sum_neighbours(sum_neighbours(sum_neighbours(a[0], a[1]), sum_neighbours(a[2], a[3])),
                        sum_neighbours(sum_neighbours(a[4], a[5]), sum_neighbours(a[6], a[7])));
}

/// The columns of W of tile `First` and all that follow. Loops have fixed ends, so that y stays in registers.
template <int N, int First>
[[gnu::always_inline]] inline void multiply(const InverseFactors<N>& f, const DomainRows<N>& rows,
                                            Lanes8* y) {
  constexpr int kTile = InverseFactors<N>::kTile, kTiles = InverseFactors<N>::kPadded / kTile;
  if constexpr (First < kTiles) {
    const auto* column =
        reinterpret_cast<const UnalignedLanes8*>(f.w + f.place(First * kTile, First * kTile));
    for (int j = 0; j < kTile; ++j, column += kTiles - First) {
      const float value = rows.v[First * kTile + j];
#pragma GCC unroll 16
      for (int t = First; t < kTiles; ++t) y[t] += column[t - First] * value;
    }
    multiply<N, First + 1>(f, rows, y);
  }
}

/// The same with W', to `out`.
template <int N, int First>
[[gnu::always_inline]] inline void multiply_transposed(const InverseFactors<N>& f, const Lanes8* y,
                                                       Lanes8* out) {
  constexpr int kTile = InverseFactors<N>::kTile, kTiles = InverseFactors<N>::kPadded / kTile;
  if constexpr (First < kTiles) {
    const auto* column =
        reinterpret_cast<const UnalignedLanes8*>(f.w + f.place(First * kTile, First * kTile));
    Lanes8 products[kTile];
#pragma GCC unroll 8
    for (int j = 0; j < kTile; ++j, column += kTiles - First) {
      products[j] = column[0] * y[First];
#pragma GCC unroll 16
      for (int t = First + 1; t < kTiles; ++t) products[j] += column[t - First] * y[t];
    }
    out[First] = y[First] + sum_each(products);
    multiply_transposed<N, First + 1>(f, y, out);
  }
}

}  // namespace domain_detail

/// rows = A^-1 rows.
template <int N>
void apply_inverse(const InverseFactors<N>& f, DomainRows<N>& rows) {
  using namespace domain_detail;
  constexpr int kTiles = InverseFactors<N>::kPadded / InverseFactors<N>::kTile;
  Lanes8 y[kTiles];
  auto* lanes = reinterpret_cast<Lanes8*>(rows.v);
  for (int t = 0; t < kTiles; ++t) y[t] = lanes[t];
  multiply<N, 0>(f, rows, y);
  const auto* pivots = reinterpret_cast<const UnalignedLanes8*>(f.inverse_pivot);
  for (int t = 0; t < kTiles; ++t) y[t] *= pivots[t];
  multiply_transposed<N, 0>(f, y, lanes);
}

}  // namespace stickslip::cpu
