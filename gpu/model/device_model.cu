#include "gpu/model/device_model.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "gpu/core/launch.h"
#include "gpu/model/barrier_model.h"
#include "gpu/model/element_group.h"
#include "gpu/model/lattice.h"
#include "gpu/model/tet_volume.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

double solids_diagonal(const Model& model) {
  Vec<double, 3> lo = Vec<double, 3>::filled(1e300), hi = Vec<double, 3>::filled(-1e300);
  for (const Object& object : model.objects) {
    if (!object.is_movable()) continue;
    for (int i = object.node_begin; i < object.node_end; ++i) {
      lo = min(lo, model.positions[i]);
      hi = max(hi, model.positions[i]);
    }
  }
  return hi[0] >= lo[0] ? norm(hi - lo) : 1.0;
}

/// [N/m] of the nodes of an elastic solid: the trace of a node's block of the elastic Hessian at rest, with
/// linear elasticity and linear tets: the sum over its tets of V |grad N|^2 (lambda + 4 mu). With a third of
/// it, the stiffness in one direction, more steps of `rollers` and `spikes` miss their tolerance.
std::vector<double> node_stiffness(const Model& model, const Object& object) {
  std::vector<double> stiffness(object.node_end - object.node_begin, 0.0);
  const Material& material = model.materials[object.material];
  const double mu = material.young / (2 * (1 + material.poisson));
  const double lambda = 2 * mu * material.poisson / (1 - 2 * material.poisson);
  const auto& x = model.rest_positions;
  const std::vector<double> shares = tet_shares(model, object);
  std::size_t t = 0;
  for (const Vec4i& tet : tets_of(model, object)) {
    const double volume = std::abs(tet_volume(x, tet)), share = shares[t++];
    for (int c = 0; c < 4; ++c) {
      const auto& a = x[tet[(c + 1) % 4]];
      const double area = norm(cross(x[tet[(c + 2) % 4]] - a, x[tet[(c + 3) % 4]] - a)) / 2;
      stiffness[tet[c] - object.node_begin] += share * area * area / (9 * volume) * (lambda + 4 * mu);
    }
  }
  return stiffness;
}

std::vector<Vec3> to_real(const std::vector<Vec<double, 3>>& values) {
  std::vector<Vec3> out;
  out.reserve(values.size());
  for (const auto& v : values) out.push_back(v.template cast<Real>());
  return out;
}

RigidPose script_pose(const Motion& motion, double time) {
  // A rigid motion is affine in the start position: four evaluations give it.
  const Vec<double, 3> origin = motion.apply({0, 0, 0}, time);
  RigidPose pose{};
  pose.shift = origin.cast<Real>();
  for (int c = 0; c < 3; ++c) {
    Vec<double, 3> axis = Vec<double, 3>::zero();
    axis[c] = 1;
    const Vec<double, 3> column = motion.apply(axis, time) - origin;
    for (int r = 0; r < 3; ++r) pose.linear(r, c) = static_cast<Real>(column[r]);
  }
  return pose;
}

std::vector<Real> friction_table(const Model& model) {
  const std::vector<double> mu = friction_coefficients(model);
  return {mu.begin(), mu.end()};
}

/// Anchors of the nodes that are taken: the pose of their script maps these to the nodes' positions x.
void anchor_taken_nodes(Context& ctx, std::size_t n, const std::uint8_t* taken, const std::int32_t* script_of,
                        const RigidPose* pose, const Vec3* x, Vec3* at) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    if (taken[i]) at[i] = pose[script_of[i]].linear.transposed() * (x[i] - pose[script_of[i]].shift);
  });
}

}  // namespace

void DeviceModel::upload(Context& ctx, const Model& model) {
  node_count = model.node_count();
  diagonal = static_cast<Real>(solids_diagonal(model));
  rest.upload(ctx, to_real(model.rest_positions));
  start.upload(ctx, to_real(model.positions));
  triangles.upload(ctx, model.triangles);
  edges.upload(ctx, model.edges);
  surface_nodes.upload(ctx, model.surface_nodes);
  node_object.upload(ctx, model.node_object);
  std::vector<std::int32_t> material(node_count);
  for (std::size_t i = 0; i < node_count; ++i) material[i] = model.objects[model.node_object[i]].material;
  node_material.upload(ctx, material);
  std::vector<std::uint8_t> moves;
  for (const ScriptedNodes& script : model.scripted) moves.push_back(!script.is_static());
  script_moves.upload(ctx, moves);
  upload_bodies(ctx, model);
  upload_thin(ctx, model);
  exempt_objects.upload(ctx, model.exempt_objects);
  anchor.resize(ctx, node_count);
  forget_acting(ctx);
  select_acting(ctx, model, 0, 0, start.data());
  upload_materials(ctx, model);
}

void DeviceModel::upload_bodies(Context& ctx, const Model& model) {
  if (std::ranges::none_of(model.objects, &Object::is_stiff)) return;
  std::vector<std::int32_t> body(node_count, -1);
  for (std::size_t i = 0; i < node_count; ++i)
    if (const Object& object = model.objects[model.node_object[i]]; object.is_stiff() || object.is_collider())
      body[i] = model.node_object[i];
  node_body.upload(ctx, body);
}

