// Converts the name of an IPC scene script's animation into groups of nodes with a Motion. Used by
// ipc_animation*.cpp only.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <numbers>

#include "app/io/ipc/ipc_animation.h"
#include "app/io/ipc/ipc_boundary.h"

namespace stickslip::ipc {

using Vec3d = Vec<double, 3>;
using Nodes = std::vector<std::int32_t>;

constexpr double kPi = std::numbers::pi;

/// Changes a velocity before a step; `moved` is the displacement so far.
using Rule = std::function<void(const Vec3d& moved, Vec3d& velocity)>;

inline Motion moving(const Vec3d& velocity) {
  Motion motion;
  motion.velocity = velocity;
  return motion;
}

inline Motion turning(const Vec3d& angular_velocity, const Vec3d& center) {
  Motion motion;
  motion.angular_velocity = angular_velocity;
  motion.center = center;
  return motion;
}

/// The table of names and effects. Every function fills `out_` from the positions of the nodes after the
/// shift; thresholds are shares of the bounding box of all shapes.
class Director {
 public:
  Director(const IpcScript& script, const IpcLayout& layout) : script_(script), layout_(layout) {
    out_.mesh_motions.resize(layout.mesh_colliders.size());
    add_holds();
    add_moves();
    add_pulls();
    add_starts_and_forces();
    add_shape_scripts();
    add_mesh_scripts();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, action] : actions_) all.push_back(name);
    return all;
  }
  IpcAnimation direct(const std::string& name) {
    if (name == "fall" || name == "dragdown" || name == "dragright") {
      out_.shift[1] = 0.5 * norm(layout_.bounds().size());
    } else if (name == "swing") {
      out_.shift[1] = 1.3 * layout_.bounds().size()[1];
    }
    nodes_ = layout_.nodes;
    for (Vec3d& p : nodes_) p += out_.shift;
    for (const Vec3d& p : nodes_) box_.include(p);
    actions_.at(name)();
    add_forces(script_, layout_, out_);
    return std::move(out_);
  }

 private:
  void add_holds();
  void add_moves();
  void add_pulls();
  void add_starts_and_forces();
  void add_shape_scripts();
  void add_mesh_scripts();

  // Selection of nodes.
  Nodes where(const std::function<bool(const Vec3d&)>& inside) const {
    Nodes found;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (inside(nodes_[i])) found.push_back(static_cast<std::int32_t>(i));
    return found;
  }
  bool below(const Vec3d& p, int axis, double share) const {
    return p[axis] < box_.low[axis] + share * box_.size()[axis];
  }
  bool above(const Vec3d& p, int axis, double share) const {
    return p[axis] > box_.high[axis] - share * box_.size()[axis];
  }
  Nodes low(int axis, double share) const {
    return where([&](const Vec3d& p) { return below(p, axis, share); });
  }
  Nodes high(int axis, double share) const {
    return where([&](const Vec3d& p) { return above(p, axis, share) && !below(p, axis, share); });
  }
  IpcBounds unturned_bounds() const {
    IpcBounds all;
    for (const Vec3d& p : layout_.unturned) all.include(p);
    return all;
  }
  /// Nodes of the end at low x (0) or high x (1), before rotateModel.
  Nodes end(int side) const {
    const IpcBounds all = unturned_bounds();
    const double reach = script_.handle_ratio * all.size()[0];
    Nodes found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const double x = layout_.unturned[i][0];
      const bool at_low = x < all.low[0] + reach;
      if (side == 0 ? at_low : !at_low && x > all.high[0] - reach)
        found.push_back(static_cast<std::int32_t>(i));
    }
    if (found.empty()) fail("finds no node at an end: raise handleRatio");
    return found;
  }
  /// All nodes of a shape.
  Nodes shape(int index) const {
    if (index >= static_cast<int>(layout_.bodies.size()))
      fail("needs at least " + std::to_string(index + 1) + " shapes");
    Nodes all;
    for (int i = layout_.bodies[index].begin; i < layout_.bodies[index].end; ++i) all.push_back(i);
    return all;
  }
  IpcBounds bounds(const Nodes& nodes) const {
    IpcBounds box;
    for (const std::int32_t i : nodes) box.include(nodes_[i]);
    return box;
  }
  bool kinematic(int index) const { return layout_.bodies[index].kind != IpcKind::solid; }

  // Effects on nodes.
  void follow(const Nodes& nodes, const Motion& motion, double begin = 0, double end = 1e30) {
    if (!nodes.empty() && end > begin) out_.scripted.push_back({nodes, motion, begin, end, {}});
  }
  void hold(const Nodes& nodes, double begin = 0, double end = 1e30) { follow(nodes, {}, begin, end); }
  void move(const Nodes& nodes, const Vec3d& velocity) { follow(nodes, moving(velocity)); }
  void push(const Nodes& nodes, const Vec3d& acceleration, double begin = 0, double end = 1e30) {
    if (!nodes.empty() && end > begin) out_.forces.push_back({nodes, acceleration, begin, end});
  }
  [[noreturn]] void fail(const std::string& what) const {
    script_.fail(script_.animation_line, "script " + script_.animation + ": " + what);
  }

  /// Motion of a leader whose velocity a rule changes between steps; other nodes use it times `sign`.
  Motion ruled(Vec3d velocity, const Rule& rule, double sign = 1) const;
  /// Start time of the first step for which `stop` holds, given the displacement at `velocity`; 1e30 if it
  /// never holds.
  double time_of(const Vec3d& velocity, const std::function<bool(const Vec3d&)>& stop) const {
    Vec3d moved{0, 0, 0};
    for (int k = 0; k < ipc_frames(script_); ++k) {
      if (stop(moved)) return k * script_.dt;
      moved += script_.dt * velocity;
    }
    return 1e30;
  }
  Motion until(const Vec3d& velocity, double end) const {
    Motion motion = end > 0 ? moving(velocity) : Motion();
    if (end < 1e30) motion.end = end;
    return motion;
  }

  const IpcScript& script_;
  const IpcLayout& layout_;
  std::vector<Vec3d> nodes_;
  IpcBounds box_;
  IpcAnimation out_;
  std::map<std::string, std::function<void()>, std::less<>> actions_;
};

}  // namespace stickslip::ipc
