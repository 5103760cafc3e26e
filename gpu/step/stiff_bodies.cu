#include "gpu/step/stiff_bodies.cuh"

#include <cmath>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/math/polar.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

/// Kernel: fits one body. With c_k = x + F S t_k and sum t_k t_k' = 4 I: F = 1/4 sum c_k t_k' S^-1.
struct FitBody {
  const KeptBody* kept;
  const Vec3 *x, *v;
  BodyFit* fits;

  SS_HD void operator()(std::size_t i) const {
    const KeptBody& body = kept[i];
    Vec3d at[4], speed[4], center = Vec3d::zero(), velocity = Vec3d::zero();
    for (int k = 0; k < 4; ++k) {
      at[k] = x[body.control + k].template cast<double>();
      speed[k] = v[body.control + k].template cast<double>();
      center += 0.25 * at[k];
      velocity += 0.25 * speed[k];
    }
    Mat3d f = Mat3d::zero();
    Vec3d spin_momentum = Vec3d::zero();  // over the mass
    for (int k = 0; k < 4; ++k) {
      const Vec3d t = equimomental_corner(k), arm = at[k] - center;
      f += 0.25 * outer(arm, Vec3d{t[0] / body.axes[0], t[1] / body.axes[1], t[2] / body.axes[2]});
      spin_momentum += 0.25 * cross(arm, speed[k] - velocity);
    }
    const Mat3d strain = f.transposed() * f - Mat3d::identity();
    BodyFit& fit = fits[i];
    // No rotation is near the mirror image of a body, whose strain is nevertheless zero.
    if (!(determinant(f) > 0)) {
      fit.strain = std::numeric_limits<double>::infinity();
      return;
    }
    fit.strain = std::sqrt(dot(strain, strain));
    const Quat q = quaternion_of(polar_rotation(f));
    Vec3d turned = q.rotate_back(spin_momentum);
    for (int c = 0; c < 3; ++c) turned[c] /= body.unit_inertia[c];
    fit.state = {{center, q}, velocity, q.rotate(turned)};
  }
};

/// Kernel: places one drawn node.
struct DrawNode {
  const DrawnNode* drawn;
  const BodyFit* fits;
  const Vec3 *from_x, *from_v;
  Vec3 *x, *v;

  SS_HD void operator()(std::size_t i) const {
    const DrawnNode& node = drawn[i];
    if (node.kept < 0) {
      x[i] = from_x[node.node];
      v[i] = from_v[node.node];
      return;
    }
    const BodyState& body = fits[node.kept].state;
    const Vec3d arm = body.pose.q.rotate(node.rest);
    x[i] = (body.pose.x + arm).template cast<Real>();
    v[i] = (body.velocity + cross(body.spin, arm)).template cast<Real>();
  }
};

}  // namespace

void StiffBodies::load(Context& ctx, const Model& scene, const BarrierModel& barrier) {
  std::vector<KeptBody> kept;
  std::vector<std::int32_t> place(scene.bodies.size(), -1);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    if (barrier.control[b] < 0) continue;
    place[b] = static_cast<std::int32_t>(kept.size());
    const Vec3d& inertia = scene.bodies[b].unit_inertia;
    kept.push_back({static_cast<std::int32_t>(b), barrier.control[b], equimomental_axes(inertia), inertia});
  }
  std::vector<DrawnNode> drawn(scene.node_count());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const std::int32_t body = scene.objects[static_cast<std::size_t>(scene.node_object[i])].body;
    drawn[i] = {barrier.node[i], body < 0 ? -1 : place[static_cast<std::size_t>(body)],
                scene.rest_positions[i]};
  }
  std::vector<std::int32_t> remembered;
  for (const KeptBody& body : kept)
    for (int k = 0; k < 4; ++k) remembered.push_back(body.control + k);
  for (const std::int32_t node : scripted_body_nodes(scene, barrier)) remembered.push_back(node);
  remembered_.upload(ctx, remembered);
  kept_.upload(ctx, kept);
  drawn_.upload(ctx, drawn);
  fits_.upload(ctx, std::vector<BodyFit>(kept.size()));
  strain_.resize(ctx, 1);
}

void StiffBodies::fit(Context& ctx, const DeviceState& moving) {
  launch(ctx, kept_.size(), FitBody{kept_.data(), moving.x.data(), moving.v.data(), fits_.data()}, kMedium);
}

double StiffBodies::largest_strain(Context& ctx) {
  const BodyFit* fits = fits_.data();
  reduce_max(
      ctx, fits_.size(), [=] SS_LAMBDA(std::size_t i) { return fits[i].strain; }, 0.0, strain_.data());
  return read_back(ctx, strain_.data());
}

BarrierMemory StiffBodies::memory(Context& ctx, const Model& scene, const DeviceState& moving) const {
  BarrierMemory memory;
  memory.bodies.resize(scene.bodies.size());
  const std::size_t n = remembered_.size();
  if (n == 0) return memory;
  Buffer<Vec3> gathered;
  gathered.resize(ctx, 2 * n);
  const std::int32_t* nodes = remembered_.data();
  const Vec3 *x = moving.x.data(), *v = moving.v.data();
  Vec3* out = gathered.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    out[i] = x[nodes[i]];
    out[n + i] = v[nodes[i]];
  });
  const std::vector<KeptBody> kept = kept_.download(ctx);
  const std::vector<Vec3> all = gathered.download(ctx);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    StandIn& body = memory.bodies[static_cast<std::size_t>(kept[i].body)];
    for (std::size_t k = 0; k < 4; ++k) {
      body.positions[k] = all[4 * i + k].template cast<double>();
      body.velocities[k] = all[n + 4 * i + k].template cast<double>();
    }
  }
  for (std::size_t i = 4 * kept.size(); i < n; ++i) {
    memory.colliders.push_back(all[i].template cast<double>());
    memory.collider_velocities.push_back(all[n + i].template cast<double>());
  }
  return memory;
}

std::vector<BodyState> StiffBodies::states(Context& ctx, const Model& scene, double time, double dt) const {
  std::vector<BodyState> all;
  all.reserve(scene.bodies.size());
  for (const Body& body : scene.bodies)
    all.push_back(body.moves ? BodyState{} : scripted_state(scene, body, time, dt));
  const std::vector<KeptBody> kept = kept_.download(ctx);
  const std::vector<BodyFit> fits = fits_.download(ctx);
  for (std::size_t i = 0; i < kept.size(); ++i) all[static_cast<std::size_t>(kept[i].body)] = fits[i].state;
  return all;
}

void StiffBodies::draw(Context& ctx, const DeviceState& moving, DeviceState& nodes) const {
  launch(ctx, drawn_.size(),
         DrawNode{drawn_.data(), fits_.data(), moving.x.data(), moving.v.data(), nodes.x.data(),
                  nodes.v.data()});
}

}  // namespace stickslip::STICKSLIP_BACKEND
