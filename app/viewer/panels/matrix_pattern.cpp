// The blocks of the Delassus operator that are not zero, as a picture.
#include <algorithm>

#include "app/viewer/contact_graph.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr int kMostCells = 128;

/// Each cell as a square; full cells have the colour of the first series.
void draw_cells(const MatrixPattern& pattern, const ImVec2& at, float size) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + size, at.y + size}, theme::bar_background);
  const float cell = size / static_cast<float>(pattern.cells);
  const ImVec4 full = ImGui::ColorConvertU32ToFloat4(theme::series[0]);
  for (int row = 0; row < pattern.cells; ++row)
    for (int column = 0; column < pattern.cells; ++column) {
      const float share = pattern.share[static_cast<std::size_t>(row * pattern.cells + column)];
      if (!(share > 0)) continue;
      // A cell of one block among thousands is to be seen, too.
      const ImU32 color = ImGui::ColorConvertFloat4ToU32({full.x, full.y, full.z, 0.25f + 0.75f * share});
      const ImVec2 low{at.x + cell * static_cast<float>(column), at.y + cell * static_cast<float>(row)};
      list.AddRectFilled(low, {low.x + std::max(1.f, cell), low.y + std::max(1.f, cell)}, color);
    }
}

}  // namespace

void draw_matrix_pattern(const Model& model, std::span<const ContactRecord> contacts, bool& swept) {
  const bool has_colours =
      std::ranges::any_of(contacts, [](const ContactRecord& contact) { return contact.colour >= 0; });
  ImGui::BeginDisabled(!has_colours);
  ImGui::Checkbox("in the order of sweeps", &swept);
  ImGui::EndDisabled();
  tooltip(has_colours ? "Contacts of one colour share no body, so their blocks lie on the diagonal"
                      : "The last step had no sweep by colours");
  const MatrixPattern pattern = pattern_of(model, contacts, kMostCells,
                                           swept && has_colours ? ContactOrder::swept : ContactOrder::found);
  if (pattern.cells == 0) {
    ImGui::TextDisabled("No contacts.");
    return;
  }
  const float size = std::min(ImGui::GetContentRegionAvail().x, em(36));
  draw_cells(pattern, ImGui::GetCursorScreenPos(), size);
  ImGui::Dummy({size, size});
  tooltip("W = H M^-1 H': a block is not zero where two contacts act on one object that can move");
  value_row("Blocks", em(16), "%zu x %zu, %.3g%% not zero", contacts.size(), contacts.size(),
            100 * pattern.filled);
}

}  // namespace stickslip
