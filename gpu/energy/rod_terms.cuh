// The terms of discrete elastic rods [Bergou08; Bergou10]: stretching of segments, bending and twist of the
// vertices between them. Strains and frames: rod_element.h.
#pragma once

#include <vector>

#include "gpu/energy/air_drag.h"
#include "gpu/energy/rod_element.h"
#include "gpu/energy/thin_term.cuh"

namespace stickslip {

/// What the kernels read of a Material.
struct RodMaterial {
  Real young, shear;  // [Pa]
  Real damping;       // [s]
  DragMaterial drag;
};

/// An element at rest. The stiffness of strain k is young * moduli.young + shear * moduli.shear.
struct RodRest {
  Vec3 strain;
  Vec3 young, shear;
  SS_HD Real stiffness(const RodMaterial& m, int k) const { return m.young * young[k] + m.shear * shear[k]; }
};

/// The elements as kernels see them.
struct RodView {
  const Vec4i* stencils;
  const RodRest* rest;           // per element
  const std::int32_t* material;  // per element
  const RodMaterial* materials;
  const Real* diameter;  // [m] per element
  Wind wind;
};

/// The rods of a model; no segments or no vertices: pointers are null.
struct RodViews {
  RodView segments{}, vertices{};
};

/// Stretching of a segment, and what holds its ghost in place: E A / L, and the stiffness of twist of one
/// segment, G J / (L arm^2), at a distance `arm` across and 0 along the segment. The latter does no work on
/// the centreline in equilibrium, because the strains of vertices do not depend on where a ghost is in these
/// two directions. Nodes x0, x1, y in one stencil.
struct RodSegment {
  static constexpr int nodes = 3, stencils = 1, strains = kSegmentStrains;
  static constexpr bool has_drag = true;
  struct State {
    RodFrame frame;
    Vec3 strain;
  };
  struct Gradient {
    Vec3 g[strains][nodes];
  };
  SS_HD static constexpr int corner_node(int /*stencil*/, int corner) { return corner < 3 ? corner : -1; }
  SS_HD static constexpr bool owns(int, int row, int) { return row < 3; }
  SS_HD static std::int32_t node(const Vec4i* of_element, int k) { return of_element[0][k]; }
  SS_HD static State state(const Vec3* x) {
    const RodFrame f = rod_frame(x[0], x[1], x[2]);
    return {f, {f.length, f.rho, f.along}};
  }
  SS_HD static Gradient gradient(const State& at) {
    const SegmentStrain strain = segment_strain(at.frame);
    Gradient out;
    for (int k = 0; k < strains; ++k)
      for (int a = 0; a < nodes; ++a) out.g[k][a] = strain.gradient[k][a];
    return out;
  }
  SS_HD static Real difference(int /*k*/, Real a, Real b) { return a - b; }
  /// The part of the Hessian of forces (derivatives by the strains) times second derivatives of strains that
  /// is positive semidefinite: tension resists turning of the segment.
  SS_HD static Mat3 curvature(const State& at, const Vec3& force, int row, int column) {
    if (row > 1 || !(force[0] > Real(0))) return Mat3::zero();
    const Real k = force[0] / at.frame.length;
    return (row == column ? k : -k) * (Mat3::identity() - outer(at.frame.t, at.frame.t));
  }
};

/// Bending and twist of a vertex with the rest length l, half of that of both segments: E I / l by the two
/// directions of bending, G J / l. The rest strains are those of the rest positions, so rods may be curled by
/// nature. Nodes x0, x1, x2, y0, y1 in three stencils (model/rod.h). Its Hessian is that of Gauss and Newton.
struct RodVertex {
  static constexpr int nodes = kRodVertexNodes, stencils = kRodVertexStencils, strains = kVertexStrains;
  static constexpr bool has_drag = false;
  struct State {
    RodFrame a, b;
    Vec3 strain;
  };
  using Gradient = VertexGradient;
  SS_HD static constexpr int corner_node(int stencil, int corner) {
    return rod_vertex_stencil(stencil, corner);
  }
  SS_HD static constexpr bool owns(int stencil, int row, int column) {
    return rod_vertex_owns(stencil, row, column);
  }
  SS_HD static std::int32_t node(const Vec4i* of_element, int k) {
    return k < 4 ? of_element[0][k] : of_element[1][3];
  }
  SS_HD static State state(const Vec3* x) {
    State at{rod_frame(x[0], x[1], x[3]), rod_frame(x[1], x[2], x[4]), {}};
    const VertexStrain strain = vertex_strain(at.a, at.b);
    at.strain = {strain.s[0], strain.s[1], strain.s[2]};
    return at;
  }
  SS_HD static Gradient gradient(const State& at) {
    return vertex_gradient(at.a, at.b, {{at.strain[0], at.strain[1], at.strain[2]}});
  }
  SS_HD static Real difference(int k, Real a, Real b) { return vertex_strain_difference(k, a, b); }
  SS_HD static Mat3 curvature(const State&, const Vec3&, int, int) { return Mat3::zero(); }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Sum over elements and strains of
///   K/2 (s - s_rest)^2 + damping K / (2 dt) (s - s_still)^2,
/// the latter stiffness-proportional damping as an incremental potential, with s_still at
/// `SolidMotion::still`. Strains do not change by rigid motions, so these are undamped. Segments also have
/// the drag of the air (air_drag.h).
template <class Element>
class RodTerm final : public ThinTerm {
 public:
  /// `TermElements` and all ranges have `Element::stencils` stencils per element. Elements with segments of
  /// positive length and ghosts off their lines.
  RodTerm(Context& ctx, const TermElements& elements);

  std::size_t size() const override { return stencils_.size(); }
  void set_materials(Context& ctx, std::span<const Material> materials) override;
  void set_wind(const Wind& wind) override { wind_ = wind; }

  void energy(Context& ctx, const SolidMotion& motion, double* out) override;
  void gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                Vec3* corner_gradients) override;
  void gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                            Vec3* corner_gradients, Mat3* corner_blocks) override;
  void drag_power(Context& ctx, const SolidMotion& motion, double* out) override;

  /// Until materials or the wind change.
  RodView view() const {
    return {stencils_.data(), rest_.data(), material_.data(), materials_.data(), diameter_.data(), wind_};
  }

 private:
  Wind wind_;

  /// [m^3] by material: times its moduli, the energy of all elements at strains of 1.
  std::vector<double> young_volume_, shear_volume_;
  Buffer<Vec4i> stencils_;
  Buffer<RodRest> rest_;
  Buffer<std::int32_t> material_;
  Buffer<RodMaterial> materials_;
  Buffer<Real> diameter_;
};

using RodSegmentTerm = RodTerm<RodSegment>;
using RodVertexTerm = RodTerm<RodVertex>;

}  // namespace stickslip::STICKSLIP_BACKEND
