// Pointer gestures in the scene: orbit, pan, zoom, pick, pull, and drags of the gizmo.
#pragma once

#include <optional>

#include "app/render/frame_view.h"
#include "app/viewer/gizmo_tool.h"
#include "app/viewer/hover.h"
#include "app/viewer/picking.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// Target of a click: a contact's mark if there is one, else an object, or nothing.
struct Click {
  int object = -1;
  std::optional<ContactRecord> contact;
  std::optional<Pick> pick = {};  // where, of an object
};

/// Independent of the window system; positions are in window coordinates. Outside of its part of the window
/// it only moves the camera: other parts show other runs.
class Pointer {
 public:
  enum class Button { left, middle, right };
  struct Modifiers {
    bool shift = false, control = false;
  };

  Pointer(Simulation& simulation, Camera& camera)
      : simulation_(simulation), camera_(camera), gizmo_(simulation, camera) {}

  /// Of what is picked only the part that it leaves can be.
  void set_clip(const std::optional<ClipPlane>& clip) { clip_ = clip; }
  /// The part of the window that shows the scene, from its upper left corner.
  void resize(int width, int height, const Vec<float, 2>& corner = {0, 0});
  /// Sets the contacts with visible marks; they must outlive the next call.
  void set_marks(std::span<const ContactRecord> contacts) { marks_ = contacts; }
  void press(Button button, Modifiers modifiers);
  void release(Button button);
  void move(float x, float y);
  /// Zooms; during a pull, changes Params::drag_stiffness by a fourth per notch.
  void scroll(float notches);
  /// Ends all gestures, for example when the scene changes.
  void cancel();

  /// Its parts are dragged by the left button. Any other button ends the drag without effect.
  GizmoTool& gizmo() { return gizmo_; }

  bool busy() const { return mode_ != Mode::idle; }
  /// The spring during a pull. One whose object has changed, or whose run starts anew, ends here.
  std::optional<DragLine> drag_line();
  /// What is under the pointer, without a gesture and beside the gizmo, once it has moved in the window.
  /// `surfaces`: also where there is no mark of a contact.
  std::optional<Hovered> hovered(bool surfaces) const;
  /// The click since the last call.
  std::optional<Click> take_click();

 private:
  enum class Mode { idle, orbit, pan, zoom, drag, gizmo };

  Vec<float, 2> in_view() const { return Vec<float, 2>{x_, y_} - corner_; }
  bool is_in_view() const;
  Ray ray() const { return camera_.ray(in_view()[0], in_view()[1], width_, height_); }
  std::optional<Pick> pick_here() const;
  /// In front of `found`, the surface under the pointer.
  const ContactRecord* mark_here(const std::optional<Pick>& found) const;
  void start_drag();
  void end_stale_drag();
  void stiffen_drag(float notches);

  Simulation& simulation_;
  Camera& camera_;
  GizmoTool gizmo_;
  int width_ = 1, height_ = 1;
  Vec<float, 2> corner_{0, 0};
  float x_ = 0, y_ = 0;
  bool is_placed_ = false, has_moved_ = false;  // the window system told where it is; it went elsewhere
  Mode mode_ = Mode::idle;
  Button button_ = Button::left;
  float travelled_ = 0;  // since the press; a click is a press without movement
  bool may_click_ = false;
  std::optional<Click> click_;
  std::span<const ContactRecord> marks_;
  std::optional<ClipPlane> clip_;
  Pick grabbed_;
  Vec3f target_{0, 0, 0};
};

}  // namespace stickslip
