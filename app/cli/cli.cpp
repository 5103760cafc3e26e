#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>

#include "app/cli/bundle.h"
#include "app/cli/completion.h"
#include "app/cli/examples.h"
#include "app/cli/number_range.h"
#include "app/cli/replay.h"
#include "app/cli/reproduce.h"
#include "app/cli/scene_race.h"
#include "app/cli/version.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/mesh/mesh.h"
#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"

namespace stickslip {

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads of the cpu backend; 0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

void add_backend(CLI::App& command, std::string& backend, int& threads) {
  command
      .add_option(
          "--backend", backend,
          "auto takes cuda if a device answers; emulated, in builds with tests: the cuda backend on a "
          "device made of software")
      ->type_name("{auto,cpu,cuda,emulated}")
      ->capture_default_str();
  add_threads(command, threads);
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed, const std::string& meaning) {
  return command.add_option("--seed", seed, meaning)
      ->check(CLI::Validator(
          [](const std::string& text) {
            const bool whole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return whole ? "" : "'" + text + "' must be a whole number of at least 0";
          },
          ""))
      ->capture_default_str();
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() > 0)
        option->check(CLI::Validator(
            [](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); },
            ""));
}

namespace {

void add_ignore_unknown(CLI::App& command, bool& ignore) {
  command.add_flag("--ignore-unknown", ignore,
                   "of an IPC scene script (.txt), leave out the commands that are not supported");
}

}  // namespace

void add_scale(CLI::App& command, std::optional<double>& scale) {
  command
      .add_option("--scale", scale,
                  "finer meshes or longer arrays, instead of the scene's own scale (assets/scenes/README.md)")
      ->check(number_range(1.0, kMaxScale));
}

void add_scene_options(CLI::App& command, SceneOptions& options) {
  add_backend(command, options.backend, options.threads);
  command.add_option("--variant", options.variant,
                     "one of the scene's variants (see: stickslip list scenes)");
  command.add_flag(
      "--force", options.force,
      "step rigid bodies by ipc, barrier_al and ccd_al without what has no meaning there, such as "
      "restitution; as --set drop_unsupported=true");
  command.add_option("--solver", options.solver, "see: stickslip list solvers; default: the scene's");
  command
      .add_option("--set", options.settings,
                  "key=value, repeatable: a parameter, a material key for all materials, MATERIAL.key (see: "
                  "stickslip "
                  "list params), or contact.key of the contact solvers (see: stickslip list lab-params)")
      ->allow_extra_args(false);
  add_scale(command, options.scale);
  command
      .add_option("--density", options.density,
                  "multiplies the number of strands of hair, instead of the scene's own density")
      ->check(number_range(kMinDensity, kMaxDensity));
  add_ignore_unknown(command, options.ignore_unknown);
}

