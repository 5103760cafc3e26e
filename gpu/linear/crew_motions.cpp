#include "gpu/linear/crew_motions.h"

#include "gpu/core/launch.h"

namespace stickslip::cpu {

void CrewMotions::load(Context& ctx, const ChunkView& rows, const MotionView& motions,
                       const CoarseBlock* inverse) {
  rows_ = rows;
  motions_ = motions;
  inverse_ = inverse;
  const auto n = static_cast<std::size_t>(rows.node_count);
  share_of_slot_.resize(ctx, n);
  offset_.resize(ctx, n);
  group_.clear();
  first_share_.assign(1, 0);
  latest_.assign(motions_.groups, -1);
  for (std::size_t chunk = 0; chunk < rows.chunk_count(); ++chunk) {
    const IndexRange slots = rows.slots_of(chunk);
    for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
      const auto node = static_cast<std::size_t>(rows.node[slot]);
      const std::int32_t o = node < motions_.nodes ? motions_.group[node] : -1;
      share_of_slot_.data()[slot] = -1;
      if (o < 0) continue;
      offset_.data()[slot] = to_lanes(motions_.offset[node]);
      if (latest_[o] < first_share_.back()) {
        latest_[o] = static_cast<std::int32_t>(group_.size());
        group_.push_back(o);
      }
      share_of_slot_.data()[slot] = latest_[o];
    }
    first_share_.push_back(static_cast<std::int32_t>(group_.size()));
  }

  first_of_group_.assign(motions_.groups + 1, 0);
  for (const std::int32_t o : group_) ++first_of_group_[o + 1];
  for (std::size_t o = 0; o < motions_.groups; ++o) first_of_group_[o + 1] += first_of_group_[o];
  shares_of_group_.resize(group_.size());
  latest_.assign(first_of_group_.begin(), first_of_group_.end() - 1);
  for (std::size_t s = 0; s < group_.size(); ++s)
    shares_of_group_[latest_[group_[s]]++] = static_cast<std::int32_t>(s);
  share_.resize(ctx, group_.size());
  motion_.resize(ctx, group_.size());
}

void CrewMotions::sum(std::size_t chunk, const Lanes3* r) {
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

CrewMotions::Motion CrewMotions::total(std::int32_t group) const {
  Motion total{};
  for (std::int32_t k = first_of_group_[group]; k < first_of_group_[group + 1]; ++k)
    for (int c = 0; c < 4; ++c) total.column[c] += share_.data()[shares_of_group_[k]].column[c];
  return total;
}

/// (Z_g' A Z_g)^-1 Z_g'r, or what `solve` found.
CrewMotions::Motion CrewMotions::motion(std::int32_t group) const {
  Motion y{};
  if (inverse_ == nullptr) {
    for (int c = 0; c < 4; ++c)
      for (int a = 0; a < 3; ++a) y.column[c][a] = solved_[group][3 * c + a];
    return y;
  }
  const Motion total = this->total(group);
  const CoarseBlock& inverse = inverse_[group];  // symmetric
  for (int i = 0; i < 12; ++i) {
    const Real right = total.column[i / 3][i % 3];
    for (int c = 0; c < 4; ++c)
      y.column[c] += right * Lanes3{inverse(i, 3 * c), inverse(i, 3 * c + 1), inverse(i, 3 * c + 2), Real(0)};
  }
  return y;
}

void CrewMotions::solve(Arena& arena, const CoarseFactors& factors) {
  solved_.resize(motions_.groups);
  arena.run(solved_.size(), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const Motion of_group = total(static_cast<std::int32_t>(g));
      for (int c = 0; c < 4; ++c)
        for (int a = 0; a < 3; ++a) solved_[g][3 * c + a] = of_group.column[c][a];
    }
  });
  factors.solve(solved_.data());
}

Real CrewMotions::correct(std::size_t chunk, const Lanes3* r, Lanes3* z) {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s)
    motion_.data()[s] = motion(group_[s]);
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
