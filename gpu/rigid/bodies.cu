#include "gpu/rigid/bodies.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Torque-free spin in the principal frame after dt: I (w' - w) + dt m x I m = 0 with m = (w + w') / 2. The
/// implicit midpoint rule keeps energy and the length of the angular momentum exactly. False when Newton's
/// method has not found `next`: possible where the body turns by more than about a radian.
SS_HD bool midpoint_spin(const Vec3d& inertia, const Vec3d& w, double dt, Vec3d& next) {
  constexpr double kSolved = 1e-28, kGoodEnough = 1e-24;
  double error = 0, size = 0;
  next = w;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const Vec3d m = 0.5 * (w + next);
    Vec3d im{}, residual{};
    for (int i = 0; i < 3; ++i) im[i] = inertia[i] * m[i];
    const Vec3d torque = cross(m, im);
    error = size = 0;
    for (int i = 0; i < 3; ++i) {
      residual[i] = inertia[i] * (next[i] - w[i]) + dt * torque[i];
      error += residual[i] * residual[i];
      size += im[i] * im[i];
    }
    if (error <= kSolved * size) return true;
    // d(m x I m) / dw' = (m x I - (I m) x) / 2
    Mat<double, 3> j{};
    for (int i = 0; i < 3; ++i) {
      const int k = (i + 1) % 3, l = (i + 2) % 3;
      j(i, i) = inertia[i];
      j(i, k) = 0.5 * dt * (inertia[l] - inertia[k]) * m[l];
      j(i, l) = 0.5 * dt * (inertia[l] - inertia[k]) * m[k];
    }
    next -= inverse(j) * residual;
  }
  return error <= kGoodEnough * size;
}

/// The same in as many equal substeps of dt as Newton's method needs. A body too fast for the finest substeps
/// keeps its spin, and so its energy.
SS_HD Vec3d turn_freely(const Vec3d& inertia, const Vec3d& w, double dt) {
  constexpr int kMostParts = 1024;
  for (int parts = 1; parts <= kMostParts; parts *= 4) {
    Vec3d spin = w;
    bool found = true;
    for (int k = 0; k < parts && found; ++k) {
      Vec3d next;
      found = midpoint_spin(inertia, spin, dt / parts, next);
      spin = next;
    }
    if (found) return spin;
  }
  return w;
}

SS_HD BodyInverse inverse_of(const Pose& pose, double mass, const Vec3d& inertia) {
  BodyInverse result{};
  if (!(mass > 0)) return result;
  result.mass = 1 / mass;
  const Mat<double, 3> r = pose.q.matrix();
  constexpr int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
  for (int e = 0; e < 6; ++e) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += r(rows[e], k) * r(columns[e], k) / inertia[k];
    result.inertia[e] = sum;
  }
  return result;
}

SS_HD BodySums add(const BodySums& a, const BodySums& b) {
  return {a.kinetic + b.kinetic, a.gravity + b.gravity, a.momentum + b.momentum, a.angular + b.angular};
}

/// The pose of a scripted body at `time`: its motion moves the points of its initial pose.
Pose scripted_pose(const Body& body, const Motion& motion, double time) {
  const Vec3d x = motion.apply(body.pose.x, time);
  Vec3d columns[3];
  for (int i = 0; i < 3; ++i) {
    Vec3d axis = Vec3d::zero();
    axis[i] = 1;
    columns[i] = motion.apply(body.pose.apply(axis), time) - x;
  }
  return {x, quaternion_of(Mat<double, 3>::from_columns(columns))};
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

namespace {
struct AddSums {
  SS_HD BodySums operator()(const BodySums& a, const BodySums& b) const { return add(a, b); }
};
}  // namespace

void DeviceBodies::load(Context& ctx, const Model& model) {
  std::vector<Pose> poses, texture_frames;
  std::vector<Vec3d> velocities, spins, grains;
  std::vector<std::uint8_t> moving;
  std::vector<std::int32_t> materials, nodes, node_bodies;
  std::vector<Vec3d> rest;
  scripted_.clear();
  moving_ = 0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const Object& object = model.objects[static_cast<std::size_t>(body.object)];
    poses.push_back(body.pose);
    velocities.push_back(body.velocity);
    spins.push_back(body.spin);
    grains.push_back(body.grain);
    texture_frames.push_back(body.texture_frame);
    moving.push_back(body.moves ? 1 : 0);
    moving_ += body.moves ? 1 : 0;
    materials.push_back(object.material);
    if (body.motion >= 0) scripted_.push_back(static_cast<std::int32_t>(b));
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n) {
      nodes.push_back(n);
      node_bodies.push_back(static_cast<std::int32_t>(b));
      rest.push_back(model.rest_positions[static_cast<std::size_t>(n)]);
    }
  }
  pose.upload(ctx, poses);
  velocity.upload(ctx, velocities);
  spin.upload(ctx, spins);
  grain.upload(ctx, grains);
  texture_frame.upload(ctx, texture_frames);
  moves.upload(ctx, moving);
  material.upload(ctx, materials);
  node_.upload(ctx, nodes);
  node_body_.upload(ctx, node_bodies);
  node_rest_.upload(ctx, rest);
  inverse.resize(ctx, size());
  free.resize(ctx, 6 * size());
  set_materials(ctx, model);
}