namespace {

void add_interop(CLI::App& command, std::string& interop) {
  command
      .add_option(
          "--interop", interop,
          "auto: the engine writes positions where pictures are drawn from, if it can; off: they are copied")
      ->check(CLI::IsMember({"auto", "off"}))
      ->capture_default_str();
}

CLI::App* add_view(CLI::App& app, ViewCommand& options) {
  CLI::App* view = app.add_subcommand("view", "open the window on a scene");
  options.scene.clear();
  view->add_option(
      "scene", options.scene,
      "shipped name or file, a bundle, or a journal to replay; default: the last scene, at first drop");
  add_scene_options(*view, options);
  view->add_option("--quality", options.quality, "of the pictures")
      ->type_name("{automatic,light,medium,high}")
      ->capture_default_str();
  add_interop(*view, options.interop);
  view->add_flag("--paused", options.paused, "wait for the first Space");
  view->add_flag("--panels", options.panels, "pictures and videos of the window show the panels, too");
  view->add_option("--journal", options.journal,
                   "write what is done in the window to this file, one JSON line per event");
  view->add_option("--script", options.script, "do what this file says, one action a line (docs/manual.md)");
  view->add_option("--output", options.output,
                   "folder of the window's pictures, videos and frozen problems; made for the first of them; "
                   "without this option that of the last window that had it, or stickslip-output");
  view->add_flag(
      "--fresh", options.fresh,
      "as the first time: without the size, overlays, cameras and last scene of earlier windows, which "
      "stay as they are");
  view->add_flag("--validation", options.validation,
                 "check the use of Vulkan; exit code 1 when its validation layers complain");
  view->add_flag("--keys", options.print_keys, "print the table of keys and leave");
  return view;
}

CLI::App* add_run(CLI::App& app, RunOptions& options) {
  CLI::App* run =
      app.add_subcommand("run", "simulate without a window; the last line of stdout is one JSON object");
  run->add_option("scene", options.scene, "shipped name or file")->required();
  run->add_option("--frames", options.frames,
                  "steps to simulate; default: the scene's, of a checkpoint those that are left")
      ->check(CLI::Range(1, 100000000));
  add_scene_options(*run, options);
  run->add_option("--report", options.report, "write one JSON line per step to this file");
  run->add_option(
      "--trace", options.trace,
      "write what ran when to this JSON file, for chrome://tracing and Perfetto; --report then has "
      "the times of all stages too");
  run->add_option("--image", options.image, "write the last frame to this PNG file");
  run->add_option(
      "--images", options.images,
      "write every frame as a PNG file to this folder; those of an earlier run there are removed");
  run->add_option("--video", options.video, "write a video to this file, through the ffmpeg program");
  run->add_option("--state", options.state,
                  "write the shape after the last frame to this file: .msh (solids) or .obj (surfaces, and "
                  "rods as lines)");
  run->add_option(
      "--motion", options.motion,
      "write the run as moving meshes: .glb (glTF 2.0) or .usda (USD), or .obj or .ply, one file per "
      "frame");
  run->add_option("--motion-rate", options.motion_rate, "[1/s] frames of --motion")
      ->check(number_range(0.01, 1e5))
      ->capture_default_str();
  run->add_option(
      "--journal", options.journal,
      "write a hash of the state after every step to this file, one JSON line each, for stickslip "
      "replay");
  run->add_option(
      "--bundle", options.bundle,
      "write scene, journal and, with --image, the picture as one file (.stickslip), for stickslip "
      "replay on another machine");
  run->add_option(
      "--checkpoint", options.checkpoint,
      "write the run to this file (.hdf5) while it goes on, and at its end; run and view go on from "
      "such a file, given as the scene");
  run->add_option("--checkpoint-every", options.checkpoint_every, "steps between checkpoints")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  run->add_option("--freeze", options.freezes,
                  "FRAME:FILE.hdf5, repeatable: write the contact problem of this velocity-level step, for "
                  "stickslip solve and race")
      ->allow_extra_args(false);
  run->add_option("--size", options.size, "WxH of images and video, in pixels")->capture_default_str();
  run->add_option("--supersample", options.supersample,
                  "draw images and video this many times as wide and as high, and reduce them")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  run->add_option("--quality", options.quality, "of images and video")
      ->check(CLI::IsMember({"light", "medium", "high"}))
      ->capture_default_str();
  run->add_option("--fps", options.fps,
                  "[1/s] pictures of the video per simulated second; default: one per step, or as many as 60 "
                  "per second hold")
      ->check(number_range(1, 240));
  run->add_option("--camera", options.camera,
                  "way of the camera: a file with a line per key: time [s], eye x y z, target x y z [m] and, "
                  "perhaps, the vertical field of view [degrees]");
  run->add_option("--turntable", options.turntable,
                  "[degrees] by which the camera turns about its target during the run, at an even rate")
      ->check(number_range(-36000, 36000));
  run->add_flag("--transparent", options.transparent,
                "draw images without ground and sky: there they are transparent");
  add_interop(*run, options.interop);
  run->add_flag("--check-intersections", options.check_intersections,
                "test the surface for intersections after every step");
  run->add_flag("--quiet", options.quiet, "no progress, no verdicts: only the final JSON line and errors");
  return run;
}

CLI::App* add_convert(CLI::App& app, ConvertOptions& options) {
  CLI::App* convert = app.add_subcommand("convert", "write a mesh or a scene in another format");
  convert->add_option("input", options.input, ".msh, .obj, .ply, .stl, or an IPC scene script .txt")
      ->required();
  convert
      ->add_option("output", options.output,
                   ".msh: tetrahedra, which fill a closed surface; .obj: the surface; .toml: the scene")
      ->required();
  convert->add_flag("--binary", options.binary, "write a binary .msh");
  convert->add_option("--msh-version", options.msh_version, "of the .msh")
      ->type_name("{4.1,2.2}")
      ->capture_default_str();
  convert->add_option("--edge", options.edge, "of a surface that is filled: length of the tetrahedra's edges")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double edge = 0;
            const bool good = CLI::detail::lexical_cast(text, edge) && std::isfinite(edge) && edge > 0;
            return good ? "" : "'" + text + "' must be a finite number above 0";
          },
          "LENGTH"));
  convert->add_option("--mesher", options.mesher, "what fills a surface: auto, tetgen or lattice")
      ->check(CLI::IsMember(mesher_names))
      ->capture_default_str();
  add_ignore_unknown(*convert, options.ignore_unknown);
  return convert;
}

}  // namespace

