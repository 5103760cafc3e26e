#include "app/viewer/picture_text.h"

#include <algorithm>
#include <cmath>

namespace stickslip {
namespace {

/// The font's texture: one byte of coverage per texel.
struct Coverage {
  const unsigned char* texels = nullptr;
  int width = 0, height = 0;

  float at(float u, float v) const {
    const int x = std::clamp(static_cast<int>(u * static_cast<float>(width)), 0, width - 1);
    const int y = std::clamp(static_cast<int>(v * static_cast<float>(height)), 0, height - 1);
    return static_cast<float>(texels[y * width + x]) / 255;
  }
};

Coverage coverage_of(ImFontAtlas& atlas) {
  Coverage out;
  unsigned char* texels = nullptr;
  atlas.GetTexDataAsAlpha8(&texels, &out.width, &out.height);
  out.texels = texels;
  return out;
}

/// Colours of a picture are not multiplied by alpha.
void blend(Image& image, int x, int y, const ImVec4& color, float share) {
  const float source = color.w * share;
  if (!(source > 0)) return;
  std::uint8_t* pixel =
      image.rgba.data() +
      4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  const float below = (1 - source) * static_cast<float>(pixel[3]) / 255, alpha = source + below;
  const float channels[3] = {color.x, color.y, color.z};
  for (int c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>(
        std::lround((255 * source * channels[c] + below * static_cast<float>(pixel[c])) / alpha));
  pixel[3] = static_cast<std::uint8_t>(std::lround(255 * alpha));
}

/// Removes the first character of a UTF-8 text; one beyond three bytes, or no UTF-8, is a question mark.
ImWchar take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 0;
  if (length == 0 || length > text.size()) {
    text.remove_prefix(1);
    return '?';
  }
  unsigned code = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3F);
  text.remove_prefix(length);
  return static_cast<ImWchar>(code);
}

PictureArea within(const Image& image, const PictureArea& area) {
  return {std::max(0, area.x0), std::max(0, area.y0), std::min(image.width, area.x1),
          std::min(image.height, area.y1)};
}

/// The mean over a pixel of the glyph's coverage; `x`, `y`: its corner within the glyph, both in [0, 1].
float mean_coverage(const Coverage& font, const ImFontGlyph& glyph, float x, float y, float dx, float dy) {
  constexpr int kSamples = 4;
  float sum = 0;
  for (int i = 0; i < kSamples; ++i)
    for (int j = 0; j < kSamples; ++j) {
      const float s = x + dx * (static_cast<float>(i) + 0.5f) / kSamples;
      const float t = y + dy * (static_cast<float>(j) + 0.5f) / kSamples;
      if (s < 0 || t < 0 || s >= 1 || t >= 1) continue;
      sum += font.at(glyph.U0 + s * (glyph.U1 - glyph.U0), glyph.V0 + t * (glyph.V1 - glyph.V0));
    }
  return sum / (kSamples * kSamples);
}

void draw_glyph(Image& image, const Coverage& font, const ImFontGlyph& glyph, const ImVec2& from,
                const ImVec2& to, const ImVec4& color, const PictureArea& clip) {
  if (!(to.x > from.x) || !(to.y > from.y)) return;
  const PictureArea box{static_cast<int>(std::floor(from.x)), static_cast<int>(std::floor(from.y)),
                        static_cast<int>(std::ceil(to.x)), static_cast<int>(std::ceil(to.y))};
  const float dx = 1 / (to.x - from.x), dy = 1 / (to.y - from.y);
  for (int y = std::max(box.y0, clip.y0); y < std::min(box.y1, clip.y1); ++y)
    for (int x = std::max(box.x0, clip.x0); x < std::min(box.x1, clip.x1); ++x)
      blend(image, x, y, color,
            mean_coverage(font, glyph, (static_cast<float>(x) - from.x) * dx,
                          (static_cast<float>(y) - from.y) * dy, dx, dy));
}

}  // namespace

void fill_area(Image& image, const PictureArea& area, ImU32 color) {
  const ImVec4 rgba = ImGui::ColorConvertU32ToFloat4(color);
  const PictureArea part = within(image, area);
  for (int y = part.y0; y < part.y1; ++y)
    for (int x = part.x0; x < part.x1; ++x) blend(image, x, y, rgba, 1);
}

void draw_text(Image& image, float x, float y, std::string_view text, ImU32 color, float scale,
               const PictureArea& clip) {
  ImFont& font = *ImGui::GetFont();
  const Coverage coverage = coverage_of(*font.ContainerAtlas);
  const ImVec4 rgba = ImGui::ColorConvertU32ToFloat4(color);
  const float size = scale * ImGui::GetFontSize() / font.FontSize;
  while (!text.empty()) {
    const ImFontGlyph* glyph = font.FindGlyph(take_character(text));
    if (glyph == nullptr) continue;
    if (glyph->Visible != 0)
      draw_glyph(image, coverage, *glyph, {x + size * glyph->X0, y + size * glyph->Y0},
                 {x + size * glyph->X1, y + size * glyph->Y1}, rgba, within(image, clip));
    x += size * glyph->AdvanceX;
  }
}

}  // namespace stickslip
