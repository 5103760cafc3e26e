#include "app/viewer/theme.h"

#include <cmath>
#include <filesystem>

namespace stickslip::theme {
namespace {

constexpr const char* font_file = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr float font_size = 13;

void load_font(float scale) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  std::error_code error;
  ImFontConfig config;
  config.SizePixels = std::round(font_size * scale);
  config.OversampleH = 2;
  if (std::filesystem::is_regular_file(font_file, error))
    atlas.AddFontFromFileTTF(font_file, config.SizePixels, &config);
  else atlas.AddFontDefault(&config);
}

}  // namespace

ImU32 wheel(std::size_t index) {
  // Multiples of the golden ratio give distant hues.
  const float turn = 0.57f + 0.6180340f * static_cast<float>(index);
  return ImColor::HSV(turn - std::floor(turn), index % 2 == 0 ? 0.62f : 0.42f,
                      index % 3 == 0 ? 0.95f : 0.82f);
}

ImVec4 rgba(ImU32 color) { return ImGui::ColorConvertU32ToFloat4(color); }

ImU32 rgb(const Vec3f& srgb) { return ImGui::ColorConvertFloat4ToU32({srgb[0], srgb[1], srgb[2], 1}); }

void apply(float scale) {
  load_font(scale);
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  ImGui::StyleColorsDark(&style);
  style.WindowPadding = {10, 8};
  style.FramePadding = {6, 2};
  style.ItemSpacing = {6, 3};
  style.ItemInnerSpacing = {5, 4};
  style.IndentSpacing = 12;
  style.ScrollbarSize = 10;
  style.GrabMinSize = 8;
  style.WindowBorderSize = 0;
  style.PopupBorderSize = 1;
  style.WindowRounding = 0;
  style.PopupRounding = style.FrameRounding = style.GrabRounding = style.ScrollbarRounding = 3;
  style.DisabledAlpha = 0.45f;

  const auto set = [&](ImGuiCol slot, int r, int g, int b, float alpha = 1) {
    style.Colors[slot] = {static_cast<float>(r) / 255, static_cast<float>(g) / 255,
                          static_cast<float>(b) / 255, alpha};
  };
  style.Colors[ImGuiCol_Text] = rgba(text);
  style.Colors[ImGuiCol_TextDisabled] = rgba(dim_text);
  set(ImGuiCol_WindowBg, 22, 24, 29);
  set(ImGuiCol_PopupBg, 28, 31, 38, 0.98f);
  set(ImGuiCol_Border, 52, 57, 68);
  set(ImGuiCol_FrameBg, 42, 47, 57);
  set(ImGuiCol_FrameBgHovered, 52, 58, 70);
  set(ImGuiCol_FrameBgActive, 60, 67, 81);
  set(ImGuiCol_Header, 38, 48, 64);
  set(ImGuiCol_HeaderHovered, 47, 58, 74);
  set(ImGuiCol_HeaderActive, 54, 70, 92);
  set(ImGuiCol_Button, 42, 47, 58);
  set(ImGuiCol_ButtonHovered, 54, 66, 84);
  set(ImGuiCol_ButtonActive, 64, 88, 116);
  set(ImGuiCol_SliderGrab, 52, 92, 134);
  set(ImGuiCol_SliderGrabActive, 124, 182, 236);
  set(ImGuiCol_CheckMark, 94, 160, 222);
  set(ImGuiCol_Separator, 44, 49, 58);
  set(ImGuiCol_ScrollbarBg, 22, 24, 29, 0.0f);
  set(ImGuiCol_ScrollbarGrab, 58, 64, 76);
  set(ImGuiCol_TextSelectedBg, 60, 96, 136);
  set(ImGuiCol_PlotHistogram, 94, 160, 222);
  style.ScaleAllSizes(scale);
}

}  // namespace stickslip::theme
