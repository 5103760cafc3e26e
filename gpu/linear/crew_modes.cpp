#include "gpu/linear/crew_modes.h"

#include "gpu/core/launch.h"

namespace stickslip::cpu {

void CrewModes::load(Context& ctx, const ChunkView& rows, const AffineModes& modes) {
  rows_ = rows;
  modes_ = modes.view();
  const auto n = static_cast<std::size_t>(rows.node_count);
  share_of_slot_.resize(ctx, n);
  offset_.resize(ctx, n);
  object_.clear();
  first_share_.assign(1, 0);
  latest_.assign(modes_.objects, -1);
  for (std::size_t chunk = 0; chunk < rows.chunk_count(); ++chunk) {
    const IndexRange slots = rows.slots_of(chunk);
    for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
      const auto node = static_cast<std::size_t>(rows.node[slot]);
      const std::int32_t o = node < modes_.nodes ? modes_.object[node] : -1;
      share_of_slot_.data()[slot] = -1;
      if (o < 0) continue;
      offset_.data()[slot] = to_lanes(modes_.offset[node]);
      if (latest_[o] < first_share_.back()) {
        latest_[o] = static_cast<std::int32_t>(object_.size());
        object_.push_back(o);
      }
      share_of_slot_.data()[slot] = latest_[o];
    }
    first_share_.push_back(static_cast<std::int32_t>(object_.size()));
  }

  first_of_object_.assign(modes_.objects + 1, 0);
  for (const std::int32_t o : object_) ++first_of_object_[o + 1];
  for (std::size_t o = 0; o < modes_.objects; ++o) first_of_object_[o + 1] += first_of_object_[o];
  shares_of_object_.resize(object_.size());
  latest_.assign(first_of_object_.begin(), first_of_object_.end() - 1);
  for (std::size_t s = 0; s < object_.size(); ++s)
    shares_of_object_[latest_[object_[s]]++] = static_cast<std::int32_t>(s);
  share_.resize(ctx, object_.size());
  motion_.resize(ctx, object_.size());
}

void CrewModes::sum(std::size_t chunk, const Lanes3* r) {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s) share_.data()[s] = Motion{};
  const IndexRange slots = rows_.slots_of(chunk);
  for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
    const std::int32_t s = share_of_slot_.data()[slot];
    if (s < 0) continue;
    Motion& share = share_.data()[s];
    const Lanes3 d = offset_.data()[slot], ri = r[slot];
    share.column[0] += ri;
    for (int k = 0; k < 3; ++k) share.column[k + 1] += d[k] * ri;
  }
}

/// (Z_o' A Z_o)^-1 Z_o'r.
CrewModes::Motion CrewModes::motion(std::int32_t object) const {
  Motion total{};
  for (std::int32_t k = first_of_object_[object]; k < first_of_object_[object + 1]; ++k)
    for (int c = 0; c < 4; ++c) total.column[c] += share_.data()[shares_of_object_[k]].column[c];
  const Mat<Real, 12>& inverse = modes_.inverse[object];  // symmetric
  Motion y{};
  for (int i = 0; i < 12; ++i) {
    const Real right = total.column[i / 3][i % 3];
    for (int c = 0; c < 4; ++c)
      y.column[c] += right * Lanes3{inverse(i, 3 * c), inverse(i, 3 * c + 1), inverse(i, 3 * c + 2), Real(0)};
  }
  return y;
}

Real CrewModes::correct(std::size_t chunk, const Lanes3* r, Lanes3* z) {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s)
    motion_.data()[s] = motion(object_[s]);
  Lanes3 rz{};
  const IndexRange slots = rows_.slots_of(chunk);
  for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
    const std::int32_t s = share_of_slot_.data()[slot];
    if (s >= 0) {
      const Motion& y = motion_.data()[s];
      const Lanes3 d = offset_.data()[slot];
      z[slot] += y.column[0] + d[0] * y.column[1] + d[1] * y.column[2] + d[2] * y.column[3];
    }
    rz += r[slot] * z[slot];
  }
  return rz[0] + rz[1] + rz[2];
}

}  // namespace stickslip::cpu
