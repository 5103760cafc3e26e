// LawChecker: checks velocities and impulses at the end of a step against Coulomb's and Newton's laws.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/law/law_check.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/cohesion.cuh"
#include "gpu/rigid/contact_blocks.h"

namespace stickslip {

/// The bodies whose change of momentum must equal the sum of their contact impulses: those without joints.
/// Particles of elastic solids, which come after the bodies, do not count, see SolidChecker. `any`: false if
/// something else changes velocities, too.
struct CountedBodies {
  const std::uint8_t* jointed;
  std::size_t bodies;
  bool any;

  SS_HD bool has(const BodyInverse* inverse, std::int32_t b) const {
    return any && b >= 0 && static_cast<std::size_t>(b) < bodies && inverse[b].mass > 0 && jointed[b] == 0;
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The judge of velocity-level steps. It checks the contacts as collision detection found them, with
/// surfaces, velocities and impulses in world axes. It uses no rows of H, W, packs or colours of a solver, so
/// that it finds errors in those. q_c is u_c at the velocities without any impulse.
template <int D>
class LawChecker {
 public:
  /// Stores the velocities at the start of the step, on which restitution depends.
  void begin(Context& ctx, const DeviceBodies& bodies);
  /// Copies these velocities to `bodies`.
  void start(Context& ctx, DeviceBodies& bodies) const {
    copy(ctx, bodies.velocity.data(), velocity_.data(), velocity_.size());
    copy(ctx, bodies.spin.data(), spin_.data(), spin_.size());
  }
  /// Makes `bodies` refer to these velocities.
  void refer_to_start(BodiesView& bodies) const {
    bodies.velocity = velocity_.data();
    bodies.spin = spin_.data();
  }
  /// `impulse`: of the contacts in world axes, torsion fourth; `moment`: likewise of rolling resistance,
  /// null: none; `bodies` with their new velocities, and `free` without impulses. Surfaces come from
  /// `blocks`; its velocities are replaced by those at the start. At most `most_speed` of each contact's
  /// |q_c| counts. `held`: the impulse of the mouse. Writes to `out` in backend memory; no host read. With
  /// `cohesion`, `impulse` is r + xi n, which is to be in the cone; the momentum of r must explain the change
  /// from Cohesion::free.
  void check(Context& ctx, const DeviceBodies& bodies, ContactBlocks<D> blocks, const RigidContact* contacts,
             std::size_t count, const Vec<double, 4>* impulse, const Vec<double, 3>* moment,
             const CountedBodies& counted, const MouseSpring& held, const Cohesion& cohesion,
             double most_speed, JudgeSums* out);

 private:
  Buffer<Vec<double, 3>> velocity_, spin_;
  Buffer<ContactTotals> totals_;
  Buffer<MomentumSums> pushed_;
  Buffer<BodyMomentum> gained_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
