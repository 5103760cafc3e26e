// A record of the actions in the window, for reading or replaying: as a file (`stickslip view --journal
// FILE`) and in memory, for bundles.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/viewer/commands.h"
#include "app/viewer/view_rows.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Prefix of the keys of contact solver parameters.
inline constexpr std::string_view contact_key_prefix = "contact.";
/// Prefix of the keys of tripwires.
inline constexpr std::string_view tripwire_key_prefix = "tripwire.";

/// What a run was started with: the first line of its journal, event "start".
struct JournalStart {
  std::string scene, variant, solver;  // as they were given; empty: the scene's own
  std::optional<double> scale, density;
  std::vector<std::string> settings;  // "key=value"
  bool force = false, ignore_unknown = false;
  std::string backend, version;  // of the program that wrote the journal
};

/// One JSON line per event: {"frame", "time" [s], "event", ...}, where frame and time are those of the
/// simulation when it took effect. Lines are complete as soon as they are written, so the file can be
/// followed.
///   start          the fields of JournalStart, without frame and time
///   load           scene, variant
///   step           hash: of the state at its end
///   reset, reset_all
///   rewind         to: frame
///   keep_state, return_to_kept
///   add_object     toml: its table
///   remove_object  object: its name
///   add_pin        object: its name, nodes: counted as those of a [[pin]]
///   remove_pins    object: its name
///   set            key, value, and of materials "material" (null: all), of half-spaces "half_space"; keys of
///                  the contact solvers begin with "contact.", those of tripwires with "tripwire."
///   drag_start     object, triangle, weights, target [m]
///   drag_move      target
///   drag_end
///   freeze
///   view           set: an object of rows of view_table() that have changed, with their values
///   screenshot     file
///   play, pause    when playback begins and ends
///   action         name: of an action of the window, see STICKSLIP_ACTIONS
/// A replay passes over the last four: steps say when the simulation went on. Without a window it passes over
/// the view, too.
class JournalWriter {
 public:
  virtual ~JournalWriter() = default;

  /// The first line. Throws OutputError.
  void start(const JournalStart& start);
  /// All throw OutputError when writing the line fails. `model`: the scene's model at the time of the entry,
  /// for names.
  void add(const JournalEntry& entry, const Model& model);
  void add_screenshot(int frame, double time, const std::filesystem::path& picture);
  void add_playing(int frame, double time, bool playing);
  void add_action(int frame, double time, std::string_view name);
  void add_view(int frame, double time, const std::vector<ViewChange>& changes);

 private:
  virtual void write(const std::string& line) = 0;
};

class JournalFile final : public JournalWriter {
 public:
  /// Throws InputError when the file is not writable.
  explicit JournalFile(const std::filesystem::path& file);

 private:
  void write(const std::string& line) override;

  std::filesystem::path file_;
  std::ofstream stream_;
};

/// A journal in memory, for bundles. It ends where it would exceed its limit: a part of a journal can be
/// replayed, but does not show what the session did last.
class JournalText final : public JournalWriter {
 public:
  /// [byte] About 400,000 steps: two hours of a window that makes 60 of them per second.
  static constexpr std::size_t default_limit = std::size_t{32} << 20;
  explicit JournalText(std::size_t limit = default_limit) : limit_(limit) {}

  bool is_full() const { return is_full_; }
  /// Its lines. Throws OutputError with the limit when it is full.
  const std::string& text() const;

 private:
  void write(const std::string& line) override;

  std::size_t limit_;
  std::string text_;
  bool is_full_ = false;
};

/// Reads a file of JournalFile line by line. Throws InputError with the line for everything that is not an
/// event: invalid JSON, unknown events, keys and materials, values out of range. A last line that was cut
/// off, as by a kill, is left out.
class JournalReader {
 public:
  /// `shown`: the file's name in messages; empty: its path.
  explicit JournalReader(const std::filesystem::path& file, const std::string& shown = {});

  /// Empty if the file has no such line at its start.
  const std::optional<JournalStart>& start() const { return start_; }
  /// The next entry, without `wall`; empty at the end. Events without a command are passed over. `model`: of
  /// the scene at that time, for names.
  std::optional<JournalEntry> next(const Model& model);
  /// Called by `next` for each change of the view that it passes over.
  void on_view(std::function<void(const ViewRow&, double value)> show) { show_ = std::move(show); }
  /// Number of the line that was read last, from 1.
  int line() const { return number_; }

 private:
  bool read_line();
  [[noreturn]] void fail(const std::string& what) const;

  std::string shown_;
  std::ifstream stream_;
  std::string text_;
  std::function<void(const ViewRow&, double value)> show_;
  int number_ = 0;
  bool pending_ = false;  // `text_` is still to be read
  std::optional<JournalStart> start_;
};

/// Reads the commands of a file of `JournalFile`; `wall` is lost. Names of materials are looked up in
/// `model`, the model of the journal's only scene. Throws InputError with the line for everything that is not
/// an event of this model: invalid JSON, unknown events, keys and materials, values out of range.
std::vector<JournalEntry> read_journal(const std::filesystem::path& file, const Model& model);

}  // namespace stickslip
