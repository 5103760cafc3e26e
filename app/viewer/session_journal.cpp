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

void SessionJournal::follow_view(const ViewState& view, const SimulationStatus& status) {
  const std::span<const ViewRow> rows = view_table();
  std::vector<ViewChange> changes;
  const bool first = shown_.empty();
  shown_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = rows[i].get(view);
    if (std::exchange(shown_[i], value) != value || first) changes.push_back({rows[i].name, value});
  }
  if (!changes.empty())
    add([&](JournalWriter& journal) { journal.add_view(status.frame, status.time, changes); });
}

}  // namespace stickslip
