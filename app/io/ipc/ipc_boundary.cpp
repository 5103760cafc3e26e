#include "app/io/ipc/ipc_boundary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Nodes = std::vector<std::int32_t>;

/// First step start at or after `time`. The format compares the start of a step, a scene the middle.
double on_step(double time, double dt) {
  return time >= 1e29 ? 1e30 : std::max(0.0, std::ceil(time / dt - 1e-9)) * dt;
}

Nodes nodes_in(const IpcBox& box, const IpcLayout& layout, const IpcBody& body) {
  IpcBounds file;
  for (int i = body.begin; i < body.end; ++i) file.include(layout.file_nodes[i]);
  Nodes found;
  for (int i = body.begin; i < body.end; ++i) {
    bool inside = layout.on_boundary[i];
    for (int c = 0; c < 3; ++c) {
      const double x = layout.file_nodes[i][c], size = file.size()[c];
      inside = inside && x >= size * box.low[c] + file.low[c] && x <= size * box.high[c] + file.low[c];
    }
    if (inside) found.push_back(i);
  }
  return found;
}

struct Part {
  int line = 0;
  ScriptedNodes script;
};

bool turns(const Motion& motion) { return !(motion.angular_velocity == Vec3d{0, 0, 0}); }

/// Merges the parts that act on a node from one of `times` to the next into one motion.
Motion sum(const IpcScript& script, const std::vector<Part>& parts, const std::set<int>& acting,
           double begin) {
  Motion motion;
  motion.start = begin;
  const Part* turning = nullptr;
  for (const int p : acting) {
    const Motion& part = parts[p].script.motion;
    motion.velocity += part.velocity;
    if (!turns(part)) continue;
    if (turning)
      script.fail(parts[p].line, "shape: a node that turns already (line " + std::to_string(turning->line) +
                                     ") cannot turn about a second axis");
    turning = &parts[p];
    motion.angular_velocity = part.angular_velocity;
    motion.center = part.center;
  }
  return motion;
}

/// Replaces parts that share nodes at some time by disjoint ones.
std::vector<ScriptedNodes> separate(const IpcScript& script, const std::vector<Part>& parts) {
  std::set<double> times;
  std::map<std::int32_t, std::set<int>> parts_of;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    times.insert({parts[p].script.begin, parts[p].script.end});
    for (const std::int32_t node : parts[p].script.nodes) parts_of[node].insert(static_cast<int>(p));
  }
  std::map<std::set<int>, Nodes> groups;
  for (const auto& [node, acting] : parts_of) groups[acting].push_back(node);

  std::vector<ScriptedNodes> separated;
  for (const auto& [group, nodes] : groups) {
    if (group.size() == 1) {
      ScriptedNodes alone = parts[*group.begin()].script;
      alone.nodes = nodes;
      separated.push_back(std::move(alone));
      continue;
    }
    for (auto begin = times.begin(); std::next(begin) != times.end(); ++begin) {
      const double end = *std::next(begin);
      std::set<int> acting = group;
      std::erase_if(acting,
                    [&](int p) { return parts[p].script.begin > *begin || parts[p].script.end < end; });
      if (!acting.empty()) separated.push_back({nodes, sum(script, parts, acting, *begin), *begin, end, {}});
    }
  }
  return separated;
}

}  // namespace

void add_shape_motions(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation) {
  std::vector<Part> parts;
  const auto add = [&](int line, Nodes nodes, const Vec3d& velocity, const Vec3d& spin, double begin,
                       double end) {
    if (nodes.empty() || !(end > begin)) return;
    IpcBounds box;
    for (const std::int32_t i : nodes) box.include(layout.nodes[i]);
    Motion motion;
    motion.velocity = velocity;
    motion.angular_velocity = spin;
    motion.center = box.center();
    motion.start = begin;
    parts.push_back({line, {std::move(nodes), motion, begin, end, {}}});
  };
  for (std::size_t b = 0; b < script.shapes.size(); ++b) {
    const IpcShape& shape = script.shapes[b];
    const IpcBody& body = layout.bodies[b];
    if (shape.linear_velocity || shape.angular_velocity) {
      Nodes all;
      for (int i = body.begin; i < body.end; ++i) all.push_back(i);
      const Vec3d zero{0, 0, 0};
      add(shape.line, std::move(all), shape.linear_velocity.value_or(zero),
          shape.angular_velocity.value_or(zero), 0, 1e30);
    }
    for (const IpcDirichlet& d : shape.dirichlet)
      add(shape.line, nodes_in(d, layout, body), d.velocity, d.angular_velocity,
          on_step(std::max(d.begin, script.dirichlet_range[0]), script.dt),
          on_step(std::min(d.end, script.dirichlet_range[1]), script.dt));
  }
  animation.scripted = separate(script, parts);
}

void add_forces(const IpcScript& script, const IpcLayout& layout, IpcAnimation& animation) {
  for (std::size_t b = 0; b < script.shapes.size(); ++b)
    for (const IpcNeumann& n : script.shapes[b].neumann) {
      NodeForce force{nodes_in(n, layout, layout.bodies[b]), n.acceleration,
                      on_step(std::max(n.begin, script.neumann_range[0]), script.dt),
                      on_step(std::min(n.end, script.neumann_range[1]), script.dt)};
      if (!force.nodes.empty() && force.end > force.begin) animation.forces.push_back(std::move(force));
    }
}

}  // namespace stickslip
