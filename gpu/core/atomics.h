// Atomic read-modify-write in kernels, on both backends. Each returns the old value.
//
// T: int32, uint32, int64, uint64, float, double. A sum of floats by atomic_add depends on the order of
// arrival: where results must repeat, gather instead. On the CPU every operation is acquire-release; on CUDA
// it is relaxed, and memory_fence orders it (use `arrive` where one thread waits for the data of another).
#pragma once

#include <type_traits>

#include "gpu/core/backend.h"

#if !STICKSLIP_ON_CUDA
#include <atomic>
#endif

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

namespace detail {

/// The type CUDA's integer atomics know, of the same size and sign.
template <class T>
using Native = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>>;

/// Replaces *p by v while better(v, *p).
template <class T, class Better>
__device__ T replace_if(T* p, T v, Better better) {
  using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  auto* bits = reinterpret_cast<Bits*>(p);
  auto as_value = [](Bits b) { return *reinterpret_cast<T*>(&b); };
  const Bits wanted = *reinterpret_cast<Bits*>(&v);
  Bits old = *reinterpret_cast<volatile Bits*>(p);
  while (better(v, as_value(old))) {
    const Bits seen = atomicCAS(bits, old, wanted);
    if (seen == old) break;
    old = seen;
  }
  return as_value(old);
}

}  // namespace detail

template <class T>
__device__ T atomic_add(T* p, std::type_identity_t<T> v) {
  if constexpr (std::is_floating_point_v<T>) {
    return atomicAdd(p, v);
  } else {
    // Two's complement: the unsigned sum has the same bits.
    using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    return static_cast<T>(atomicAdd(reinterpret_cast<Word*>(p), static_cast<Word>(v)));
  }
}

template <class T>
__device__ T atomic_min(T* p, std::type_identity_t<T> v) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::replace_if(p, v, [](T a, T b) { return a < b; });
  } else {
    using Word = detail::Native<T>;
    return static_cast<T>(atomicMin(reinterpret_cast<Word*>(p), static_cast<Word>(v)));
  }
}

template <class T>
__device__ T atomic_max(T* p, std::type_identity_t<T> v) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::replace_if(p, v, [](T a, T b) { return a > b; });
  } else {
    using Word = detail::Native<T>;
    return static_cast<T>(atomicMax(reinterpret_cast<Word*>(p), static_cast<Word>(v)));
  }
}

/// Orders this thread's writes before its later atomics, and its atomics before its later reads, for the
/// whole device.
__device__ inline void memory_fence() { __threadfence(); }

#else

namespace detail {

template <class T, class Better>
T replace_if(T* p, T v, Better better) {
  std::atomic_ref<T> target(*p);
  T old = target.load(std::memory_order_acquire);
  while (better(v, old) && !target.compare_exchange_weak(old, v, std::memory_order_acq_rel)) {
  }
  return old;
}

}  // namespace detail

template <class T>
T atomic_add(T* p, std::type_identity_t<T> v) {
  return std::atomic_ref<T>(*p).fetch_add(v, std::memory_order_acq_rel);
}

template <class T>
T atomic_min(T* p, std::type_identity_t<T> v) {
  return detail::replace_if(p, v, [](T a, T b) { return a < b; });
}

template <class T>
T atomic_max(T* p, std::type_identity_t<T> v) {
  return detail::replace_if(p, v, [](T a, T b) { return a > b; });
}

/// Nothing to do: the atomics themselves are acquire-release.
inline void memory_fence() {}

#endif

/// The gate of a bottom-up pass: counts the calling thread and returns how many came before. Writes of
/// earlier visitors before their arrival are visible to later ones, so the last visitor may read its
/// siblings' results.
#if STICKSLIP_ON_CUDA
__device__
#endif
    inline std::int32_t
    arrive(std::int32_t* counter) {
  memory_fence();
  const std::int32_t before = atomic_add(counter, 1);
  memory_fence();
  return before;
}

}  // namespace stickslip::STICKSLIP_BACKEND
