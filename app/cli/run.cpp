// stickslip run: a scene without a window.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/failures.h"
#include "app/cli/frame_writer.h"
#include "app/cli/freezer.h"
#include "app/cli/interrupt.h"
#include "app/io/animation/animation.h"
#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/byte_cursor.h"
#include "app/io/file/output_file.h"
#include "app/io/report/report.h"
#include "app/io/report/state_file.h"
#include "app/io/report/trace_file.h"
#include "app/viewer/journal_file.h"
#include "gpu/core/device_lost.h"
#include "gpu/model/step_interrupted.h"
#include "gpu/model/steppers.h"

namespace stickslip {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Iterations and residual of a velocity-level step.
std::string effort_of(const ContactSolveRecord& solve) {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "iterations %ld  residual %.1e", solve.iterations, solve.residual);
  return {text, static_cast<std::size_t>(length)};
}

/// Progress line on stderr: rewritten in place on a terminal, else printed at intervals.
class Progress {
 public:
  Progress(bool quiet, int frames) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), frames_(frames) {}
  ~Progress() {
    if (printed_ && terminal_) std::fputc('\n', stderr);
  }

  void show(const StepReport& report, int done, double step_seconds) {
    const bool last = done == frames_;
    if (quiet_ || (!last && seconds_since(shown_) < (terminal_ ? 0.1 : 5.0))) return;
    shown_ = Clock::now();
    printed_ = true;
    const std::string effort = report.contact_solve ? effort_of(*report.contact_solve)
                                                    : "newton " + std::to_string(report.newton_iterations) +
                                                          "  pcg " + std::to_string(report.pcg_iterations);
    std::fprintf(stderr, "%sframe %d/%d  t %.3f s  %.0f ms  %s  contacts %d%s", terminal_ ? "\r\033[K" : "",
                 done, frames_, report.time, 1e3 * step_seconds, effort.c_str(), report.contacts,
                 terminal_ ? "" : "\n");
  }

 private:
  bool quiet_, terminal_, printed_ = false;
  int frames_;
  Clock::time_point shown_ = Clock::now();
};

/// The engine stops at a NaN in its state; this detects a NaN in the report.
void check_finite(const StepReport& report) {
  const double sum =
      report.kinetic_energy + report.elastic_energy + report.gravity_energy + norm2(report.momentum);
  if (!std::isfinite(sum))
    throw SimulationError("frame " + std::to_string(report.frame) +
                          ": energy or momentum is not a finite number");
}

void print_verdicts(const std::vector<Verdict>& verdicts, bool quiet) {
  static constexpr const char* words[] = {"passed ", "FAILED ", "skipped"};
  for (const Verdict& verdict : verdicts) {
    const bool failed = verdict.outcome == Verdict::Outcome::failed;
    if (quiet && !failed) continue;
    (quiet ? std::cerr : std::cout) << words[static_cast<int>(verdict.outcome)]
                                    << "  expected: " << verdict.expected << "; seen: " << verdict.seen
                                    << "\n";
  }
}

/// A run with --check-intersections expects none, even if the scene does not state it.
std::vector<Expectation> expectations_of(const Scene& scene) {
  std::vector<Expectation> all = scene.expect;
  const bool stated = std::any_of(all.begin(), all.end(), [](const Expectation& e) {
    return std::holds_alternative<ExpectIntersections>(e);
  });
  // At velocity level surfaces may overlap; the report has the depth.
  if (stepper_family(scene.params.solver) == StepperFamily::velocity) return all;
  if (scene.params.check_intersections && !stated) all.emplace_back(std::in_place_type<ExpectIntersections>);
  return all;
}

void print_overlap(const RunSummary& summary) {
  if (summary.overlap_max < 0) return;
  if (summary.overlap_of.empty()) std::cout << "checked: no point of a mesh is inside another\n";
  else
    std::printf("checked: the deepest point of one mesh inside another is %.3g mm in, %s, frame %d\n",
                1e3 * summary.overlap_max, summary.overlap_of.c_str(), summary.overlap_frame);
}

/// Empty: no element is inverted.
std::string inversion_warning(const RunSummary& summary) {
  if (summary.inverted_max == 0) return {};
  return "up to " + std::to_string(summary.inverted_max) +
         " elements were inside out (det F <= 0) at the end " + "of a step, " +
         std::to_string(summary.inverted) + " of them at the end of the run: their material " +
         "permits it; model = neo_hookean forbids it, and a smaller dt makes it rarer";
}

/// What `--bundle` gathers.
struct RunBundle {
  std::filesystem::path file;
  JournalText journal;
  OpenedScenes scenes;

  RunBundle(std::filesystem::path to, const Scene& scene) : file(std::move(to)) { scenes.add(scene); }
  /// `image`: the picture of the last frame; empty: none.
  void write(const BundleOrigin& origin, const std::filesystem::path& image) const {
    std::error_code error;
    const bool has_picture = !image.empty() && std::filesystem::is_regular_file(image, error);
    const std::string picture = has_picture ? read_bytes(image) : "";
    for (const std::string& changed : write_bundle(file, origin, journal.text(), scenes.loads(), picture))
      std::cerr << "stickslip: " << changed
                << " was changed after the run began: the bundle has it as it is now\n";
  }
};

