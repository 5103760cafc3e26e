// A typed array in backend memory. Copies between host and backend are explicit and counted.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Copies `count` objects into host memory and waits for them.
template <class T>
void copy_to_host(Context& ctx, T* host, const T* source, std::size_t count) {
  if (count == 0) return;
  ++ctx.counters().copies_to_host;
  ctx.counters().bytes_to_host += count * sizeof(T);
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaMemcpyAsync(host, source, count * sizeof(T), cudaMemcpyDeviceToHost, ctx.stream()));
  ctx.synchronize();
#else
  std::memcpy(static_cast<void*>(host), source, count * sizeof(T));
#endif
}

/// Copies `count` objects from host memory; the host memory may be reused on return.
template <class T>
void copy_to_device(Context& ctx, T* target, const T* host, std::size_t count) {
  if (count == 0) return;
  ++ctx.counters().copies_to_device;
  ctx.counters().bytes_to_device += count * sizeof(T);
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaMemcpyAsync(target, host, count * sizeof(T), cudaMemcpyHostToDevice, ctx.stream()));
  ctx.synchronize();
#else
  (void)ctx;
  std::memcpy(static_cast<void*>(target), host, count * sizeof(T));
#endif
}

/// Copies within the backend, in stream order.
template <class T>
void copy(Context& ctx, T* target, const T* source, std::size_t count) {
  if (count == 0) return;
#if STICKSLIP_ON_CUDA
  SS_CUDA(cudaMemcpyAsync(target, source, count * sizeof(T), cudaMemcpyDeviceToDevice, ctx.stream()));
#else
  (void)ctx;
  std::memcpy(static_cast<void*>(target), source, count * sizeof(T));
#endif
}

/// Reads one value back: a host wait on CUDA, so never inside an inner loop.
template <class T>
T read_back(Context& ctx, const T* source) {
  T value;
  copy_to_host(ctx, &value, source, 1);
  return value;
}

/// Owns `size()` trivially copyable objects. `resize` keeps the memory when it suffices and does NOT keep the
/// contents when it grows; a steady simulation therefore allocates nothing.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(Context& ctx, std::size_t size) { resize(ctx, size); }
  Buffer(Context& ctx, std::span<const T> host) { upload(ctx, host); }
  ~Buffer() { free(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  void resize(Context& ctx, std::size_t size) {
    if (size > capacity_) {
      const std::size_t grown = capacity_ == 0 ? size : size + size / 2;
      // The next user of the old memory comes after its last user in the stream of the same context.
      if (pool_ && pool_ != ctx.pool()) ctx.synchronize();
      free();
      data_ = static_cast<T*>(ctx.allocate(grown * sizeof(T)));
      pool_ = ctx.pool();
      capacity_ = grown;
    }
    size_ = size;
  }

  /// As `resize`, but the first size() objects stay.
  void extend(Context& ctx, std::size_t size) {
    if (size > capacity_) {
      Buffer longer(ctx, size + size / 2);
      copy(ctx, longer.data(), data_, size_);
      if (pool_ && pool_ != ctx.pool()) ctx.synchronize();
      swap(longer);
    }
    size_ = size;
  }

  void upload(Context& ctx, std::span<const T> host) {
    resize(ctx, host.size());
    copy_to_device(ctx, data_, host.data(), host.size());
  }

  std::vector<T> download(Context& ctx) const {
    std::vector<T> host(size_);
    copy_to_host(ctx, host.data(), data_, size_);
    return host;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

 private:
  void free() noexcept {
    if (data_ != nullptr) pool_->give(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  std::shared_ptr<BlockPool> pool_;  // that the memory is from, and goes back to
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace stickslip::STICKSLIP_BACKEND
