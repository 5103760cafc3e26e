#include "gpu/linear/affine_modes.cuh"

#include <algorithm>
#include <vector>

#include "gpu/core/launch.h"
#include "gpu/math/spd.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kModes = 12;
// Added to the diagonal, relative to it: objects with few free nodes, or flat ones, have fewer motions.
constexpr Real kRidge = sizeof(Real) == 8 ? Real(1e-10) : Real(1e-4);

struct FindMotion {
  MotionSpace::Sums sum;
  const CoarseBlock* inverse;
  const std::int32_t* skip;  // may be null
  AffineMotion* out;

  SS_HD void operator()(std::size_t o) const {
    if (skip == nullptr || *skip == 0) out[o] = inverse[o] * sum(o);
  }
};

}  // namespace

void AffineModes::load(Context& ctx, std::span<const Vec2i> objects) {
  std::vector<std::int32_t> object_of(objects.empty() ? 0 : static_cast<std::size_t>(objects.back()[1]), -1);
  for (std::size_t o = 0; o < objects.size(); ++o)
    std::fill(object_of.begin() + objects[o][0], object_of.begin() + objects[o][1],
              static_cast<std::int32_t>(o));
  motions_.load(ctx, object_of, objects.size());
  found_.resize(ctx, objects.size());
  inverse_.resize(ctx, objects.size());
}

void AffineModes::build(Context& ctx, SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed) {
  if (empty()) return;
  // Nodes after the last object have no motion here; products are of all nodes.
  const std::size_t nodes = matrix.node_count();
  column_.resize(ctx, nodes);
  product_.resize(ctx, nodes);
  motions_.place(ctx, x, fixed);
  fill(ctx, column_.data(), nodes, Vec3::zero());
  CoarseBlock* e = inverse_.data();
  for (int mode = 0; mode < kModes; ++mode) {
    motions_.set_column(ctx, mode, column_.data());
    matrix.multiply(ctx, column_.data(), product_.data());
    motions_.sum(ctx, product_.data(), nullptr);
    launch(ctx, motions_.groups(), [=, sum = motions_.sums()] SS_LAMBDA(std::size_t o) {
      const AffineMotion total = sum(o);
      for (int k = 0; k < kModes; ++k) e[o](k, mode) = total[k];
    });
  }
  launch(
      ctx, motions_.groups(),
      [=] SS_LAMBDA(std::size_t o) {
        for (int k = 0; k < kModes; ++k) e[o](k, k) *= 1 + kRidge;
        e[o] = factor_ldl(e[o]).positive ? inverse_spd(e[o]) : CoarseBlock::zero();
      },
      kHeavy);
}

/// found_ = (Z_o' A Z_o)^-1 Z_o' r; `skip` may be null.
void AffineModes::find_motions(Context& ctx, const Vec3* r, const std::int32_t* skip) {
  motions_.sum(ctx, r, skip);
  launch(ctx, motions_.groups(), FindMotion{motions_.sums(), inverse_.data(), skip, found_.data()}, kMedium);
}

void AffineModes::add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z,
                      const std::int32_t* skip) {
  if (empty()) return;
  find_motions(ctx, r, skip);
  motions_.add(ctx, found_.data(), nodes, r, z, r_dot_z, skip);
}

void AffineModes::balance(Context& ctx, const Vec3* r, Vec3* x) {
  if (empty()) return;
  find_motions(ctx, r, nullptr);
  motions_.add(ctx, found_.data(), x);
}

}  // namespace stickslip::STICKSLIP_BACKEND
