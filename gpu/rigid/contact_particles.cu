#include "gpu/rigid/contact_particles.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

using Vec3d = Vec<double, 3>;

/// The weight of a corner of a point; a point has four corners, the last one unused.
struct CornerWeight {
  const SurfacePoint* at;

  SS_HD double operator()(std::int32_t corner) const {
    return corner % 4 < 3 ? at[corner / 4].weights[corner % 4] : 0.0;
  }
};

/// The velocity of a core without impulses, and its change.
struct CoreMover {
  const Wrench* wrench;  // null: no impulses
  const BodyInverse* inverse;
  double *free, *shift;

  SS_HD void operator()(std::size_t o) const {
    const Vec<double, 6> back =
        wrench != nullptr ? -1.0 * inverse[o].times(wrench[o]) : Vec<double, 6>::zero();
    for (std::size_t i = 0; i < 6; ++i) {
      shift[6 * o + i] = back[static_cast<int>(i)] - free[6 * o + i];
      free[6 * o + i] = back[static_cast<int>(i)];
    }
  }
};

/// w . M^-1 w of a core.
struct CoreWork {
  const Wrench* wrench;
  const BodyInverse* inverse;
  double* out;

  SS_HD void operator()(std::size_t o) const { out[o] = dot(wrench[o], inverse[o].times(wrench[o])); }
};

}  // namespace

void ContactParticles::stage(Context& ctx, const DeviceBodies& bodies, const ElasticSolids& solids,
                             const TouchedSurfaces& touching, const RigidContact* contact,
                             const SceneJoints& joints, const double* shares, CoreUse use) {
  bodies_ = bodies.size();
  const std::size_t points = touching.point_count(), n = bodies_ + points + frames_.size() + cores_.count();
  const bool needs_cores = bodies_ == 0 || touching.meshes().count() > 0;
  has_cores_ = use == CoreUse::all || (use == CoreUse::needed && needs_cores);
  all_.pose.resize(ctx, n);
  all_.inverse.resize(ctx, n);
  all_.material.resize(ctx, n);
  all_.free.resize(ctx, 6 * n);
  for (auto field : {&DeviceBodies::velocity, &DeviceBodies::spin, &DeviceBodies::grain}) {
    (all_.*field).resize(ctx, n);
    copy(ctx, (all_.*field).data(), (bodies.*field).data(), bodies_);
  }
  copy(ctx, all_.pose.data(), bodies.pose.data(), bodies_);
  copy(ctx, all_.inverse.data(), bodies.inverse.data(), bodies_);
  copy(ctx, all_.material.data(), bodies.material.data(), bodies_);
  all_.texture_frame.resize(ctx, bodies_);
  copy(ctx, all_.texture_frame.data(), bodies.texture_frame.data(), bodies_);
  all_.textured = static_cast<std::int32_t>(bodies_);
  copy(ctx, all_.free.data(), bodies.free.data(), 6 * bodies_);
  mass_.resize(ctx, points);
  shift_.resize(ctx, 6 * n);
  fill(ctx, shift_.data(), shift_.size(), 0.0);

  const std::size_t first = bodies_;
  const SurfacePoint* at = touching.points();
  const PointSides sides = touching.sides();
  const Vec3* v = solids.v.data();
  const double* reached = sum_weights(ctx, touching, solids.size());
  const std::int32_t* node_material = solids.device().node_material.data();
  const double* resistance = solids.resistance();
  Pose* pose = all_.pose.data();
  Vec3d *velocity = all_.velocity.data(), *spin = all_.spin.data(), *grain = all_.grain.data();
  std::int32_t* material = all_.material.data();
  double *mass = mass_.data(), *free = all_.free.data();
  launch(ctx, points, [=] SS_LAMBDA(std::size_t k) {
    Vec3d sum{0, 0, 0};
    double mobility = 0;
    for (int c = 0; c < 3; ++c) {
      const std::int32_t node = at[k].nodes[c];
      const double b = at[k].weights[c];
      if (node < 0) continue;
      sum += b * v[node].template cast<double>();
      if (resistance[node] > 0) mobility += b * (reached != nullptr ? reached[node] : b) / resistance[node];
    }
    const std::size_t p = first + k;
    pose[p] = Pose::identity();
    pose[p].x = contact[sides.contact(k)].point;
    velocity[p] = sum;
    spin[p] = {0, 0, 0};
    grain[p] = {0, 0, 0};
    material[p] = node_material[at[k].nodes[0]];
    mass[k] = mobility > 0 ? 1 / mobility : 0.0;
    for (std::size_t i = 0; i < 6; ++i) free[6 * p + i] = 0;
  });
  frames_.stage(ctx, solids, static_cast<std::int32_t>(first_frame()), joints.joints, joints.count, all_);
  clear_cores(ctx);
  cores_.stage_points(ctx, solids, touching);
  if (has_cores_) cores_.stage(ctx, solids, pose + first_core(), all_.inverse.data() + first_core());
  weigh(ctx, shares);
}

