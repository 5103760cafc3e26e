#include "app/viewer/sweep.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "app/io/file/input_error.h"
#include "app/io/file/number_text.h"
#include "app/io/file/output_file.h"
#include "app/viewer/fork.h"
#include "app/viewer/video.h"
#include "gpu/core/device_lost.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
// Of a time step. Times that differ by less are the same: sums of time steps round.
constexpr double kSameInstant = 1e-6;

std::vector<Vec3f> present_positions(Engine& engine) {
  Snapshot snapshot;
  snapshot.wants_contacts = false;
  engine.snapshot(snapshot);
  return std::move(snapshot.positions);
}

/// As the running scene: loaded with the present settings, then edited.
void begin_run(Engine& engine, const StepRaceStart& start, const std::optional<Command>& edit) {
  engine.set_params(start.params);
  engine.set_contact_params(start.contact);
  engine.load(start.model);
  engine.set_state(start.state);
  if (!edit) return;
  if (const auto* param = std::get_if<ParamEdit>(&*edit)) {
    Params params = start.params;
    apply_edit(*param, params);
    engine.set_params(params);
  } else if (const auto* contact = std::get_if<ContactParamEdit>(&*edit)) {
    LabParams params = start.contact;
    apply_edit(*contact, params);
    engine.set_contact_params(params);
  } else if (const auto* material = std::get_if<MaterialEdit>(&*edit)) {
    std::vector<Material> materials = start.model.materials;
    apply_edit(*material, materials);
    engine.set_materials(materials);
  }
}

void add_step(SweepRun& run, const StepReport& report) {
  ++run.steps;
  run.converged += report.converged;
  run.iterations += report.contact_solve ? report.contact_solve->iterations : report.newton_iterations;
  run.seconds += report.seconds.total() - report.seconds.check;
  run.kinetic_energy = report.kinetic_energy;
}

/// Steps up to `end` [s], and the positions of then.
void step_until(Engine& engine, SweepRun& run, double time, double end, const std::atomic<bool>* cancel) {
  const double dt = engine.params().dt, same = kSameInstant * dt;
  std::vector<Vec3f> before;
  double left = time;
  while (time < end - same) {
    if (cancel != nullptr && *cancel) throw StepInterrupted();
    left = time;
    if (time + dt > end + same) before = present_positions(engine);
    const StepReport report = engine.step();
    time = report.time;
    add_step(run, report);
  }
  run.positions = present_positions(engine);
  if (time <= end + same || before.size() != run.positions.size()) return;
  const auto share = static_cast<float>((end - left) / (time - left));
  for (std::size_t i = 0; i < before.size(); ++i)
    run.positions[i] = (1 - share) * before[i] + share * run.positions[i];
}

SweepRun& end_run(SweepRun& run, SweepRun::End end, std::string message) {
  run.end = end;
  run.message = std::move(message);
  return run;
}

/// Messages are quoted, in one line.
std::string csv_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '\n' || c == '\r' ? " " : c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

double over_steps(const SweepRun& run, double sum) { return run.steps > 0 ? sum / run.steps : kNotMeasured; }

std::string csv_line(const SweepRun& run, const char* kind) {
  const bool known = run.end == SweepRun::End::finished;
  std::string line = kind;
  line += ',';
  if (!std::isnan(run.value)) line += number_text(run.value);
  line += std::string(",") + name_of(run.end) + "," + std::to_string(run.steps);
  for (const SweepMeasure& measure : sweep_measures()) {
    const double value = known ? measure.value(run) : kNotMeasured;
    line += ",";
    if (std::isfinite(value)) line += number_text(value);
  }
  return line + "," + (run.message.empty() ? "" : csv_quoted(run.message)) + "\n";
}

}  // namespace

const char* name_of(SweepRun::End end) {
  static constexpr const char* names[] = {"finished", "refused", "failed", "cancelled"};
  return names[static_cast<std::size_t>(end)];
}

SweepRun run_value(Engine& engine, const StepRaceStart& start, const std::optional<Command>& edit,
                   double duration, const std::atomic<bool>* cancel) {
  SweepRun run;
  run.distance = kNotMeasured;
  bool begun = false;
  try {
    engine.set_cancel(cancel);
    begin_run(engine, start, edit);
    begun = true;
    step_until(engine, run, start.state.time, start.state.time + duration, cancel);
  } catch (const StepInterrupted&) {
    end_run(run, SweepRun::End::cancelled, "");
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    end_run(run, begun ? SweepRun::End::failed : SweepRun::End::refused, error.what());
  }
  engine.set_cancel(nullptr);
  return run;
}

std::span<const SweepMeasure> sweep_measures() {
  static constexpr std::array<SweepMeasure, 5> measures{{
      {"distance", "Distance, m",
       "Largest distance of a node at the end from its place in the run with the present value",
       [](const SweepRun& run) { return run.distance; }},
      {"kinetic_energy", "Kinetic energy, J", "Kinetic energy at the end",
       [](const SweepRun& run) { return run.kinetic_energy; }},
      {"converged", "Converged, share", "Share of the steps that converged",
       [](const SweepRun& run) { return over_steps(run, run.converged); }},
      {"iterations", "Iterations per step",
       "Iterations of the contact solver, or of Newton's method, per step",
       [](const SweepRun& run) { return over_steps(run, static_cast<double>(run.iterations)); }},
      {"milliseconds", "Time per step, ms", "Wall time of a step in the background, without checks",
       [](const SweepRun& run) { return over_steps(run, 1e3 * run.seconds); }},
  }};
  return measures;
}

