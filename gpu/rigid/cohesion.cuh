// Cohesion: contacts that pull, as constant impulses beside those of the contact problem.
#pragma once

#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/body_gather.cuh"
#include "gpu/rigid/contact_rows.h"

namespace stickslip {

/// The pull xi [N s] of the contacts of a step, from materials and gaps. Sides of a contact are rigid bodies,
/// then touched points of solids. Backend memory.
struct CohesivePulls {
  const RigidContact* contact = nullptr;
  std::size_t count = 0;  // contacts beyond, which penetration_guard added, do not pull; 0: none does
  SurfaceTable surfaces{};
  ContactRowOptions options{};
  const std::int32_t* body_material = nullptr;
  std::int32_t bodies = 0;
  const SurfacePoint* point = nullptr;
  const std::int32_t* node_material = nullptr;

  SS_HD std::int32_t material(std::int32_t side) const {
    return side < bodies ? body_material[side] : node_material[point[side - bodies].nodes[0]];
  }
  SS_HD double operator()(std::size_t c) const {
    if (c >= count) return 0;
    const RigidContact& at = contact[c];
    const std::int32_t a = material(at.a), b = at.b < 0 ? -1 : material(at.b);
    SurfacePair pair{};
    pair.cohesion = b < 0 ? 0.0 : std::sqrt(surfaces.surface[a].cohesion * surfaces.surface[b].cohesion);
    return cohesive_impulse(options, pair, at.gap);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The law of a contact with cohesion is that r + xi n and u satisfy Coulomb's law [Daviet20 §6.3.1]. With
/// s = r + xi n as the unknown, the pull -xi n is an impulse like that of gravity: it is part of the
/// velocities without impulses and of the solids' loads, and s is Coulomb's. So every solver takes cohesion.
class Cohesion {
 public:
  /// Adds the pulls to `bodies.free` and to the loads of `solids`. `touching`: of the solids, whose first
  /// contact is number `first`. No host read.
  void apply(Context& ctx, const CohesivePulls& pulls, DeviceBodies& bodies, ElasticSolids* solids,
             const TouchedSurfaces& touching, std::size_t first);
  /// No contact pulls in this step.
  void clear() { pulls_ = {}; }

  /// After penetration_guard added contacts and points, which moves both lists.
  void refer_to(const RigidContact* contacts, const SurfacePoint* points) {
    pulls_.contact = contacts;
    pulls_.point = points;
  }

  const CohesivePulls& pulls() const { return pulls_; }
  /// Velocities of the bodies without any impulse and without pulls, 6 per body; null: no contact pulls.
  const double* free() const { return pulls_.count > 0 ? free_.data() : nullptr; }
  /// Subtracts the pulls [N] from the normal forces of the contacts' records.
  void subtract(Context& ctx, double dt, std::vector<ContactRecord>& records) const;

 private:
  void push_bodies(Context& ctx, DeviceBodies& bodies);

  CohesivePulls pulls_;
  BodyGather gather_;
  Buffer<double> free_;
  Buffer<Vec<double, 3>> impulse_;  // per contact, on side a
  Buffer<Vec<double, 3>> at_point_;
  Buffer<Vec3> at_node_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
