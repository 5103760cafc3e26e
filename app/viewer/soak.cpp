#include "app/viewer/soak.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cmath>
#include <iterator>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/io/file/memory.h"
#include "app/viewer/random_edits.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kHang = 600;        // [s] a longer step counts as hung
constexpr double kGrowth = 0.1;      // growth of resident memory beyond the engine's buffers
constexpr double kNoise = 64 << 20;  // [byte] memory that an allocator may keep
constexpr double kReportEvery = 10;  // [s]
constexpr std::size_t kMostFaults = 20;

double elapsed_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Results collected on the engine's side of the simulation.
class Findings {
 public:
  void fault(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (faults_.size() < kMostFaults) faults_.push_back(what);
    ++fault_count_;
  }
  void stepped(double seconds, const Params& params, double buffers) {
    const std::lock_guard lock(mutex_);
    buffers_ = std::max(buffers_, buffers);
    if (seconds <= slowest_) return;
    slowest_ = seconds;
    slowest_solver_ = param_text(&params, *find_param(param_table(), "contact_solver"));
  }
  void failed(const std::string& message, const std::string& settings) {
    const std::lock_guard lock(mutex_);
    tell(message, settings);
    ++failed_steps_;
  }
  void refused(const std::string& message, const std::string& settings) {
    const std::lock_guard lock(mutex_);
    tell(message, settings);
    ++refused_edits_;
  }

  double buffers() const {
    const std::lock_guard lock(mutex_);
    return buffers_;
  }
  void fill(SoakReport& report) const {
    const std::lock_guard lock(mutex_);
    report.faults = faults_;
    report.told = told_;
    report.examples = examples_;
    report.failed_steps = failed_steps_;
    report.refused_edits = refused_edits_;
    report.slowest_step = slowest_;
    report.slowest_solver = slowest_solver_;
  }

  std::atomic<long> attempts = 0;  // steps that ended, successfully or not
  std::atomic<long> fault_count_ = 0;

 private:
  void tell(const std::string& message, const std::string& settings) {
    // Text without numbers, which differ from step to step.
    std::string kind;
    for (const char c : message)
      if (!std::isdigit(static_cast<unsigned char>(c))) kind += c;
    if (++told_[kind] == 1) examples_.push_back(message + " with" + settings);
  }

  mutable std::mutex mutex_;
  std::vector<std::string> faults_, examples_;
  std::map<std::string, long> told_;
  long failed_steps_ = 0, refused_edits_ = 0;
  double slowest_ = 0, buffers_ = 0;
  std::string slowest_solver_;
};

/// Otherwise memory kept by the allocator would count as used.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

bool all_finite(const State& state) {
  const auto finite = [](const Vec<double, 3>& v) { return std::isfinite(v[0] + v[1] + v[2]); };
  for (const BodyState& body : state.bodies)
    if (!finite(body.pose.x) || !finite(body.pose.q.v) || !std::isfinite(body.pose.q.w) ||
        !finite(body.velocity) || !finite(body.spin))
      return false;
  return std::ranges::all_of(state.positions, finite) && std::ranges::all_of(state.velocities, finite);
}

/// An edit that the engine refused, and that was noted.
struct Refused : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Checks all data between the simulation and its engine.
class WatchedEngine final : public Engine {
 public:
  WatchedEngine(std::unique_ptr<Engine> engine, std::shared_ptr<Findings> findings, double step_budget)
      : engine_(std::move(engine)), findings_(std::move(findings)), step_budget_(step_budget) {}