SweepStrip sweep_strip(const SweepStatus& status, const SweepMeasure& measure) {
  constexpr double kWide = 30;  // A range is logarithmic if its ends differ by more than this factor.
  SweepStrip strip;
  const auto value_of = [&](const SweepRun& run) {
    return run.end == SweepRun::End::finished ? measure.value(run) : kNotMeasured;
  };
  std::vector<double> values;
  for (const SweepRun& run : status.runs) values.push_back(value_of(run));
  const double present = status.present ? value_of(*status.present) : kNotMeasured;
  strip.low = std::numeric_limits<double>::infinity();
  strip.high = 0;
  double least_positive = strip.low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    strip.low = std::min(strip.low, value);
    strip.high = std::max(strip.high, value);
    if (value > 0) least_positive = std::min(least_positive, value);
  }
  strip.logarithmic = strip.low >= 0 && strip.high > kWide * least_positive;
  // Zeros are at the lower edge, so all else is above it.
  strip.low = strip.logarithmic ? (strip.low > 0 ? 1.0 : 0.5) * least_positive : 0;
  if (!(strip.high > strip.low)) strip.high = strip.low + 1;
  const auto height = [&](double value) -> std::optional<double> {
    if (!std::isfinite(value)) return std::nullopt;
    if (!strip.logarithmic) return std::clamp((value - strip.low) / (strip.high - strip.low), 0.0, 1.0);
    if (!(value > 0)) return 0.0;
    return std::clamp(std::log(value / strip.low) / std::log(strip.high / strip.low), 0.0, 1.0);
  };
  for (const double value : values) strip.heights.push_back(height(value));
  strip.present = height(present);
  return strip;
}

std::string sweep_csv(const SweepStatus& status) {
  std::string text = "run," + status.request.key + ",end,steps";
  for (const SweepMeasure& measure : sweep_measures()) text += std::string(",") + measure.name;
  text += ",message\n";
  if (status.present) text += csv_line(*status.present, "present");
  for (const SweepRun& run : status.runs) text += csv_line(run, "swept");
  return text;
}

// ---- ParamSweep ----

ParamSweep::ParamSweep(EngineFactory make_engine, std::filesystem::path folder,
                       std::function<void()> on_change)
    : make_engine_(std::move(make_engine)),
      folder_(std::move(folder)),
      job_(
          "sweep", [this](const Job& job) { sweep(job); }, std::move(on_change)) {}

void ParamSweep::ask(Simulation& simulation, const SweepRequest& request) {
  if (const std::string reason = sweep_refusal(request); !reason.empty()) throw InputError(reason);
  wanted_ = request;
  simulation.post(CaptureState{CaptureUse::sweep});
}

void ParamSweep::start(std::shared_ptr<const CapturedState> state, const SweepRequest& request) {
  SweepStatus status;
  status.state = state;
  status.request = request;
  status.values = sweep_values(request);
  job_.start({std::move(state), request}, std::move(status));
}

void ParamSweep::cancel() {
  wanted_.reset();
  job_.cancel();
}

bool ParamSweep::follow(Simulation& simulation) {
  // In this order: a state that is not there then does not come any more.
  const bool is_caught_up = simulation.is_caught_up();
  std::shared_ptr<const CapturedState> state = simulation.take_captured(CaptureUse::sweep);
  if (wanted_ && state) start(std::move(state), *std::exchange(wanted_, std::nullopt));
  else if (is_caught_up) wanted_.reset();
  return job_.update();
}

void ParamSweep::sweep(const Job& job) {
  const StepRaceStart& start = job.state->start;
  const double duration = job.request.steps * start.params.dt;
  const SweepKey key = find_sweep_key(job.request.key);
  SweepStatus results;  // as published
  results.state = job.state;
  results.request = job.request;
  const auto run = [&](const std::optional<Command>& edit, double value) {
    SweepRun result = run_value(*make_engine_(), start, edit, duration, &job_.cancelled());
    result.value = value;
    return result;
  };
  const Settings now{start.params, start.model.materials, {}, start.contact};
  SweepRun present = run({}, present_value(key, now).value_or(kNotMeasured));
  const auto measured = [&](SweepRun result) {
    if (const auto apart = node_distance(start.model, result.positions, present.positions))
      result.distance = apart->largest;
    result.positions = {};
    return result;
  };
  if (present.end == SweepRun::End::cancelled) return;
  results.present = measured(present);
  job_.publish([&](SweepStatus& status) { status.present = results.present; });
  for (const double value : sweep_values(job.request)) {
    if (job_.cancelled()) return;
    SweepRun result = measured(run(sweep_edit(key, value), value));
    if (result.end == SweepRun::End::cancelled) return;
    results.runs.push_back(result);
    job_.publish([&](SweepStatus& status) { status.runs.push_back(result); });
  }
  write(results);
}

void ParamSweep::write(const SweepStatus& results) {
  if (folder_.empty()) return;
  try {
    make_output_folder(folder_);
    const std::filesystem::path file =
        free_name(folder_, "stickslip-" + results.state->scene + "-sweep", ".csv");
    OutputFile out(file);
    out.stream() << sweep_csv(results);
    out.commit();
    spdlog::info("wrote {}", file.string());
    job_.publish([&](SweepStatus& status) { status.file = file; });
  } catch (const std::exception& error) {
    spdlog::warn("the sweep was not written: {}", error.what());
    job_.publish([&](SweepStatus& status) { status.note = error.what(); });
  }
}

}  // namespace stickslip