bool parse_arguments(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw InputError(std::string(error.what()) + " (stickslip --help shows the commands)");
    app.exit(error);  // --help, --version
    return false;
  }
  return true;
}

namespace {

/// CLI11 reports only that a command is missing; this names the unknown one.
void check_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string nearest = nearest_name(names, name);
  throw InputError("there is no command '" + name + "'" +
                   (nearest.empty() ? " (stickslip --help shows all)" : "; did you mean '" + nearest + "'?"));
}

SceneRaceOptions scene_race_options(const RaceOptions& race) {
  if (race.problem.empty()) throw InputError("race --steppers needs a scene: a shipped name or a file");
  SceneRaceOptions options;
  options.scene = race.problem;
  options.backend = race.backend;
  options.threads = race.threads;
  options.variant = race.variant;
  options.settings = race.settings;
  options.scale = race.scale;
  options.steppers = race.steppers;
  options.frame = race.frame;
  options.steps = race.steps;
  options.pictures = race.pictures;
  options.json = race.json;
  return options;
}

int parse_and_run(int argc, const char* const* argv, const EngineFactory& factory, const LabFactory& labs) {
  if (argc > 1 && std::string_view(argv[1]) == "bench") command_bench({argv + 2, argv + argc});
  if (argc > 1) start_on_emulated_device({argv + 1, argv + argc});
  CLI::App app{"stickslip: a sandbox for frictional contact", "stickslip"};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text(), "print version, backends and scalar");
  app.footer(
      "Exit codes: 0 good, 1 the simulation or an expectation failed or nothing converged, 2 bad input, 3 no "
      "suitable device, or it was lost.");
  ViewCommand view;
  RunOptions run;
  ConvertOptions convert;
  SolveOptions solve;
  RaceOptions race;
  SoakCommand soak;
  ReproduceOptions reproduce;
  std::string list_what;
  bool list_json = false;
  CLI::App* view_command = add_view(app, view);
  CLI::App* run_command = add_run(app, run);
  CLI::App* convert_command = add_convert(app, convert);
  CLI::App* list_command = app.add_subcommand("list", "show what there is");
  list_command->add_option("what", list_what, "what to show")
      ->required()
      ->check(CLI::IsMember({"scenes", "solvers", "params", "backends", "contact-solvers", "step-solvers",
                             "lab-params", "problems"}));
  list_command->add_flag("--json", list_json, "as one JSON document");
  app.add_subcommand("bench", "measure; see: stickslip bench --help");
  CLI::App* solve_command = add_solve(app, solve);
  CLI::App* race_command = add_race(app, race);
  CLI::App* soak_command = add_soak(app, soak);
  ReplayCommand replay_options;
  CLI::App* replay_command = add_replay(app, replay_options);
  BundleCommand bundle;
  CLI::App* bundle_command = add_bundle(app, bundle);
  CLI::App* reproduce_command = add_reproduce(app, reproduce);
  CLI::App* completion_command =
      app.add_subcommand("completion", "print a script that completes commands and options");
  std::string shell;
  completion_command->add_option("shell", shell, "the shell that reads it")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_examples(app);
  refuse_empty_values(app);
  if (argc > 1 && argv[1][0] != '-') check_command(app, argv[1]);
  if (!parse_arguments(app, argc, argv)) return exit_good;
  if (view_command->parsed()) return command_view(view, factory);
  if (run_command->parsed()) return command_run(run, factory);
  if (convert_command->parsed()) return command_convert(convert);
  if (list_command->parsed()) return command_list(list_what, list_json);
  if (solve_command->parsed()) return command_solve(solve, labs);
  if (soak_command->parsed()) return command_soak(soak, factory);
  if (replay_command->parsed()) return command_replay(replay_options, factory);
  if (bundle_command->parsed()) return command_bundle(bundle);
  if (reproduce_command->parsed()) return command_reproduce(reproduce, {argv + 1, argv + argc});
  if (completion_command->parsed()) {
    std::cout << completion_script(app, shell);
    return exit_good;
  }
  if (!race_command->parsed()) return exit_bad_input;
  return race.steppers.empty() ? command_race(race, labs)
                               : command_scene_race(scene_race_options(race), factory);
}

