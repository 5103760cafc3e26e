// ContactBlocks: the rows of contacts, from surface properties, poses and velocities at the start of a step.
#pragma once

#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/friction_state.h"
#include "gpu/rigid/penalty_forces.cuh"
#include "gpu/rigid/texture_friction.h"

namespace stickslip {

/// Finds plain contacts: those with isotropic friction that is uniform over both surfaces and has one
/// coefficient, without torsion, compliance and tangential restitution.
/// Manifolds have plain contacts only. `everywhere`: all contacts of the scene are plain.
struct PlainContacts {
  bool everywhere = true;
  const std::int32_t* material = nullptr;  // per body
  SurfaceTable table{};

  SS_HD bool is_plain(std::int32_t column) const {
    const ContactSurface& surface = table.surface[column];
    return surface.has_plain_friction() && !(surface.torsion_radius > 0) && !(surface.compliance > 0);
  }
  SS_HD bool operator()(const RigidContact& c) const {
    return everywhere ||
           (is_plain(material[c.a]) && is_plain(c.b >= 0 ? material[c.b] : table.materials - 1 - c.b));
  }
};

/// Builds the block of a contact.
template <int D>
struct ContactBlocks {
  BodiesView at;
  SurfaceTable table;
  ContactRowOptions options;
  PenaltyOptions penalty;
  bool soft;
  std::int32_t rigid;  // number of rigid bodies; those behind them are points of elastic solids
  const double* free;  // velocities without impulses, 6 per body
  /// Per contact; null: coefficients are those of contacts that neither slide nor carry a load.
  const FrictionState* states = nullptr;
  bool coulomb_only = false;  // of penalty forces: coefficients do not depend on the solution
  /// Of penalty forces: one-sided friction has the coefficients of the slip at the start of the step (true,
  /// explicit forces), or of `free`; with `anchors` those of their springs and dampers.
  bool from_start = false;
  AnchorView anchors{};

  /// The friction of a contact's two surfaces.
  struct Friction {
    SurfacePair pair;
    FrictionFrame frame;
  };
  /// In the state of contact number i.
  SS_HD Friction friction(std::size_t i, const RigidContact& c) const {
    Friction f = base_friction(c);
    if (f.frame.is_one_sided && coulomb_only) take_penalty_quadrant(i, c, f.frame);
    if (depends_on_solution(f.pair, f.frame))
      f.frame =
          friction_at(f.pair, f.frame, states != nullptr ? states[i] : FrictionState{}, options.feedback.dt);
    return f;
  }
  /// Where springs and dampers of anchored friction pull against a stretch s and a slip u, friction opposes
  /// k s + b u [N], at the start of the step or at its end.
  SS_HD void take_penalty_quadrant(std::size_t i, const RigidContact& c, FrictionFrame& frame) const {
    constexpr double still = 1e-9;  // [m/s], [N]
    const Vec<double, 3> u = from_start ? start_slide(at, c) : free_slide(at, free, c);
    if (anchors.count == 0) return take_quadrant(u, still, frame);
    const Vec<double, 4> s = anchors(i);
    const double k = penalty.friction_stiffness, ahead = from_start ? 0.0 : penalty.dt;
    take_quadrant(k * Vec<double, 3>{s[0], s[1], s[2]} + (k * ahead + penalty.damping) * u, still, frame);
  }
  /// Without what depends on the solution.
  SS_HD Friction base_friction(const RigidContact& c) const {
    Friction f = friction_of_surfaces(c);
    if constexpr (D == kRollingRows) f.pair.rolling = rolling(c);
    if (!coulomb_only) return f;
    f.pair.mu_static = f.pair.mu;
    f.pair.viscous = f.pair.tresca = f.pair.tangential_restitution = 0;
    return f;
  }
  SS_HD Friction friction_of_surfaces(const RigidContact& c) const {
    const std::int32_t material = at.material[c.a];
    const std::int32_t column = c.b >= 0 ? at.material[c.b] : table.materials - 1 - c.b;
    if (is_plain(material) && is_plain(column)) {
      const SurfacePair plain =
          surface_pair(table.surface[material], table.surface[column],
                       table.mu[material * table.columns + column], {0, 0, 0}, {0, 0, 0});
      return {plain, friction_frame(c.normal, plain)};
    }
    const TexturedContact textures(table.textures, table.surface[material].texture,
                                   table.surface[column].texture, at, c);
    const SurfacePair pair = surface_pair(
        table.surface[material], table.surface[column], table.mu[material * table.columns + column],
        textures.grain(0, at.world_grain(c.a)), textures.grain(1, at.world_grain(c.b)));
    return {pair, textures.friction(friction_frame(c.normal, pair), pair, free_slide(at, free, c))};
  }
  /// The coefficient of rolling resistance [m]. A point of an elastic solid has no spin to resist.
  SS_HD double rolling(const RigidContact& c) const {
    if (table.rolling == nullptr || is_point(c.a) || (c.b >= 0 && is_point(c.b))) return 0;
    const std::int32_t material = at.material[c.a];
    return table.rolling[material * table.columns + table.column(c.b >= 0 ? at.material[c.b] : 0, c.b)];
  }
  SS_HD bool is_point(std::int32_t body) const { return body >= rigid; }
  /// True if friction is isotropic and uniform over the surface. In this most common case no grain has to be
  /// rotated.
  SS_HD bool is_plain(std::int32_t column) const {
    const ContactSurface& surface = table.surface[column];
    return surface.friction_kind == FrictionKind::isotropic && surface.texture < 0;
  }
  /// Of contact number i.
  SS_HD ConstraintBlock<D> of(std::size_t i, const RigidContact& c) const {
    const Friction f = friction(i, c);
    const BodyAtStep a = at.at_step(c.a), b = at.at_step(c.b);
    ConstraintBlock<D> block = contact_block<D>(c, a, b, f.pair, f.frame, options);
    if (soft) soften_by_penalty(penalty, c.gap, a.inverse, b.inverse, block, motion(c, block, a, b));
    return block;
  }
  SS_HD PenaltyMotion motion(const RigidContact& c, const ConstraintBlock<D>& block, const BodyAtStep& a,
                             const BodyAtStep& b) const {
    PenaltyMotion m;
    m.start = dot(block.jacobian[0][0], a.twist()) + dot(block.jacobian[1][0], b.twist());
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = side == 0 ? c.a : c.b;
      for (int k = 0; body >= 0 && k < 6; ++k) m.free += block.jacobian[side][0][k] * free[6 * body + k];
    }
    return m;
  }
};

}  // namespace stickslip
