#include "gpu/linear/affine_modes.cuh"

#include <algorithm>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/math/spd.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kModes = 12;
constexpr std::int32_t kNodesPerLane = 32;
// Added to the diagonal, relative to it: objects with few free nodes, or flat ones, have fewer motions.
constexpr Real kRidge = sizeof(Real) == 8 ? Real(1e-10) : Real(1e-4);

/// The part of a chunk in Z'r.
struct SumChunk {
  const ModeChunk* chunk;
  const std::int32_t* object;
  const Vec3 *offset, *r;
  const std::int32_t* skip;  // may be null
  AffineMotion* out;

  SS_HD void operator()(std::size_t c) const {
    if (skip != nullptr && *skip != 0) return;
    AffineMotion sum = AffineMotion::zero();
    for (std::int32_t i = chunk[c].begin; i < chunk[c].end; ++i) {
      if (object[i] < 0) continue;
      for (int a = 0; a < 3; ++a) {
        sum[a] += r[i][a];
        for (int k = 0; k < 3; ++k) sum[3 + 3 * k + a] += offset[i][k] * r[i][a];
      }
    }
    out[c] = sum;
  }
};

SS_HD AffineMotion sum_of_chunks(const std::int32_t* first, const AffineMotion* partial, std::size_t o) {
  AffineMotion sum = AffineMotion::zero();
  for (std::int32_t c = first[o]; c < first[o + 1]; ++c) sum += partial[c];
  return sum;
}

struct FindMotion {
  const std::int32_t* first;
  const AffineMotion* partial;
  const Mat<Real, kModes>* inverse;
  const std::int32_t* skip;  // may be null
  AffineMotion* out;

  SS_HD void operator()(std::size_t o) const {
    if (skip == nullptr || *skip == 0) out[o] = inverse[o] * sum_of_chunks(first, partial, o);
  }
};

SS_HD Vec3 velocity_of(const AffineMotion& y, const Vec3& d) {
  Vec3 u{y[0], y[1], y[2]};
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 3; ++a) u[a] += d[k] * y[3 + 3 * k + a];
  return u;
}

/// A point in the middle of each object: the mean of the first nodes of its chunks.
void set_centres(Context& ctx, std::size_t objects, const std::int32_t* first, const ModeChunk* chunk,
                 const Vec3* x, Vec3* centre) {
  launch(
      ctx, objects,
      [=] SS_LAMBDA(std::size_t o) {
        Vec3 sum = Vec3::zero();
        for (std::int32_t c = first[o]; c < first[o + 1]; ++c) sum += x[chunk[c].begin];
        centre[o] = (1 / static_cast<Real>(first[o + 1] - first[o])) * sum;
      },
      kMedium);
}

/// The object of each free node, and its offset from the object's centre.
void set_offsets(Context& ctx, std::size_t nodes, const std::int32_t* object_of, const std::uint8_t* fixed,
                 const Vec3* x, const Vec3* centre, std::int32_t* object, Vec3* offset) {
  launch(ctx, nodes, [=] SS_LAMBDA(std::size_t i) {
    const std::int32_t o = object_of[i];
    object[i] = fixed != nullptr && fixed[i] != 0 ? -1 : o;
    offset[i] = o < 0 ? Vec3::zero() : x[i] - centre[o];
  });
}

/// Column `mode` of Z.
void set_column(Context& ctx, std::size_t nodes, const std::int32_t* object, const Vec3* offset, int mode,
                Vec3* column) {
  launch(ctx, nodes, [=] SS_LAMBDA(std::size_t i) {
    AffineMotion y = AffineMotion::zero();
    y[mode] = 1;
    column[i] = object[i] < 0 ? Vec3::zero() : velocity_of(y, offset[i]);
  });
}

}  // namespace

