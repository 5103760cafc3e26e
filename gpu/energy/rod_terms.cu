#include "gpu/energy/rod_terms.cuh"

#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/energy/corner_values.h"

namespace stickslip {
namespace {

/// An element, its material, and its state at the motion's positions.
template <class Element>
struct RodPlace {
  typename Element::State at;
  Vec3 strain, change;  // since rest, since `still`
  const RodRest& rest;
  const RodMaterial& material;
  Real rate;  // damping / dt

  SS_HD static typename Element::State state_at(const Vec4i* stencils, const Vec3* positions) {
    Vec3 x[Element::nodes];
    for (int k = 0; k < Element::nodes; ++k) x[k] = positions[Element::node(stencils, k)];
    return Element::state(x);
  }
  SS_HD RodPlace(const RodView& view, const SolidMotion& motion, std::size_t e)
      : at(state_at(view.stencils + Element::stencils * e, motion.x)),
        strain(Vec3::zero()),
        change(Vec3::zero()),
        rest(view.rest[e]),
        material(view.materials[view.material[e]]),
        rate(material.damping / motion.dt) {
    for (int k = 0; k < Element::strains; ++k)
      strain[k] = Element::difference(k, at.strain[k], rest.strain[k]);
    const Vec3* still = motion.damped_from();
    if (!(material.damping > Real(0)) || still == motion.x) return;
    const auto before = state_at(view.stencils + Element::stencils * e, still);
    for (int k = 0; k < Element::strains; ++k)
      change[k] = Element::difference(k, at.strain[k], before.strain[k]);
  }
  SS_HD double energy() const {
    double sum = 0;
    for (int k = 0; k < Element::strains; ++k)
      sum += static_cast<double>(rest.stiffness(material, k)) / 2 *
             static_cast<double>(strain[k] * strain[k] + rate * change[k] * change[k]);
    return sum;
  }
  /// Of the energy by the strains.
  SS_HD Vec3 forces() const {
    Vec3 f = Vec3::zero();
    for (int k = 0; k < Element::strains; ++k)
      f[k] = rest.stiffness(material, k) * (strain[k] + rate * change[k]);
    return f;
  }
};

/// Of a segment; vertices have none.
template <class Element>
SS_HD bool has_drag(const RodView& view, const SolidMotion& motion) {
  return Element::has_drag && motion.air.acts(view.wind);
}
SS_HD ElementDrag drag_of(const RodView& view, const SolidMotion& motion, std::size_t e) {
  const Vec4i& s = view.stencils[e];
  const Vec3* at = motion.air.start;
  return {segment_drag(at[s[0]], at[s[1]], view.diameter[e], view.materials[view.material[e]].drag,
                       view.wind.density),
          view.wind, motion.air, motion.x, motion.dt};
}

template <class Element>
SS_HD double drag_energy(const RodView& view, const SolidMotion& motion, std::size_t e) {
  if (!has_drag<Element>(view, motion)) return 0;
  const ElementDrag drag = drag_of(view, motion, e);
  return static_cast<double>(drag.energy(view.stencils[e][0]) + drag.energy(view.stencils[e][1]));
}

/// [W] at the given velocities.
template <class Element>
SS_HD double segment_drag_power(const RodView& view, const SolidMotion& motion, std::size_t e) {
  if (!has_drag<Element>(view, motion)) return 0;
  const ElementDrag drag = drag_of(view, motion, e);
  double power = 0;
  for (int a = 0; a < 2; ++a) {
    const std::int32_t node = view.stencils[e][a];
    power += drag.power(node);
  }
  return power;
}

/// What all stencils of an element take.
template <class Element>
struct RodDerivatives {
  RodPlace<Element> place;
  Vec3 force;
  typename Element::Gradient gradient;

