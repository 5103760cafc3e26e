// `stickslip view --journal FILE`: what was done in the window, to read or to repeat it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "app/viewer/commands.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Before keys of the contact solvers' parameters.
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
  /// Throws InputError when the file cannot be written.
  explicit JournalFile(const std::filesystem::path& file);

  /// Both throw OutputError when the line cannot be written. `model`: the scene's that the entry belongs to,
  /// for names.
  void add(const JournalEntry& entry, const Model& model);
  void add_screenshot(int frame, double time, const std::filesystem::path& picture);

 private:
  void write(const std::string& line);

  std::filesystem::path file_;
  std::ofstream stream_;
};

/// What `JournalFile` wrote, without screenshots; `wall` is not kept. Names of materials are looked up in
/// `model`, which is the scene's of the whole journal. Throws InputError with the line for what is no event
/// of this model: no JSON, unknown events, keys and materials, values out of range.
std::vector<JournalEntry> read_journal(const std::filesystem::path& file, const Model& model);

}  // namespace stickslip