struct Outputs {
  std::unique_ptr<OutputFile> report;
  std::unique_ptr<TraceFile> trace;
  std::unique_ptr<FrameWriter> frames;
  std::optional<JournalFile> journal;
  std::optional<RunBundle> bundle;
  std::filesystem::path motion_file;
  std::optional<MotionRecording> motion;
  Freezer freezer;

  std::filesystem::path checkpoint;
  int checkpoint_every = 0;
  const Scene& scene;

  Outputs(const RunOptions& options, const Scene& run_scene, const std::string& backend, int last_frame,
          int run_frames)
      : freezer(options, run_scene, last_frame),
        checkpoint(options.checkpoint),
        checkpoint_every(options.checkpoint_every),
        scene(run_scene) {
    if (!options.report.empty()) report = std::make_unique<OutputFile>(options.report);
    if (!options.motion.empty()) {
      motion_file = options.motion;
      motion.emplace(options.motion_rate);
    }
    if (!options.journal.empty()) start_journal(journal.emplace(options.journal), options, backend);
    if (!options.bundle.empty())
      start_journal(bundle.emplace(options.bundle, scene).journal, options, backend);
    if (!options.trace.empty())
      trace = std::make_unique<TraceFile>(options.trace, "stickslip run " + scene.name + " on " + backend);
    frames = make_frame_writer(options, scene, run_frames);
  }
  void start(Engine& engine) {
    engine.set_tracing(trace != nullptr);
    draw(engine);
    if (motion) record(engine);
  }
  void step(Engine& engine, const StepReport& step_report) {
    if (report) {
      report->stream() << to_json(step_report).dump() << "\n";
      report->checkpoint();
    }
    if (trace) trace->add(step_report);
    freezer.step(engine, step_report);
    draw(engine);
    if (motion && motion->wants(step_report.time)) record(engine);
    if (journal || bundle) add_step(step_report, state_hash(engine.state()));
    if (!checkpoint.empty() && step_report.frame % checkpoint_every == 0) keep(engine);
  }
  void keep(Engine& engine) const { write_checkpoint(checkpoint, make_checkpoint(scene, engine.state())); }
  /// Finishes as many outputs as possible. Throws as Failures does.
  void finish() {
    Failures failures;
    failures.of([&] {
      if (report) report->commit();
    });
    failures.of([&] {
      if (trace) trace->commit();
    });
    failures.of([&] {
      if (frames) frames->finish();
    });
    failures.of([&] { write_motion(); });
    failures.rethrow();
  }

 private:
  void start_journal(JournalWriter& writer, const RunOptions& options, const std::string& backend) const {
    writer.start(journal_start(options, backend));
    writer.add({0, 0, 0, LoadScene{options.scene, options.variant}}, scene.model);
  }
  void add_step(const StepReport& report, std::uint64_t hash) {
    const JournalEntry entry{report.frame, report.time, 0, Stepped{hash}};
    if (journal) journal->add(entry, scene.model);
    if (bundle) bundle->journal.add(entry, scene.model);
  }
  void record(Engine& engine) {
    Snapshot snapshot;
    snapshot.wants_contacts = false;
    engine.snapshot(snapshot);
    motion->add(snapshot);
  }
  void write_motion() const {
    if (!motion || motion->frames().empty()) return;
    const auto files = write_animation(motion_file, scene.model, motion->frames());
    std::cerr << "motion: " << files.front().string();
    if (files.size() > 1) std::cerr << " to " << files.back().filename().string();
    std::cerr << "\n";
  }
  void draw(Engine& engine) {
    if (frames) frames->add(engine);
  }
};

/// Steps until the frames are done, Ctrl+C is pressed, or the simulation or an output fails; the summary
/// records the cause. Returns exit_bad_input when an output cannot represent the scene, exit_no_device when
/// the engine lost its device and its state, else exit_good.
ExitCode simulate(Engine& engine, int frames, bool quiet, const InterruptGuard& interrupt,
                  ExpectationJudge& judge, Outputs& outputs, RunSummary& summary) {
  Progress progress(quiet, frames);
  engine.set_cancel(&interrupt.flag());
  try {
    outputs.start(engine);
    for (int i = 0; i < frames; ++i) {
      if (interrupt.requested()) {
        summary.interrupted = true;
        return exit_good;
      }
      const Clock::time_point start = Clock::now();
      const StepReport report = engine.step();
      const double step_seconds = seconds_since(start);
      check_finite(report);
      summary.add(report, step_seconds);
      judge.observe(report, judge.needs_state() ? engine.state() : State{});
      outputs.step(engine, report);
      progress.show(report, i + 1, step_seconds);
    }
  } catch (const StepInterrupted&) {
    summary.interrupted = true;
  } catch (const std::bad_alloc&) {
    summary.error = "out of memory after " + std::to_string(summary.frames) + " frames";
  } catch (const DeviceLost& error) {
    summary.error = error.what();
    return exit_no_device;
  } catch (const DeviceError& error) {
    summary.error = error.what();
    return exit_no_device;
  } catch (const InputError& error) {
    summary.error = error.what();
    return exit_bad_input;
  } catch (const std::runtime_error& error) {  // from the simulation, an output or the pictures
    summary.error = error.what();
  }
  return exit_good;
}

