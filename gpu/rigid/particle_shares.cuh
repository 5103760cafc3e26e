// ParticleShares: how heavy the particles of each elastic object are in a coupled contact problem.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/math/vec.h"

namespace stickslip {

/// Of a round's step dR, for one object or all: dR . B dv, sum |dR|^2 / m, sum dR . (R - last R) / m,
/// sum |R|^2 / m^2.
using StepSums = Vec<double, 4>;

/// All objects, in one host read.
struct StepTotals {
  StepSums sums = StepSums::zero();
  double steepness = 0;  // the largest of an object
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// A particle's mass is its object's share of the diagonal of A_e, see Coupling. B A_e^-1 B' has a block for
/// each object, so every object has a share of its own, adapted along the steps that the rounds take: soft
/// objects bear heavier particles than stiff ones.
class ParticleShares {
 public:
  void load(Context& ctx, std::size_t objects);
  /// All shares as at the start of a scene.
  void reset(Context& ctx);
  /// Per object.
  const double* shares() const { return share_.data(); }

  /// After a round's step: `sums` and `core_work` (dR . B M^-1 B' dR of the cores) are per object. The
  /// steepness of an object is (dR . B dv - core work) / (sum |dR|^2 / m): above 1, its particles are too
  /// heavy. Objects with a small part of the step count as 0. It is infinite where it is not finite. Writes
  /// to backend memory.
  void measure(Context& ctx, const StepSums* sums, const double* core_work, StepTotals* out);
  /// Keeps the largest steepness of each object until its share changes.
  void keep_largest(Context& ctx);
  /// Lighter particles for the objects with a steepness above 1.
  void lighten(Context& ctx);
  /// Lighter particles for all objects.
  void divide(Context& ctx, double by);
  /// At the end of a step: heavier particles for the objects that could have had them.
  void raise(Context& ctx);

 private:
  Buffer<double> share_, steepness_, largest_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