void DeviceModel::upload_thin(Context& ctx, const Model& model) {
  if (std::ranges::none_of(model.objects, &Object::is_thin)) return;
  scale_radii(ctx, model, std::vector<double>(model.objects.size(), 1.0));
  plane_radius.resize(ctx, node_count);
  copy(ctx, plane_radius.data(), radius.data(), node_count);
  if (std::ranges::none_of(model.objects, &Object::is_rods)) return;
  std::vector<Vec3i> all = model.triangles;
  for (const Vec2i& s : model.segments) all.push_back({s[0], s[1], s[1]});
  faces.upload(ctx, all);
}

void DeviceModel::scale_radii(Context& ctx, const Model& model, const std::vector<double>& factor) {
  std::vector<Real> half(node_count);
  for (std::size_t i = 0; i < node_count; ++i) {
    const auto object = static_cast<std::size_t>(model.node_object[i]);
    half[i] = static_cast<Real>(factor[object] * model.objects[object].thickness / 2);
  }
  radius.upload(ctx, half);
}

void DeviceModel::forget_acting(Context& ctx) {
  selected_ = false;
  acting_scripts_.clear();
  acting_forces_.clear();
  copy(ctx, anchor.data(), start.data(), node_count);
}

bool DeviceModel::select_acting(Context& ctx, const Model& model, double time, double dt, const Vec3* x) {
  std::vector<bool> scripts, forces;
  for (const ScriptedNodes& script : model.scripted) scripts.push_back(script.acts(time, dt));
  for (const NodeForce& force : model.forces) forces.push_back(force.acts(time, dt));
  bool released = false;
  if (!selected_ || scripts != acting_scripts_) {
    for (std::size_t s = 0; s < acting_scripts_.size(); ++s)
      released = released || (acting_scripts_[s] && !scripts[s]);
    select_scripts(ctx, model, scripts, time, x);
    ++script_changes_;
    acting_scripts_ = std::move(scripts);
  }
  if (!selected_ || forces != acting_forces_) {
    std::vector<Vec3> sum(node_count, Vec3::zero());
    for (std::size_t f = 0; f < forces.size(); ++f)
      for (const std::int32_t node : model.forces[f].nodes)
        if (forces[f]) sum[node] += model.forces[f].acceleration.template cast<Real>();
    acceleration.upload(ctx, sum);
    acting_forces_ = std::move(forces);
  }
  selected_ = true;
  return released;
}

void DeviceModel::select_scripts(Context& ctx, const Model& model, const std::vector<bool>& acting,
                                 double time, const Vec3* x) {
  std::vector<std::int32_t> script(node_count, -1);
  std::vector<std::uint8_t> is_scripted(node_count, 0), is_taken(node_count, 0);
  std::vector<RigidPose> taken_at = script_poses(model, time);
  for (std::size_t s = 0; s < acting.size(); ++s) {
    if (!acting[s]) continue;
    const bool acted = s < acting_scripts_.size() && acting_scripts_[s];
    // A script that begins with this step takes its nodes at its own beginning, which is seldom the start of
    // a step; after a jump in time it takes them as they are.
    if (selected_) taken_at[s] = script_pose(model.scripted[s].motion, model.scripted[s].begin);
    for (const std::int32_t node : model.scripted[s].nodes) {
      script[node] = static_cast<std::int32_t>(s);
      is_scripted[node] = 1;
      is_taken[node] = !acted && model.scripted[s].begin > 0;
    }
  }
  node_script.upload(ctx, script);
  scripted.upload(ctx, is_scripted);
  for (std::size_t i = 0; i < node_count; ++i)
    if (const std::int32_t group = model.objects[model.node_object[i]].no_contact_group; group > 0)
      is_scripted[i] |= static_cast<std::uint8_t>(1 << group);
  apart.upload(ctx, is_scripted);
  const Buffer<std::uint8_t> taken(ctx, is_taken);
  const Buffer<RigidPose> poses(ctx, taken_at);
  anchor_taken_nodes(ctx, node_count, taken.data(), node_script.data(), poses.data(), x, anchor.data());
  ctx.synchronize();  // before the two buffers go
}

namespace {

/// What a contact finds at nodes that follow others: sum_k w_k^2 times the value of node k.
void follow_resistance(const std::vector<LatticeFollower>& followers, std::vector<Real>& inverse_mass,
                       std::vector<Real>& compliance) {
  for (const LatticeFollower& f : followers)
    for (std::vector<Real>* values : {&inverse_mass, &compliance}) {
      double sum = 0;
      for (int k = 0; k < leader_count(f.controls); ++k)
        sum += f.weights[k] * f.weights[k] * double((*values)[f.controls[k]]);
      (*values)[f.node] = static_cast<Real>(sum);
    }
}

}  // namespace