  void load(const Model& model) override {
    engine_->load(model);
    first_ = {engine_->params(), engine_->materials(), {}, engine_->contact_params()};
  }
  std::string load_note() const override { return engine_->load_note(); }
  void reset() override {
    watched("reset", [&] { engine_->reset(); });
  }
  void set_params(const Params& params) override {
    // A solver may refuse a scene, or a state that it cannot go on from: a message to the user, no fault.
    watched("set_params", [&] {
      try {
        engine_->set_params(params);
      } catch (const std::invalid_argument& error) {
        findings_->refused(error.what(), changed_settings());
        throw Refused(error.what());
      }
    });
  }
  const Params& params() const override { return engine_->params(); }
  void set_contact_params(const LabParams& params) override {
    LabParams limited = params;
    limited.time_budget = step_budget_;
    watched("set_contact_params", [&] { engine_->set_contact_params(limited); });
  }
  const LabParams& contact_params() const override { return engine_->contact_params(); }
  void set_materials(const std::vector<Material>& materials) override {
    watched("set_materials", [&] { engine_->set_materials(materials); });
  }
  const std::vector<Material>& materials() const override { return engine_->materials(); }
  void set_half_space_mu(std::size_t index, double mu) override {
    watched("set_half_space_mu", [&] { engine_->set_half_space_mu(index, mu); });
  }
  void set_drag(const std::optional<Drag>& drag) override {
    watched("set_drag", [&] { engine_->set_drag(drag); });
  }
  void set_tracing(bool on) override { engine_->set_tracing(on); }
  void set_cancel(const std::atomic<bool>* flag) override { engine_->set_cancel(flag); }
  void snapshot(Snapshot& out) override {
    watched("snapshot", [&] { engine_->snapshot(out); });
  }
  std::optional<DeviceUuid> device_uuid() const override { return engine_->device_uuid(); }
  Sharing share(PositionTarget target) override { return engine_->share(std::move(target)); }
  PublishedBox publish(std::size_t slot, std::uint64_t value) override {
    PublishedBox box = PublishedBox::empty();
    watched("publish", [&] { box = engine_->publish(slot, value); });
    return box;
  }
  State state() override { return engine_->state(); }
  void set_state(const State& state) override { engine_->set_state(state); }
  ContactProblem freeze() override {
    try {
      return engine_->freeze();
    } catch (const std::logic_error&) {
      throw;  // no problem to freeze
    } catch (const StepInterrupted&) {
      throw;
    } catch (const std::exception& error) {
      findings_->fault(std::string("freeze: ") + error.what());
      throw;
    }
  }

  StepReport step() override {
    const Clock::time_point start = Clock::now();
    StepReport report;
    try {
      report = engine_->step();
      check(report);
      findings_->stepped(elapsed_since(start), engine_->params(), static_cast<double>(report.memory_bytes));
    } catch (const StepInterrupted&) {
      ++findings_->attempts;
      throw;
    } catch (const SimulationError& error) {
      findings_->failed(error.what(), changed_settings());
      check_state("a failed step");
      ++findings_->attempts;
      throw;
    } catch (const std::exception& error) {
      findings_->fault(describe(std::string("step: ") + error.what()));
      ++findings_->attempts;
      throw;
    }
    ++findings_->attempts;
    return report;
  }

 private:
  template <class F>
  void watched(const char* call, F&& f) {
    try {
      f();
    } catch (const Refused&) {
      throw;
    } catch (const StepInterrupted&) {
      throw;  // a soak ends while a change of solver looks for a state to go on from
    } catch (const std::exception& error) {
      findings_->fault(describe(std::string(call) + ": " + error.what()));
      throw;
    }
  }
  std::string describe(const std::string& what) const { return what + ", with" + changed_settings(); }

  /// " key=value" for all settings that differ from the scene's.
  std::string changed_settings() const {
    std::string text;
    const auto add = [&](std::span<const ParamInfo> table, const auto& now, const auto& first,
                         const std::string& prefix) {
      for (const ParamInfo& info : table)
        if (get_param(&now, info) != get_param(&first, info))
          text += " " + prefix + std::string(info.name) + "=" + param_text(&now, info);
    };
    add(param_table(), engine_->params(), first_.params, "");
    add(lab_param_table(), engine_->contact_params(), first_.contact_params, "contact.");
    for (std::size_t i = 0; i < first_.materials.size(); ++i)
      add(material_table(), engine_->materials()[i], first_.materials[i],
          "material " + std::to_string(i) + ".");
    return text;
  }
  void check_state(const std::string& after) {
    if (!all_finite(engine_->state())) findings_->fault(describe("the state is not finite after " + after));
  }
  void check(const StepReport& report) {
    const double sum =
        report.kinetic_energy + report.elastic_energy + report.gravity_energy + norm2(report.momentum);
    if (!std::isfinite(sum))
      findings_->fault(describe("energy or momentum is not finite in frame " + std::to_string(report.frame)));
    if (report.contact_solve && !std::isfinite(report.contact_solve->residual))
      findings_->fault(describe("the residual is not finite in frame " + std::to_string(report.frame)));
    check_state("frame " + std::to_string(report.frame));
  }

  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Findings> findings_;
  double step_budget_;
  Settings first_;
};

