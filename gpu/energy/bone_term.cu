#include "gpu/energy/bone_term.cuh"

#include <cmath>

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kBoneCorners = 4 * kBonePoints;  // of the point tets of a bone

std::vector<Leaders> bones_of_stencils(std::span<const Vec4i> stencils) {
  std::vector<Leaders> bones;
  for (std::size_t s = 0; s < stencils.size(); s += kBoneStencils)
    bones.push_back(bone_of_stencils(stencils.subspan(s).first<kBoneStencils>()));
  return bones;
}

double edge_of(const FramePoint& point) { return std::cbrt(6 * point.volume); }

std::vector<BonePoint> scaled_points(std::span<const FramePoint> points) {
  std::vector<BonePoint> out;
  for (const FramePoint& point : points) {
    BonePoint& scaled = out.emplace_back();
    for (int a = 0; a < kMostLeaders; ++a)
      scaled.s[a] = (edge_of(point) * point.gradients[a]).template cast<Real>();
  }
  return out;
}

PointTets tets_of_samples(const TermElements& elements) {
  PointTets tets;
  for (const FramePoint& point : elements.points) {
    const double edge = edge_of(point);
    tets.add({{0, 0, 0}, {edge, 0, 0}, {0, edge, 0}, {0, 0, edge}},
             elements.material[kBoneStencils * static_cast<std::size_t>(point.bone)]);
  }
  return tets;
}

void write_bone_corners(Context& ctx, const Leaders* nodes, const BonePoint* points, IndexRange bones,
                        const Vec3* x, Vec3* y) {
  launch(
      ctx, kBonePoints * bones.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t p = kBonePoints * bones.begin + i;
        const Leaders& bone = nodes[p / kBonePoints];
        points[p].write_corners([&](int a) { return x[bone[a]]; }, y + 4 * p);
      },
      kMedium);
}

/// The gradient at a node of a bone, from those of its point tets.
SS_HD Vec3 bone_gradient(int node, const BonePoint* points, const Vec3* of_points) {
  Vec3 sum = Vec3::zero();
  for (int p = 0; p < kBonePoints; ++p)
    for (int k = 0; k < 3; ++k) sum += points[p].s[node][k] * of_points[4 * p + k + 1];
  return sum;
}

/// The block of two nodes of a bone, from those of its point tets.
SS_HD Mat3 bone_block(int row, int column, const BonePoint* points, const Mat3* of_points) {
  Mat3 sum = Mat3::zero();
  for (int p = 0; p < kBonePoints; ++p) {
    const Mat3* blocks = of_points + kCornerBlocks * p;
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) {
        const Real weight = points[p].s[row][k] * points[p].s[column][l];
        sum += weight * (k >= l ? blocks[corner_block(k + 1, l + 1)]
                                : blocks[corner_block(l + 1, k + 1)].transposed());
      }
  }
  return sum;
}

/// A stencil: its bone, and its number there.
struct BoneStencil {
  std::size_t bone;
  int stencil;
};
SS_HD inline BoneStencil bone_stencil_at(std::size_t stencil) {
  return {stencil / kBoneStencils, static_cast<int>(stencil % kBoneStencils)};
}

void gather_bone_gradients(Context& ctx, IndexRange stencils, std::size_t first, const BonePoint* points,
                           const Vec3* of_points, Vec3* corner_gradients) {
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const BoneStencil at = bone_stencil_at(stencils.begin + i);
        for (int a = 0; a < 4; ++a)
          corner_gradients[4 * i + a] =
              bone_owns(at.stencil, a, a)
                  ? bone_gradient(bone_stencil(at.stencil, a), points + kBonePoints * at.bone,
                                  of_points + kBoneCorners * (at.bone - first))
                  : Vec3::zero();
      },
      kMedium);
}

void gather_bone_blocks(Context& ctx, IndexRange stencils, std::size_t first, const BonePoint* points,
                        const Mat3* of_points, Mat3* corner_blocks) {
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const BoneStencil at = bone_stencil_at(stencils.begin + i);
        for (int a = 0; a < 4; ++a)
          for (int b = 0; b <= a; ++b)
            corner_blocks[kCornerBlocks * i + corner_block(a, b)] =
                bone_owns(at.stencil, a, b)
                    ? bone_block(bone_stencil(at.stencil, a), bone_stencil(at.stencil, b),
                                 points + kBonePoints * at.bone,
                                 of_points + kBonePoints * kCornerBlocks * (at.bone - first))
                    : Mat3::zero();
      },
      kHeavy);
}

}  // namespace

BoneTerm::BoneTerm(Context& ctx, const TermElements& elements)
    : PointTetTerm(ctx, tets_of_samples(elements),
                   {kBonePoints, kBoneStencils, elements.stencils.size() / kBoneStencils}),
      bones_(ctx, bones_of_stencils(elements.stencils)),
      points_(ctx, scaled_points(elements.points)) {}

void BoneTerm::write_corners(Context& ctx, IndexRange bones, const Vec3* x, Vec3* y) const {
  write_bone_corners(ctx, bones_.data(), points_.data(), bones, x, y);
}

void BoneTerm::gather_gradients(Context& ctx, IndexRange stencils, std::size_t first, const Vec3* of_points,
                                Vec3* corner_gradients) const {
  gather_bone_gradients(ctx, stencils, first, points_.data(), of_points, corner_gradients);
}

void BoneTerm::gather_blocks(Context& ctx, IndexRange stencils, std::size_t first, const Mat3* of_points,
                             Mat3* corner_blocks) const {
  gather_bone_blocks(ctx, stencils, first, points_.data(), of_points, corner_blocks);
}

}  // namespace stickslip::STICKSLIP_BACKEND
