#include "gpu/energy/spring_term.cuh"

#include <cmath>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

/// From the end b of a spring to its end a [m]. In double, since what is left of two positions may be small.
SS_HD Vec3d span_of(const SpringElement& e, const Vec3* x) {
  Vec3d d = e.offset;
  for (int k = 0; k < e.count; ++k) d += e.share[k] * x[e.nodes[k]].template cast<double>();
  return d;
}

/// Derivatives of a spring's energy by d.
struct SpringForce {
  double energy = 0;            // [J]
  Vec3d force{0, 0, 0};         // [N]
  Mat3d block = Mat3d::zero();  // [N/m] its part that is positive semidefinite
};

SS_HD SpringForce spring_force(const SpringElement& e, const Vec3d& d, const Vec3d& d_still, double dt) {
  const double rate = e.damping / dt;
  SpringForce out;
  if (!(e.length > 0)) {
    const Vec3d change = d - d_still;
    out.energy = e.stiffness / 2 * (norm2(d) + rate * norm2(change));
    out.force = e.stiffness * (d + rate * change);
    out.block = (e.stiffness * (1 + rate)) * Mat3d::identity();
    return out;
  }
  const double l = norm(d), stretch = l - e.length, change = rate > 0 ? l - norm(d_still) : 0.0;
  out.energy = e.stiffness / 2 * (stretch * stretch + rate * change * change);
  if (!(l > 0)) {  // no direction
    out.block = e.stiffness * Mat3d::identity();
    return out;
  }
  const Vec3d n = (1 / l) * d;
  const double tension = e.stiffness * (stretch + rate * change);
  out.force = tension * n;
  out.block = (e.stiffness * (1 + rate)) * outer(n, n);
  if (tension > 0) out.block += (tension / l) * (Mat3d::identity() - outer(n, n));
  return out;
}

SS_HD SpringForce force_at(const SpringElement& e, const SolidMotion& motion) {
  const Vec3d d = span_of(e, motion.x);
  const Vec3* still = motion.between != nullptr ? motion.between : motion.damped_from();
  return spring_force(e, d, e.damping > 0 && still != motion.x ? span_of(e, still) : d,
                      static_cast<double>(motion.dt));
}

/// Writes the gradient at the corners of a stencil and, unless null, its blocks.
SS_HD void write_stencil(const SpringElement& e, const SpringStencil& s, const SolidMotion& motion,
                         Vec3* corner_gradients, Mat3* corner_blocks) {
  const SpringForce at = force_at(e, motion);
  const auto owns = [&](int row, int column) {
    return (s.owned >> static_cast<unsigned>(corner_block(row, column)) & 1U) != 0;
  };
  for (int a = 0; a < 4; ++a) {
    corner_gradients[a] = Vec3::zero();
    if (owns(a, a)) corner_gradients[a] = (e.share[s.corner[a]] * at.force).template cast<Real>();
  }
  if (corner_blocks == nullptr) return;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) {
      Mat3& block = corner_blocks[corner_block(a, b)];
      block = Mat3::zero();
      if (!owns(a, b)) continue;
      const double factor = e.share[s.corner[a]] * e.share[s.corner[b]];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) block(i, j) = static_cast<Real>(factor * at.block(i, j));
    }
}

}  // namespace

SpringTerm::SpringTerm(Context& ctx, const TermElements& elements) {
  const std::vector<SpringElement> springs = spring_elements(elements.springs);
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  for (const SpringElement& e : springs) energy_rounding_ += 4 * epsilon * e.stiffness * e.length * e.length;
  elements_.upload(ctx, springs);
  stencils_.upload(ctx, spring_stencils(springs));
}

void SpringTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const SpringElement* elements = elements_.data();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, elements_.size(), [=] SS_LAMBDA(std::size_t i) { return force_at(elements[i], m).energy; }, out,
      kMedium);
}

void SpringTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                          Vec3* corner_gradients) {
  gradient_and_hessian(ctx, motion, stencils, corner_gradients, nullptr);
}

void SpringTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                      Vec3* corner_gradients, Mat3* corner_blocks) {
  const SpringElement* elements = elements_.data();
  const SpringStencil* all = stencils_.data();
  const SolidMotion m = motion;
  launch(
      ctx, stencils.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const SpringStencil& s = all[stencils.begin + i];
        write_stencil(elements[s.element], s, m, corner_gradients + 4 * i,
                      corner_blocks != nullptr ? corner_blocks + kCornerBlocks * i : nullptr);
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
