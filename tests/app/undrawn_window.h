// A window of ImGui that no device draws.
#pragma once

#include <imgui.h>

namespace stickslip::test {

class UndrawnWindow {
 public:
  /// Of this size [px].
  UndrawnWindow(float width, float height) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {width, height};
    io.DeltaTime = 1.0f / 60;
    io.IniFilename = nullptr;
    unsigned char* pixels = nullptr;
    int unused_width = 0, unused_height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &unused_width, &unused_height);  // texts need a font
  }
  ~UndrawnWindow() { ImGui::DestroyContext(); }
  UndrawnWindow(const UndrawnWindow&) = delete;
  UndrawnWindow& operator=(const UndrawnWindow&) = delete;
};

}  // namespace stickslip::test
