#include <algorithm>
#include <utility>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "gpu/model/element_group.h"

namespace stickslip {

namespace {

/// Buttons that show scenes of one kind alone.
void draw_kinds(std::optional<SceneKind>& chosen) {
  const auto draw = [&](const char* label, const char* meaning, std::optional<SceneKind> kind) {
    if (kind) same_line_for(label);
    if (ImGui::RadioButton(label, chosen == kind)) chosen = kind;
    tooltip(meaning);
  };
  draw("all", "All scenes", {});
  draw("solids", "Deformable and affine solids", SceneKind::solids);
  draw("rigid", "Rigid bodies", SceneKind::rigid);
  draw("thin", "Cloth, hair and rods", SceneKind::thin);
  draw("mixed", "Bodies of several kinds", SceneKind::mixed);
}

/// The picture as a grid of coloured vertices: ImGui's Vulkan backend of this version has no texture but that
/// of the font.
void draw_thumbnail(ImDrawList& list, const Thumbnail& picture, const ImVec2& at, const ImVec2& size) {
  const auto columns = static_cast<unsigned>(picture.width), rows = static_cast<unsigned>(picture.height);
  const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
  list.PrimReserve(static_cast<int>(6 * (columns - 1) * (rows - 1)), static_cast<int>(columns * rows));
  const unsigned first = list._VtxCurrentIdx;
  for (unsigned y = 0; y < rows; ++y)
    for (unsigned x = 0; x < columns; ++x)
      list.PrimWriteVtx({at.x + size.x * static_cast<float>(x) / static_cast<float>(columns - 1),
                         at.y + size.y * static_cast<float>(y) / static_cast<float>(rows - 1)},
                        white, picture.pixels[y * columns + x]);
  for (unsigned y = 0; y + 1 < rows; ++y)
    for (unsigned x = 0; x + 1 < columns; ++x) {
      const unsigned corner = first + y * columns + x;
      for (const unsigned k : {0U, 1U, columns + 1, 0U, columns + 1, columns})
        list.PrimWriteIdx(static_cast<ImDrawIdx>(corner + k));
    }
}

/// Name and title of a scene in the present line.
void draw_plain_row(const SceneInfo& info) {
  // Most scene names fit before the titles; long ones shift their title to the right.
  const float column = em(14), gap = em(1);
  ImGui::SameLine(em(1));
  ImGui::TextUnformatted(info.name.c_str());
  ImGui::SameLine(std::max(column, em(1) + ImGui::CalcTextSize(info.name.c_str()).x + gap));
  text_colored(theme::dim_text, fit_text(info.title, ImGui::GetContentRegionAvail().x));
}

/// The same in two lines over the last item, beside the scene's picture, if it has one.
void draw_picture_row(const SceneInfo& info, const Thumbnail* picture) {
  const ImVec2 at = ImGui::GetItemRectMin(), end = ImGui::GetItemRectMax();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = end.y - at.y - 2;
  const ImVec2 size{height * Thumbnails::kWidth / Thumbnails::kHeight, height};
  if (picture != nullptr) draw_thumbnail(list, *picture, {at.x + em(0.5f), at.y + 1}, size);
  const float left = at.x + em(0.5f) + size.x + em(1);
  const float line = 0.5f * (end.y - at.y);
  const float lowered = 0.5f * (line - ImGui::GetTextLineHeight());
  list.AddText({left, at.y + lowered}, theme::text, info.name.c_str());
  const std::string title = fit_text(info.title, end.x - left);
  list.AddText({left, at.y + line + lowered}, theme::dim_text, title.c_str());
}

/// The list of shipped scenes; it scrolls.
void draw_list(PanelContext& context, const std::shared_ptr<const Scene>& current) {
  constexpr std::size_t most_rows = 10, most_pictures = 6;
  const bool has_pictures = context.thumbnails.any();
  std::string& filter = context.view.scene_filter;
  filter_field("##find scene", "Find a scene", filter);
  draw_kinds(context.view.scene_kind);
  const auto rows =
      static_cast<float>(std::min(context.scenes.size(), has_pictures ? most_pictures : most_rows));
  const float height = has_pictures ? 2.2f * ImGui::GetTextLineHeight() : 0;  // 0: one line
  const float pitch =
      has_pictures ? height + ImGui::GetStyle().ItemSpacing.y : ImGui::GetTextLineHeightWithSpacing();
  ImGui::BeginChild("scenes", {0, rows * pitch});
  int& shown = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("shown"), -1);
  for (std::size_t i = 0; i < context.scenes.size(); ++i) {
    const SceneInfo& info = context.scenes[i];
    const bool selected = current && current->file == info.file;
    if (context.view.scene_kind && *context.view.scene_kind != info.kind) continue;
    if (!passes_filter(filter, {info.name, info.title, info.description})) continue;
    ImGui::PushID(info.name.c_str());
    if (ImGui::Selectable("", selected, ImGuiSelectableFlags_None, {0, height}))
      context.simulation.post(LoadScene{info.file.string()});
    if (selected && std::exchange(shown, static_cast<int>(i)) != static_cast<int>(i)) ImGui::SetScrollHereY();
    const bool in_view = ImGui::IsItemVisible();
    tooltip(selected && !current->description.empty() ? current->description : info.title);
    // Files of pictures are read when their rows come into view.
    if (!has_pictures) draw_plain_row(info);
    else if (in_view) draw_picture_row(info, context.thumbnails.of(info.name));
    ImGui::PopID();
  }
  ImGui::EndChild();
}

/// Chooses one of the scene's variants, which loads the scene with it.
void draw_variants(PanelContext& context, const Scene& scene) {
  const std::string none = "none";
  const auto choice = [&](const std::string& label, const std::string& name, const std::string& description) {
    if (ImGui::Selectable(label.c_str(), scene.variant == name))
      context.simulation.post(LoadScene{scene.file.string(), name});
    tooltip(description);
  };
  ImGui::SetNextItemWidth(em(18));
  const std::string& shown = scene.variant.empty() ? none : scene.variant;
  if (begin_choices("Variant", shown)) {
    choice(none, "", "The scene as its file describes it");
    for (const Variant& variant : scene.variants) choice(variant.name, variant.name, variant.description);
    ImGui::EndCombo();
    return;
  }
  const auto chosen = std::ranges::find(scene.variants, scene.variant, &Variant::name);
  tooltip(chosen != scene.variants.end() && !chosen->description.empty()
              ? chosen->description
              : "Load the scene with other settings of its file");
}

std::string content_text(const Model& model) {
  const auto count = [](std::size_t n, const char* what) { return counted(static_cast<long>(n), what); };
  const std::size_t tets = count_tets(model).all();
  if (!model.bodies.empty())
    return (model.bodies.size() == 1 ? "1 body" : std::to_string(model.bodies.size()) + " bodies") + ", " +
           count(model.joints.size(), "joint") + ", " + count(tets, "tet");
  return count(model.node_count(), "node") + ", " +
         (tets > 0 ? count(tets, "tet") : count(model.triangles.size(), "triangle"));
}

}  // namespace

void draw_scene_panel(PanelContext& context) {
  if (!section("Scene")) return;
  const std::shared_ptr<const Scene>& current = context.simulation.frame().scene;
  if (!context.scenes.empty()) draw_list(context, current);
  if (!current) return;
  if (!current->variants.empty()) draw_variants(context, *current);
  if (ImGui::SmallButton("Reload"))
    context.simulation.post(LoadScene{current->file.string(), current->variant});
  tooltip("Read the scene's file again");
  const std::string content = content_text(current->model);
  same_line_for_text(content);
  ImGui::TextDisabled("%s", content.c_str());
}

}  // namespace stickslip
