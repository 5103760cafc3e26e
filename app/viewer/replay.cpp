#include "app/viewer/replay.h"

#include <chrono>
#include <thread>
#include <utility>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

/// [byte] of states to rewind to: at least what a window keeps.
constexpr std::size_t kMemory = std::size_t{4} << 30;

/// Drives a simulation entry by entry.
class Replay {
 public:
  explicit Replay(const ReplayOptions& options)
      : options_(options),
        name_(options.journal_name.empty() ? options.journal.string() : options.journal_name),
        reader_(options.journal, name_),
        simulation_(engine_factory(), scene_loader()) {
    simulation_.set_pacing({.real_time = false});
    simulation_.set_hashing(true);
    simulation_.want_contacts(false);
    simulation_.set_timeline_limit(kMemory);
  }

  ReplayReport run() {
    if (!reader_.start())
      throw InputError(name_ + ": has no start: it is no journal, or one of an older version");
    report_.start = *reader_.start();
    const Model none;
    while (!is_cancelled() && report_.error.empty()) {
      const auto& scene = simulation_.frame().scene;
      const std::optional<JournalEntry> entry = reader_.next(scene ? scene->model : none);
      if (!entry) break;
      if (const auto* step = std::get_if<Stepped>(&entry->command)) repeat_step(*step, entry->frame);
      else if (!std::holds_alternative<Freeze>(entry->command) &&
               !std::holds_alternative<CaptureState>(entry->command))
        repeat(entry->command);
    }
    report_.interrupted = is_cancelled();
    return report_;
  }

 private:
  bool is_cancelled() const { return options_.cancel != nullptr && *options_.cancel; }

  Simulation::EngineFactory engine_factory() const {
    return [this] {
      std::unique_ptr<Engine> engine = options_.make_engine();
      engine->set_cancel(options_.cancel);
      return engine;
    };
  }
  /// On the simulation's thread; the reader is at rest meanwhile.
  Simulation::SceneLoader scene_loader() const {
    return [this](const std::string& name, const std::string& variant) {
      return options_.load_scene(name, variant, *reader_.start());
    };
  }

  /// Waits for the next entry of the simulation's journal. False if an error came instead.
  bool wait_for_entry() {
    while (!is_cancelled()) {
      simulation_.update();
      if (auto entries = simulation_.journal(seen_); !entries.empty()) {
        ++seen_;
        last_ = std::move(entries.front());
        wait_until_idle();
        return true;
      }
      if (!simulation_.status().error.empty()) {
        report_.error = name_ + ":" + std::to_string(reader_.line()) + ": " + simulation_.status().error;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
  }
  void wait_until_idle() {
    while (simulation_.status().activity != SimulationStatus::Activity::idle && !is_cancelled()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      simulation_.update();
    }
  }

  void repeat(const Command& command) {
    simulation_.post(command);
    if (!wait_for_entry()) return;
    ++report_.commands;
    if (simulation_.frame().scene) report_.scene = simulation_.frame().scene->name;
    report_.budgets |= simulation_.settings().contact_params.time_budget > 0;
  }

  void repeat_step(const Stepped& step, int frame) {
    simulation_.step_once();
    if (!wait_for_entry()) return;
    ++report_.steps;
    const bool equal = std::get<Stepped>(last_.command).hash == step.hash && last_.frame == frame;
    ++(equal ? report_.equal : report_.differing);
    if (!equal && report_.first_difference < 0) {
      report_.first_difference = frame;
      report_.first_difference_line = reader_.line();
    }
    if (options_.progress) options_.progress(frame);
  }

  const ReplayOptions& options_;
  const std::string name_;  // of the journal
  JournalReader reader_;
  Simulation simulation_;
  ReplayReport report_;
  std::size_t seen_ = 0;  // entries of the simulation's journal
  JournalEntry last_;
};

}  // namespace

ReplayReport replay(const ReplayOptions& options) { return Replay(options).run(); }

}  // namespace stickslip