std::string key_of(const Command& command) {
  static constexpr const char* names[] = {
      "load",     "reset",      "reset_all", "param",    "contact", "material",      "ground mu",
      "tripwire", "drag_start", "drag_move", "drag_end", "freeze",  "race_steppers", "fork",
      "rewind",   "keep",       "return",    "add",      "remove",  "move",          "pin",
      "unpin",    "joint",      "spring",    "untie",    "content", "step"};
  static_assert(std::size(names) == std::variant_size_v<Command>);
  if (const auto* edit = std::get_if<ParamEdit>(&command)) return std::string(edit->name);
  if (const auto* edit = std::get_if<ContactParamEdit>(&command)) return "contact." + std::string(edit->name);
  if (const auto* edit = std::get_if<MaterialEdit>(&command)) return "material." + std::string(edit->name);
  return names[command.index()];
}

/// One soak: chooses the next action and keeps the statistics.
class Soak {
 public:
  explicit Soak(const SoakOptions& options) : options_(options) {}

  Simulation::EngineFactory engine_factory() const {
    return [this] {
      auto engine = std::make_unique<WatchedEngine>(options_.make_engine(), findings_, options_.step_budget);
      engine->set_cancel(options_.cancel);
      return engine;
    };
  }
  Findings& findings() { return *findings_; }

  bool over() const {
    return is_cancelled() || elapsed_since(start_) >= 60 * options_.minutes ||
           (options_.steps > 0 && findings_->attempts >= options_.steps);
  }

  /// Posts the commands that follow the frame shown by the simulation.
  void edit(Simulation& simulation) {
    if (!edits_) edits_.emplace(simulation.frame().scene, options_.seed);
    const bool failed = !simulation.status().error.empty();
    for (const Command& command : failed
                                      ? edits_->start_over(simulation.settings())
                                      : edits_->next(simulation.settings(), simulation.frame().positions())) {
      ++report_.edits[key_of(command)];
      report_.resets += std::holds_alternative<Reset>(command) || std::holds_alternative<ResetAll>(command);
      simulation.post(command);
    }
    if (!failed) travel(simulation);
    simulation.take_frozen();
    simulation.take_captured();
    while (simulation.take_forked()) continue;
    simulation.take_kept();
    sample();
  }

  SoakReport finish() {
    sample();
    const double explained = buffers_[3] - buffers_[1], growth = lowest_[3] - lowest_[1] - explained;
    if (lowest_[1] > 0 && growth > kGrowth * lowest_[1] + kNoise)
      findings_->fault("memory grew from " + std::to_string(std::lround(lowest_[1] / 1e6)) + " to " +
                       std::to_string(std::lround(lowest_[3] / 1e6)) + " MB");
    return current();
  }

 private:
  /// Now and then to a state that is kept.
  void travel(Simulation& simulation) {
    constexpr std::uint64_t kEvery = 40;
    const TimelineExtent& kept = simulation.status().timeline;
    if (kept.empty() || times_() % kEvery != 0) return;
    const int frame =
        kept.first + static_cast<int>(times_() % static_cast<std::uint64_t>(kept.last - kept.first + 1));
    std::vector<Command> commands{Rewind{frame}, KeepState{}};
    if (simulation.status().kept) commands.emplace_back(ReturnToKept{});
    const Command chosen = commands[times_() % commands.size()];
    ++report_.edits[key_of(chosen)];
    simulation.post(chosen);
  }
  bool is_cancelled() const { return options_.cancel != nullptr && *options_.cancel; }
  SoakReport current() const {
    SoakReport report = report_;
    report.interrupted = is_cancelled();
    findings_->fill(report);
    report.steps = findings_->attempts - report.failed_steps;
    report.seconds = elapsed_since(start_);
    return report;
  }
  /// Minimum memory in each quarter of the time: temporary problems vanish from it, leaks remain.
  void sample() {
    const double length = 60 * options_.minutes, now = elapsed_since(start_);
    if (elapsed_since(sampled_) < std::min(2.0, length / 40)) return;
    sampled_ = Clock::now();
    return_free_memory();
    const std::size_t quarter = std::min<std::size_t>(3, static_cast<std::size_t>(4 * now / length));
    const double held = resident_memory();
    lowest_[quarter] = lowest_[quarter] > 0 ? std::min(lowest_[quarter], held) : held;
    buffers_[quarter] = findings_->buffers();
    report_.memory_early = lowest_[1];
    report_.memory_late = lowest_[3];
    report_.memory_most = std::max(report_.memory_most, held);
    if (!options_.progress || elapsed_since(reported_) < kReportEvery) return;
    reported_ = Clock::now();
    options_.progress(current());
  }

