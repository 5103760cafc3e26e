// What the pointer does in the scene: orbit, pan, zoom, pick, pull.
#pragma once

#include <optional>

#include "app/render/frame_view.h"
#include "app/viewer/picking.h"
#include "app/viewer/simulation.h"

namespace stickslip {

/// Knows no window system; positions are in window coordinates.
class Pointer {
 public:
  enum class Button { left, middle, right };
  struct Modifiers {
    bool shift = false, control = false;
  };

  Pointer(Simulation& simulation, Camera& camera) : simulation_(simulation), camera_(camera) {}

  void resize(int width, int height);
  void press(Button button, Modifiers modifiers);
  void release(Button button);
  void move(float x, float y);
  void scroll(float notches);
  /// Lets go of everything, as when the scene changes.
  void cancel();

  bool busy() const { return mode_ != Mode::idle; }
  /// The spring while one pulls.
  std::optional<DragLine> drag_line() const;
  /// What a click has picked since the last call: an object's index, or -1 for the background.
  std::optional<int> take_click();

 private:
  enum class Mode { idle, orbit, pan, zoom, drag };

  Ray ray() const { return camera_.ray(x_, y_, width_, height_); }
  std::optional<Pick> pick_here() const;
  void start_drag();

  Simulation& simulation_;
  Camera& camera_;
  int width_ = 1, height_ = 1;
  float x_ = 0, y_ = 0;
  Mode mode_ = Mode::idle;
  Button button_ = Button::left;
  float travelled_ = 0;  // since the press: a click is a press that did not move
  bool may_click_ = false;
  std::optional<int> click_;
  Pick grabbed_;
  Vec3f target_{0, 0, 0};
};

}  // namespace stickslip
