#include "app/viewer/commands.h"

#include <algorithm>
#include <stdexcept>

namespace stickslip {
namespace {

const ParamInfo& row_of(std::span<const ParamInfo> table, std::string_view name) {
  const ParamInfo* info = find_param(table, name);
  if (!info) throw std::invalid_argument("unknown parameter '" + std::string(name) + "'");
  return *info;
}

}  // namespace

bool changes_content(const Command& command) {
  return std::holds_alternative<AddObject>(command) || std::holds_alternative<RemoveObject>(command) ||
         std::holds_alternative<MoveObject>(command) || std::holds_alternative<AddPin>(command) ||
         std::holds_alternative<RemovePins>(command) || std::holds_alternative<AddJoint>(command) ||
         std::holds_alternative<AddSpring>(command) || std::holds_alternative<RemoveTies>(command) ||
         std::holds_alternative<GoToContent>(command) || std::holds_alternative<LoadScene>(command) ||
         std::holds_alternative<Rewind>(command) || std::holds_alternative<ReturnToKept>(command);
}

bool supersedes(const Command& next, const Command& previous) {
  if (next.index() != previous.index()) return false;
  if (std::holds_alternative<Rewind>(next) || std::holds_alternative<ReturnToKept>(next)) return true;
  if (changes_content(next)) return std::holds_alternative<LoadScene>(next);
  if (const auto* edit = std::get_if<ParamEdit>(&next))
    return edit->name == std::get<ParamEdit>(previous).name;
  if (const auto* edit = std::get_if<ContactParamEdit>(&next))
    return edit->name == std::get<ContactParamEdit>(previous).name;
  if (const auto* edit = std::get_if<MaterialEdit>(&next)) {
    const auto& old = std::get<MaterialEdit>(previous);
    return edit->name == old.name && edit->material == old.material;
  }
  if (const auto* edit = std::get_if<HalfSpaceEdit>(&next))
    return edit->index == std::get<HalfSpaceEdit>(previous).index;
  if (const auto* edit = std::get_if<TripwireEdit>(&next))
    return edit->name == std::get<TripwireEdit>(previous).name;
  if (const auto* capture = std::get_if<CaptureState>(&next))
    return capture->use == std::get<CaptureState>(previous).use;
  if (const auto* fork = std::get_if<ForkState>(&next)) {
    const auto& old = std::get<ForkState>(previous);
    return fork->seed == old.seed && fork->size == old.size;
  }
  return true;
}

std::vector<Command> in_order(std::vector<Command> edits) {
  const auto drops = [](const Command& command, bool on) {
    const auto* edit = std::get_if<ParamEdit>(&command);
    return edit != nullptr && edit->name == "drop_unsupported" && (edit->value != 0) == on;
  };
  std::stable_partition(edits.begin(), edits.end(), [&](const Command& edit) { return drops(edit, true); });
  std::stable_partition(edits.begin(), edits.end(), [&](const Command& edit) { return !drops(edit, false); });
  return edits;
}

void apply_edit(const ParamEdit& edit, Params& params) {
  set_param(&params, row_of(param_table(), edit.name), edit.value);
}

void apply_edit(const ContactParamEdit& edit, LabParams& params) {
  set_param(&params, row_of(lab_param_table(), edit.name), edit.value);
}

void apply_edit(const MaterialEdit& edit, std::vector<Material>& materials) {
  const auto count = static_cast<int>(materials.size());
  if (edit.material >= count) throw std::invalid_argument("no material " + std::to_string(edit.material));
  const ParamInfo& info = row_of(material_table(), edit.name);
  for (int i = 0; i < count; ++i)
    if (edit.material < 0 || edit.material == i)
      set_param(&materials[static_cast<std::size_t>(i)], info, edit.value);
}

void apply_edit(const HalfSpaceEdit& edit, std::vector<double>& half_space_mu) {
  if (edit.index >= half_space_mu.size())
    throw std::invalid_argument("no half-space " + std::to_string(edit.index));
  Material checked;
  set_param(&checked, row_of(material_table(), "mu"), edit.mu);
  half_space_mu[edit.index] = checked.mu;
}

void apply_edit(const TripwireEdit& edit, Tripwires& wires) {
  set_param(&wires, row_of(tripwire_table(), edit.name), edit.value);
}

}  // namespace stickslip
