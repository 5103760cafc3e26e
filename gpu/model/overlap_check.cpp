#include "gpu/model/overlap_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Positions = std::vector<Vec3d>;

struct Corners {
  Vec3d a, b, c;
};

Corners corners_of(const Positions& x, const Vec3i& t) {
  return {x[static_cast<std::size_t>(t[0])], x[static_cast<std::size_t>(t[1])],
          x[static_cast<std::size_t>(t[2])]};
}

double distance2_to_segment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double length2 = norm2(along);
  const double share = length2 > 0 ? std::clamp(dot(p - a, along) / length2, 0.0, 1.0) : 0.0;
  return norm2(a + share * along - p);
}

/// To the plane where p lies above the triangle, else to its sides.
double distance2_to_triangle(const Vec3d& p, const Corners& t) {
  const Vec3d normal = cross(t.b - t.a, t.c - t.a);
  const double area2 = norm2(normal);
  if (area2 > 0 && dot(cross(t.b - t.a, p - t.a), normal) >= 0 &&
      dot(cross(t.c - t.b, p - t.b), normal) >= 0 && dot(cross(t.a - t.c, p - t.c), normal) >= 0) {
    const double height = dot(p - t.a, normal);
    return height * height / area2;
  }
  return std::min({distance2_to_segment(p, t.a, t.b), distance2_to_segment(p, t.b, t.c),
                   distance2_to_segment(p, t.c, t.a)});
}

/// The solid angle of the triangle seen from p, with its sign [VanOosterom83 Eq.8].
double solid_angle(const Vec3d& p, const Corners& t) {
  const Vec3d a = t.a - p, b = t.b - p, c = t.c - p;
  const double la = norm(a), lb = norm(b), lc = norm(c);
  return 2 * std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

/// Where along p..q, as a share of it, it passes through the triangle; negative: nowhere.
double crossing(const Vec3d& p, const Vec3d& q, const Corners& t) {
  const Vec3d normal = cross(t.b - t.a, t.c - t.a);
  const double from = dot(p - t.a, normal), to = dot(q - t.a, normal);
  if ((from > 0) == (to > 0) || from == to) return -1;
  const double share = from / (from - to);
  const Vec3d x = p + share * (q - p);
  const bool inside = dot(cross(t.b - t.a, x - t.a), normal) >= 0 &&
                      dot(cross(t.c - t.b, x - t.b), normal) >= 0 &&
                      dot(cross(t.a - t.c, x - t.c), normal) >= 0;
  return inside ? share : -1;
}

}  // namespace

struct OverlapCheck::Box {
  Vec3d low = Vec3d::filled(std::numeric_limits<double>::infinity()), high = -low;

  void add(const Vec3d& p) {
    low = min(low, p);
    high = max(high, p);
  }
  bool overlaps(const Box& other) const {
    for (int i = 0; i < 3; ++i)
      if (!(low[i] <= other.high[i] && other.low[i] <= high[i])) return false;
    return true;
  }
  /// No point of what fills the box is further from its surface than this; negative: p is outside.
  double depth_at_most(const Vec3d& p) const {
    double depth = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) depth = std::min({depth, p[i] - low[i], high[i] - p[i]});
    return depth;
  }
};

namespace {

/// Looks for points that are deeper inside one surface than `depth`.
class Probe {
 public:
  Probe(const Positions& x, const std::vector<Vec3i>& triangles, double depth)
      : x_(x), triangles_(triangles), depth2_(depth * depth) {}

  double depth() const { return std::sqrt(depth2_); }

  void look(const Vec3d& p) {
    double nearest2 = std::numeric_limits<double>::infinity();
    for (const Vec3i& t : triangles_) {
      nearest2 = std::min(nearest2, distance2_to_triangle(p, corners_of(x_, t)));
      if (nearest2 <= depth2_) return;
    }
    double angle = 0;
    for (const Vec3i& t : triangles_) angle += solid_angle(p, corners_of(x_, t));
    // 4 pi inside of what is closed, 0 outside.
    if (angle > 2 * M_PI && std::isfinite(nearest2)) depth2_ = nearest2;
  }

