// Dear ImGui in the window: context, style, platform side. The renderer owns its Vulkan side.
#pragma once

#include <imgui.h>

#include "app/viewer/panels/panels.h"
#include "app/viewer/window.h"

namespace stickslip {

class Gui {
 public:
  /// Call before the renderer is created. The window's handlers must be set.
  explicit Gui(const Window& window);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

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
  ImDrawData panels_, marks_;
};

}  // namespace stickslip