/// Cores without inverses, at rest.
void ContactParticles::clear_cores(Context& ctx) {
  const std::size_t first = first_core(), count = cores_.count();
  fill(ctx, all_.pose.data() + first, count, Pose::identity());
  fill(ctx, all_.inverse.data() + first, count, BodyInverse{});
  fill(ctx, all_.material.data() + first, count, std::int32_t{0});
  for (auto field : {&DeviceBodies::velocity, &DeviceBodies::spin, &DeviceBodies::grain})
    fill(ctx, (all_.*field).data() + first, count, Vec3d{0, 0, 0});
  fill(ctx, all_.free.data() + 6 * first, 6 * count, 0.0);
}

PointCores ContactParticles::cores() const {
  if (!has_cores_) return {};
  return {cores_.core_of_point(),
          static_cast<std::int32_t>(bodies_),
          static_cast<std::int32_t>(first_core()),
          all_.pose.data(),
          all_.inverse.data(),
          all_.free.data()};
}

/// The cores' velocities without impulses are such that they stand still with them: the true velocities of
/// points are in the particles' t, and the cores respond to changes alone.
void ContactParticles::move_cores(Context& ctx, const Vec3d* impulse) {
  if (!has_cores_) return;
  const std::size_t first = first_core();
  const BodyInverse* inverse = all_.inverse.data() + first;
  double *free = all_.free.data() + 6 * first, *shift = shift_.data() + 6 * first;
  const Wrench* wrench = impulse == nullptr ? nullptr
                                            : cores_.wrenches(ctx, impulse, all_.pose.data() + bodies_,
                                                              all_.pose.data() + first);
  launch(ctx, cores_.count(), CoreMover{wrench, inverse, free, shift});
}

void ContactParticles::core_work(Context& ctx, const Vec3d* impulse, double* out) {
  if (!has_cores_) {
    fill(ctx, out, cores_.count(), 0.0);
    return;
  }
  const std::size_t first = first_core();
  const Wrench* wrench = cores_.wrenches(ctx, impulse, all_.pose.data() + bodies_, all_.pose.data() + first);
  launch(ctx, cores_.count(), CoreWork{wrench, all_.inverse.data() + first, out});
}

void ContactParticles::settle(Context& ctx, const TouchedSurfaces& touching, const Vec3* v,
                              const Vec3* v_free) {
  const std::size_t first = bodies_, points = mass_.size(), core = first_core();
  const SurfacePoint* at = touching.points();
  double* free = all_.free.data();
  Vec3d *velocity = all_.velocity.data(), *spin = all_.spin.data();
  launch(ctx, points, [=] SS_LAMBDA(std::size_t k) {
    Vec3d sum{0, 0, 0}, without{0, 0, 0};
    for (int c = 0; c < 3; ++c) {
      const std::int32_t node = at[k].nodes[c];
      if (node < 0) continue;
      sum += at[k].weights[c] * v[node].template cast<double>();
      without += at[k].weights[c] * v_free[node].template cast<double>();
    }
    velocity[first + k] = sum;
    for (int i = 0; i < 3; ++i) free[6 * (first + k) + static_cast<std::size_t>(i)] = without[i];
  });
  launch(ctx, has_cores_ ? cores_.count() : 0, [=] SS_LAMBDA(std::size_t o) {
    const std::size_t b = core + o;
    velocity[b] = {free[6 * b], free[6 * b + 1], free[6 * b + 2]};
    spin[b] = {free[6 * b + 3], free[6 * b + 4], free[6 * b + 5]};
  });
  frames_.settle(ctx, v, velocity + first_frame(), spin + first_frame());
}