constexpr const char* too_large = "out of memory: the input is too large for this machine";

int complain(const std::exception& error, ExitCode code) {
  std::cerr << "stickslip: " << shortened(error.what()) << std::endl;
  return code;
}

}  // namespace

int reported(const std::function<int()>& command) {
  try {
    const int code = command();
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
      std::cerr << "stickslip: standard output cannot be written: is it closed, or the disk full?"
                << std::endl;
      return code == exit_good ? exit_failed : code;
    }
    return code;
  } catch (const InputError& error) {
    return complain(error, exit_bad_input);
  } catch (const DeviceError& error) {
    return complain(error, exit_no_device);
  } catch (const std::bad_alloc&) {
    return complain(InputError(too_large), exit_bad_input);
  } catch (const std::length_error&) {
    return complain(InputError(too_large), exit_bad_input);
  } catch (const std::exception& error) {
    return complain(error, exit_failed);
  }
}

int run_cli(int argc, const char* const* argv, const EngineFactory& factory, const LabFactory& labs) {
  return reported([&] { return parse_and_run(argc, argv, factory, labs); });
}

Scene prepare_scene(const SceneOptions& options) {
  if (is_bundle_name(options.scene))
    throw InputError(options.scene +
                     ": is a bundle: stickslip replay does it again, stickslip bundle "
                     "--extract unpacks its scene, stickslip view opens it");
  Scene scene = is_ipc_script(options.scene) && !options.scale && !options.density
                    ? load_ipc_script(options.scene, {options.ignore_unknown})
                    : load_scene(options.scene, options.scale, options.density);
  if (!options.variant.empty()) choose_variant(scene, options.variant);
  for (const std::string& setting : options.settings) apply_setting(scene, setting);
  if (options.force) scene.params.drop_unsupported = true;
  try {
    if (!options.solver.empty()) set_solver(scene.params, options.solver);
  } catch (const std::invalid_argument& error) {
    throw InputError("--solver " + options.solver + ": " + error.what());
  }
  check_solver(scene.params, scene.model);
  return scene;
}

JournalStart journal_start(const SceneOptions& options, const std::string& backend) {
  const std::string version = version_text();
  return {options.scene,   options.variant,
          options.solver,  options.scale,
          options.density, options.settings,
          options.force,   options.ignore_unknown,
          backend,         version.substr(0, version.find('\n'))};
}

BundleOrigin bundle_origin(Backend backend) {
  return {version_text(), backend_name(backend), backend_info(backend).device, ""};
}

std::string backend_name(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

Backend prepare_backend(const std::string& name) {
  Backend backend;
  try {
    backend = choose_backend(name);
  } catch (const std::invalid_argument& error) {
    throw InputError(error.what());
  }
  if (const BackendInfo info = backend_info(backend); !info.available)
    throw DeviceError("backend " + info.name + " cannot run here: " + info.reason);
  return backend;
}

void load_into(Engine& engine, const Scene& scene) {
  engine.set_params(scene.params);
  engine.set_contact_params(scene.contact_params);
  try {
    engine.load(scene.model);
    if (scene.resumed) engine.set_state(*scene.resumed);
  } catch (const std::invalid_argument& error) {
    throw InputError(scene.file.string() + ": " + error.what());
  }
}

}  // namespace stickslip
