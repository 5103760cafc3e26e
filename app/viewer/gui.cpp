#include "app/viewer/gui.h"

#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

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

bool Gui::wants_pointer() const { return ImGui::GetIO().WantCaptureMouse; }
bool Gui::wants_keys() const { return ImGui::GetIO().WantTextInput; }

ImDrawData* Gui::draw(PanelContext& context) {
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  draw_panels(context);
  ImGui::Render();
  return ImGui::GetDrawData();
}

}  // namespace stickslip