void DeviceBodies::set_materials(Context& ctx, const Model& model) {
  std::vector<double> masses;
  std::vector<Vec3d> moments;
  for (const Body& body : model.bodies) {
    const Object& object = model.objects[static_cast<std::size_t>(body.object)];
    const double density = model.materials[static_cast<std::size_t>(object.material)].density;
    const double m = !body.moves ? 0.0 : body.mass > 0 ? body.mass : density * body.volume;
    masses.push_back(m);
    moments.push_back(m * body.unit_inertia);
  }
  mass.upload(ctx, masses);
  inertia.upload(ctx, moments);
}

void DeviceBodies::follow_motions(Context& ctx, const Model& model, double time, double dt) {
  for (const std::int32_t b : scripted_) {
    const Body& body = model.bodies[static_cast<std::size_t>(b)];
    const Motion& motion = model.body_motions[static_cast<std::size_t>(body.motion)];
    const Pose now = scripted_pose(body, motion, time), next = scripted_pose(body, motion, time + dt);
    const Vec3d v = (next.x - now.x) / dt, w = rotation_vector(next.q * now.q.conjugate()) / dt;
    Pose* x = pose.data() + b;
    Vec3d *of_v = velocity.data() + b, *of_w = spin.data() + b;
    // As arguments of a kernel, for which the host need not wait. Poses are set: summing up steps would
    // drift.
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      *x = now;
      *of_v = v;
      *of_w = w;
    });
  }
}

void DeviceBodies::predict(Context& ctx, double dt, double gravity, bool gyroscopic,
                           const MouseSpring& spring, const std::uint8_t* asleep) {
  const Pose* x = pose.data();
  const Vec3d *v = velocity.data(), *w = spin.data(), *moments = inertia.data();
  const double* m = mass.data();
  BodyInverse* a = inverse.data();
  double* out = free.data();
  launch(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t b) {
        const bool sleeps = asleep != nullptr && asleep[b] != 0;
        a[b] = inverse_of(x[b], sleeps ? 0.0 : m[b], moments[b]);
        Vec3d linear = sleeps ? Vec3d{0, 0, 0} : v[b], angular = sleeps ? Vec3d{0, 0, 0} : w[b];
        if (a[b].mass > 0) {
          linear[1] += dt * gravity;
          if (gyroscopic) angular = x[b].q.rotate(turn_freely(moments[b], x[b].q.rotate_back(angular), dt));
          if (static_cast<std::int32_t>(b) == spring.body) {
            linear += a[b].mass * spring.impulse;
            angular += a[b].turn(spring.twist);
          }
        }
        for (std::size_t i = 0; i < 3; ++i) {
          out[6 * b + i] = linear[static_cast<int>(i)];
          out[6 * b + 3 + i] = angular[static_cast<int>(i)];
        }
      },
      kMedium);
}

void DeviceBodies::advance(Context& ctx, double dt, const std::uint8_t* asleep, const double* share) {
  Pose* x = pose.data();
  const Vec3d *v = velocity.data(), *w = spin.data();
  launch(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t b) {
        if (asleep != nullptr && asleep[b] != 0) return;
        const double moved = share != nullptr ? share[b] * dt : dt;
        x[b].x += moved * v[b];
        x[b].q = normalized(rotation_by(moved * w[b]) * x[b].q);
      },
      kMedium);
}

void DeviceBodies::save(Context& ctx) {
  saved_pose_.resize(ctx, size());
  saved_velocity_.resize(ctx, size());
  saved_spin_.resize(ctx, size());
  copy(ctx, saved_pose_.data(), pose.data(), size());
  copy(ctx, saved_velocity_.data(), velocity.data(), size());
  copy(ctx, saved_spin_.data(), spin.data(), size());
}

void DeviceBodies::restore(Context& ctx) {
  copy(ctx, pose.data(), saved_pose_.data(), size());
  copy(ctx, velocity.data(), saved_velocity_.data(), size());
  copy(ctx, spin.data(), saved_spin_.data(), size());
}

void DeviceBodies::place_nodes(Context& ctx, Vec3* x) const {
  const std::int32_t *node = node_.data(), *body = node_body_.data();
  const Vec3d* rest = node_rest_.data();
  const Pose* at = pose.data();
  launch(ctx, node_.size(),
         [=] SS_LAMBDA(std::size_t i) { x[node[i]] = at[body[i]].apply(rest[i]).cast<Real>(); });
}

void DeviceBodies::node_velocities(Context& ctx, Vec3* out) const {
  const std::int32_t *node = node_.data(), *body = node_body_.data();
  const Vec3d *rest = node_rest_.data(), *v = velocity.data(), *w = spin.data();
  const Pose* at = pose.data();
  launch(ctx, node_.size(), [=] SS_LAMBDA(std::size_t i) {
    const std::int32_t b = body[i];
    out[node[i]] = (v[b] + cross(w[b], at[b].q.rotate(rest[i]))).cast<Real>();
  });
}

void DeviceBodies::launch_sums(Context& ctx, double gravity, BodySums* out) const {
  const Pose* x = pose.data();
  const Vec3d *v = velocity.data(), *w = spin.data(), *moments = inertia.data();
  const double* m = mass.data();
  reduce(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t b) {
        BodySums s;
        if (!(m[b] > 0)) return s;
        const Vec3d local = x[b].q.rotate_back(w[b]);
        Vec3d turning{};
        for (int i = 0; i < 3; ++i) turning[i] = moments[b][i] * local[i];
        s.kinetic = 0.5 * (m[b] * norm2(v[b]) + dot(turning, local));
        s.gravity = -m[b] * gravity * x[b].x[1];
        s.momentum = m[b] * v[b];
        s.angular = cross(x[b].x, s.momentum) + x[b].q.rotate(turning);
        return s;
      },
      AddSums{}, BodySums{}, out, kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
