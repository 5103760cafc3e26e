// What a kernel source sees in place of nvcc: the vocabulary of CUDA C++, in terms of the emulated device.
//
// Included first by gpu/core/backend.h when STICKSLIP_EMULATED_DEVICE is defined. The CUDA headers themselves
// are the real ones: types, enumerations and prototypes of the runtime's functions come from there.
#pragma once

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace stickslip::emulation {

/// Place of the running lane in its launch. Calls outside a kernel are errors of the program and end it.
uint3 thread_index();
uint3 block_index();
dim3 block_size();
dim3 grid_size();

/// Waits for all lanes of the block, or of the grid in a cooperative launch.
void block_barrier();
void grid_barrier();
/// Orders this lane's accesses before its next atomic operation, and its last atomic operation before its
/// next accesses.
void fence();

/// Ends the launch, as a failed assertion does.
[[noreturn]] void trap();

/// Uninitialised memory of the running block, one piece per `key`.
void* shared_memory(const void* key, std::size_t bytes, std::size_t alignment);

/// Sets the value that the next turn of a conditional node reads.
void set_conditional(cudaGraphConditionalHandle handle, unsigned value);

/// A kernel as the emulated runtime starts it, given the addresses of its arguments.
struct Kernel {
  void (*run)(const void* function, void* const* arguments);
  std::size_t argument_count;
  const std::size_t* argument_bytes;
  bool library = false;  // one of CUB's
};
/// Makes a kernel known by its address, as nvcc's start-up code does.
const void* register_kernel(const void* function, const Kernel& kernel);

/// What kernels of libraries have as their argument.
struct LibraryCall {
  int launches;  // kernels that the library would start
};

template <class... A, std::size_t... I>
void call(void (*function)(A...), void* const* arguments, std::index_sequence<I...>) {
  function(*static_cast<const A*>(arguments[I])...);
}

}  // namespace stickslip::emulation

namespace stickslip {

/// CUDA's built-in variables. No macros: structures of the runtime have members of these names. The
/// declarations of the CUDA headers are in the global namespace, which kernels see last.
template <auto Get>
struct BuiltIn {
  struct X {
    operator unsigned() const { return Get().x; }
  } x;
};
inline constexpr BuiltIn<&emulation::thread_index> threadIdx{};
inline constexpr BuiltIn<&emulation::block_index> blockIdx{};
inline constexpr BuiltIn<&emulation::block_size> blockDim{};
inline constexpr BuiltIn<&emulation::grid_size> gridDim{};

template <class... A>
inline constexpr bool kIsLibrary = (std::is_base_of_v<emulation::LibraryCall, A> || ...);

/// The address of a kernel for calls of the runtime.
template <class... A>
const void* kernel_address(void (*function)(A...)) {
  static const std::size_t bytes[] = {sizeof(A)..., 0};
  const auto address = reinterpret_cast<const void*>(function);
  return emulation::register_kernel(address, {[](const void* f, void* const* arguments) {
                                                emulation::call(
                                                    reinterpret_cast<void (*)(A...)>(const_cast<void*>(f)),
                                                    arguments, std::index_sequence_for<A...>{});
                                              },
                                              sizeof...(A), bytes, kIsLibrary<A...>});
}

}  // namespace stickslip

inline void __syncthreads() { stickslip::emulation::block_barrier(); }
[[noreturn]] inline void __trap() { stickslip::emulation::trap(); }
inline void __threadfence() { stickslip::emulation::fence(); }
inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  stickslip::emulation::set_conditional(handle, value);
}

int atomicAdd(int* p, int v);
unsigned atomicAdd(unsigned* p, unsigned v);
unsigned long long atomicAdd(unsigned long long* p, unsigned long long v);
float atomicAdd(float* p, float v);
double atomicAdd(double* p, double v);
int atomicMin(int* p, int v);
unsigned atomicMin(unsigned* p, unsigned v);
long long atomicMin(long long* p, long long v);
unsigned long long atomicMin(unsigned long long* p, unsigned long long v);
int atomicMax(int* p, int v);
unsigned atomicMax(unsigned* p, unsigned v);
long long atomicMax(long long* p, long long v);
unsigned long long atomicMax(unsigned long long* p, unsigned long long v);
unsigned atomicCAS(unsigned* p, unsigned expected, unsigned v);
unsigned long long atomicCAS(unsigned long long* p, unsigned long long expected, unsigned long long v);

/// `type name`, shared by the block.
#define SS_SHARED(type, name)                          \
  static const char name##_key = 0;                    \
  auto& name = *static_cast<std::add_pointer_t<type>>( \
      ::stickslip::emulation::shared_memory(&name##_key, sizeof(type), alignof(type)))