void DeviceModel::upload_resistance(Context& ctx, const Model& model, const std::vector<double>& masses) {
  std::vector<Real> inverse(node_count), gives(node_count, Real(0));
  for (std::size_t i = 0; i < node_count; ++i)
    inverse[i] = masses[i] > 0 ? static_cast<Real>(1 / masses[i]) : Real(0);
  for (const Object& object : model.objects) {
    const auto nodes = [&](std::vector<Real>& of) {
      return std::span(of).subspan(object.node_begin, object.node_end - object.node_begin);
    };
    if (object.is_affine()) {
      const auto own = std::span(masses).subspan(object.node_begin, object.node_end - object.node_begin);
      const double whole =
          object.is_stiff() ? object_mass(model, object) : std::accumulate(own.begin(), own.end(), 0.0);
      std::ranges::fill(nodes(inverse), static_cast<Real>(4 / whole));
    } else if (object.is_thin()) {
      std::ranges::fill(nodes(gives), std::numeric_limits<Real>::infinity());
    } else {
      const std::vector<double> stiffness = node_stiffness(model, object);
      for (std::size_t i = 0; i < stiffness.size(); ++i)
        if (stiffness[i] > 0) nodes(gives)[i] = static_cast<Real>(1 / stiffness[i]);
      if (object.is_embedded()) follow_resistance(followers(model, object), inverse, gives);
    }
  }
  inverse_mass.upload(ctx, inverse);
  compliance.upload(ctx, gives);
}

void DeviceModel::upload_materials(Context& ctx, const Model& model) {
  std::vector<double> masses(node_count, 0.0);
  double total = 0, total_stiffness = 0;
  std::size_t solid_nodes = 0;
  for (const Object& object : model.objects) {
    const Material& material = model.materials[object.material];
    const std::vector<double> shares = tet_shares(model, object);
    std::size_t t = 0;
    for (const Vec4i& tet : tets_of(model, object)) {
      const double m = material.density * shares[t++] * tet_volume(model.rest_positions, tet);
      total += m;
      // An affine body resists a contact with its mass, not with the stiffness that holds its shape.
      if (!object.is_affine()) total_stiffness += m * material.young * std::cbrt(m / material.density);
    }
    for (const auto& [node, volume] : lumped_volumes(model, object)) {
      masses[node] += material.density * volume;
      if (object.is_thin()) total += material.density * volume;  // bends easily: resists with its mass
    }
    if (object.is_stiff()) total += object_mass(model, object);
    if (object.is_embedded()) solid_nodes += object.collides_from - object.node_begin;
    else if (object.is_movable())
      solid_nodes += object.node_end - std::max(object.node_begin, object.collides_from);
  }
  mean_mass = solid_nodes > 0 ? static_cast<Real>(total / static_cast<double>(solid_nodes)) : Real(1);
  mean_stiffness = total > 0 ? static_cast<Real>(total_stiffness / total) : Real(0);
  std::vector<Real> lumped(node_count);
  for (std::size_t i = 0; i < node_count; ++i)
    lumped[i] = masses[i] > 0 ? static_cast<Real>(masses[i]) : mean_mass;
  for (const Object& object : model.objects) {
    const double carried = object.is_stiff() ? object_mass(model, object) / 4 : 0;
    for (int k = 0; object.is_affine() && k < 4; ++k)
      lumped[object.control_begin + k] = static_cast<Real>(carried);
    if (object.is_stiff())
      std::fill(lumped.begin() + object.node_begin, lumped.begin() + object.node_end, Real(0));
    if (object.is_embedded())
      std::fill(lumped.begin() + object.collides_from, lumped.begin() + object.node_end, Real(0));
  }
  mass.upload(ctx, lumped);
  upload_resistance(ctx, model, masses);
  material_count = model.materials.size();
  mu.upload(ctx, friction_table(model));
  std::vector<Plane> host_planes;
  for (const HalfSpace& h : model.half_spaces)
    host_planes.push_back({h.normal.cast<Real>(), static_cast<Real>(h.offset)});
  planes.upload(ctx, host_planes);
}

std::vector<Vec3> frame_positions(const Model& model, const ScriptedNodes& script, double time) {
  const double last = static_cast<double>(script.frames.size());
  const double at = std::clamp(time / script.frame_dt, 0.0, last);
  const std::size_t after = static_cast<std::size_t>(std::ceil(at));  // counted from 1; 0: at the start
  const double share = at - std::floor(at);
  std::vector<Vec3> positions(script.nodes.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto stand = [&](std::size_t frame) {
      return frame == 0 ? model.positions[script.nodes[i]] : script.frames[frame - 1][i];
    };
    const Vec<double, 3> to = stand(after), from = share > 0 ? stand(after - 1) : to;
    positions[i] = (share > 0 ? from + share * (to - from) : to).template cast<Real>();
  }
  return positions;
}

std::vector<RigidPose> script_poses(const Model& model, double time) {
  std::vector<RigidPose> poses;
  poses.reserve(model.scripted.size());
  for (const ScriptedNodes& script : model.scripted) poses.push_back(script_pose(script.motion, time));
  return poses;
}

}  // namespace stickslip::STICKSLIP_BACKEND
