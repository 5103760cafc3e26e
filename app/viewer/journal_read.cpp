#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/io/file/input_error.h"
#include "app/viewer/journal_file.h"

namespace stickslip {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

Vec<double, 3> read_vec(const json& values) {
  return {values.at(0).get<double>(), values.at(1).get<double>(), values.at(2).get<double>()};
}

/// The row of a key, and its checked value.
struct Setting {
  std::string_view name;
  double value;
};

Setting read_setting(std::span<const ParamInfo> table, const std::string& key, const json& value) {
  const ParamInfo* row = find_param(table, key);
  if (!row) refuse("unknown key '" + key + "'");
  double number = 0;
  if (value.is_string()) {
    const auto choice = std::ranges::find(row->choices, value.get<std::string>());
    if (choice == row->choices.end()) refuse("'" + value.get<std::string>() + "' is no choice of " + key);
    number = static_cast<double>(choice - row->choices.begin());
  } else {
    number = value.is_boolean() ? value.get<bool>() : value.get<double>();
  }
  return {row->name, number};
}

Command read_set(const json& line, const Model& model) {
  const auto key = line.at("key").get<std::string>();
  const json& value = line.at("value");
  if (line.contains("half_space"))
    return HalfSpaceEdit{line.at("half_space").get<std::size_t>(), value.get<double>()};
  if (line.contains("material")) {
    int material = -1;
    if (const json& name = line.at("material"); !name.is_null()) {
      const auto found = std::ranges::find(model.material_names, name.get<std::string>());
      if (found == model.material_names.end()) refuse("unknown material " + name.dump());
      material = static_cast<int>(found - model.material_names.begin());
    }
    const Setting setting = read_setting(material_table(), key, value);
    return MaterialEdit{material, setting.name, setting.value};
  }
  if (key.starts_with(contact_key_prefix)) {
    const Setting setting = read_setting(lab_param_table(), key.substr(contact_key_prefix.size()), value);
    return ContactParamEdit{setting.name, setting.value};
  }
  if (key.starts_with(tripwire_key_prefix)) {
    const Setting setting = read_setting(tripwire_table(), key.substr(tripwire_key_prefix.size()), value);
    return TripwireEdit{setting.name, setting.value};
  }
  const Setting setting = read_setting(param_table(), key, value);
  return ParamEdit{setting.name, setting.value};
}

/// Throws as `apply_edit` does for an edit that a simulation of the model would refuse.
void check_edit(const Command& command, const Model& model) {
  Settings settings;
  settings.materials = model.materials;
  settings.half_space_mu.assign(model.half_spaces.size(), 0.0);
  if (const auto* param = std::get_if<ParamEdit>(&command)) apply_edit(*param, settings.params);
  if (const auto* contact = std::get_if<ContactParamEdit>(&command))
    apply_edit(*contact, settings.contact_params);
  if (const auto* material = std::get_if<MaterialEdit>(&command)) apply_edit(*material, settings.materials);
  if (const auto* plane = std::get_if<HalfSpaceEdit>(&command)) apply_edit(*plane, settings.half_space_mu);
  Tripwires wires;
  if (const auto* wire = std::get_if<TripwireEdit>(&command)) apply_edit(*wire, wires);
}

/// The changes of a view, for `show`, which may be empty.
void read_view(const json& line, const std::function<void(const ViewRow&, double)>& show) {
  for (const auto& [name, value] : line.at("set").items()) {
    const ViewRow& row = view_row(name);
    const double number = value.is_string()    ? checked(row, value.get_ref<const std::string&>())
                          : value.is_boolean() ? checked(row, value.get<bool>() ? 1.0 : 0.0)
                                               : checked(row, value.get<double>());
    if (show) show(row, number);
  }
}

Drag read_drag(const json& line, const Model& model) {
  Drag drag;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto node = line.at("triangle").at(i).get<std::int32_t>();
    if (node < 0 || static_cast<std::size_t>(node) >= model.node_count())
      refuse("there is no node " + std::to_string(node));
    drag.triangle[static_cast<int>(i)] = node;
  }
  drag.weights = read_vec(line.at("weights"));
  drag.target = read_vec(line.at("target"));
  return drag;
}

std::uint64_t read_hash(const std::string& text) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
    refuse("'" + text + "' is no hash");
  return hash;
}

