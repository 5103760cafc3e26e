// Where D, L and C of the last linear system have blocks, as a picture.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr std::int64_t kNumbers = 9;  // of a block

struct PartLooks {
  const char *name, *meaning;
  ImU32 color;
};
constexpr std::array<PartLooks, MatrixParts::kParts> kPartLooks{{
    {"D", "Diagonal blocks, those of contacts included", theme::series[2]},
    {"L", "Nodes of one element, and the transpose L'", theme::series[0]},
    {"C", "Nodes of one contact, and the transpose C'; rebuilt in each Newton iteration", theme::series[1]},
}};

/// What a cell shows: the rarer part over the commoner one.
std::optional<MatrixParts::Part> part_on_top(const MatrixParts::Counts& count) {
  for (const MatrixParts::Part part : {MatrixParts::contact, MatrixParts::diagonal, MatrixParts::elastic})
    if (count[part] > 0) return part;
  return std::nullopt;
}

void draw_part_cells(const MatrixParts& parts, const ImVec2& at, float size) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + size, at.y + size}, theme::bar_background);
  const float cell = size / static_cast<float>(parts.cells);
  const float rows = static_cast<float>(parts.nodes) / static_cast<float>(parts.cells);
  for (std::int32_t row = 0; row < parts.cells; ++row)
    for (std::int32_t column = 0; column < parts.cells; ++column) {
      const MatrixParts::Counts& count = parts.at(row, column);
      const std::optional<MatrixParts::Part> top = part_on_top(count);
      if (!top) continue;
      // A cell of one block among thousands is to be seen, too; one with a block in each row is full.
      const float share = std::min(1.f, static_cast<float>(count[*top]) / rows);
      ImVec4 color = theme::rgba(kPartLooks[*top].color);
      color.w = 0.4f + 0.6f * share;
      const ImVec2 low{at.x + cell * static_cast<float>(column), at.y + cell * static_cast<float>(row)};
      list.AddRectFilled(low, {low.x + std::max(1.f, cell), low.y + std::max(1.f, cell)},
                         ImGui::ColorConvertFloat4ToU32(color));
    }
}

std::string part_text(MatrixParts::Part part, std::int64_t blocks) {
  return std::string(kPartLooks[part].name) + ": " + counted(static_cast<long>(blocks), "block") + ", " +
         counted(static_cast<long>(kNumbers * blocks), "number");
}

std::string nodes_text(const char* what, std::int32_t first, std::int32_t end) {
  if (end - first == 1) return std::string(what) + " " + std::to_string(first);
  return std::string(what) + "s " + std::to_string(first) + " to " + std::to_string(end - 1);
}

}  // namespace

std::string matrix_cell_text(const MatrixParts& parts, std::int32_t row, std::int32_t column) {
  std::string text = nodes_text("row", parts.first_of(row), parts.first_of(row + 1)) + ", " +
                     nodes_text("column", parts.first_of(column), parts.first_of(column + 1));
  for (const MatrixParts::Part part : {MatrixParts::diagonal, MatrixParts::elastic, MatrixParts::contact})
    text += "\n" + part_text(part, parts.at(row, column)[part]);
  return text;
}

void draw_matrix_parts(const MatrixParts& parts, const char* missing) {
  if (parts.empty()) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled("%s", missing);
    ImGui::PopTextWrapPos();
    return;
  }
  const float size = std::min(ImGui::GetContentRegionAvail().x, em(36));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_part_cells(parts, at, size);
  ImGui::Dummy({size, size});
  if (ImGui::IsItemHovered()) {
    const auto cell = [&](float offset) {
      const auto index = static_cast<std::int32_t>(offset / size * static_cast<float>(parts.cells));
      return std::clamp(index, 0, parts.cells - 1);
    };
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    ImGui::SetTooltip("%s", matrix_cell_text(parts, cell(mouse.y - at.y), cell(mouse.x - at.x)).c_str());
  }
  value_row("Rows, columns", em(16), "%d nodes", parts.nodes);
  tooltip("A = D + L + L' + C + C' as it is stored: each node has a row of blocks of 3 x 3 numbers");
  for (const MatrixParts::Part part : {MatrixParts::diagonal, MatrixParts::elastic, MatrixParts::contact}) {
    text_colored(kPartLooks[part].color, part_text(part, parts.total[part]));
    tooltip(std::string(kPartLooks[part].meaning) +
            ". A cell with several parts shows C before D before L; the pointer tells all");
  }
}

}  // namespace stickslip
