// LawChecker: checks velocities and impulses at the end of a step against Coulomb's and Newton's laws.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/law_check.h"

namespace stickslip {

/// The bodies whose momentum change must equal the sum of their contact impulses: all without joints.
/// Particles of elastic solids follow the bodies. `any`: false where something else changes velocities too.
struct CountedBodies {
  const std::uint8_t* jointed;
  std::size_t bodies;
  bool any;

  SS_HD bool has(const BodyInverse* inverse, std::int32_t b) const {
    return any && b >= 0 && inverse[b].mass > 0 && (static_cast<std::size_t>(b) >= bodies || jointed[b] == 0);
  }
};

/// Momentum, linear and angular about the origin, that bodies gain, summed twice: with equal signs, and with
/// a pseudo-random sign for each body, so that two errors cancel only by chance.
using MomentumSums = Vec<double, 12>;

struct BodyMomentum {
  MomentumSums gained = MomentumSums::zero();
  double size = 0;  // m |v|
};

struct LawSums {
  LawCheck contacts;
  MomentumSums pushed = MomentumSums::zero();  // by the impulses of contacts [N s, N m s]
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Checks the contacts as collision detection found them, with surfaces, velocities and impulses in world
/// axes. It uses no rows of H, W, packs or colours of a solver, so errors in those cannot hide.
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
  /// `impulse`: of the contacts in world axes, torsion fourth; `bodies` with their new velocities, and `free`
  /// without impulses. Surfaces come from `blocks`; its velocities are replaced by those at the start. Writes
  /// to `out` in backend memory; no host read.
  void check(Context& ctx, const DeviceBodies& bodies, ContactBlocks<D> blocks, const RigidContact* contacts,
             std::size_t count, const Vec<double, 4>* impulse, const CountedBodies& counted, LawCheck* out);

 private:
  Buffer<Vec<double, 3>> velocity_, spin_;
  Buffer<LawSums> sums_;
  Buffer<BodyMomentum> gained_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
