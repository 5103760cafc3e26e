#include "app/viewer/gizmo_tool.h"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdio>

#include "app/io/file/input_error.h"
#include "app/viewer/object_moves.h"
#include "app/viewer/scene_content.h"

namespace stickslip {
namespace {

constexpr double kSnapAngle = 15;  // [degrees]
constexpr std::array<const char*, 10> kPartTexts{"",
                                                 "move along x",
                                                 "move along y",
                                                 "move along z",
                                                 "move in the plane of y and z",
                                                 "move in the plane of z and x",
                                                 "move in the plane of x and y",
                                                 "turn about x",
                                                 "turn about y",
                                                 "turn about z"};

/// "5 cm", "0.2 m"
std::string length_text(double length) {
  char text[40];
  const bool is_short = std::abs(length) < 0.1;
  std::snprintf(text, sizeof text, is_short ? "%.3g cm" : "%.4g m", is_short ? 100 * length : length);
  return text;
}

}  // namespace

void GizmoTool::aim(std::optional<int> object, float pixels) {
  const std::shared_ptr<const Scene>& scene = simulation_.frame().scene;
  if (!scene || (object && static_cast<std::size_t>(*object) >= scene->model.objects.size())) object.reset();
  const bool is_other = object != object_ || scene != scene_;
  if (is_other) drag_.reset();
  if (is_other && object) {
    scene_ = scene;
    const std::string& name = scene->model.objects[static_cast<std::size_t>(*object)].name;
    no_move_ = move_refusal(*scene, name, false);
    no_turn_ = move_refusal(*scene, name, true);
  }
  if (!object) hovered_ = GizmoPart::none;
  object_ = object;
  view_.pixels = pixels;
  if (!drag_) hover(pointer_);  // it moves below the pointer
}

const Object& GizmoTool::object() const {
  return simulation_.frame().scene->model.objects[static_cast<std::size_t>(*object_)];
}

Vec<double, 3> GizmoTool::pivot() const {
  const SimulationFrame& frame = simulation_.frame();
  return pivot_of(frame.scene->model, object(), frame.positions(), frame.snapshot.poses);
}

GizmoView GizmoTool::view() const {
  GizmoView now = view_;
  now.camera = camera_;
  now.origin = drag_ ? drag_->origin() + drag_->change(steps()).shift.cast<float>() : pivot().cast<float>();
  return now;
}

GizmoSteps GizmoTool::steps() const {
  if (!snaps_) return {};
  return {snap_length(scene_radius(simulation_.frame().scene->model)), kSnapAngle};
}

void GizmoTool::hover(const Vec<float, 2>& at) {
  pointer_ = at;
  hovered_ = is_aimed() ? gizmo_part_at(view(), at) : GizmoPart::none;
}

bool GizmoTool::press(const Vec<float, 2>& at) {
  hover(at);
  if (hovered_ == GizmoPart::none) return false;
  if (!refusal(hovered_).empty()) {
    spdlog::warn("{}", refusal(hovered_));
    return false;
  }
  const std::span<const Vec3f> now = simulation_.frame().positions();
  held_.assign(now.begin(), now.end());
  held_pivot_ = pivot();
  held_together_ = moved_with(simulation_.frame().scene->model, object().name);
  drag_.emplace(view(), hovered_, at);
  return true;
}

void GizmoTool::drag_to(const Vec<float, 2>& at) {
  pointer_ = at;
  if (drag_ && is_aimed()) drag_->move(view(), at);
}

void GizmoTool::release() {
  if (!drag_ || !is_aimed()) return cancel();
  const GizmoChange change = drag_->change(steps());
  drag_.reset();
  if (change.is_none()) return;
  // The object is put where its outline is, however far it has gone on meanwhile.
  const Vec<double, 3> shift = held_pivot_ + change.shift - pivot();
  try {
    move_object(simulation_, {object().name, shift, change.turn});
  } catch (const InputError& error) {
    spdlog::warn("{}", error.what());
  }
}

std::vector<GizmoStroke> GizmoTool::strokes() const {
  return is_aimed() ? gizmo_strokes(view()) : std::vector<GizmoStroke>();
}

std::string GizmoTool::text() const {
  char text[160];
  if (drag_) {
    const GizmoChange change = drag_->change(steps());
    const int axis = axis_of(drag_->part()), u = (axis + 1) % 3, v = (axis + 2) % 3;
    const auto letter = [](int k) { return "xyz"[k]; };
    const Vec<double, 3>& d = change.shift;
    if (kind_of(drag_->part()) == GizmoKind::ring)
      std::snprintf(text, sizeof text, "%c  %.1f degrees", letter(axis), change.turn[axis]);
    else if (kind_of(drag_->part()) == GizmoKind::axis)
      std::snprintf(text, sizeof text, "%c  %s", letter(axis), length_text(d[axis]).c_str());
    else
      std::snprintf(text, sizeof text, "%c  %s   %c  %s", letter(u), length_text(d[u]).c_str(), letter(v),
                    length_text(d[v]).c_str());
    return text;
  }
  if (hovered_ == GizmoPart::none) return {};
  if (!refusal(hovered_).empty()) return refusal(hovered_);
  const bool turns = kind_of(hovered_) == GizmoKind::ring;
  const std::string step =
      turns ? "15 degrees" : length_text(snap_length(scene_radius(simulation_.frame().scene->model)));
  std::snprintf(text, sizeof text, "%s (Ctrl: steps of %s)", kPartTexts[static_cast<std::size_t>(hovered_)],
                step.c_str());
  return text;
}

std::vector<Vec3f> GizmoTool::dragged_positions() const {
  std::vector<Vec3f> positions = held_;
  if (!drag_) return positions;
  const GizmoChange change = drag_->change(steps());
  const Pose move = rigid_move(held_pivot_, change.shift, change.turn);
  for (const int k : held_together_) {
    const Object& member = simulation_.frame().scene->model.objects[static_cast<std::size_t>(k)];
    for (std::int32_t i = member.node_begin; i < member.node_end; ++i) {
      Vec3f& x = positions[static_cast<std::size_t>(i)];
      x = move.apply(x.cast<double>()).cast<float>();
    }
  }
  return positions;
}

}  // namespace stickslip