  const SoakOptions& options_;
  std::shared_ptr<Findings> findings_ = std::make_shared<Findings>();
  std::optional<RandomEdits> edits_;
  std::mt19937_64 times_{options_.seed};
  SoakReport report_;
  std::array<double, 4> lowest_{}, buffers_{};  // [byte] of each quarter of the time
  Clock::time_point start_ = Clock::now(), sampled_{}, reported_ = Clock::now();
};

/// Waits until `done` is true, or for the longest permitted time of a step.
bool wait_until(Simulation& simulation, const std::function<bool()>& done) {
  const Clock::time_point start = Clock::now();
  while (!done()) {
    if (elapsed_since(start) > kHang) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    simulation.update();
  }
  return true;
}

}  // namespace

long SoakReport::edit_count() const {
  long sum = 0;
  for (const auto& [key, count] : edits) sum += count;
  return sum;
}

SoakReport soak(const SoakOptions& options) {
  using Activity = SimulationStatus::Activity;
  Soak soak(options);
  Findings& findings = soak.findings();
  Simulation simulation(soak.engine_factory(), options.load_scene);
  simulation.set_pacing({.real_time = false});
  simulation.post(LoadScene{options.scene});
  const auto idle = [&] { return simulation.status().activity == Activity::idle; };
  wait_until(simulation,
             [&] { return idle() && (simulation.status().loaded || !simulation.status().error.empty()); });
  if (!simulation.status().loaded) throw std::invalid_argument(simulation.status().error);
  while (!soak.over()) {
    const auto complaints = [&] { return simulation.status().refusals + simulation.status().faults; };
    const int complaints_before = complaints();
    soak.edit(simulation);
    const long attempts = findings.attempts, faults = findings.fault_count_;
    simulation.step_once();
    const bool ended = wait_until(simulation, [&] {
      // In this order: the status read afterwards then includes a step that has ended.
      const bool stepped = findings.attempts > attempts || findings.fault_count_ > faults;
      simulation.update();
      // An edit that failed took the wish for a step with it.
      return (stepped || complaints() > complaints_before) && idle();
    });
    if (!ended) findings.fault("a step has not ended for " + std::to_string(kHang) + " s");
    if (!ended) break;
  }
  return soak.finish();
}

SoakReport soak_window(const SoakOptions& options, ViewOptions view) {
  Soak soak(options);
  view.make_engine = soak.engine_factory();
  view.load_scene = options.load_scene;
  view.scene = options.scene;
  long seen = -1;
  std::mt19937_64 rng(options.seed);
  std::vector<ActionId> switches;
  for (const Action& action : action_table())
    if (action.has(ActionTrait::by_chance)) switches.push_back(action.id);
  view.script.drive = [&](Simulation& simulation, const std::function<void(ActionId)>& act) {
    if (!simulation.status().loaded) return simulation.status().error.empty();
    if (std::exchange(seen, soak.findings().attempts) == seen) return !soak.over();
    soak.edit(simulation);
    if (rng() % 25 == 0) act(switches[rng() % switches.size()]);
    simulation.play();
    return !soak.over();
  };
  if (run_viewer(view) != 0)
    soak.findings().fault("the window ended with an error, or the validation layers complained");
  return soak.finish();
}

}  // namespace stickslip