/// With contacts between meshes many points share nodes. Then a row sum bounds B diag(resistance)^-1 B':
/// 1 / m_k = sum_c b_kc s_c / resistance_c with the sums s_c of all points' weights at a node. Where nodes
/// follow others it is no bound, since different nodes share these. Null without such contacts.
const double* ContactParticles::sum_weights(Context& ctx, const TouchedSurfaces& touching,
                                            std::size_t nodes) {
  if (touching.meshes().count() == 0) return nullptr;
  weight_.resize(ctx, nodes);
  fill(ctx, weight_.data(), nodes, 0.0);
  touching.gather().sum(ctx, CornerWeight{touching.points()}, weight_.data());
  return weight_.data();
}

void ContactParticles::weigh(Context& ctx, const double* shares) {
  frames_.weigh(ctx, shares, all_.inverse.data() + first_frame());
  const double* mass = mass_.data();
  const std::int32_t* object = cores_.core_of_point();
  BodyInverse* inverse = all_.inverse.data() + bodies_;
  launch(ctx, mass_.size(), [=] SS_LAMBDA(std::size_t k) {
    inverse[k] = BodyInverse{};
    if (mass[k] > 0) inverse[k].mass = 1 / (shares[object[k]] * mass[k]);
  });
}

void ContactParticles::add_core_mobilities(Context& ctx) {
  const PointCores all = cores();
  BodyInverse* inverse = all_.inverse.data();
  const auto first = static_cast<std::int32_t>(bodies_);
  launch(ctx, mass_.size(), [=] SS_LAMBDA(std::size_t k) {
    const std::int32_t point = first + static_cast<std::int32_t>(k), core = all.of(point);
    if (core < 0) return;
    const BodyInverse& of = inverse[core];
    const Vec3d arm = all.pose[point].x - all.pose[core].x;
    const double turning =
        norm2(arm) * (of.inertia[0] + of.inertia[1] + of.inertia[2]) - dot(arm, of.turn(arm));
    inverse[point].mass += of.mass + turning / 3;
  });
}

void ContactParticles::move_free(Context& ctx, const TouchedSurfaces& touching, const Vec3* v,
                                 const Vec3d* impulse, const Wrench* wrench) {
  const SurfacePoint* at = touching.points();
  const BodyInverse* inverse = all_.inverse.data() + bodies_;
  double *free = all_.free.data() + 6 * bodies_, *shift = shift_.data() + 6 * bodies_;
  launch(ctx, touching.point_count(), [=] SS_LAMBDA(std::size_t k) {
    Vec3d t{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (at[k].nodes[c] >= 0) t += at[k].weights[c] * v[at[k].nodes[c]].template cast<double>();
    if (impulse != nullptr) t -= inverse[k].mass * impulse[k];
    for (std::size_t i = 0; i < 3; ++i) {
      shift[6 * k + i] = t[static_cast<int>(i)] - free[6 * k + i];
      free[6 * k + i] = t[static_cast<int>(i)];
    }
  });
  const std::size_t frame = first_frame();
  frames_.move_free(ctx, v, wrench, all_.inverse.data() + frame, all_.free.data() + 6 * frame,
                    shift_.data() + 6 * frame);
  move_cores(ctx, impulse);
}

}  // namespace stickslip::STICKSLIP_BACKEND
