#include "gpu/model/rod.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr int count_of_owned() {
  int count = 0;
  for (int s = 0; s < kRodVertexStencils; ++s)
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column <= row; ++column) count += rod_vertex_owns(s, row, column) ? 1 : 0;
  return count;
}
static_assert(count_of_owned() == kRodVertexNodes * (kRodVertexNodes + 1) / 2,
              "every pair of nodes needs one stencil");

Vec3d perpendicular(const Vec3d& v, const Vec3d& t) { return v - dot(v, t) * t; }

/// v, perpendicular to t0, turned as t0 turns to t1 about the axis t0 x t1.
Vec3d transported(const Vec3d& v, const Vec3d& t0, const Vec3d& t1) {
  const double chi = 1 + dot(t0, t1);
  const Vec3d axis = cross(t0, t1);
  return chi > 1e-12 ? (chi - 1) * v + cross(axis, v) + (dot(axis, v) / chi) * axis : v;
}

}  // namespace

std::vector<RodJoint> rod_joints(std::span<const Vec2i> segments) {
  std::int32_t low = segments.empty() ? 0 : segments[0][0], high = low;
  for (const Vec2i& s : segments) {
    low = std::min({low, s[0], s[1]});
    high = std::max({high, s[0], s[1]});
  }
  const auto place = [&](std::int32_t node) { return static_cast<std::size_t>(node - low); };
  std::vector<std::int32_t> begins(place(high) + 1, -1), ends(place(high) + 1, -1);
  const auto take = [&](std::int32_t& other, std::size_t segment, const char* what) {
    if (other >= 0)
      throw std::invalid_argument("segments " + std::to_string(other) + " and " + std::to_string(segment) +
                                  " both " + what +
                                  " at one node: a rod does not branch, and has one direction");
    other = static_cast<std::int32_t>(segment);
  };
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s][0] == segments[s][1])
      throw std::invalid_argument("segment " + std::to_string(s) + " joins a node to itself");
    take(begins[place(segments[s][0])], s, "begin");
    take(ends[place(segments[s][1])], s, "end");
  }
  std::vector<RodJoint> joints;
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (const std::int32_t before = ends[place(segments[s][0])]; before >= 0)
      joints.push_back({before, static_cast<std::int32_t>(s)});
  return joints;
}

std::vector<Vec3d> place_ghosts(std::span<const Vec3d> nodes, std::span<const Vec2i> segments,
                                double diameter) {
  std::vector<std::int32_t> before(segments.size(), -1), after(segments.size(), -1);
  for (const auto& [first, second] : rod_joints(segments)) {
    before[static_cast<std::size_t>(second)] = first;
    after[static_cast<std::size_t>(first)] = second;
  }
  std::vector<Vec3d> ghosts(segments.size());
  std::vector<bool> placed(segments.size(), false);
  const auto node = [&](std::size_t s, int c) { return nodes[static_cast<std::size_t>(segments[s][c])]; };
  const auto place_rod = [&](std::size_t first) {
    Vec3d t = normalized(node(first, 1) - node(first, 0));
    Vec3d d1 = perpendicular(std::abs(t[1]) < 0.99 ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0}, t);
    for (auto s = static_cast<std::int32_t>(first); s >= 0 && !placed[static_cast<std::size_t>(s)];
         s = after[static_cast<std::size_t>(s)]) {
      const auto at = static_cast<std::size_t>(s);
      const Vec3d e = node(at, 1) - node(at, 0), next = normalized(e);
      d1 = normalized(perpendicular(transported(d1, t, next), next));
      t = next;
      ghosts[at] = 0.5 * (node(at, 0) + node(at, 1)) + ghost_arm(norm(e), diameter) * d1;
      placed[at] = true;
    }
  };
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (before[s] < 0) place_rod(s);
  for (std::size_t s = 0; s < segments.size(); ++s)  // closed rods
    if (!placed[s]) place_rod(s);
  return ghosts;
}

}  // namespace stickslip
