#include "gpu/model/device_model.cuh"

#include <algorithm>
#include <cmath>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

double tet_volume(const Model& model, const Vec4i& tet) {
  const auto& p = model.rest_positions;
  const Vec<double, 3> a = p[tet[1]] - p[tet[0]], b = p[tet[2]] - p[tet[0]], c = p[tet[3]] - p[tet[0]];
  return dot(a, cross(b, c)) / 6.0;
}

double solids_diagonal(const Model& model) {
  Vec<double, 3> lo = Vec<double, 3>::filled(1e300), hi = Vec<double, 3>::filled(-1e300);
  for (const Object& object : model.objects) {
    if (object.tet_begin == object.tet_end) continue;
    for (int i = object.node_begin; i < object.node_end; ++i) {
      lo = min(lo, model.positions[i]);
      hi = max(hi, model.positions[i]);
    }
  }
  return hi[0] >= lo[0] ? norm(hi - lo) : 1.0;
}

std::vector<Vec3> to_real(const std::vector<Vec<double, 3>>& values) {
  std::vector<Vec3> out;
  out.reserve(values.size());
  for (const auto& v : values) out.push_back(v.template cast<Real>());
  return out;
}

}  // namespace

void DeviceModel::upload(Context& ctx, const Model& model) {
  node_count = model.node_count();
  diagonal = static_cast<Real>(solids_diagonal(model));
  rest.upload(ctx, to_real(model.rest_positions));
  start.upload(ctx, to_real(model.positions));
  tets.upload(ctx, model.tets);
  triangles.upload(ctx, model.triangles);
  edges.upload(ctx, model.edges);
  surface_nodes.upload(ctx, model.surface_nodes);
  node_object.upload(ctx, model.node_object);
  std::vector<std::int32_t> script(node_count, -1);
  for (std::size_t s = 0; s < model.scripted.size(); ++s)
    for (const std::int32_t node : model.scripted[s].nodes) script[node] = static_cast<std::int32_t>(s);
  node_script.upload(ctx, script);
  std::vector<std::uint8_t> is_scripted(node_count);
  for (std::size_t i = 0; i < node_count; ++i) is_scripted[i] = script[i] >= 0;
  scripted.upload(ctx, is_scripted);
  upload_materials(ctx, model);
}

void DeviceModel::upload_materials(Context& ctx, const Model& model) {
  std::vector<double> masses(node_count, 0.0);
  std::vector<Real> friction(node_count, Real(0));
  double total = 0;
  std::size_t solid_nodes = 0;
  for (const Object& object : model.objects) {
    const Material& material = model.materials[object.material];
    for (int t = object.tet_begin; t < object.tet_end; ++t) {
      const double m = material.density * tet_volume(model, model.tets[t]);
      total += m;
      for (int c = 0; c < 4; ++c) masses[model.tets[t][c]] += m / 4;
    }
    if (object.tet_end > object.tet_begin) solid_nodes += object.node_end - object.node_begin;
    for (int i = object.node_begin; i < object.node_end; ++i) friction[i] = static_cast<Real>(material.mu);
  }
  mean_mass = solid_nodes > 0 ? static_cast<Real>(total / static_cast<double>(solid_nodes)) : Real(1);
  std::vector<Real> lumped(node_count);
  for (std::size_t i = 0; i < node_count; ++i)
    lumped[i] = masses[i] > 0 ? static_cast<Real>(masses[i]) : mean_mass;
  mass.upload(ctx, lumped);
  mu.upload(ctx, friction);
  std::vector<Plane> host_planes;
  for (const HalfSpace& h : model.half_spaces)
    host_planes.push_back({h.normal.cast<Real>(), static_cast<Real>(h.offset), static_cast<Real>(h.mu)});
  planes.upload(ctx, host_planes);
}

std::vector<RigidPose> script_poses(const Model& model, double time) {
  std::vector<RigidPose> poses;
  poses.reserve(model.scripted.size());
  for (const ScriptedNodes& script : model.scripted) {
    // A rigid motion is affine in the start position: four evaluations give it.
    const Vec<double, 3> origin = script.motion.apply({0, 0, 0}, time);
    RigidPose pose{};
    pose.shift = origin.cast<Real>();
    for (int c = 0; c < 3; ++c) {
      Vec<double, 3> axis = Vec<double, 3>::zero();
      axis[c] = 1;
      const Vec<double, 3> column = script.motion.apply(axis, time) - origin;
      for (int r = 0; r < 3; ++r) pose.linear(r, c) = static_cast<Real>(column[r]);
    }
    poses.push_back(pose);
  }
  return poses;
}

}  // namespace stickslip::STICKSLIP_BACKEND
