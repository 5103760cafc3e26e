#include "gpu/linear/motion_space.cuh"

#include <algorithm>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::int32_t kNodesPerLane = 32;

struct SumPart {
  const MotionPart* parts;
  const std::int32_t *member, *group;
  const Vec3 *offset, *r;
  const std::int32_t* skip;  // may be null
  AffineMotion* out;

  SS_HD void operator()(std::size_t p) const {
    if (skip != nullptr && *skip != 0) return;
    AffineMotion sum = AffineMotion::zero();
    for (std::int32_t k = parts[p].begin; k < parts[p].end; ++k) {
      const std::int32_t i = member[k];
      if (group[i] < 0) continue;
      for (int a = 0; a < 3; ++a) {
        sum[a] += r[i][a];
        for (int c = 0; c < 3; ++c) sum[3 + 3 * c + a] += offset[i][c] * r[i][a];
      }
    }
    out[p] = sum;
  }
};

SS_HD Vec3 velocity_of(const AffineMotion& y, const Vec3& d) {
  Vec3 u{y[0], y[1], y[2]};
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 3; ++a) u[a] += d[k] * y[3 + 3 * k + a];
  return u;
}

/// A point in the middle of each group: the mean of the first nodes of its parts.
void set_centres(Context& ctx, std::size_t groups, const std::int32_t* first, const MotionPart* parts,
                 const std::int32_t* member, const Vec3* x, Vec3* centre) {
  launch(
      ctx, groups,
      [=] SS_LAMBDA(std::size_t g) {
        Vec3 sum = Vec3::zero();
        for (std::int32_t p = first[g]; p < first[g + 1]; ++p) sum += x[member[parts[p].begin]];
        centre[g] = first[g] == first[g + 1] ? sum : (1 / static_cast<Real>(first[g + 1] - first[g])) * sum;
      },
      kMedium);
}

}  // namespace

void MotionSpace::load(Context& ctx, std::span<const std::int32_t> group, std::size_t groups) {
  groups_ = groups;
  if (empty()) return;
  std::vector<std::vector<std::int32_t>> nodes(groups);
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] >= 0) nodes[group[i]].push_back(static_cast<std::int32_t>(i));
  std::vector<std::int32_t> member, first{0};
  std::vector<MotionPart> parts;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto begin = static_cast<std::int32_t>(member.size());
    member.insert(member.end(), nodes[g].begin(), nodes[g].end());
    const auto end = static_cast<std::int32_t>(member.size());
    for (std::int32_t k = begin; k < end; k += kNodesPerLane)
      parts.push_back({k, std::min(k + kNodesPerLane, end), static_cast<std::int32_t>(g)});
    first.push_back(static_cast<std::int32_t>(parts.size()));
  }
  member_.upload(ctx, member);
  parts_.upload(ctx, parts);
  first_part_.upload(ctx, first);
  group_of_.upload(ctx, group);
  group_.resize(ctx, group.size());
  offset_.resize(ctx, group.size());
  centre_.resize(ctx, groups);
  partial_.resize(ctx, parts.size());
}

void MotionSpace::place(Context& ctx, const Vec3* x, const std::uint8_t* fixed) {
  if (empty()) return;
  set_centres(ctx, groups_, first_part_.data(), parts_.data(), member_.data(), x, centre_.data());
  const std::int32_t* group_of = group_of_.data();
  std::int32_t* group = group_.data();
  Vec3* offset = offset_.data();
  const Vec3* centre = centre_.data();
  launch(ctx, group_of_.size(), [=] SS_LAMBDA(std::size_t i) {
    const std::int32_t g = group_of[i];
    group[i] = fixed != nullptr && fixed[i] != 0 ? -1 : g;
    offset[i] = g < 0 ? Vec3::zero() : x[i] - centre[g];
  });
}

void MotionSpace::sum(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  launch(ctx, parts_.size(),
         SumPart{parts_.data(), member_.data(), group_.data(), offset_.data(), r, skip, partial_.data()},
         kMedium);
}

void MotionSpace::add(Context& ctx, const AffineMotion* y, Vec3* z) const {
  const std::int32_t* group = group_.data();
  const Vec3* offset = offset_.data();
  launch(ctx, group_.size(), [=] SS_LAMBDA(std::size_t i) {
    if (group[i] >= 0) z[i] += velocity_of(y[group[i]], offset[i]);
  });
}

void MotionSpace::add(Context& ctx, const AffineMotion* y, std::size_t nodes, const Vec3* r, Vec3* z,
                      Real* r_dot_z, const std::int32_t* skip) const {
  const std::int32_t* group = group_.data();
  const Vec3* offset = offset_.data();
  const std::size_t known = group_.size();
  reduce_sum(
      ctx, nodes,
      [=] SS_LAMBDA(std::size_t i) {
        if (*skip != 0) return Real(0);
        if (i < known && group[i] >= 0) z[i] += velocity_of(y[group[i]], offset[i]);
        return dot(r[i], z[i]);
      },
      r_dot_z, Grain{1024});
}

void MotionSpace::set_column(Context& ctx, int mode, Vec3* column) const {
  const std::int32_t* group = group_.data();
  const Vec3* offset = offset_.data();
  // Of one axis alone: 1, or an offset; see velocity_of.
  const int axis = mode % 3, of = mode / 3 - 1;
  launch(ctx, group_.size(), [=] SS_LAMBDA(std::size_t i) {
    Vec3 u = Vec3::zero();
    if (group[i] >= 0) u[axis] = of < 0 ? Real(1) : offset[i][of];
    column[i] = u;
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
