// Where the compiler's instrumentation of loads and stores ends up. Kernel sources are compiled with
// -fsanitize=thread, for the calls that it inserts; its own runtime is not linked, this one is.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/device/lanes.h"

namespace stickslip::emulation {
namespace {

[[gnu::always_inline]] inline void touch(const void* p, std::size_t bytes, bool write, bool atomic,
                                         const void* place) {
  Lanes* lanes = running_lanes;
  if (lanes == nullptr || !lanes->watches(write)) return;
  lanes->access(p, bytes, write, atomic, place);
}

/// An access whose address the compiler takes for a multiple of its size.
[[gnu::always_inline]] inline void touch_aligned(const void* p, std::size_t bytes, bool write,
                                                 const void* place) {
  Lanes* lanes = running_lanes;
  if (lanes == nullptr || !lanes->watches(write)) return;
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) lanes->misaligned(p, bytes, place);
  lanes->access(p, bytes, write, false, place);
}

template <class T, class Change>
T update(T* p, Change change, const void* place) {
  touch(p, sizeof(T), true, true, place);
  T old;
  std::memcpy(&old, p, sizeof(T));
  const T value = change(old);
  std::memcpy(p, &value, sizeof(T));
  return old;
}

}  // namespace
}  // namespace stickslip::emulation

#define SS_PLACE __builtin_return_address(0)
#define SS_HOOK(bytes)                                                                                   \
  void __tsan_read##bytes(void* p) { ::stickslip::emulation::touch_aligned(p, bytes, false, SS_PLACE); } \
  void __tsan_write##bytes(void* p) { ::stickslip::emulation::touch_aligned(p, bytes, true, SS_PLACE); } \
  void __tsan_unaligned_read##bytes(void* p) {                                                           \
    ::stickslip::emulation::touch(p, bytes, false, false, SS_PLACE);                                     \
  }                                                                                                      \
  void __tsan_unaligned_write##bytes(void* p) {                                                          \
    ::stickslip::emulation::touch(p, bytes, true, false, SS_PLACE);                                      \
  }                                                                                                      \
  void __tsan_volatile_read##bytes(void* p) {                                                            \
    ::stickslip::emulation::touch(p, bytes, false, true, SS_PLACE);                                      \
  }                                                                                                      \
  void __tsan_volatile_write##bytes(void* p) {                                                           \
    ::stickslip::emulation::touch(p, bytes, true, true, SS_PLACE);                                       \
  }                                                                                                      \
  void __tsan_unaligned_volatile_read##bytes(void* p) {                                                  \
    ::stickslip::emulation::touch(p, bytes, false, true, SS_PLACE);                                      \
  }                                                                                                      \
  void __tsan_unaligned_volatile_write##bytes(void* p) {                                                 \
    ::stickslip::emulation::touch(p, bytes, true, true, SS_PLACE);                                       \
  }

extern "C" {
// Copies of objects: clang leaves these calls uninstrumented, so the linker routes them here (--wrap).
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  ::stickslip::emulation::touch(from, bytes, false, false, SS_PLACE);
  ::stickslip::emulation::touch(to, bytes, true, false, SS_PLACE);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  ::stickslip::emulation::touch(from, bytes, false, false, SS_PLACE);
  ::stickslip::emulation::touch(to, bytes, true, false, SS_PLACE);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  ::stickslip::emulation::touch(to, bytes, true, false, SS_PLACE);
  return __real_memset(to, value, bytes);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
SS_HOOK(1)
SS_HOOK(2)
SS_HOOK(4)
SS_HOOK(8)
SS_HOOK(16)
void __tsan_read_range(void* p, std::size_t bytes) {
  ::stickslip::emulation::touch(p, bytes, false, false, SS_PLACE);
}
void __tsan_write_range(void* p, std::size_t bytes) {
  ::stickslip::emulation::touch(p, bytes, true, false, SS_PLACE);
}
// Virtual tables are the host's: kernels have none.
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}

// Atomic operations of the host in the same sources: reference counts, and guards of local statics. Kernels
// use the functions below.
#define SS_ATOMIC(bits, T)                                                                                \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
    return expected;                                                                                      \
  }                                                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                             \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) {                                            \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) {                                            \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) {                                             \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) {                                            \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {          \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {            \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
  }
SS_ATOMIC(8, std::uint8_t)
SS_ATOMIC(16, std::uint16_t)
SS_ATOMIC(32, std::uint32_t)
SS_ATOMIC(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __tsan_atomic_signal_fence(int) {}
}

#define SS_UPDATE(name, T, result)                        \
  T name(T* p, T v) {                                     \
    return ::stickslip::emulation::update(                \
        p, [v](T old) -> T { return result; }, SS_PLACE); \
  }

SS_UPDATE(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(v)))
SS_UPDATE(atomicAdd, unsigned, old + v)
SS_UPDATE(atomicAdd, unsigned long long, old + v)
SS_UPDATE(atomicAdd, float, old + v)
SS_UPDATE(atomicAdd, double, old + v)
SS_UPDATE(atomicMin, int, v < old ? v : old)
SS_UPDATE(atomicMin, unsigned, v < old ? v : old)
SS_UPDATE(atomicMin, long long, v < old ? v : old)
SS_UPDATE(atomicMin, unsigned long long, v < old ? v : old)
SS_UPDATE(atomicMax, int, v > old ? v : old)
SS_UPDATE(atomicMax, unsigned, v > old ? v : old)
SS_UPDATE(atomicMax, long long, v > old ? v : old)
SS_UPDATE(atomicMax, unsigned long long, v > old ? v : old)
unsigned atomicCAS(unsigned* p, unsigned expected, unsigned v) {
  return ::stickslip::emulation::update(
      p, [=](unsigned old) { return old == expected ? v : old; }, SS_PLACE);
}
unsigned long long atomicCAS(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  return ::stickslip::emulation::update(
      p, [=](unsigned long long old) { return old == expected ? v : old; }, SS_PLACE);
}
