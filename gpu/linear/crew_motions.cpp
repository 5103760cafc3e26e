#include "gpu/linear/crew_motions.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {

void CrewMotions::load(Context& ctx, const ChunkView& rows, const MotionView& motions,
                       const CoarseBlock* inverse) {
  rows_ = rows;
  motions_ = motions;
  inverse_ = inverse;
  const auto n = static_cast<std::size_t>(rows.node_count);
  share_of_slot_.resize(ctx, n);
  group_of_slot_.resize(ctx, n);
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
      group_of_slot_.data()[slot] = o < 0 ? static_cast<std::int32_t>(motions_.groups) : o;
      offset_.data()[slot] = Lanes3{};
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
  solved_.resize(ctx, motions_.groups + 1);
  clear();
}

void CrewMotions::clear() { std::fill_n(solved_.data(), motions_.groups + 1, Motion{}); }

void CrewMotions::ask_for_shares(std::size_t chunk) const {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s) share_.data()[s].ask_for(true);
}

void CrewMotions::ask_for_motions(std::size_t chunk) const {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s)
    solved_.data()[group_[s]].ask_for(false);
}

void CrewMotions::Motion::ask_for(bool to_write) const {
  for (int c = 0; c < 4; c += 2)
    if (to_write) __builtin_prefetch(column + c, 1);
    else __builtin_prefetch(column + c);
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

/// (Z_g' A Z_g)^-1 Z_g'r.
CrewMotions::Motion CrewMotions::motion(std::int32_t group) const {
  Motion y{};
  const Motion total = this->total(group);
  const CoarseBlock& inverse = inverse_[group];  // symmetric
  for (int i = 0; i < 12; ++i) {
    const Real right = total.column[i / 3][i % 3];
    for (int c = 0; c < 4; ++c)
      y.column[c] += right * Lanes3{inverse(i, 3 * c), inverse(i, 3 * c + 1), inverse(i, 3 * c + 2), Real(0)};
  }
  return y;
}

Real CrewMotions::correct(std::size_t chunk, const Lanes3* r, Lanes3* z) {
  for (std::int32_t s = first_share_[chunk]; s < first_share_[chunk + 1]; ++s)
    motion_.data()[s] = motion(group_[s]);
  Lanes3 rz{};
  const IndexRange slots = rows_.slots_of(chunk);
  for (std::size_t slot = slots.begin; slot < slots.end; ++slot) {
    const std::int32_t s = share_of_slot_.data()[slot];
    if (s >= 0) z[slot] += motion_.data()[s].at(offset_.data()[slot]);
    rz += r[slot] * z[slot];
  }
  return rz[0] + rz[1] + rz[2];
}

Real CrewMotions::solve(Arena& arena, const CoarseFactors& factors) {
  total_.resize(motions_.groups);
  const auto add_up = [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const Motion of_group = total(static_cast<std::int32_t>(g));
      for (int c = 0; c < 4; ++c)
        for (int a = 0; a < 3; ++a) total_[g][3 * c + a] = of_group.column[c][a];
    }
  };
  // Another thread's help takes longer to come and go than a few sums take.
  constexpr std::size_t kSerialGroups = 128;
  if (total_.size() <= kSerialGroups) {
    for (std::size_t s = 0; s < group_.size(); ++s) share_.data()[s].ask_for(false);
    add_up(0, total_.size());
  } else {
    arena.run(total_.size(), 8, add_up);
  }
  solution_ = total_;
  factors.solve(solution_.data());
  Real rz = 0;
  for (std::size_t g = 0; g < total_.size(); ++g) {
    const AffineMotion& y = solution_[g];
    rz += dot(total_[g], y);
    for (int c = 0; c < 4; ++c)
      solved_.data()[g].column[c] = Lanes3{y[3 * c], y[3 * c + 1], y[3 * c + 2], Real(0)};
  }
  return rz;
}

}  // namespace stickslip::cpu
