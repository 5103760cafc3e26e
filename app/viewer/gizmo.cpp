#include "app/viewer/gizmo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace stickslip {
namespace {

using Vec2f = Vec<float, 2>;
using Vec3d = Vec<double, 3>;

constexpr float kShaft = 0.15f, kHead = 0.13f, kHeadWidth = 0.045f;  // of the arrows' length
constexpr float kPlaneNear = 0.28f, kPlaneFar = 0.5f, kRing = 0.8f;
constexpr int kRingPoints = 96;
constexpr float kReach = 7;           // [px] around lines
constexpr float kShortest = 0.2f;     // an axis is drawn if it has this share of its length in the picture
constexpr float kNarrowest = 0.15f;   // and a plane with this share of its area
constexpr double kEdgeOn = 0.15;      // sine of the angle between ring and view
constexpr double kParallel = 1e-4;    // squared sine of the angle between ray and axis
constexpr double kFarthestHit = 100;  // of the distance to the origin

constexpr Vec3f axis_vector(int axis) {
  Vec3f vector{0, 0, 0};
  vector[axis] = 1;
  return vector;
}

std::optional<Vec2f> on_screen(const GizmoView& view, const Vec3f& point) {
  const Vec3f at = view.camera.project(point, view.width, view.height);
  if (!(at[2] > 0)) return std::nullopt;
  return Vec2f{at[0], at[1]} + view.corner;
}

Ray ray_at(const GizmoView& view, const Vec2f& at) {
  const Vec2f in_view = at - view.corner;
  return view.camera.ray(in_view[0], in_view[1], view.width, view.height);
}

/// The stroke through these points, if all are in front of the eye.
void add_stroke(const GizmoView& view, GizmoPart part, const std::vector<Vec3f>& points, bool is_filled,
                std::vector<GizmoStroke>& strokes) {
  GizmoStroke stroke{part, {}, is_filled};
  stroke.points.reserve(points.size());
  for (const Vec3f& point : points) {
    const std::optional<Vec2f> at = on_screen(view, point);
    if (!at) return;
    stroke.points.push_back(*at);
  }
  strokes.push_back(std::move(stroke));
}

float distance_to_segment(const Vec2f& p, const Vec2f& a, const Vec2f& b) {
  const Vec2f e = b - a, w = p - a;
  const float ee = dot(e, e), share = ee > 0 ? std::clamp(dot(w, e) / ee, 0.f, 1.f) : 0;
  return norm(w - share * e);
}

bool contains(const std::vector<Vec2f>& polygon, const Vec2f& p) {
  bool inside = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Vec2f &a = polygon[i], &b = polygon[j];
    if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
      inside = !inside;
  }
  return inside;
}

double area(const std::vector<Vec2f>& polygon) {
  double sum = 0;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++)
    sum += static_cast<double>(polygon[j][0] * polygon[i][1] - polygon[i][0] * polygon[j][1]);
  return std::abs(sum) / 2;
}

void add_axis(const GizmoView& view, float size, int axis, std::vector<GizmoStroke>& strokes) {
  const auto part = static_cast<GizmoPart>(static_cast<int>(GizmoPart::move_x) + axis);
  const Vec3f along = size * axis_vector(axis), tip = view.origin + along;
  const auto from = on_screen(view, view.origin), to = on_screen(view, tip);
  if (!from || !to || norm(*to - *from) < kShortest * view.pixels) return;
  add_stroke(view, part, {view.origin + kShaft * along, tip}, false, strokes);
  // The head is flat, turned to the eye.
  const Vec3f to_eye = view.camera.eye() - tip;
  const Vec3f aside = (kHeadWidth * size) * normalized(cross(along, to_eye));
  add_stroke(view, part, {tip + kHead * along, tip + aside, tip - aside}, true, strokes);
}

void add_plane(const GizmoView& view, float size, int axis, std::vector<GizmoStroke>& strokes) {
  const auto part = static_cast<GizmoPart>(static_cast<int>(GizmoPart::move_yz) + axis);
  const Vec3f to_eye = view.camera.eye() - view.origin;
  // In the quarter that is nearest to the eye.
  const auto towards_eye = [&](int k) { return (to_eye[k] < 0 ? -size : size) * axis_vector(k); };
  const Vec3f u = towards_eye((axis + 1) % 3), v = towards_eye((axis + 2) % 3);
  const auto corner = [&](float a, float b) { return view.origin + a * u + b * v; };
  std::vector<GizmoStroke> found;
  add_stroke(view, part,
             {corner(kPlaneNear, kPlaneNear), corner(kPlaneFar, kPlaneNear), corner(kPlaneFar, kPlaneFar),
              corner(kPlaneNear, kPlaneFar)},
             true, found);
  const float side = (kPlaneFar - kPlaneNear) * view.pixels;
  if (!found.empty() && area(found.front().points) > static_cast<double>(kNarrowest * side * side))
    strokes.push_back(std::move(found.front()));
}

