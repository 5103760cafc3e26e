// Handles at an object that move and turn it: their lines in a picture, hits, and the motion that follows the
// pointer. Functions of camera and place only.
#pragma once

#include <vector>

#include "app/render/camera.h"

namespace stickslip {

/// Along an axis of the world, in a plane of two of them, about one.
enum class GizmoPart { none, move_x, move_y, move_z, move_yz, move_zx, move_xy, turn_x, turn_y, turn_z };
enum class GizmoKind { none, axis, plane, ring };
GizmoKind kind_of(GizmoPart part);
/// 0 to 2: of an axis or ring its direction, of a plane its normal.
int axis_of(GizmoPart part);

/// A gizmo in a picture of so many pixels. Its size on the screen does not depend on the distance.
struct GizmoView {
  Camera camera;
  int width = 1, height = 1;
  Vec<float, 2> corner{0, 0};  // [px] of the picture, from which it shows this part
  Vec3f origin{0, 0, 0};       // [m]
  float pixels = 90;           // length of its arrows
};

/// [m] Length of the arrows; 0: the origin is behind the eye.
float gizmo_size(const GizmoView& view);

/// A line through points of the picture [px], or the polygon that they bound.
struct GizmoStroke {
  GizmoPart part = GizmoPart::none;
  std::vector<Vec<float, 2>> points;
  bool is_filled = false;
};

/// All parts that can be dragged, in the order in which they are drawn: an axis that points at the eye and a
/// plane that is seen from its edge have no strokes. Of rings there is the half in front of the origin.
std::vector<GizmoStroke> gizmo_strokes(const GizmoView& view);
/// The part within reach of a point of the picture [px]; none: there is no part.
GizmoPart gizmo_part_at(const GizmoView& view, const Vec<float, 2>& at);

/// What a drag does to the object.
struct GizmoChange {
  Vec<double, 3> shift{0, 0, 0};  // [m]
  Vec<double, 3> turn{0, 0, 0};   // [degrees] world axes
  bool is_none() const { return norm(shift) == 0 && norm(turn) == 0; }
};

/// Steps of a change.
struct GizmoSteps {
  double length = 0;  // [m]; 0: none
  double angle = 0;   // [degrees]; 0: none
};

/// A drag of one part. On an axis the change is that of the axis' point nearest to the pointer's ray, in a
/// plane that of the ray's hit, on a ring the angle of the hit in the ring's plane. A ring that is seen from
/// its edge turns as if the pointer pulled its near side. Where the ray has no such point, the last one
/// stays.
class GizmoDrag {
 public:
  /// `at`: of the pointer [px].
  GizmoDrag(const GizmoView& view, GizmoPart part, const Vec<float, 2>& at);

  GizmoPart part() const { return part_; }
  const Vec3f& origin() const { return origin_; }  // [m] of the gizmo when the drag began
  /// `view`: of the present camera; its origin is not used.
  void move(GizmoView view, const Vec<float, 2>& at);
  /// Rounded to whole steps.
  GizmoChange change(const GizmoSteps& steps = {}) const;

 private:
  void follow_ring(const GizmoView& view, const Vec<float, 2>& at);

  GizmoPart part_;
  Vec3f origin_;
  bool is_edge_on_ = false;        // a ring that was seen from its edge
  Vec<float, 2> last_{0, 0};       // [px] of the pointer
  Vec<double, 3> begin_{0, 0, 0};  // [m] the point that the pointer held first
  Vec<double, 3> shift_{0, 0, 0};  // [m]
  double angle_ = 0;               // [rad]
};

/// [m] A step for moves in a scene of this radius: 1, 2 or 5 times a power of ten, about a twentieth of it.
double snap_length(double radius);

}  // namespace stickslip
