#include "app/viewer/journal_file.h"

#include <nlohmann/json.hpp>

#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/input_error.h"
#include "app/io/file/output_file.h"

namespace stickslip {
namespace {

using nlohmann::json;

json to_json(const Vec<double, 3>& v) { return {v[0], v[1], v[2]}; }

template <class Item>
json name_at(const std::vector<Item>& items, int index) {
  const auto i = static_cast<std::size_t>(index);
  if (index < 0 || i >= items.size()) return nullptr;
  if constexpr (requires { items[i].name; }) return items[i].name;
  else return items[i];
}

/// JSON form of a value according to its row of the registry: a choice by name.
json value_json(std::span<const ParamInfo> table, std::string_view name, double value) {
  const ParamInfo* info = find_param(table, name);
  if (!info) return value;
  if (info->type == ParamType::boolean) return value != 0;
  const auto index = static_cast<std::size_t>(value);
  return info->type == ParamType::choice && index < info->choices.size() ? json(info->choices[index])
                                                                         : json(value);
}

/// Likewise of a row of the view.
json view_json(const ViewRow& row, double value) {
  if (row.kind == ViewRow::Kind::flag) return value != 0;
  if (row.kind == ViewRow::Kind::choice) return row.choices.at(static_cast<std::size_t>(value));
  return value;
}

/// Writes the event's name and its data.
struct EventWriter {
  const Model& model;