/// The runs of the ring's points that are in front of the origin.
void add_ring(const GizmoView& view, float size, int axis, std::vector<GizmoStroke>& strokes) {
  const auto part = static_cast<GizmoPart>(static_cast<int>(GizmoPart::turn_x) + axis);
  const Vec3f u = axis_vector((axis + 1) % 3), v = axis_vector((axis + 2) % 3);
  const Vec3f to_eye = normalized(view.camera.eye() - view.origin);
  const bool is_whole = std::abs(to_eye[axis]) > 0.98f;
  const auto arm = [&](int i) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / kRingPoints;
    return std::cos(angle) * u + std::sin(angle) * v;
  };
  const auto is_shown = [&](int i) { return is_whole || dot(arm(i), to_eye) > -0.02f; };
  int first = 0;
  while (!is_whole && first < kRingPoints && is_shown(first)) ++first;  // begin where it is hidden
  std::vector<Vec3f> run;
  for (int i = first; i <= first + kRingPoints; ++i) {
    if (is_shown(i)) run.push_back(view.origin + (kRing * size) * arm(i));
    if (!is_shown(i) || i == first + kRingPoints) {
      if (run.size() > 1) add_stroke(view, part, run, false, strokes);
      run.clear();
    }
  }
}

/// Where the ray hits the plane through `point`, if that is not far away.
std::optional<Vec3d> plane_hit(const GizmoView& view, const Vec2f& at, const Vec3f& normal) {
  const Ray ray = ray_at(view, at);
  const Vec3f to = view.origin - ray.origin;
  const float t = dot(to, normal) / dot(ray.direction, normal);
  if (!(t > 0) || !(static_cast<double>(t) < kFarthestHit * static_cast<double>(norm(to))))
    return std::nullopt;
  return (ray.origin + t * ray.direction).cast<double>();
}

/// The point of the axis through the origin that is nearest to the ray.
std::optional<Vec3d> axis_hit(const GizmoView& view, const Vec2f& at, int axis) {
  const Ray ray = ray_at(view, at);
  const Vec3d along = axis_vector(axis).cast<double>(), direction = ray.direction.cast<double>();
  const Vec3d from = (view.origin - ray.origin).cast<double>();
  const double b = dot(along, direction), sine2 = 1 - b * b;
  if (sine2 < kParallel) return std::nullopt;
  const double t = (b * dot(direction, from) - dot(along, from)) / sine2;
  const double depth = dot(direction, from + t * along);  // of the ray's nearest point
  if (!(depth > 0) || !(std::abs(t) < kFarthestHit * norm(from))) return std::nullopt;
  return view.origin.cast<double>() + t * along;
}

double rounded_to(double value, double step) { return step > 0 ? step * std::round(value / step) : value; }

}  // namespace

GizmoKind kind_of(GizmoPart part) {
  if (part == GizmoPart::none) return GizmoKind::none;
  if (part >= GizmoPart::turn_x) return GizmoKind::ring;
  return part >= GizmoPart::move_yz ? GizmoKind::plane : GizmoKind::axis;
}

int axis_of(GizmoPart part) {
  return part == GizmoPart::none ? 0 : (static_cast<int>(part) - static_cast<int>(GizmoPart::move_x)) % 3;
}

float gizmo_size(const GizmoView& view) {
  const Vec3f at = view.camera.project(view.origin, view.width, view.height);
  if (!(at[2] > 0)) return 0;
  const float half = view.camera.half_height();
  return view.pixels * 2 * half * at[2] / static_cast<float>(std::max(1, view.height));
}

