#include "app/viewer/view_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "app/viewer/panels/panel_context.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

constexpr double kDeepestLevel = 64;  // of a tree

/// `at`: the place of a flag in a view.
template <class At>
ViewRow flag_row(std::string name, At at) {
  return {std::move(name), ViewRow::Kind::flag, [at](const ViewState& view) { return at(view) ? 1.0 : 0.0; },
          [at](ViewState& view, double value) { at(view) = value != 0; }};
}

template <class At>
ViewRow number_row(std::string name, At at, double low, double high) {
  return {std::move(name),
          ViewRow::Kind::number,
          [at](const ViewState& view) { return static_cast<double>(at(view)); },
          [at](ViewState& view, double value) {
            at(view) = static_cast<std::remove_reference_t<decltype(at(view))>>(value);
          },
          {},
          low,
          high};
}

template <class At>
ViewRow choice_row(std::string name, At at, std::vector<std::string> choices) {
  return {std::move(name), ViewRow::Kind::choice,
          [at](const ViewState& view) { return static_cast<double>(at(view)); },
          [at](ViewState& view, double value) {
            at(view) = static_cast<std::remove_reference_t<decltype(at(view))>>(static_cast<int>(value));
          },
          std::move(choices)};
}

/// The labels of a table of choices, with _ for their spaces: words of a script.
template <class Table>
std::vector<std::string> words_of(const Table& table) {
  std::vector<std::string> words;
  for (const auto& info : table) {
    std::string& word = words.emplace_back(info.label);
    std::ranges::replace(word, ' ', '_');
  }
  return words;
}

std::vector<ViewRow> make_view_table() {
  std::vector<ViewRow> rows;
  for (const OverlayInfo& overlay : overlay_table())
    rows.push_back(flag_row(
        std::string(overlay.name), [flag = overlay.flag](auto& view) -> auto& {
          return view.overlays.*flag;
        }));
#define FLAG(name, place) \
  flag_row(               \
      name, [](auto& view) -> auto& { return view.place; })
#define NUMBER(name, place, low, high) \
  number_row(                          \
      name, [](auto& view) -> auto& { return view.place; }, low, high)
#define CHOICE(name, place, ...) \
  choice_row(                    \
      name, [](auto& view) -> auto& { return view.place; }, __VA_ARGS__)
  for (ViewRow& row : std::vector<ViewRow>{
           FLAG("multipliers", overlays.multipliers), FLAG("open", filter.open), FLAG("stick", filter.stick),
           FLAG("slip", filter.slip), FLAG("unconverged", filter.unconverged),
           CHOICE("colours", scale, words_of(contact_scale_table())),
           CHOICE("forces_of", arrows, words_of(force_arrows_table())),
           CHOICE("surfaces", surfaces, words_of(surface_colors_table())), FLAG("patterns", patterns),
           NUMBER("tree_level", tree_level, 0, kDeepestLevel), FLAG("clip", clip.on),
           NUMBER("heading", clip.heading, -180, 180), NUMBER("tilt", clip.tilt, -90, 90),
           NUMBER("plane_at", clip.position, -1, 1), FLAG("x_ray", clip.x_ray),
           NUMBER("opacity", clip.opacity, 0.0625, 0.9375),
           CHOICE("forks", fork_view, {"hidden", "outlines", "panes"}),
           CHOICE("joint", joint.kind, {joint_kind_names.begin(), joint_kind_names.end()}),
           CHOICE("joint_axis", joint.axis, {joint_axis_names.begin(), joint_axis_names.end()})})
    rows.push_back(std::move(row));
#undef FLAG
#undef NUMBER
#undef CHOICE
  return rows;
}

[[noreturn]] void refuse_view(const ViewRow& row, const std::string& value) {
  std::string valid = "true or false";
  if (row.kind == ViewRow::Kind::number)
    valid = "a number from " + std::to_string(row.low) + " to " + std::to_string(row.high);
  if (row.kind == ViewRow::Kind::choice) {
    valid.clear();
    for (const std::string& choice : row.choices) valid += (valid.empty() ? "" : ", ") + choice;
  }
  throw std::invalid_argument(row.name + " = " + value + ": must be " + valid);
}

}  // namespace

std::span<const ViewRow> view_table() {
  static const std::vector<ViewRow> table = make_view_table();
  return table;
}

const ViewRow& view_row(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ViewRow& row : view_table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  const std::string nearest = nearest_name(names, name);
  throw std::invalid_argument("the view has no '" + std::string(name) + "'" +
                              (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

double checked(const ViewRow& row, double value) {
  const double high =
      row.kind == ViewRow::Kind::choice ? static_cast<double>(row.choices.size()) - 1 : row.high;
  const bool is_whole = value == std::floor(value);
  if (!(value >= row.low && value <= high) || (row.kind != ViewRow::Kind::number && !is_whole))
    refuse_view(row, std::to_string(value));
  return value;
}

double checked(const ViewRow& row, std::string_view text) {
  const auto refuse_text = [&] { refuse_view(row, "'" + std::string(text) + "'"); };
  if (row.kind == ViewRow::Kind::choice) {
    const auto choice = std::ranges::find(row.choices, text);
    if (choice == row.choices.end()) refuse_text();
    return static_cast<double>(choice - row.choices.begin());
  }
  if (row.kind == ViewRow::Kind::flag) {
    if (text != "true" && text != "false") refuse_text();
    return text == "true" ? 1 : 0;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse_text();
  return checked(row, value);
}

}  // namespace stickslip
