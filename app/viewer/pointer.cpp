#include "app/viewer/pointer.h"

#include <spdlog/spdlog.h>

#include "app/viewer/clip_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip {
namespace {
constexpr float click_travel = 4;       // pixels
constexpr float mark_reach = 7;         // pixels around a contact's mark that still select it
constexpr float pixels_per_notch = 20;  // of a zoom by dragging
constexpr double stiffer_per_notch = 1.25;
constexpr double least_drag_stiffness = 1e-3;  // [N/m] that the wheel reaches
}  // namespace

void Pointer::resize(int width, int height, const Vec<float, 2>& corner) {
  width_ = std::max(width, 1);
  height_ = std::max(height, 1);
  corner_ = corner;
  gizmo_.resize(width_, height_, corner_);
}

bool Pointer::is_in_view() const {
  const Vec<float, 2> at = in_view();
  return at[0] >= 0 && at[1] >= 0 && at[0] < static_cast<float>(width_) &&
         at[1] < static_cast<float>(height_);
}

std::optional<Pick> Pointer::pick_here() const {
  const SimulationFrame& frame = simulation_.frame();
  if (!frame.scene) return std::nullopt;
  std::optional<Pick> found =
      pick(frame.scene->model, frame.positions(), clip_ ? clipped(ray(), *clip_) : ray());
  if (found && clip_ && clip_->hides(found->point)) found.reset();
  return found;
}

const ContactRecord* Pointer::mark_here(const std::optional<Pick>& found) const {
  const float deepest =
      found ? camera_.project(found->point, width_, height_)[2] : std::numeric_limits<float>::infinity();
  return pick_contact(marks_, camera_, width_, height_, in_view(), mark_reach, deepest);
}

std::optional<Hovered> Pointer::hovered(bool surfaces) const {
  if (!has_moved_ || !is_in_view() || mode_ != Mode::idle || gizmo_.highlighted() != GizmoPart::none)
    return std::nullopt;
  // The search for the surface visits all triangles: only if something is shown of it.
  if (!surfaces && mark_here(std::nullopt) == nullptr) return std::nullopt;
  Hovered found{{x_, y_}, std::nullopt, pick_here()};
  if (const ContactRecord* mark = mark_here(found.pick)) found.contact = *mark;
  return found;
}

void Pointer::press(Button button, Modifiers modifiers) {
  if (mode_ == Mode::gizmo && button != button_) return cancel();
  if (mode_ != Mode::idle) return;
  button_ = button;
  travelled_ = 0;
  may_click_ = false;
  const bool acts = is_in_view();
  if (acts && button == Button::left && !modifiers.shift && gizmo_.press({x_, y_})) {
    mode_ = Mode::gizmo;
  } else if (button == Button::middle || (button == Button::left && modifiers.shift)) {
    mode_ = Mode::pan;
  } else if (button == Button::right) {
    mode_ = Mode::zoom;
  } else if (modifiers.control) {
    if (acts) start_drag();
  } else {
    mode_ = Mode::orbit;
    may_click_ = acts;
  }
}

void Pointer::start_drag() {
  const std::optional<Pick> found = pick_here();
  if (!found) return;
  // The nodes that are picked here may belong to another object once the change is there.
  if (simulation_.is_changing_content())
    return spdlog::info("the scene is changing: pull when it has changed");
  const Object& object = simulation_.frame().scene->model.objects[static_cast<std::size_t>(found->object)];
  if (const std::string why = why_fixed(simulation_.frame().scene->model, object); !why.empty()) {
    spdlog::info("{} {}", object.name, why);
    return;
  }
  mode_ = Mode::drag;
  grabbed_ = *found;
  target_ = found->point;
  simulation_.post(DragStart{{grabbed_.triangle, grabbed_.weights, target_.cast<double>()}});
}

void Pointer::release(Button button) {
  if (mode_ == Mode::idle || button != button_) return;
  if (mode_ == Mode::gizmo) gizmo_.release();
  if (may_click_ && travelled_ < click_travel) {
    click_.emplace();
    const std::optional<Pick> found = pick_here();
    if (const ContactRecord* mark = mark_here(found)) click_->contact = *mark;
    else if (found) click_->object = (click_->pick = found)->object;
  }
  cancel();
}

void Pointer::cancel() {
  if (mode_ == Mode::drag) simulation_.post(DragEnd{});
  gizmo_.cancel();
  mode_ = Mode::idle;
}

/// The simulation has dropped its spring, or will do so before the next step; moves of it do nothing then. A
/// change that is refused leaves the spring: so its end is posted, too.
void Pointer::end_stale_drag() {
  if (mode_ == Mode::drag && !simulation_.is_dragging()) cancel();
}

void Pointer::move(float x, float y) {
  end_stale_drag();
  const float dx = x - x_, dy = y - y_;
  x_ = x;
  y_ = y;
  if (std::exchange(is_placed_, true) && (dx != 0 || dy != 0)) has_moved_ = true;
  travelled_ += std::abs(dx) + std::abs(dy);
  switch (mode_) {
    case Mode::idle:
      if (is_in_view()) gizmo_.hover({x_, y_});
      break;
    case Mode::gizmo:
      gizmo_.drag_to({x_, y_});
      break;
    case Mode::orbit:
      // Small movements during a click do not rotate the scene.
      if (travelled_ >= click_travel) camera_.orbit(dx, dy, height_);
      break;
    case Mode::pan:
      camera_.pan(dx, dy, height_);
      break;
    case Mode::zoom:
      camera_.zoom(-dy / pixels_per_notch);
      break;
    case Mode::drag:
      if (const auto hit = intersect_plane(ray(), grabbed_.point, camera_.forward())) {
        target_ = *hit;
        simulation_.post(DragMove{target_.cast<double>()});
      }
      break;
  }
}

void Pointer::scroll(float notches) {
  end_stale_drag();
  mode_ == Mode::drag ? stiffen_drag(notches) : camera_.zoom(notches);
}

void Pointer::stiffen_drag(float notches) {
  const ParamInfo& row = *find_param(param_table(), "drag_stiffness");
  // From 0 no factor leads away.
  const double now = std::max(simulation_.settings().params.drag_stiffness, least_drag_stiffness);
  const double wanted = now * std::pow(stiffer_per_notch, static_cast<double>(notches));
  simulation_.post(ParamEdit{row.name, std::clamp(wanted, least_drag_stiffness, row.high)});
}

std::optional<DragLine> Pointer::drag_line() {
  end_stale_drag();
  if (mode_ != Mode::drag) return std::nullopt;
  return DragLine{position_of(grabbed_, simulation_.frame().positions()), target_};
}

std::optional<Click> Pointer::take_click() { return std::exchange(click_, std::nullopt); }

}  // namespace stickslip
