// ContactParticles: touched points of elastic solids, as bodies of a contact problem.
#pragma once

#include "gpu/elastic/elastic_solids.cuh"
#include "gpu/elastic/touched_surfaces.cuh"
#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/solid_cores.cuh"
#include "gpu/rigid/solid_frames.cuh"

namespace stickslip {

/// The joints of a scene in backend memory.
struct SceneJoints {
  const DeviceJoint* joints = nullptr;
  std::size_t count = 0;
};

/// Which problems have cores. `needed`: those without rigid bodies, and those where meshes touch.
enum class CoreUse { none, needed, all };

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Copies of the rigid bodies, then a free particle per touched point of the solids, then the frames of
/// joints on solids, then the cores of the solids; see Coupling. Only rigid bodies have textures.
class ContactParticles {
 public:
  /// `whole`: the scene.
  void load(Context& ctx, const ElasticSolids& solids, const Model& whole) {
    cores_.load(ctx, solids.model());
    frames_.load(ctx, whole, solids);
  }
  /// Prepares a step. `contacts`: those of the solids; a particle's mass is the share of its object
  /// (`shares`) of the solids' diagonal.
  void stage(Context& ctx, const DeviceBodies& bodies, const ElasticSolids& solids,
             const TouchedSurfaces& touching, const RigidContact* contacts, const SceneJoints& joints,
             const double* shares, CoreUse use);
  void weigh(Context& ctx, const double* shares);
  /// After `stage` with cores: adds to each particle's mobility that of its core at the point (the mean over
  /// directions), for forces that act on points one by one.
  void add_core_mobilities(Context& ctx);
  /// Writes the velocities t = B v - R / m without impulses (`impulse` per point, `wrench` per frame; null:
  /// R = 0) into all().free, and their change since the last call into `shift`.
  void move_free(Context& ctx, const TouchedSurfaces& touching, const Vec3* v, const Vec<double, 3>* impulse,
                 const Wrench* wrench);

  /// The cores, where the problem has them (CoreUse).
  PointCores cores() const;
  /// Writes w . M^-1 w of every core to backend memory, where w is the wrench of `impulse` (per point) on a
  /// core with the mass matrix M; zeros without cores.
  void core_work(Context& ctx, const Vec<double, 3>* impulse, double* out);
  /// See SolidCores; zero for objects without touched points.
  template <class T, class F>
  void sum_by_object(Context& ctx, F f, T* out) const {
    fill(ctx, out, cores_.count(), T::zero());
    cores_.sum_by_object(ctx, f, out);
  }
  std::size_t objects() const { return cores_.count(); }
  /// Sets the velocities of particles to those of the points, B v, and the velocities of cores, if there are
  /// any, to those without impulses. Then all().free has the velocities of the points without any impulses,
  /// from those of the solids (`v_free`).
  void settle(Context& ctx, const TouchedSurfaces& touching, const Vec3* v, const Vec3* v_free);

  std::size_t bodies() const { return bodies_; }
  const SolidFrames& frames() const { return frames_; }
  SolidFrames& frames() { return frames_; }
  DeviceBodies& all() { return all_; }
  const DeviceBodies& all() const { return all_; }
  /// The inverses of the particles.
  const BodyInverse* inverse() const { return all_.inverse.data() + bodies_; }
  /// 6 per body.
  const double* shift() const { return shift_.data(); }

 private:
  std::size_t first_frame() const { return bodies_ + mass_.size(); }
  std::size_t first_core() const { return first_frame() + frames_.size(); }
  void clear_cores(Context& ctx);
  void move_cores(Context& ctx, const Vec<double, 3>* impulse);
  const double* sum_weights(Context& ctx, const TouchedSurfaces& touching, std::size_t nodes);

  std::size_t bodies_ = 0;  // of the scene
  bool has_cores_ = false;
  DeviceBodies all_;
  SolidCores cores_;
  SolidFrames frames_;
  Buffer<double> mass_;  // of particles at a share of 1 [kg]
  Buffer<double> shift_, weight_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
