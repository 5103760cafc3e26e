#include "app/viewer/surface_overlap.h"

#include <algorithm>
#include <cmath>

#include "app/viewer/free_space.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Positions = std::vector<Vec3d>;

constexpr double kRounding = 1e-6;  // of an object's size: floats are not nearer

bool boxes_overlap(const NodeBox& a, const NodeBox& b) {
  for (int k = 0; k < 3; ++k)
    if (a.high[k] < b.low[k] || b.high[k] < a.low[k]) return false;
  return true;
}

NodeBox box_around(std::initializer_list<Vec3d> points) {
  NodeBox box;
  for (const Vec3d& x : points) {
    box.low = min(box.low, x);
    box.high = max(box.high, x);
  }
  return box;
}

/// Whether the line from + s `along` crosses the triangle where `least` <= s <= `most`.
bool crosses(const Vec3d& from, const Vec3d& along, const Vec3d (&t)[3], double least, double most) {
  const Vec3d ab = t[1] - t[0], ac = t[2] - t[0], p = cross(along, ac);
  const double determinant = dot(ab, p);
  if (determinant == 0) return false;
  const Vec3d to = from - t[0], q = cross(to, ab);
  const double u = dot(to, p) / determinant, v = dot(along, q) / determinant, s = dot(ac, q) / determinant;
  return u >= 0 && v >= 0 && u + v <= 1 && s >= least && s <= most;
}

/// Triangles and free segments of an object.
class Surface {
 public:
  Surface(const Model& model, const Object& object, const Positions& positions)
      : model_(model), object_(object), positions_(positions) {}

  /// Calls visit(a, b, c) for triangles, and visit(a, b, b) for segments of rods and point colliders.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::int32_t t = object_.triangle_begin; t < object_.triangle_end; ++t) {
      const Vec3i& nodes = model_.triangles[static_cast<std::size_t>(t)];
      visit(at(nodes[0]), at(nodes[1]), at(nodes[2]));
    }
    for (std::int32_t s = object_.segment_begin; s < object_.segment_end; ++s) {
      const Vec2i& nodes = model_.segments[static_cast<std::size_t>(s)];
      visit(at(nodes[0]), at(nodes[1]), at(nodes[1]));
    }
  }
  NodeBox box() const {
    NodeBox box;
    each([&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
      box.low = min(box.low, min(a, min(b, c)));
      box.high = max(box.high, max(a, max(b, c)));
    });
    return box;
  }
  /// Where its triangles bound a volume, the sum of their areas as vectors is zero.
  bool is_closed() const {
    Vec3d sum{0, 0, 0};
    double areas = 0;
    each([&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
      const Vec3d area = cross(b - a, c - a);
      sum += area;
      areas += norm(area);
    });
    return areas > 0 && norm(sum) < 1e-6 * areas;
  }
  bool contains(const Vec3d& point) const {
    const Vec3d along{0.5377, 0.8339, 0.1241};  // through no edge of aligned boxes
    int count = 0;
    each([&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
      count += crosses(point, along, {a, b, c}, 0, 1e300);
    });
    return count % 2 == 1;
  }
  std::optional<Vec3d> any_point() const {
    std::optional<Vec3d> point;
    each([&](const Vec3d& a, const Vec3d&, const Vec3d&) {
      if (!point) point = a;
    });
    return point;
  }

 private:
  const Vec3d& at(std::int32_t node) const { return positions_[static_cast<std::size_t>(node)]; }

  const Model& model_;
  const Object& object_;
  const Positions& positions_;
};

struct Face {
  Vec3d x[3];  // the last two are equal: a segment
  NodeBox box;
  bool is_segment() const { return x[1] == x[2]; }
};

/// The faces that reach into a box.
std::vector<Face> faces_in(const Surface& surface, const NodeBox& box) {
  std::vector<Face> faces;
  surface.each([&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const NodeBox own = box_around({a, b, c});
    if (boxes_overlap(own, box)) faces.push_back({{a, b, c}, own});
  });
  return faces;
}

bool edges_cross(const Face& edges, const Face& face, double slack) {
  if (face.is_segment()) return false;
  for (int k = 0; k < (edges.is_segment() ? 1 : 3); ++k) {
    const Vec3d& from = edges.x[k];
    if (crosses(from, edges.x[(k + 1) % 3] - from, face.x, slack, 1 - slack)) return true;
  }
  return false;
}

