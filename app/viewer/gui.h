// Dear ImGui in the window: context, style, platform side. The renderer owns its Vulkan side.
#pragma once

#include <imgui.h>

#include <optional>

#include "app/viewer/panels/panels.h"
#include "app/viewer/window.h"

namespace stickslip {

/// Whether a press at this place of the window [px] is for the panels: one is there, a list is open, or a
/// widget is held. ImGui itself says so only of the place that the pointer had in the last picture.
bool panels_take(const ImVec2& at);

class Gui {
 public:
  /// Call before the renderer is created. The window's handlers must be set.
  explicit Gui(const Window& window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// The pointer moved to this place of the window [px].
  void move_pointer(float x, float y) { pointer_ = {x, y}; }
  /// The pointer is over a panel or used by a widget.
  bool wants_pointer() const;
  /// A text field has the focus.
  bool wants_keys() const;

  /// Builds all panels.
  void draw(PanelContext& context);
  /// What was drawn last; valid until the next draw.
  ImDrawData* panels() { return &panels_; }
  /// Likewise, the foreground above the panels, which pictures of the window do not show; null: it is empty.
  ImDrawData* marks() { return marks_.CmdListsCount > 0 ? &marks_ : nullptr; }

 private:
  std::optional<ImVec2> pointer_;  // since it has moved
  ImDrawData panels_, marks_;
};

}  // namespace stickslip