  SS_HD RodDerivatives(const RodView& view, const SolidMotion& motion, std::size_t e)
      : place(view, motion, e), force(place.forces()), gradient(Element::gradient(place.at)) {}
};

/// Writes the gradient at the corners of stencil i, which is of element `of`, and, unless null, its blocks.
template <class Element>
SS_HD void write_stencil(const RodView& view, const SolidMotion& motion, const RodDerivatives<Element>& of,
                         std::size_t i, Vec3* corner_gradients, Mat3* corner_blocks) {
  const int stencil = static_cast<int>(i % Element::stencils);
  const RodPlace<Element>& place = of.place;
  const Vec3& force = of.force;
  const auto& gradient = of.gradient;
  for (int a = 0; a < 4; ++a) {
    corner_gradients[a] = Vec3::zero();
    if (!Element::owns(stencil, a, a)) continue;
    for (int k = 0; k < Element::strains; ++k)
      corner_gradients[a] += force[k] * gradient.g[k][Element::corner_node(stencil, a)];
  }
  if (has_drag<Element>(view, motion)) {
    const ElementDrag drag = drag_of(view, motion, i);
    for (int a = 0; a < 2; ++a) corner_gradients[a] += drag.gradient(view.stencils[i][a]);
  }
  if (corner_blocks == nullptr) return;
  const Real factor = Real(1) + place.rate;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) {
      Mat3& block = corner_blocks[corner_block(a, b)];
      block = Mat3::zero();
      if (!Element::owns(stencil, a, b)) continue;
      const int row = Element::corner_node(stencil, a), column = Element::corner_node(stencil, b);
      block = Element::curvature(place.at, force, row, column);
      for (int k = 0; k < Element::strains; ++k)
        block += (factor * place.rest.stiffness(place.material, k)) *
                 outer(gradient.g[k][row], gradient.g[k][column]);
    }
  if (has_drag<Element>(view, motion)) {
    const ElementDrag drag = drag_of(view, motion, i);
    for (int a = 0; a < 2; ++a) corner_blocks[corner_block(a, a)] += drag.block(view.stencils[i][a]);
  }
}

/// A section, and the positions of its element's nodes at rest.
template <class Element>
struct RestInput {
  RodSection section;
  Vec<double, 3> x[Element::nodes];
};

RodRest rest_of(const RestInput<RodSegment>& in) {
  const double length = norm(in.x[1] - in.x[0]);
  const Vec<double, 3> t = (in.x[1] - in.x[0]) / length, w = in.x[2] - 0.5 * (in.x[0] + in.x[1]);
  const double arm = norm(w - dot(w, t) * t), gauge = in.section.torsion / (length * arm * arm);
  return {Vec<double, 3>{length, arm, 0}.cast<Real>(),
          Vec<double, 3>{in.section.area / length, 0, 0}.cast<Real>(),
          Vec<double, 3>{0, gauge, gauge}.cast<Real>()};
}

/// Relative to the middle node, so that positions of large magnitude lose nothing when `Real` is float.
RodRest rest_of(const RestInput<RodVertex>& in) {
  Vec3 x[RodVertex::nodes];
  for (int k = 0; k < RodVertex::nodes; ++k) x[k] = (in.x[k] - in.x[1]).template cast<Real>();
  const double length = (norm(in.x[1] - in.x[0]) + norm(in.x[2] - in.x[1])) / 2;
  const RodSection& s = in.section;
  return {RodVertex::state(x).strain,
          Vec<double, 3>{s.across_d2 / length, s.across_d1 / length, 0}.cast<Real>(),
          Vec<double, 3>{0, 0, s.torsion / length}.cast<Real>()};
}

/// [J/Pa] of an element at strains of 1: a stretch by its length, and an angle of 1.
double energy_scale(const RodSegment*, const RodRest& rest, const Vec3& moduli) {
  return static_cast<double>(moduli[0] * rest.strain[0] * rest.strain[0]) +
         static_cast<double>(moduli[1] * rest.strain[1] * rest.strain[1]);
}
double energy_scale(const RodVertex*, const RodRest&, const Vec3& moduli) {
  return static_cast<double>(moduli[0] + moduli[1] + moduli[2]);
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

template <class Element>
RodTerm<Element>::RodTerm(Context& ctx, const TermElements& elements) {
  const std::size_t count = elements.stencils.size() / Element::stencils;
  std::vector<RodRest> rest(count);
  std::vector<std::int32_t> material(count);
  std::vector<Real> diameter(count);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t first = Element::stencils * e;
    RestInput<Element> in{rod_section(elements.thickness[first], elements.aspect[first]), {}};
    for (int k = 0; k < Element::nodes; ++k)
      in.x[k] = elements.rest[static_cast<std::size_t>(Element::node(&elements.stencils[first], k))];
    rest[e] = rest_of(in);
    material[e] = elements.material[first];
    diameter[e] = static_cast<Real>(elements.thickness[first]);
    const auto m = static_cast<std::size_t>(material[e]);
    if (young_volume_.size() <= m) {
      young_volume_.resize(m + 1, 0.0);
      shear_volume_.resize(m + 1, 0.0);
    }
    constexpr const Element* kind = nullptr;
    young_volume_[m] += energy_scale(kind, rest[e], rest[e].young);
    shear_volume_[m] += energy_scale(kind, rest[e], rest[e].shear);
  }
  stencils_.upload(ctx, elements.stencils);
  rest_.upload(ctx, rest);
  material_.upload(ctx, material);
  diameter_.upload(ctx, diameter);
}

template <class Element>
void RodTerm<Element>::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<RodMaterial> of_rods;
  of_rods.reserve(materials.size());
  for (const Material& m : materials)
    of_rods.push_back({static_cast<Real>(m.young), static_cast<Real>(m.young / (2 * (1 + m.poisson))),
                       static_cast<Real>(m.damping), drag_material(m)});
  materials_.upload(ctx, of_rods);
  // A strain has the rounding error of one number of its scale; strains are below 1.
  constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  energy_rounding_ = 0;
  for (std::size_t m = 0; m < young_volume_.size(); ++m)
    energy_rounding_ += 4 * epsilon *
                        (static_cast<double>(of_rods[m].young) * young_volume_[m] +
                         static_cast<double>(of_rods[m].shear) * shear_volume_[m]);
}

