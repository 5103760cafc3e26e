// The gizmo at the selected object of the window: hover, drag, and the edit at its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/viewer/gizmo.h"
#include "app/viewer/simulation.h"

namespace stickslip {

class GizmoTool {
 public:
  GizmoTool(Simulation& simulation, const Camera& camera) : simulation_(simulation), camera_(camera) {}

  /// The part of the window that shows the scene. Other places [px] are in the window.
  void resize(int width, int height, const Vec<float, 2>& corner) {
    view_.width = width, view_.height = height, view_.corner = corner;
  }
  /// Shows it at an object of the scene that is shown, or hides it. `pixels`: length of its arrows.
  void aim(std::optional<int> object, float pixels);
  void set_snapping(bool on) { snaps_ = on; }

  /// The pointer is there [px], over no panel.
  void hover(const Vec<float, 2>& at);
  /// Begins a drag; false: no part is there, or the object cannot be moved so, which is logged.
  bool press(const Vec<float, 2>& at);
  void drag_to(const Vec<float, 2>& at);
  /// Ends the drag, and posts the move; what the scene refuses is logged.
  void release();
  void cancel() { drag_.reset(); }
  bool is_dragging() const { return drag_.has_value(); }

  /// What is to be drawn of it.
  std::vector<GizmoStroke> strokes() const;
  GizmoPart highlighted() const { return drag_ ? drag_->part() : hovered_; }
  /// Why the object cannot be dragged by this part; empty: it can.
  const std::string& refusal(GizmoPart part) const {
    return kind_of(part) == GizmoKind::ring ? no_turn_ : no_move_;
  }
  /// One line about the part under the pointer, or the drag; empty: neither.
  std::string text() const;
  const Vec<float, 2>& pointer() const { return pointer_; }  // [px]

  /// The object that is dragged; -1: none.
  int dragged() const { return drag_ ? *object_ : -1; }
  /// The objects that move with it, itself included.
  const std::vector<int>& dragged_together() const { return held_together_; }
  /// The shown positions of all nodes [m], with the dragged objects where they will be put.
  std::vector<Vec3f> dragged_positions() const;

 private:
  /// An object of the scene that is shown now is aimed at.
  bool is_aimed() const { return object_ && simulation_.frame().scene == scene_; }
  GizmoView view() const;
  GizmoSteps steps() const;
  Vec<double, 3> pivot() const;
  const Object& object() const;

  Simulation& simulation_;
  const Camera& camera_;
  GizmoView view_;
  std::optional<int> object_;
  std::shared_ptr<const Scene> scene_;  // of which it is one
  std::string no_move_, no_turn_;       // why not
  std::optional<GizmoDrag> drag_;
  GizmoPart hovered_ = GizmoPart::none;
  Vec<float, 2> pointer_{-1, -1};
  std::vector<int> held_together_;
  std::vector<Vec3f> held_;             // positions of all nodes when the drag began
  Vec<double, 3> held_pivot_{0, 0, 0};  // [m] of then
  bool snaps_ = false;
};

}  // namespace stickslip
