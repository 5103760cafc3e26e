// Presets: parameters of a run under a name, as files that the user may also write by hand.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/viewer/commands.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Files NAME.toml of one folder, each with the tables [params] and [contact] of a scene file. Keys that a
/// file does not have leave the settings as they are.
class Presets {
 public:
  /// An empty folder: there is nowhere to keep presets.
  explicit Presets(std::filesystem::path folder) : folder_(std::move(folder)) { refresh(); }

  /// $XDG_CONFIG_HOME/stickslip/presets or ~/.config/stickslip/presets; empty if neither is known.
  static std::filesystem::path default_folder();

  /// In alphabetical order, as of the last change by this object or `refresh`.
  const std::vector<std::string>& names() const { return names_; }
  void refresh();
  std::filesystem::path file_of(const std::string& name) const { return folder_ / (name + ".toml"); }

  /// All parameters of the run and of the contact solvers; materials belong to scenes. A preset of the same
  /// name is replaced. Throws InputError for a name that is none (see is_preset_name) and OutputError.
  void save(const std::string& name, const Settings& settings);
  /// The edits that lead from the settings to those of the preset, for a running model. Throws InputError
  /// with the file and the key for what is no TOML, an unknown key, a bad value, or a choice that the model
  /// cannot have; then none of the preset is to be applied.
  std::vector<Command> edits(const std::string& name, const Settings& settings, const Model& model) const;
  /// Throws InputError where there is none.
  void remove(const std::string& name);

 private:
  void require_name(const std::string& name) const;
  void require_file(const std::string& name) const;

  std::filesystem::path folder_;
  std::vector<std::string> names_;
};

/// Letters, digits, '-' and '_', up to 60 of them: a file's name everywhere, and one word of a script.
bool is_preset_name(const std::string& name);

}  // namespace stickslip
