#include "app/viewer/presets.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "app/io/file/output_file.h"
#include "app/io/scene/toml_reader.h"
#include "app/io/scene/toml_text.h"
#include "app/viewer/judged_model.h"
#include "app/viewer/window_memory.h"
#include "gpu/model/coupled.h"
#include "gpu/model/scene_traits.h"
#include "gpu/model/steppers.h"

namespace stickslip {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// A table of a preset: every row, as TOML.
std::string table_text(const char* title, std::span<const ParamInfo> rows, const void* object) {
  std::string text = std::string("\n[") + title + "]\n";
  for (const ParamInfo& row : rows) {
    const std::string value = param_text(object, row);
    text += std::string(row.name) + " = " + (row.choices.empty() ? value : toml_text(value)) + "\n";
  }
  return text;
}

/// Folders hold no text, and pipes keep the window waiting.
bool is_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

std::string read_preset(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string() + ": cannot be read");
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMostBytes) throw InputError(file.string() + ": is too long for a preset");
  return text;
}

/// The first choice that differs and that the model cannot have.
void require_choices(const fs::path& file, const Params& from, const Params& to, const Model& model) {
  for (const ParamInfo& row : param_table()) {
    if (row.choices.empty() || get_param(&from, row) == get_param(&to, row)) continue;
    const auto index = static_cast<std::size_t>(get_param(&to, row));
    const std::string reason = barred_choice_reason(row, index, model, to.drop_unsupported);
    if (!reason.empty())
      throw InputError(file.string() + ": [params] " + std::string(row.name) + " = \"" +
                       std::string(row.choices[index]) + "\": " + reason);
  }
}

/// Also where the solver stays, and what it leaves out of the model is no longer to be left out.
void require_stepper(const fs::path& file, const Params& params, const Model& model) {
  if (const auto refused = stepper_refusal(model, params))
    throw InputError(file.string() + ": [params] " + refused->text());
}

/// What steps of bodies of several kinds cannot have.
void require_coupled(const fs::path& file, const Params& params, const Model& model) {
  if (stepper_family(params.solver) != StepperFamily::velocity || !is_coupled(model)) return;
  if (const std::string fault = coupled_fault(params); !fault.empty())
    throw InputError(file.string() + ": [params] " + fault);
}

/// Contact solver before solver, as `set` of scripts: the steps that a choice is for come after it.
std::vector<Command> changes(const Settings& from, const Params& params, const LabParams& contact) {
  std::vector<Command> edits, solver;
  for (const ParamInfo& row : param_table()) {
    const double value = get_param(&params, row);
    if (value == get_param(&from.params, row)) continue;
    (row.name == "solver" ? solver : edits).emplace_back(ParamEdit{row.name, value});
  }
  edits.insert(edits.end(), solver.begin(), solver.end());
  for (const ParamInfo& row : lab_param_table())
    if (const double value = get_param(&contact, row); value != get_param(&from.contact_params, row))
      edits.emplace_back(ContactParamEdit{row.name, value});
  return edits;
}

}  // namespace

bool is_preset_name(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, fits);
}

fs::path Presets::default_folder() {
  const fs::path memory = window_memory_file();
  return memory.empty() ? fs::path() : memory.parent_path() / "presets";
}

void Presets::refresh() {
  names_.clear();
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
    if (const fs::path& file = entry->path();
        file.extension() == ".toml" && is_preset_name(file.stem().string()) && is_file(file))
      names_.push_back(file.stem().string());
  std::ranges::sort(names_);
}

void Presets::require_name(const std::string& name) const {
  if (folder_.empty()) throw InputError("presets need a folder: set XDG_CONFIG_HOME or HOME");
  if (!is_preset_name(name))
    throw InputError("'" + name + "' is no name of a preset: it must have letters, digits, - and _, up to " +
                     std::to_string(kLongestName));
}

void Presets::require_file(const std::string& name) const {
  require_name(name);
  if (!is_file(file_of(name))) throw InputError("there is no preset '" + name + "' in " + folder_.string());
}

void Presets::save(const std::string& name, const Settings& settings) {
  require_name(name);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (fs::exists(file_of(name), error) && !is_file(file_of(name)))
    throw InputError(file_of(name).string() + ": is no file");
  OutputFile out(file_of(name));
  out.stream()
      << "# Parameters of stickslip. Without a key, applying the preset leaves that setting as it is.\n"
      << table_text("params", param_table(), &settings.params)
      << table_text("contact", lab_param_table(), &settings.contact_params);
  out.commit();
  refresh();
}

std::vector<Command> Presets::edits(const std::string& name, const Settings& settings,
                                    const Model& model) const {
  require_file(name);
  const fs::path file = file_of(name);
  TableReader root(read_preset(file), file);
  Params params = settings.params;
  LabParams contact = settings.contact_params;
  if (auto table = root.table("params")) {
    table->settings(&params, param_table());
    table->finish();
  }
  if (auto table = root.table("contact")) {
    table->settings(&contact, lab_param_table());
    table->finish();
  }
  root.finish();
  const Model judged = judged_model(model, settings.materials);
  require_choices(file, settings.params, params, judged);
  require_stepper(file, params, judged);
  require_coupled(file, params, judged);
  return changes(settings, params, contact);
}

void Presets::remove(const std::string& name) {
  require_file(name);
  std::error_code error;
  fs::remove(file_of(name), error);
  if (error) throw InputError(file_of(name).string() + ": cannot be removed: " + error.message());
  refresh();
}

}  // namespace stickslip
