#include "gpu/energy/bone_term.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

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

/// The corners of each point tet are nodes of its own.
TetTerm tets_of_points(Context& ctx, const TermElements& elements) {
  std::vector<Vec<double, 3>> rest;
  std::vector<Vec4i> tets;
  std::vector<std::int32_t> material;
  for (const FramePoint& point : elements.points) {
    const double edge = edge_of(point);
    const auto first = static_cast<std::int32_t>(rest.size());
    rest.insert(rest.end(), {{0, 0, 0}, {edge, 0, 0}, {0, edge, 0}, {0, 0, edge}});
    tets.push_back({first, first + 1, first + 2, first + 3});
    material.push_back(elements.material[kBoneStencils * static_cast<std::size_t>(point.bone)]);
  }
  return TetTerm(ctx, {rest, tets, material, {}});
}

/// Writes the corners of the point tets of `bones` to `y`, which has room for all bones.
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

/// The bones that have some of `stencils`.
IndexRange bones_of(IndexRange stencils) {
  return {stencils.begin / kBoneStencils, (stencils.end + kBoneStencils - 1) / kBoneStencils};
}
/// Their point tets.
IndexRange points_of_bones(IndexRange bones) { return {kBonePoints * bones.begin, kBonePoints * bones.end}; }

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

/// From the gradients of the point tets of the bones of `stencils` to those of the stencils' corners.
void gather_bone_gradients(Context& ctx, IndexRange stencils, const BonePoint* points, const Vec3* of_points,
                           Vec3* corner_gradients) {
  const std::size_t first = bones_of(stencils).begin;
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

/// The same of blocks.
void gather_bone_blocks(Context& ctx, IndexRange stencils, const BonePoint* points, const Mat3* of_points,
                        Mat3* corner_blocks) {
  const std::size_t first = bones_of(stencils).begin;
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
    : bones_(ctx, bones_of_stencils(elements.stencils)),
      points_(ctx, scaled_points(elements.points)),
      tets_(tets_of_points(ctx, elements)) {}

void BoneTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  tets_.set_materials(ctx, materials);
}

void BoneTerm::begin_step() {
  tets_.begin_step();
  has_start_ = false;
}

SolidMotion BoneTerm::at_points(Context& ctx, const SolidMotion& motion, IndexRange bones) {
  const auto place = [&](const Vec3* from, Buffer<Vec3>& to, IndexRange part) {
    to.resize(ctx, kBoneCorners * bones_.size());
    write_bone_corners(ctx, bones_.data(), points_.data(), part, from, to.data());
    return to.data();
  };
  const Vec3* x = place(motion.x, x_, bones);
  if (!tets_.is_damped()) return {x, x, motion.dt};
  const Vec3* x_t = x;
  if (motion.x_t != motion.x) {
    if (!(motion.x_t_kept && has_start_)) {
      place(motion.x_t, x_t_, motion.x_t_kept ? all_bones() : bones);
      has_start_ = motion.x_t_kept;
    }
    x_t = x_t_.data();
  }
  const Vec3* still = nullptr;
  if (motion.still == motion.x) still = x;
  else if (motion.still == motion.x_t) still = x_t;
  else if (motion.still != nullptr) still = place(motion.still, still_, bones);
  return {x, x_t, motion.dt, still, motion.x_t_kept};
}

void BoneTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  tets_.energy(ctx, at_points(ctx, motion, all_bones()), out);
}

void BoneTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                        Vec3* corner_gradients) {
  const IndexRange bones = bones_of(stencils);
  point_gradients_.resize(ctx, kBoneCorners * bones.size());
  tets_.gradient(ctx, at_points(ctx, motion, bones), points_of_bones(bones), point_gradients_.data());
  gather_bone_gradients(ctx, stencils, points_.data(), point_gradients_.data(), corner_gradients);
}

void BoneTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                    Vec3* corner_gradients, Mat3* corner_blocks) {
  const IndexRange bones = bones_of(stencils);
  point_gradients_.resize(ctx, kBoneCorners * bones.size());
  point_blocks_.resize(ctx, kBonePoints * kCornerBlocks * bones.size());
  tets_.gradient_and_hessian(ctx, at_points(ctx, motion, bones), points_of_bones(bones),
                             point_gradients_.data(), point_blocks_.data());
  gather_bone_gradients(ctx, stencils, points_.data(), point_gradients_.data(), corner_gradients);
  gather_bone_blocks(ctx, stencils, points_.data(), point_blocks_.data(), corner_blocks);
}

void BoneTerm::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  tets_.min_determinant(ctx, at_points(ctx, {x, x, Real(1)}, all_bones()).x, only_forbidden, out);
}

void BoneTerm::count_inverted(Context& ctx, const Vec3* x, double* out) {
  const Vec3* y = at_points(ctx, {x, x, Real(1)}, all_bones()).x;
  reduce_sum(
      ctx, bones_.size(),
      [=] SS_LAMBDA(std::size_t b) {
        bool good = true;
        for (int point = 0; point < kBonePoints; ++point) {
          const Vec3* corner = y + kBoneCorners * b + 4 * point;
          good = good && determinant(edge_matrix(corner[0], corner[1], corner[2], corner[3])) > Real(0);
        }
        return good ? 0.0 : 1.0;
      },
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
