// ContactParticles: touched points of elastic solids, as bodies of a contact problem.
#pragma once

#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/rigid/bodies.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Copies of the rigid bodies, followed by a free particle per touched point of the solids; see Coupling. Particles
/// have no texture: an image applies to a rigid body.
class ContactParticles {
 public:
  /// Prepares a step. `contacts`: those of the solids; a particle's mass is `share` of the solids' diagonal.
  void stage(Context& ctx, const DeviceBodies& bodies, const ElasticSolids& solids,
             const TouchedSurfaces& touching, const RigidContact* contacts, double share);
  void weigh(Context& ctx, double share);
  /// Writes the velocities t = B v - R / m without impulses (`impulse`, per point; null: R = 0) into all().free, and
  /// their change since the last call into `shift`.
  void move_free(Context& ctx, const TouchedSurfaces& touching, const Vec3* v, const Vec<double, 3>* impulse);

  std::size_t bodies() const { return bodies_; }
  DeviceBodies& all() { return all_; }
  const DeviceBodies& all() const { return all_; }
  /// The inverses of the particles.
  const BodyInverse* inverse() const { return all_.inverse.data() + bodies_; }
  /// 6 per body.
  const double* shift() const { return shift_.data(); }

 private:
  const double* sum_weights(Context& ctx, const TouchedSurfaces& touching, std::size_t nodes);

  std::size_t bodies_ = 0;  // of the scene
  DeviceBodies all_;
  Buffer<double> mass_;  // of particles at a share of 1 [kg]
  Buffer<double> shift_, weight_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
