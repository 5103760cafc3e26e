#include "gpu/model/compact_state.h"

#include <utility>

#include "gpu/core/real.h"
#include "gpu/model/affine.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Nodes have the precision of steps.
Vec3d rounded(const Vec3d& x) { return x.cast<Real>().cast<double>(); }

std::vector<Vec3d> chosen(const std::vector<Vec3d>& all, const std::vector<std::int32_t>& nodes) {
  std::vector<Vec3d> some;
  some.reserve(nodes.size());
  for (const std::int32_t node : nodes) some.push_back(all[static_cast<std::size_t>(node)]);
  return some;
}

std::vector<LatticeFollower> affine_followers(const Model& model, const Object& object) {
  std::vector<LatticeFollower> all;
  const Leaders leaders = leaders_of(control_tet(object));
  std::int32_t node = object.node_begin;
  for (const Vec<double, 4>& w : control_weights(model, object))
    all.push_back({node++, leaders, {w[0], w[1], w[2], w[3], 0, 0, 0, 0}});
  return all;
}

}  // namespace

StateCompactor::StateCompactor(const Model& model)
    : nodes_(model.node_count()), bodies_(model.bodies.size()) {
  std::vector<bool> follows(nodes_, false);
  for (const Object& object : model.objects) {
    for (std::int32_t node = object.node_begin; object.is_rigid() && node < object.node_end; ++node) {
      on_bodies_.push_back({node, object.body, model.rest_positions[static_cast<std::size_t>(node)]});
      follows[static_cast<std::size_t>(node)] = true;
    }
    std::vector<LatticeFollower> own;
    if (object.is_embedded()) own = stickslip::followers(model, object);
    else if (object.is_affine() && !object.is_stiff()) own = affine_followers(model, object);
    for (const LatticeFollower& f : own) follows[static_cast<std::size_t>(f.node)] = true;
    followers_.insert(followers_.end(), own.begin(), own.end());
  }
  for (std::size_t node = 0; node < nodes_; ++node)
    if (!follows[node]) free_.push_back(static_cast<std::int32_t>(node));
}

State StateCompactor::compact(State state) const {
  if (free_.size() == nodes_ || state.positions.size() != nodes_ || state.velocities.size() != nodes_ ||
      state.bodies.size() != bodies_)
    return state;
  state.positions = chosen(state.positions, free_);
  state.velocities = chosen(state.velocities, free_);
  return state;
}

State StateCompactor::expand(State state) const {
  if (free_.size() == nodes_ || state.positions.size() != free_.size() || state.bodies.size() != bodies_)
    return state;
  std::vector<Vec3d> x(nodes_), v(nodes_);
  for (std::size_t i = 0; i < free_.size(); ++i) {
    x[static_cast<std::size_t>(free_[i])] = state.positions[i];
    v[static_cast<std::size_t>(free_[i])] = state.velocities[i];
  }
  for (const BodyNode& n : on_bodies_) {
    const BodyState& body = state.bodies[static_cast<std::size_t>(n.body)];
    const Vec3d arm = body.pose.q.rotate(n.rest);
    x[static_cast<std::size_t>(n.node)] = rounded(body.pose.x + arm);
    v[static_cast<std::size_t>(n.node)] = rounded(body.velocity + cross(body.spin, arm));
  }
  for (const LatticeFollower& f : followers_) {
    Vec3d at = Vec3d::zero(), speed = Vec3d::zero();
    for (int k = 0; k < leader_count(f.controls); ++k) {
      const auto leader = static_cast<std::size_t>(f.controls[k]);
      at += f.weights[k] * x[leader];
      speed += f.weights[k] * v[leader];
    }
    x[static_cast<std::size_t>(f.node)] = rounded(at);
    v[static_cast<std::size_t>(f.node)] = rounded(speed);
  }
  state.positions = std::move(x);
  state.velocities = std::move(v);
  return state;
}

}  // namespace stickslip
