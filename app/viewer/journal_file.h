// `stickslip view --journal FILE`: a record of the actions in the window, for reading or replaying.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "app/viewer/commands.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Prefix of the keys of contact solver parameters.
inline constexpr std::string_view contact_key_prefix = "contact.";

/// One JSON line per event: {"frame", "time" [s], "event", ...}, where frame and time are those of the
/// simulation when it took effect. Lines are complete as soon as they are written, so the file can be
/// followed.
///   load           scene
///   reset
///   set            key, value, and of materials "material" (null: all), of half-spaces "half_space"; keys of
///                  the contact solvers begin with "contact."
///   drag_start     object, triangle, weights, target [m]
///   drag_move      target
///   drag_end
///   freeze
///   screenshot     file
class JournalFile {
 public:
  /// Throws InputError when the file is not writable.
  explicit JournalFile(const std::filesystem::path& file);

  /// Both throw OutputError when writing the line fails. `model`: the scene's model at the time of the entry,
  /// for names.
  void add(const JournalEntry& entry, const Model& model);
  void add_screenshot(int frame, double time, const std::filesystem::path& picture);

 private:
  void write(const std::string& line);

  std::filesystem::path file_;
  std::ofstream stream_;
};

/// Reads a file of `JournalFile`, without screenshots; `wall` is lost. Names of materials are looked up in
/// `model`, the model of the journal's only scene. Throws InputError with the line for everything that is not
/// an event of this model: invalid JSON, unknown events, keys and materials, values out of range.
std::vector<JournalEntry> read_journal(const std::filesystem::path& file, const Model& model);

}  // namespace stickslip