std::vector<GizmoStroke> gizmo_strokes(const GizmoView& view) {
  std::vector<GizmoStroke> strokes;
  const float size = gizmo_size(view);
  if (!(size > 0)) return strokes;
  for (int axis = 0; axis < 3; ++axis) add_plane(view, size, axis, strokes);
  for (int axis = 0; axis < 3; ++axis) add_ring(view, size, axis, strokes);
  for (int axis = 0; axis < 3; ++axis) add_axis(view, size, axis, strokes);
  return strokes;
}

GizmoPart gizmo_part_at(const GizmoView& view, const Vec2f& at) {
  GizmoPart nearest = GizmoPart::none;
  float limit = kReach;
  for (const GizmoStroke& stroke : gizmo_strokes(view)) {
    float distance = std::numeric_limits<float>::infinity();
    if (stroke.is_filled && contains(stroke.points, at))
      distance = kind_of(stroke.part) == GizmoKind::plane ? 0.9f * kReach : 0;  // lines are thinner
    else
      for (std::size_t i = 1; i < stroke.points.size(); ++i)
        distance = std::min(distance, distance_to_segment(at, stroke.points[i - 1], stroke.points[i]));
    if (distance > limit) continue;
    limit = distance;
    nearest = stroke.part;
  }
  return nearest;
}

GizmoDrag::GizmoDrag(const GizmoView& view, GizmoPart part, const Vec2f& at)
    : part_(part), origin_(view.origin), last_(at), begin_(view.origin.cast<double>()) {
  const Vec3f to_eye = normalized(view.camera.eye() - view.origin);
  const int axis = axis_of(part);
  if (kind_of(part) == GizmoKind::ring) is_edge_on_ = std::abs(static_cast<double>(to_eye[axis])) < kEdgeOn;
  if (kind_of(part) == GizmoKind::axis) begin_ = axis_hit(view, at, axis).value_or(begin_);
  if (kind_of(part) == GizmoKind::plane) begin_ = plane_hit(view, at, axis_vector(axis)).value_or(begin_);
}

void GizmoDrag::move(GizmoView view, const Vec2f& at) {
  view.origin = origin_;
  const int axis = axis_of(part_);
  if (kind_of(part_) == GizmoKind::axis) {
    if (const auto hit = axis_hit(view, at, axis)) shift_ = *hit - begin_;
  } else if (kind_of(part_) == GizmoKind::plane) {
    if (const auto hit = plane_hit(view, at, axis_vector(axis))) {
      shift_ = *hit - begin_;
      shift_[axis] = 0;
    }
  } else if (kind_of(part_) == GizmoKind::ring) {
    follow_ring(view, at);
  }
  last_ = at;
}

void GizmoDrag::follow_ring(const GizmoView& view, const Vec2f& at) {
  const int axis = axis_of(part_);
  const Vec3f along = axis_vector(axis);
  if (is_edge_on_) {
    // A turn by d moves the near point of the ring, at `arm`, by d (axis x arm).
    const Vec3f to_eye = view.camera.eye() - view.origin;
    const Vec3f arm = (kRing * gizmo_size(view)) * normalized(to_eye - dot(to_eye, along) * along);
    constexpr float kSmall = 0.01f;  // [rad]
    const auto from = on_screen(view, view.origin + arm);
    const auto to = on_screen(view, view.origin + arm + kSmall * cross(along, arm));
    if (!from || !to) return;
    const Vec2f per_radian = (1 / kSmall) * (*to - *from);
    angle_ += static_cast<double>(dot(at - last_, per_radian) / dot(per_radian, per_radian));
    return;
  }
  const auto before = plane_hit(view, last_, along), now = plane_hit(view, at, along);
  if (!before || !now) return;
  const Vec3d a = *before - view.origin.cast<double>(), b = *now - view.origin.cast<double>();
  // Differences of less than half a turn add up.
  angle_ += std::atan2(cross(a, b)[axis], dot(a, b));
}

GizmoChange GizmoDrag::change(const GizmoSteps& steps) const {
  GizmoChange change;
  for (int k = 0; k < 3; ++k) change.shift[k] = rounded_to(shift_[k], steps.length);
  if (kind_of(part_) == GizmoKind::ring)
    change.turn[axis_of(part_)] = rounded_to(180 / std::numbers::pi * angle_, steps.angle);
  return change;
}

double snap_length(double radius) {
  const double wanted = std::max(radius, 1e-9) / 20, power = std::pow(10, std::floor(std::log10(wanted)));
  return power * (wanted / power < 2 ? 1 : wanted / power < 5 ? 2 : 5);
}

}  // namespace stickslip
