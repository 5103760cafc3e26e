#include "app/viewer/session_journal.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "app/io/file/output_file.h"

namespace stickslip {

SessionJournal::SessionJournal(const std::filesystem::path& file) {
  if (!file.empty()) file_.emplace(file);
}

void SessionJournal::add(const std::function<void(JournalWriter&)>& event) {
  event(text_);
  if (!file_) return;
  try {
    event(*file_);
  } catch (const OutputError& error) {
    spdlog::error("{}; the journal ends here", error.what());
    file_.reset();
  }
}

void SessionJournal::follow(Simulation& simulation, const Model& model, bool replays) {
  const SimulationStatus& status = simulation.status();
  if (std::exchange(plays_, status.playing) != status.playing)
    add([&](JournalWriter& journal) { journal.add_playing(status.frame, status.time, status.playing); });
  for (const JournalEntry& entry : simulation.journal(written_)) {
    add([&](JournalWriter& journal) { journal.add(entry, model); });
    ++written_;
  }
  simulation.set_hashing(replays || file_ || !text_.is_full());
}

}  // namespace stickslip
