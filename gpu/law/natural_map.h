// How far a block is from its law, whatever solver produced it: the natural map of the De Saxce form.
#pragma once

#include "gpu/law/projection.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// What a block does, in the numbers of `BlockError::state`.
enum class BlockState : int { open = 0, sticks = 1, slides = 2, bilateral = 3 };

/// s (r - P_K(z)) [m/s] with z = r - u~ / s, zero exactly at the law; u for a bilateral block. As u~ - s
/// (P_K(z) - z) it keeps u~ where r is so large that z = r to rounding.
template <int D>
SS_HD inline Vec<double, D> natural_map(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                        const Vec<double, D>& u) {
  if (law.set == FrictionSet::bilateral) return u;
  const Vec<double, D> sought = shifted(law, u), z = r - (1 / s) * sought;
  return sought - s * (project(law, z) - z);
}

/// e_c = |natural_map| [m/s].
template <int D>
SS_HD inline double block_error(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                const Vec<double, D>& u) {
  return norm(natural_map(law, s, r, u));
}

/// The impulse of K next to r that agrees with what the law says of r and u: zero where the natural map does
/// (z in the polar cone: the contact opens), else P_K(r); r itself for a bilateral block. It changes r by
/// e_c / s at most, and nothing at the law.
template <int D>
SS_HD inline Vec<double, D> settled_impulse(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                            const Vec<double, D>& u) {
  if (law.set == FrictionSet::bilateral) return r;
  const Vec<double, D> opens = Vec<double, D>::zero();
  if (project(law, r - (1 / s) * shifted(law, u)) == opens) return opens;
  return project(law, r);
}

/// |r - P_K(r)| [N s].
template <int D>
SS_HD inline double cone_distance(const ContactLaw<D>& law, const Vec<double, D>& r) {
  return norm(r - project(law, r));
}

/// By where the argument of the projection lies: in the polar cone (open), in K (sticks) or beside both
/// (slides). So it is decided for iterates too, and a rounding error in u does not make a sticking contact
/// slide.
template <int D>
SS_HD inline BlockState block_state(const ContactLaw<D>& law, double s, const Vec<double, D>& r,
                                    const Vec<double, D>& u) {
  if (law.set == FrictionSet::bilateral) return BlockState::bilateral;
  const Vec<double, D> z = r - (1 / s) * shifted(law, u);
  const Vec<double, D> p = project(law, z);
  if (p == Vec<double, D>::zero()) return BlockState::open;
  return p == z ? BlockState::sticks : BlockState::slides;
}

}  // namespace stickslip
