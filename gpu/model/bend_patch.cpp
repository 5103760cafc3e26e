#include "gpu/model/bend_patch.h"

#include <algorithm>

#include "gpu/math/corner_blocks.h"

namespace stickslip {
namespace {

/// A directed side of a triangle, and the corner opposite to it.
struct Side {
  std::int32_t from, to, opposite;
};

bool before(const Side& a, const Side& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; }

/// Whether `s` is a hinge of the triangle of `first`.
bool continues(const Vec4i& first, const Vec4i& s) {
  for (int turn = 1; turn < 3; ++turn)
    if (s[0] == first[turn] && s[1] == first[(turn + 1) % 3] && s[2] == first[(turn + 2) % 3]) return true;
  return false;
}

}  // namespace

std::vector<BendPatch> bend_patches(std::span<const Vec3i> triangles) {
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (const Vec3i& t : triangles)
    for (int c = 0; c < 3; ++c) sides.push_back({t[(c + 1) % 3], t[(c + 2) % 3], t[c]});
  std::ranges::sort(sides, before);
  std::vector<BendPatch> patches;
  patches.reserve(triangles.size());
  for (const Vec3i& t : triangles) {
    BendPatch patch;
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = t[c], b = t[(c + 1) % 3], d = t[(c + 2) % 3];
      const auto other = std::ranges::lower_bound(sides, Side{d, b, 0}, before);
      if (other == sides.end() || other->from != d || other->to != b) continue;
      // Two triangles back to back, on the same three nodes, cannot turn against each other.
      if (other->opposite != a) patch.hinges[patch.count++] = {a, b, d, other->opposite};
    }
    if (patch.count > 0) patches.push_back(patch);
  }
  return patches;
}

std::vector<Vec4i> bend_stencils(const BendPatch& patch) {
  std::vector<Vec4i> stencils(patch.hinges, patch.hinges + patch.count);
  Vec4i tips{-1, -1, -1, -1};
  int count = 0;
  // Around a node with three triangles, tips are the same; a patch has at most three.
  for (int i = 0; i < patch.count; ++i)
    if (const std::int32_t tip = patch.hinges[i][3]; tip != tips[0] && tip != tips[1]) tips[count++] = tip;
  if (count > 1) stencils.push_back(tips);
  return stencils;
}

BendStencils parse_bend_stencils(std::span<const Vec4i> stencils) {
  BendStencils out;
  std::vector<Vec2i> seen;  // pairs of nodes of the patch, larger one first
  for (const Vec4i& s : stencils) {
    const bool is_hinge = s[3] >= 0;
    if (out.patches.empty() || (is_hinge && !continues(out.patches.back().hinges[0], s))) {
      out.patches.emplace_back();
      seen.clear();
    }
    BendPatch& patch = out.patches.back();
    if (is_hinge) patch.hinges[patch.count++] = s;
    out.patch.push_back(static_cast<std::int32_t>(out.patches.size() - 1));
    std::uint16_t owned = 0;
    for (int a = 0; a < 4 && s[a] >= 0; ++a)
      for (int b = 0; b <= a; ++b) {
        const Vec2i pair{std::max(s[a], s[b]), std::min(s[a], s[b])};
        if (std::ranges::find(seen, pair) != seen.end()) continue;
        seen.push_back(pair);
        owned |= static_cast<std::uint16_t>(1U << corner_block(a, b));
      }
    out.owned.push_back(owned);
  }
  return out;
}

}  // namespace stickslip