JournalStart read_start(const json& line) {
  JournalStart start;
  start.scene = line.at("scene").get<std::string>();
  start.variant = line.at("variant").get<std::string>();
  start.solver = line.at("solver").get<std::string>();
  if (line.contains("scale")) start.scale = line.at("scale").get<double>();
  if (line.contains("density")) start.density = line.at("density").get<double>();
  start.settings = line.at("set").get<std::vector<std::string>>();
  start.force = line.at("force").get<bool>();
  start.ignore_unknown = line.at("ignore_unknown").get<bool>();
  start.backend = line.at("backend").get<std::string>();
  start.version = line.at("version").get<std::string>();
  return start;
}

/// Empty for an event without effect on the simulation.
std::optional<Command> read_event(const json& line, const Model& model) {
  const auto event = line.at("event").get<std::string>();
  if (event == "load")
    return LoadScene{line.at("scene").get<std::string>(), line.value("variant", std::string())};
  if (event == "reset") return Reset{};
  if (event == "reset_all") return ResetAll{};
  if (event == "set") return read_set(line, model);
  if (event == "drag_start") return DragStart{read_drag(line, model)};
  if (event == "drag_move") return DragMove{read_vec(line.at("target"))};
  if (event == "drag_end") return DragEnd{};
  if (event == "freeze") return Freeze{};
  if (event == "race_steppers") return CaptureState{};
  if (event == "sweep") return CaptureState{CaptureUse::sweep};
  if (event == "step_iterations") return CaptureState{CaptureUse::iterations};
  if (event == "fork")
    return ForkState{line.value("seed", std::uint64_t{0}), line.value("size", kPerturbation)};
  if (event == "rewind") return Rewind{line.at("to").get<int>()};
  if (event == "keep_state") return KeepState{};
  if (event == "return_to_kept") return ReturnToKept{};
  if (event == "add_object") return AddObject{line.at("toml").get<std::string>()};
  if (event == "remove_object") return RemoveObject{line.at("object").get<std::string>()};
  if (event == "move_object")
    return MoveObject{line.at("object").get<std::string>(), read_vec(line.at("shift")),
                      read_vec(line.at("turn"))};
  if (event == "add_pin")
    return AddPin{line.at("object").get<std::string>(), line.at("nodes").get<std::vector<std::int32_t>>()};
  if (event == "remove_pins") return RemovePins{line.at("object").get<std::string>()};
  if (event == "add_joint") return AddJoint{line.at("toml").get<std::string>()};
  if (event == "add_spring") return AddSpring{line.at("toml").get<std::string>()};
  if (event == "remove_ties") return RemoveTies{line.at("object").get<std::string>()};
  if (event == "go_to_content") return GoToContent{line.at("content").get<int>()};
  if (event == "step") return Stepped{read_hash(line.at("hash").get<std::string>())};
  if (event != "screenshot" && event != "play" && event != "pause" && event != "action")
    refuse("unknown event '" + event + "'");
  return std::nullopt;
}

}  // namespace

JournalReader::JournalReader(const std::filesystem::path& file, const std::string& shown)
    : shown_(shown.empty() ? file.string() : shown), stream_(file, std::ios::binary) {
  if (!stream_) throw InputError(shown_ + ": cannot be read");
  pending_ = read_line();
  if (!pending_) return;
  try {
    const json line = json::parse(text_);
    if (line.value("event", std::string()) != "start") return;
    start_ = read_start(line);
  } catch (const json::exception& error) {
    fail(error.what());
  }
  pending_ = false;
}

bool JournalReader::read_line() {
  if (!std::getline(stream_, text_)) return false;
  ++number_;
  return true;
}

void JournalReader::fail(const std::string& what) const {
  throw InputError(shown_ + ":" + std::to_string(number_) + ": " + what);
}

std::optional<JournalEntry> JournalReader::next(const Model& model) {
  while (std::exchange(pending_, false) || read_line()) {
    try {
      const json line = json::parse(text_);
      if (line.at("event") == "view") {
        read_view(line, show_);
        continue;
      }
      const std::optional<Command> command = read_event(line, model);
      if (!command) continue;
      check_edit(*command, model);
      return JournalEntry{line.at("frame").get<int>(), line.at("time").get<double>(), 0, *command};
    } catch (const json::parse_error& error) {
      if (stream_.eof()) return std::nullopt;  // cut off where the program was killed
      fail(error.what());
    } catch (const json::exception& error) {
      fail(error.what());
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }
  return std::nullopt;
}

std::vector<JournalEntry> read_journal(const std::filesystem::path& file, const Model& model) {
  JournalReader reader(file);
  std::vector<JournalEntry> entries;
  while (auto entry = reader.next(model)) entries.push_back(std::move(*entry));
  return entries;
}

}  // namespace stickslip
