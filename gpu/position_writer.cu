#include "gpu/position_writer.cuh"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Of reduce.
struct MergeBoxes {
  SS_HD PublishedBox operator()(const PublishedBox& a, const PublishedBox& b) const { return merge(a, b); }
};

PositionWriter::PositionWriter(Context& ctx, PositionTarget target) : target_(std::move(target)) {
  const std::size_t needed = (target_.slots - 1) * target_.stride + target_.nodes * sizeof(Vec<float, 3>);
  if (target_.exported) {
    PositionTarget::Exported& exported = *target_.exported;
    if (exported.bytes < needed) throw std::runtime_error("the memory to be shared is too small");
    memory_.emplace(std::move(exported.memory), exported.bytes, exported.dedicated);
    timeline_.emplace(std::move(exported.timeline));
  } else if (!target_.host) {
    throw std::runtime_error("there is no memory to share");
  }
  framed_.upload(ctx, target_.framed);
  box_.resize(ctx, 1);
  if (STICKSLIP_ON_CUDA && !memory_) staging_.resize(ctx, target_.nodes);
}

PublishedBox PositionWriter::write(Context& ctx, const Vec<Real, 3>* x, std::size_t slot,
                                   std::uint64_t value) {
  if (slot >= target_.slots) throw std::invalid_argument("there is no such slot");
  std::byte* first = memory_ ? memory_->data() : target_.host;
  auto* positions = reinterpret_cast<Vec<float, 3>*>(first + slot * target_.stride);
  const bool through_staging = !staging_.empty();
  convert(ctx, x, through_staging ? staging_.data() : positions);
  if (through_staging) copy_to_host(ctx, positions, staging_.data(), target_.nodes);
  if (timeline_) timeline_->signal(ctx, value);
  return box(ctx, x);
}

void PositionWriter::convert(Context& ctx, const Vec<Real, 3>* x, Vec<float, 3>* target) {
  launch(ctx, target_.nodes, [=] SS_LAMBDA(std::size_t i) { target[i] = x[i].template cast<float>(); });
}

PublishedBox PositionWriter::box(Context& ctx, const Vec<Real, 3>* x) {
  const std::int32_t* framed = framed_.data();
  const auto box_of = [=] SS_LAMBDA(std::size_t i) {
    const Vec<float, 3> p = x[framed[i]].template cast<float>();
    const bool finite = std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
    return finite ? PublishedBox::of(p) : PublishedBox::empty();
  };
  reduce(ctx, framed_.size(), box_of, MergeBoxes{}, PublishedBox::empty(), box_.data());
  return read_back(ctx, box_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