template <class Element>
void RodTerm<Element>::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const RodView rods = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, rest_.size(),
      [=] SS_LAMBDA(std::size_t e) {
        return RodPlace<Element>(rods, m, e).energy() + drag_energy<Element>(rods, m, e);
      },
      out, kMedium);
}

template <class Element>
void RodTerm<Element>::drag_power(Context& ctx, const SolidMotion& motion, double* out) {
  const RodView rods = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, rest_.size(), [=] SS_LAMBDA(std::size_t e) { return segment_drag_power<Element>(rods, m, e); },
      out, kMedium);
}

template <class Element>
void RodTerm<Element>::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                Vec3* corner_gradients) {
  gradient_and_hessian(ctx, motion, stencils, corner_gradients, nullptr);
}

template <class Element>
void RodTerm<Element>::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                            Vec3* corner_gradients, Mat3* corner_blocks) {
  const RodView rods = view();
  const SolidMotion m = motion;
  // A thread of a device writes one stencil; one of a processor all of an element, whose derivatives it
  // computes once.
  constexpr std::size_t each = STICKSLIP_ON_CUDA ? 1 : Element::stencils;
  launch(
      ctx, stencils.size() / each,
      [=] SS_LAMBDA(std::size_t k) {
        const std::size_t first = each * k;
        const RodDerivatives<Element> of(rods, m, (stencils.begin + first) / Element::stencils);
        for (std::size_t i = first; i < first + each; ++i)
          write_stencil<Element>(rods, m, of, stencils.begin + i, corner_gradients + 4 * i,
                                 corner_blocks != nullptr ? corner_blocks + kCornerBlocks * i : nullptr);
      },
      kMedium);
}

template class RodTerm<RodSegment>;
template class RodTerm<RodVertex>;

}  // namespace stickslip::STICKSLIP_BACKEND
