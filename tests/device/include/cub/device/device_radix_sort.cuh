// Stands in for CUB's header of the same name: what gpu/core uses of it, by one lane.
#pragma once

#include <cstdint>
#include <utility>

#include "tests/device/library_call.h"

namespace cub {

template <class T>
struct DoubleBuffer {
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() const { return d_buffers[selector]; }
  T* Alternate() const { return d_buffers[selector ^ 1]; }
  T* d_buffers[2];
  int selector = 0;
};

struct DeviceRadixSort {
  template <class K, class V>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys,
                               DoubleBuffer<V>& values, int n, int begin_bit, int end_bit,
                               cudaStream_t stream) {
    return sort(temporary, bytes, keys, &values, n, begin_bit, end_bit, stream);
  }
  template <class K>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys, int n,
                              int begin_bit, int end_bit, cudaStream_t stream) {
    return sort<K, std::uint32_t>(temporary, bytes, keys, nullptr, n, begin_bit, end_bit, stream);
  }

 private:
  static constexpr int kDigit = 8;

  /// Eight bits a pass, between the two buffers. Which of them has the result is known before it runs.
  template <class K, class V>
  static cudaError_t sort(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>* values,
                          int n, int begin_bit, int end_bit, cudaStream_t stream) {
    constexpr std::size_t kCounts = (1u << kDigit) * sizeof(int);
    K *from = keys.Current(), *to = keys.Alternate();
    V *value_from = values ? values->Current() : nullptr, *value_to = values ? values->Alternate() : nullptr;
    const bool asks = temporary == nullptr;
    const int passes = (end_bit - begin_bit + kDigit - 1) / kDigit;
    auto* counts = static_cast<int*>(temporary);
    const cudaError_t status = stickslip::emulation::library_call(
        temporary, bytes, kCounts, stream,
        [=]() mutable {
          for (int bit = begin_bit; bit < end_bit; bit += kDigit) {
            const K mask = static_cast<K>((K{1} << std::min(kDigit, end_bit - bit)) - 1);
            for (int d = 0; d < 1 << kDigit; ++d) counts[d] = 0;
            for (int i = 0; i < n; ++i) ++counts[(from[i] >> bit) & mask];
            int start = 0;
            for (int d = 0; d < 1 << kDigit; ++d) start += std::exchange(counts[d], start);
            for (int i = 0; i < n; ++i) {
              const int place = counts[(from[i] >> bit) & mask]++;
              to[place] = from[i];
              if (value_from) value_to[place] = value_from[i];
            }
            std::swap(from, to);
            std::swap(value_from, value_to);
          }
        },
        passes + 2);  // a histogram and a scan before the passes
    if (asks || status != cudaSuccess) return status;
    keys.selector ^= passes & 1;
    if (values) values->selector ^= passes & 1;
    return status;
  }
};

}  // namespace cub
