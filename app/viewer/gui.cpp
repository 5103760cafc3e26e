#include "app/viewer/gui.h"

#include <backends/imgui_impl_glfw.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/viewer/theme.h"

namespace stickslip {

Gui::Gui(const Window& window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // the layout is fixed
  theme::apply(window.ui_scale());
  ImGui::GetIO().Fonts->Build();  // the renderer uploads it only with its first picture
  ImGui_ImplGlfw_InitForVulkan(window.handle(), true);
  // An empty frame sets the font size, which layouts need before the first picture.
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  ImGui::EndFrame();
}

Gui::~Gui() {
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

bool panels_take(const ImVec2& at) {
  if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0) return true;
  const ImGuiIO& io = ImGui::GetIO();
  for (int button = 0; button < ImGuiMouseButton_COUNT; ++button)
    if (io.MouseDown[button] && io.MouseDownOwned[button]) return true;
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if (!window->Active || window->Hidden || (window->Flags & ImGuiWindowFlags_NoMouseInputs) != 0) continue;
    if (window->OuterRectClipped.Contains(at)) return true;
  }
  return false;
}

bool Gui::wants_pointer() const { return panels_take(pointer_.value_or(ImGui::GetIO().MousePos)); }
bool Gui::wants_keys() const { return ImGui::GetIO().WantTextInput; }

void Gui::draw(PanelContext& context) {
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  draw_panels(context);
  const ImDrawList* const foreground = ImGui::GetForegroundDrawList();
  ImGui::Render();
  panels_ = marks_ = *ImGui::GetDrawData();
  marks_.CmdListsCount = marks_.TotalIdxCount = marks_.TotalVtxCount = 0;
  // The foreground is the last of the lists; an empty one is none of them.
  const int last = panels_.CmdListsCount - 1;
  if (last < 0 || panels_.CmdLists[last] != foreground) return;
  marks_.CmdLists = panels_.CmdLists + last;
  marks_.CmdListsCount = 1;
  marks_.TotalIdxCount = foreground->IdxBuffer.Size;
  marks_.TotalVtxCount = foreground->VtxBuffer.Size;
  panels_.CmdListsCount = last;
  panels_.TotalIdxCount -= marks_.TotalIdxCount;
  panels_.TotalVtxCount -= marks_.TotalVtxCount;
}

}  // namespace stickslip
