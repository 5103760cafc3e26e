// The row product of W with SIMD lanes of four doubles: compiler output for 3 x 3
// blocks leaves most lanes idle.
#pragma once

#include <cstdint>

#include "gpu/core/backend.h"
#include "gpu/math/mat.h"

#if !STICKSLIP_ON_CUDA && defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

namespace stickslip::cpu {

/// sum_k value[k] x[column[k]]. Each row of a block is one register (its fourth lane is unused), and the
/// lanes of a row's sum are added once, at the end.
inline Vec<double, 3> row_times_lanes(const Mat<double, 3>* value, const std::int32_t* column,
                                      std::int32_t count, const Vec<double, 3>* x) {
  const __m256i three = _mm256_set_epi64x(0, -1, -1, -1);
  __m256d sum0 = _mm256_setzero_pd(), sum1 = sum0, sum2 = sum0;
  for (std::int32_t k = 0; k < count; ++k) {
    const double* m = value[k].m;
    const __m256d v = _mm256_maskload_pd(x[column[k]].v, three);
    // Loads of the first two rows read one value past the row; it multiplies the empty lane of v. Only a NaN
    // or infinity there would have an effect, and then the block itself contains it.
    sum0 = _mm256_fmadd_pd(_mm256_loadu_pd(m), v, sum0);
    sum1 = _mm256_fmadd_pd(_mm256_loadu_pd(m + 3), v, sum1);
    sum2 = _mm256_fmadd_pd(_mm256_maskload_pd(m + 6, three), v, sum2);
  }
  const __m256d pairs = _mm256_hadd_pd(sum0, sum1);  // 0+1 of both, then 2+3 of both
  const __m128d first = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1));
  const __m128d low = _mm256_castpd256_pd128(sum2), high = _mm256_extractf128_pd(sum2, 1);
  const __m128d both = _mm_add_pd(low, high);
  Vec<double, 3> out{};
  _mm_storeu_pd(out.v, first);
  out[2] = _mm_cvtsd_f64(both) + _mm_cvtsd_f64(_mm_unpackhi_pd(both, both));
  return out;
}

}  // namespace stickslip::cpu

#endif