void AffineModes::load(Context& ctx, std::span<const Vec2i> objects) {
  objects_ = objects.size();
  if (empty()) return;
  std::vector<ModeChunk> chunks;
  std::vector<std::int32_t> first{0}, object_of(static_cast<std::size_t>(objects.back()[1]), -1);
  for (std::size_t o = 0; o < objects.size(); ++o) {
    const auto index = static_cast<std::int32_t>(o);
    for (std::int32_t begin = objects[o][0]; begin < objects[o][1]; begin += kNodesPerLane)
      chunks.push_back({begin, std::min(begin + kNodesPerLane, objects[o][1]), index});
    first.push_back(static_cast<std::int32_t>(chunks.size()));
    std::fill(object_of.begin() + objects[o][0], object_of.begin() + objects[o][1], index);
  }
  chunks_.upload(ctx, chunks);
  first_chunk_.upload(ctx, first);
  object_of_.upload(ctx, object_of);
  object_.resize(ctx, object_of.size());
  offset_.resize(ctx, object_of.size());
  centre_.resize(ctx, objects_);
  partial_.resize(ctx, chunks.size());
  sums_.resize(ctx, objects_);
  inverse_.resize(ctx, objects_);
}

/// partial_ = Z'r by chunks.
void AffineModes::sum_chunks(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  launch(ctx, chunks_.size(),
         SumChunk{chunks_.data(), object_.data(), offset_.data(), r, skip, partial_.data()}, kMedium);
}

void AffineModes::build(Context& ctx, SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed) {
  if (empty()) return;
  // Nodes after the last object have no motion here; products are of all nodes.
  const std::size_t nodes = matrix.node_count();
  column_.resize(ctx, nodes);
  product_.resize(ctx, nodes);
  set_centres(ctx, objects_, first_chunk_.data(), chunks_.data(), x, centre_.data());
  set_offsets(ctx, object_of_.size(), object_of_.data(), fixed, x, centre_.data(), object_.data(),
              offset_.data());
  fill(ctx, column_.data(), nodes, Vec3::zero());
  const std::int32_t* first = first_chunk_.data();
  const AffineMotion* partial = partial_.data();
  Mat<Real, kModes>* e = inverse_.data();
  for (int mode = 0; mode < kModes; ++mode) {
    set_column(ctx, object_.size(), object_.data(), offset_.data(), mode, column_.data());
    matrix.multiply(ctx, column_.data(), product_.data());
    sum_chunks(ctx, product_.data(), nullptr);
    launch(ctx, objects_, [=] SS_LAMBDA(std::size_t o) {
      const AffineMotion sum = sum_of_chunks(first, partial, o);
      for (int k = 0; k < kModes; ++k) e[o](k, mode) = sum[k];
    });
  }
  launch(
      ctx, objects_,
      [=] SS_LAMBDA(std::size_t o) {
        for (int k = 0; k < kModes; ++k) e[o](k, k) *= 1 + kRidge;
        e[o] = factor_ldl(e[o]).positive ? inverse_spd(e[o]) : Mat<Real, kModes>::zero();
      },
      kHeavy);
}

/// sums_ = (Z_o' A Z_o)^-1 Z_o' r; `skip` may be null.
void AffineModes::find_motions(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  sum_chunks(ctx, r, skip);
  launch(ctx, objects_, FindMotion{first_chunk_.data(), partial_.data(), inverse_.data(), skip, sums_.data()},
         kMedium);
}

void AffineModes::add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z,
                      const std::int32_t* skip) {
  if (empty()) return;
  find_motions(ctx, r, skip);
  const AffineMotion* y = sums_.data();
  const std::int32_t* object = object_.data();
  const Vec3* offset = offset_.data();
  const std::size_t known = object_.size();
  reduce_sum(
      ctx, nodes,
      [=] SS_LAMBDA(std::size_t i) {
        if (*skip != 0) return Real(0);
        if (i < known && object[i] >= 0) z[i] += velocity_of(y[object[i]], offset[i]);
        return dot(r[i], z[i]);
      },
      r_dot_z, Grain{1024});
}

void AffineModes::balance(Context& ctx, const Vec3* r, Vec3* x) {
  if (empty()) return;
  find_motions(ctx, r, nullptr);
  const AffineMotion* y = sums_.data();
  const std::int32_t* object = object_.data();
  const Vec3* offset = offset_.data();
  launch(ctx, object_.size(), [=] SS_LAMBDA(std::size_t i) {
    if (object[i] >= 0) x[i] += velocity_of(y[object[i]], offset[i]);
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