bool surfaces_cross(std::vector<Face> a, std::vector<Face> b, double slack) {
  // Sweep along x: only faces whose intervals overlap are compared.
  const auto by_low = [](const Face& f, const Face& g) { return f.box.low[0] < g.box.low[0]; };
  std::ranges::sort(a, by_low);
  std::ranges::sort(b, by_low);
  double widest = 0;
  for (const Face& face : b) widest = std::max(widest, face.box.high[0] - face.box.low[0]);
  for (const Face& face : a) {
    auto other =
        std::ranges::lower_bound(b, face.box.low[0] - widest, {}, [](const Face& f) { return f.box.low[0]; });
    for (; other != b.end() && other->box.low[0] <= face.box.high[0]; ++other)
      if (boxes_overlap(face.box, other->box) &&
          (edges_cross(face, *other, slack) || edges_cross(*other, face, slack)))
        return true;
  }
  return false;
}

bool may_touch(const Model& model, int a, int b) {
  const Object &first = model.objects[static_cast<std::size_t>(a)],
               &second = model.objects[static_cast<std::size_t>(b)];
  if (a == b || (first.no_contact_group != 0 && first.no_contact_group == second.no_contact_group))
    return false;
  return std::ranges::none_of(model.exempt_objects, [&](const Vec2i& pair) {
    return (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
  });
}

/// [m] of the deepest node; negative: it is behind the plane.
double deepest(const HalfSpace& plane, const Object& object, const Positions& positions) {
  double least = 1e300;
  for (std::int32_t i = std::max(object.node_begin, object.collides_from); i < object.node_end; ++i)
    least = std::min(least, dot(plane.normal, positions[static_cast<std::size_t>(i)]) - plane.offset);
  return least - 0.5 * object.thickness;
}

}  // namespace

std::string overlapped_by(const Model& model, int object, const Positions& positions, const OverlapRule& rule,
                          std::span<const int> apart) {
  const Object& own = model.objects[static_cast<std::size_t>(object)];
  const Surface surface(model, own, positions);
  const NodeBox box = surface.box();
  const double rounding = kRounding * norm(box.high - box.low);
  if (!own.is_collider())
    for (std::size_t k = 0; k < model.half_spaces.size(); ++k)
      if (deepest(model.half_spaces[k], own, positions) < -rounding)
        return "half-space " + std::to_string(k + 1);
  const bool is_closed = surface.is_closed();
  for (int o = 0; o < static_cast<int>(model.objects.size()); ++o) {
    if (!may_touch(model, object, o) || std::ranges::find(apart, o) != apart.end()) continue;
    const Object& other = model.objects[static_cast<std::size_t>(o)];
    if (own.is_collider() && other.is_collider()) continue;
    const Surface there(model, other, positions);
    const NodeBox its_box = there.box();
    if (!boxes_overlap(box, its_box)) continue;
    if (surfaces_cross(faces_in(surface, its_box), faces_in(there, box), rule.slack)) return other.name;
    if (const auto point = surface.any_point(); point && there.is_closed() && there.contains(*point))
      return other.name;
    if (const auto point = there.any_point(); point && is_closed && surface.contains(*point))
      return other.name;
  }
  return {};
}

std::optional<double> lift_to_free(const Model& model, int object, Positions positions,
                                   const OverlapRule& rule) {
  constexpr double kGround = 0.34;  // as free_space: a half-space that bodies can stand on
  const Object& own = model.objects[static_cast<std::size_t>(object)];
  const NodeBox box = box_of(own, positions);
  const double most = 0.5 * (box.high[1] - box.low[1]) + 0.5 * own.thickness;
  const double rounding = kRounding * norm(box.high - box.low);
  double lifted = 0;
  const auto lift_to = [&](double height) {
    for (std::int32_t i = own.node_begin; i < own.node_end; ++i)
      positions[static_cast<std::size_t>(i)][1] += height - lifted;
    lifted = height;
  };
  for (const HalfSpace& plane : model.half_spaces) {
    const double depth = -deepest(plane, own, positions);
    if (!own.is_collider() && depth > rounding && plane.normal[1] > kGround)
      lift_to(lifted + (depth + rule.gap) / plane.normal[1]);
  }
  const double first = lifted;
  for (double share = 0; share <= 1; share = share == 0 ? 1.0 / 32 : 2 * share) {
    lift_to(first + share * most + (share > 0 ? rule.gap : 0));
    if (lifted > most + rule.gap) break;
    if (overlapped_by(model, object, positions, rule).empty()) return lifted;
  }
  return std::nullopt;
}

}  // namespace stickslip
