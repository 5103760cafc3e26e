#include "app/viewer/replay.h"

#include <chrono>
#include <thread>
#include <utility>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

/// Drives a simulation of its own without waiting for the clock.
ReplayReport replay_alone(const ReplayOptions& options, const std::string& name) {
  const JournalStart start = start_of_journal(options.journal, name);
  const auto is_cancelled = [&] { return options.cancel != nullptr && *options.cancel; };
  const auto engine = [&] {
    std::unique_ptr<Engine> made = options.make_engine();
    made->set_cancel(options.cancel);
    return made;
  };
  Simulation simulation(engine, [&](const std::string& scene, const std::string& variant) {
    return options.load_scene(scene, variant, start);
  });
  simulation.set_pacing({.real_time = false});
  simulation.want_contacts(false);
  simulation.set_timeline_limit(kReplayMemory);
  ReplayRun run(options.journal, name, simulation, [&] { simulation.update(); });
  long steps = 0;
  while (!is_cancelled() && run.advance()) {
    if (std::exchange(steps, run.report().steps) != steps && options.progress)
      options.progress(simulation.status().frame);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ReplayReport report = run.report();
  report.interrupted |= is_cancelled();
  return report;
}

}  // namespace

JournalStart start_of_journal(const std::filesystem::path& journal, const std::string& name) {
  const JournalReader reader(journal, name);
  if (!reader.start())
    throw InputError(name + ": has no start: it is no journal, or one of an older version");
  return *reader.start();
}

ReplayRun::ReplayRun(const std::filesystem::path& journal, const std::string& name, Simulation& simulation,
                     std::function<void()> update, std::function<void(const ViewRow&, double)> show)
    : name_(name), reader_(journal, name), simulation_(simulation), update_(std::move(update)) {
  reader_.on_view(std::move(show));
  report_.start = start_of_journal(journal, name);
  simulation_.pause();
  simulation_.set_hashing(true);
}

bool ReplayRun::advance() {
  if (!simulation_.is_caught_up()) return true;
  update_();
  return (!asked_ || take_answer()) && ask_next();
}

bool ReplayRun::ask_next() {
  const auto& scene = simulation_.frame().scene;
  const Model none;
  do {
    asked_ = reader_.next(scene ? scene->model : none);
    if (!asked_) return false;
    // They copy the run for races, which are not repeated.
  } while (std::holds_alternative<Freeze>(asked_->command) ||
           std::holds_alternative<CaptureState>(asked_->command));
  has_scene_ |= std::holds_alternative<LoadScene>(asked_->command);
  if (!has_scene_ && !std::holds_alternative<TripwireEdit>(asked_->command)) {
    report_.error = name_ + ":" + std::to_string(reader_.line()) + ": no scene is loaded before this event";
    return false;
  }
  if (report_.commands == 0) seen_ = simulation_.journal().size();
  refusals_ = simulation_.status().refusals;
  if (std::holds_alternative<Stepped>(asked_->command)) simulation_.step_once();
  else simulation_.post(asked_->command);
  return true;
}

/// The entries that the simulation has added to its own journal. None: it has refused.
bool ReplayRun::take_answer() {
  std::vector<JournalEntry> entries = simulation_.journal(seen_);
  seen_ += entries.size();
  const auto* step = std::get_if<Stepped>(&asked_->command);
  // Steps may have been under way when the first scene was asked for.
  if (report_.commands == 0)
    std::erase_if(entries, [](const auto& e) { return std::holds_alternative<Stepped>(e.command); });
  if (entries.empty()) {
    const bool failed = step != nullptr || simulation_.status().refusals != refusals_;
    const std::string why = failed ? simulation_.status().error : "it has nothing to act on";
    // A pause of the run takes a step back that was asked for.
    if (why.empty()) report_.interrupted = true;
    else report_.error = name_ + ":" + std::to_string(reader_.line()) + ": " + why;
    return false;
  }
  if (entries.size() > 1 || entries.front().command.index() != asked_->command.index()) {
    report_.interrupted = true;
    return false;
  }
  if (simulation_.frame().scene) report_.scene = simulation_.frame().scene->name;
  report_.budgets |= simulation_.settings().contact_params.time_budget > 0;
  if (step == nullptr) {
    ++report_.commands;
    return true;
  }
  ++report_.steps;
  const bool equal =
      std::get<Stepped>(entries.front().command).hash == step->hash && entries.front().frame == asked_->frame;
  ++(equal ? report_.equal : report_.differing);
  if (!equal && report_.first_difference < 0) {
    report_.first_difference = asked_->frame;
    report_.first_difference_line = reader_.line();
  }
  return true;
}

std::string verdict_text(const ReplayReport& report, const std::string& name, const std::string& backend) {
  if (report.differing == 0)
    return name + ": all " + std::to_string(report.equal) + " states have the bits of the journal's";
  std::string text = name + ":" + std::to_string(report.first_difference_line) + ": the state of frame " +
                     std::to_string(report.first_difference) + " differs from the journal's";
  if (report.differing == 2) text += ", as does a later one";
  if (report.differing > 2) text += ", as do " + std::to_string(report.differing - 1) + " later ones";
  if (report.budgets) text += "; the contact solver had a time budget, which ends it anywhere";
  if (report.start.backend != backend) text += "; the journal was written on " + report.start.backend;
  return text;
}

ReplayReport replay(const ReplayOptions& options) {
  return replay_alone(options,
                      options.journal_name.empty() ? options.journal.string() : options.journal_name);
}

}  // namespace stickslip