 private:
  const Positions& x_;
  const std::vector<Vec3i>& triangles_;
  double depth2_;
};

/// True if every edge is traversed once in each direction.
bool is_closed(const std::vector<Vec3i>& triangles) {
  std::map<std::pair<std::int32_t, std::int32_t>, int> sum;
  for (const Vec3i& t : triangles)
    for (int i = 0; i < 3; ++i) {
      const std::int32_t a = t[i], b = t[(i + 1) % 3];
      sum[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  return std::ranges::all_of(sum, [](const auto& edge) { return edge.second == 0; });
}

}  // namespace

OverlapCheck::OverlapCheck(const Model& model) : half_spaces_(model.half_spaces) {
  for (std::size_t k = 0; k < model.objects.size(); ++k) {
    const Object& object = model.objects[k];
    if (object.triangle_begin >= object.triangle_end || object.is_thin()) continue;
    Surface surface;
    surface.object = static_cast<std::int32_t>(k);
    surface.body = object.body;
    surface.group = object.no_contact_group;
    surface.moves =
        object.is_rigid() ? model.bodies[static_cast<std::size_t>(object.body)].moves : object.is_solid();
    const auto triangles = triangles_of(model, object);
    surface.triangles.assign(triangles.begin(), triangles.end());
    if (object.is_collider() && !is_closed(surface.triangles)) continue;
    for (const Vec3i& t : surface.triangles)
      for (int i = 0; i < 3; ++i) {
        surface.nodes.push_back(t[i]);
        surface.edges.push_back({std::min(t[i], t[(i + 1) % 3]), std::max(t[i], t[(i + 1) % 3])});
      }
    const auto make_unique = [](auto& list, auto less) {
      std::sort(list.begin(), list.end(), less);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    make_unique(surface.nodes, std::less<>());
    make_unique(surface.edges,
                [](const Vec2i& a, const Vec2i& b) { return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]); });
    surfaces_.push_back(std::move(surface));
  }
  for (const Joint& joint : model.joints)
    if (!joint.collide && joint.a >= 0 && joint.b >= 0) jointed_.push_back(std::minmax(joint.a, joint.b));
  std::sort(jointed_.begin(), jointed_.end());
}

bool OverlapCheck::may_touch(const Surface& a, const Surface& b) const {
  if (!a.moves && !b.moves) return false;
  if (a.group > 0 && a.group == b.group) return false;
  const std::pair<std::int32_t, std::int32_t> bodies = std::minmax(a.body, b.body);
  return !std::binary_search(jointed_.begin(), jointed_.end(), bodies);
}

MeshOverlap OverlapCheck::deepest(const Positions& positions) const {
  MeshOverlap found;
  std::vector<Box> boxes(surfaces_.size());
  for (std::size_t s = 0; s < surfaces_.size(); ++s)
    for (const std::int32_t n : surfaces_[s].nodes) boxes[s].add(positions[static_cast<std::size_t>(n)]);

  const auto look_into = [&](std::size_t s, std::size_t other) {
    const Surface &of = surfaces_[s], &in = surfaces_[other];
    const Box& box = boxes[other];
    Probe probe(positions, in.triangles, found.depth);
    const auto look = [&](const Vec3d& p) {
      if (box.depth_at_most(p) > probe.depth()) probe.look(p);
    };
    for (const std::int32_t n : of.nodes) look(positions[static_cast<std::size_t>(n)]);
    for (const Vec3i& t : of.triangles) {
      const Corners c = corners_of(positions, t);
      look((c.a + c.b + c.c) / 3);
    }
    std::vector<double> cuts;
    for (const Vec2i& e : of.edges) {
      const Vec3d p = positions[static_cast<std::size_t>(e[0])],
                  q = positions[static_cast<std::size_t>(e[1])];
      Box along;
      along.add(p);
      along.add(q);
      if (!along.overlaps(box)) continue;
      look(0.5 * (p + q));
      cuts.assign({0.0, 1.0});
      for (const Vec3i& t : in.triangles)
        if (const double cut = crossing(p, q, corners_of(positions, t)); cut >= 0) cuts.push_back(cut);
      if (cuts.size() == 2) continue;
      std::sort(cuts.begin(), cuts.end());
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) look(p + 0.5 * (cuts[i] + cuts[i + 1]) * (q - p));
    }
    if (probe.depth() > found.depth) found = {probe.depth(), of.object, in.object};
  };

  // Sweep along x.
  std::vector<std::size_t> order(surfaces_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return boxes[a].low[0] < boxes[b].low[0]; });
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t k = i + 1; k < order.size() && boxes[order[k]].low[0] <= boxes[order[i]].high[0]; ++k) {
      const std::size_t a = order[i], b = order[k];
      if (!boxes[a].overlaps(boxes[b]) || !may_touch(surfaces_[a], surfaces_[b])) continue;
      look_into(a, b);
      look_into(b, a);
    }

  for (std::size_t h = 0; h < half_spaces_.size(); ++h) {
    const double length = norm(half_spaces_[h].normal);
    for (const Surface& surface : surfaces_) {
      if (!surface.moves) continue;
      for (const std::int32_t n : surface.nodes) {
        const double depth =
            (half_spaces_[h].offset - dot(half_spaces_[h].normal, positions[static_cast<std::size_t>(n)])) /
            length;
        if (depth > found.depth) found = {depth, surface.object, -1 - static_cast<std::int32_t>(h)};
      }
    }
  }
  return found;
}

std::string describe(const MeshOverlap& overlap, const Model& model) {
  if (overlap.in < 0) return {};
  const auto name = [&](std::int32_t object) {
    return "'" + model.objects[static_cast<std::size_t>(object)].name + "'";
  };
  return name(overlap.in) + " in " +
         (overlap.of >= 0 ? name(overlap.of) : "half-space " + std::to_string(-1 - overlap.of));
}

}  // namespace stickslip