/// Refuses an output with the path of a picture of --images.
void check_not_pictures(const std::vector<NamedOutput>& outputs, const std::string& images) {
  if (images.empty()) return;
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(images, error);
  for (const NamedOutput& output : outputs)
    if (output.path.filename().string().starts_with("frame_") &&
        std::filesystem::weakly_canonical(output.path, error).parent_path() == folder)
      throw InputError(output.option + " " + output.path.string() +
                       ": --images writes pictures of such names there");
}

/// Checks before any long work: unwritable paths, duplicate paths, and the scene.
void check_outputs(const RunOptions& options, const Scene& scene) {
  std::vector<NamedOutput> outputs{{"--report", options.report}, {"--trace", options.trace},
                                   {"--state", options.state},   {"--image", options.image},
                                   {"--video", options.video},   {"--checkpoint", options.checkpoint},
                                   {"--bundle", options.bundle}};
  for (const std::string& freeze : options.freezes)
    outputs.push_back({"--freeze", freeze.substr(freeze.find(':') + 1)});
  check_not_named_in(outputs, scene.file);
  check_distinct(outputs);
  check_not_pictures(outputs, options.images);
  if (!options.state.empty()) check_state_file(options.state, scene.model);
  if (!options.motion.empty()) check_animation_file(options.motion);
  if (!options.checkpoint.empty() && !is_checkpoint_name(options.checkpoint))
    throw InputError("--checkpoint " + options.checkpoint + ": the file's name must end in .hdf5");
  if (!options.bundle.empty() && !is_bundle_name(options.bundle))
    throw InputError("--bundle " + options.bundle + ": the file's name must end in .stickslip");
}

}  // namespace

int command_run(const RunOptions& options, const EngineFactory& factory) {
  Scene scene = prepare_scene(options);
  if (options.check_intersections) scene.params.check_intersections = true;
  const Backend backend = prepare_backend(options.backend);
  check_outputs(options, scene);

  const std::unique_ptr<Engine> engine = factory(backend, options.threads);
  load_into(*engine, scene);
  for (const std::string& note : scene.notes) std::cerr << "stickslip: " << note << "\n";
  if (const std::string note = engine->load_note(); !note.empty())
    std::cerr << "stickslip: " << scene.file.string() << ": " << note << "\n";
  ExpectationJudge judge(scene.model, expectations_of(scene));
  const int done = scene.resumed ? scene.resumed->frame : 0;
  const int frames = options.frames.value_or(std::max(1, scene.frames - done));
  const InterruptGuard interrupt;  // before the first file is opened: every file is finished or removed
  Outputs outputs(options, scene, backend_name(backend), done + frames, frames);

  RunSummary summary;
  summary.scene = scene.name;
  summary.variant = scene.variant;
  summary.scale = scene.scale;
  summary.density = scene.density;
  summary.backend = backend_name(backend);
  summary.solver = param_text(&scene.params, *find_param(param_table(), "solver"));
  const ExitCode ended = simulate(*engine, frames, options.quiet, interrupt, judge, outputs, summary);
  try {
    Failures failures;
    failures.of([&] { outputs.finish(); });
    failures.of([&] {
      if (!options.state.empty() && ended != exit_no_device)
        write_state(options.state, scene.model, engine->state().positions);
    });
    failures.of([&] {
      if (outputs.bundle) outputs.bundle->write(bundle_origin(backend), options.image);
    });
    failures.of([&] {
      if (!options.motion.empty()) check_animation_file(options.motion);
      if (!options.checkpoint.empty() && ended != exit_no_device) outputs.keep(*engine);
    });
    failures.rethrow();
  } catch (const OutputError& error) {
    summary.error += (summary.error.empty() ? "" : "; ") + std::string(error.what());
  }
  summary.verdicts = judge.verdicts();
  if (const std::string reason = scene.unmet_reason(); !reason.empty())
    for (Verdict& verdict : summary.verdicts)
      if (verdict.outcome == Verdict::Outcome::failed) {
        verdict.outcome = Verdict::Outcome::skipped;
        verdict.seen += "; not expected with solver = " + summary.solver + ": " + reason;
      }

  if (summary.error.empty()) summary.error = summary.unconverged();
  if (!options.quiet) print_overlap(summary);
  print_verdicts(summary.verdicts, options.quiet);
  if (const std::string warning = inversion_warning(summary); !warning.empty())
    std::cerr << "stickslip: " << warning << "\n";
  if (summary.interrupted) std::cerr << "stickslip: interrupted after " << summary.frames << " frames\n";
  if (!summary.error.empty()) std::cerr << "stickslip: " << summary.error << "\n";
  std::cout << to_json(summary).dump() << std::endl;
  if (ended != exit_good) return ended;
  return summary.error.empty() && summary.count(Verdict::Outcome::failed) == 0 ? exit_good : exit_failed;
}

}  // namespace stickslip