  json operator()(const LoadScene& load) const {
    json line{{"event", "load"}, {"scene", load.scene}};
    if (!load.variant.empty()) line["variant"] = load.variant;
    return line;
  }
  json operator()(const Reset&) const { return {{"event", "reset"}}; }
  json operator()(const ResetAll&) const { return {{"event", "reset_all"}}; }
  json operator()(const ParamEdit& edit) const {
    return {
        {"event", "set"}, {"key", edit.name}, {"value", value_json(param_table(), edit.name, edit.value)}};
  }
  json operator()(const ContactParamEdit& edit) const {
    return {{"event", "set"},
            {"key", std::string(contact_key_prefix) + std::string(edit.name)},
            {"value", value_json(lab_param_table(), edit.name, edit.value)}};
  }
  json operator()(const MaterialEdit& edit) const {
    return {{"event", "set"},
            {"key", edit.name},
            {"value", value_json(material_table(), edit.name, edit.value)},
            {"material", name_at(model.material_names, edit.material)}};
  }
  json operator()(const HalfSpaceEdit& edit) const {
    return {{"event", "set"}, {"key", "mu"}, {"value", edit.mu}, {"half_space", edit.index}};
  }
  json operator()(const TripwireEdit& edit) const {
    return {{"event", "set"},
            {"key", std::string(tripwire_key_prefix) + std::string(edit.name)},
            {"value", value_json(tripwire_table(), edit.name, edit.value)}};
  }
  json operator()(const DragStart& start) const {
    const auto& [triangle, weights, target] = start.drag;
    const auto node = static_cast<std::size_t>(triangle[0]);
    const int object = node < model.node_object.size() ? model.node_object[node] : -1;
    return {{"event", "drag_start"},
            {"object", name_at(model.objects, object)},
            {"triangle", {triangle[0], triangle[1], triangle[2]}},
            {"weights", to_json(weights)},
            {"target", to_json(target)}};
  }
  json operator()(const DragMove& move) const {
    return {{"event", "drag_move"}, {"target", to_json(move.target)}};
  }
  json operator()(const DragEnd&) const { return {{"event", "drag_end"}}; }
  json operator()(const Freeze&) const { return {{"event", "freeze"}}; }
  json operator()(const CaptureState& capture) const {
    constexpr const char* names[] = {"race_steppers", "sweep", "step_iterations"};
    return {{"event", names[static_cast<std::size_t>(capture.use)]}};
  }
  json operator()(const ForkState& fork) const {
    json line = {{"event", "fork"}};
    if (fork.seed != 0) line.update({{"seed", fork.seed}, {"size", fork.size}});
    return line;
  }
  json operator()(const Rewind& rewind) const { return {{"event", "rewind"}, {"to", rewind.frame}}; }
  json operator()(const KeepState&) const { return {{"event", "keep_state"}}; }
  json operator()(const ReturnToKept&) const { return {{"event", "return_to_kept"}}; }
  json operator()(const AddObject& object) const { return {{"event", "add_object"}, {"toml", object.toml}}; }
  json operator()(const RemoveObject& object) const {
    return {{"event", "remove_object"}, {"object", object.name}};
  }
  json operator()(const MoveObject& move) const {
    return {{"event", "move_object"},
            {"object", move.object},
            {"shift", to_json(move.shift)},
            {"turn", to_json(move.turn)}};
  }
  json operator()(const AddPin& pin) const {
    return {{"event", "add_pin"}, {"object", pin.object}, {"nodes", pin.nodes}};
  }
  json operator()(const RemovePins& pins) const {
    return {{"event", "remove_pins"}, {"object", pins.object}};
  }
  json operator()(const AddJoint& joint) const { return {{"event", "add_joint"}, {"toml", joint.toml}}; }
  json operator()(const AddSpring& spring) const { return {{"event", "add_spring"}, {"toml", spring.toml}}; }
  json operator()(const RemoveTies& ties) const {
    return {{"event", "remove_ties"}, {"object", ties.object}};
  }
  json operator()(const GoToContent& go) const {
    return {{"event", "go_to_content"}, {"content", go.content}};
  }
  json operator()(const Stepped& step) const { return {{"event", "step"}, {"hash", hash_text(step.hash)}}; }
};

/// One line. Paths may have bytes that are no UTF-8: they are replaced.
std::string line_of(const json& event) { return event.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

void JournalWriter::start(const JournalStart& start) {
  json line{{"event", "start"},
            {"scene", start.scene},
            {"variant", start.variant},
            {"solver", start.solver},
            {"set", start.settings},
            {"force", start.force},
            {"ignore_unknown", start.ignore_unknown},
            {"backend", start.backend},
            {"version", start.version}};
  if (start.scale) line["scale"] = *start.scale;
  if (start.density) line["density"] = *start.density;
  write(line_of(line));
}

void JournalWriter::add(const JournalEntry& entry, const Model& model) {
  json line = std::visit(EventWriter{model}, entry.command);
  line["frame"] = entry.frame;
  line["time"] = entry.time;
  write(line_of(line));
}

void JournalWriter::add_screenshot(int frame, double time, const std::filesystem::path& picture) {
  const json line{{"event", "screenshot"}, {"file", picture.string()}, {"frame", frame}, {"time", time}};
  write(line_of(line));
}

void JournalWriter::add_playing(int frame, double time, bool playing) {
  write(line_of({{"event", playing ? "play" : "pause"}, {"frame", frame}, {"time", time}}));
}

void JournalWriter::add_action(int frame, double time, std::string_view name) {
  write(line_of({{"event", "action"}, {"name", name}, {"frame", frame}, {"time", time}}));
}

void JournalWriter::add_view(int frame, double time, const std::vector<ViewChange>& changes) {
  json set = json::object();
  for (const ViewChange& change : changes)
    set[std::string(change.name)] = view_json(view_row(change.name), change.value);
  write(line_of({{"event", "view"}, {"set", std::move(set)}, {"frame", frame}, {"time", time}}));
}

JournalFile::JournalFile(const std::filesystem::path& file) : file_(file) {
  check_writable(file);
  stream_.open(file, std::ios::binary | std::ios::trunc);
  if (!stream_) throw InputError(file.string() + ": cannot be written");
}

void JournalFile::write(const std::string& line) {
  stream_ << line << std::endl;
  if (!stream_) throw OutputError(file_.string() + ": writing failed");
}

void JournalText::write(const std::string& line) {
  is_full_ = is_full_ || text_.size() + line.size() + 1 > limit_;
  if (is_full_) return;
  text_ += line;
  text_ += '\n';
}

const std::string& JournalText::text() const {
  if (is_full_)
    throw OutputError("the journal has more than " + std::to_string(limit_ >> 20) +
                      " MiB, the limit of one in memory");
  return text_;
}

}  // namespace stickslip
