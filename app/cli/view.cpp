// stickslip view: opens the window.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "app/cli/cli.h"
#include "app/cli/first_scene.h"
#include "app/cli/interrupt.h"
#include "app/io/mesh/mesh.h"
#include "app/io/scene/scene_variant.h"
#include "app/viewer/actions.h"
#include "app/viewer/replay.h"
#include "app/viewer/viewer.h"
#include "app/viewer/window_files.h"
#include "app/viewer/window_memory.h"

namespace stickslip {

namespace {

/// A journal has its own options of the scene.
void refuse_scene_options(const ViewCommand& options) {
  if (!options.variant.empty() || !options.solver.empty() || !options.settings.empty() || options.scale ||
      options.density || options.force || options.ignore_unknown)
    throw InputError(
        options.scene +
        ": a journal, also of a bundle, is replayed with its own options: --variant, --solver, --set, "
        "--scale, --density, --force and --ignore-unknown do not go with it");
}

/// The options of the scene become those of the journal's start.
JournalStart take_start(ViewCommand& options, const std::filesystem::path& journal) {
  JournalStart start = start_of_journal(journal, options.scene);
  SceneOptions first = options_of(start);
  first.backend = options.backend;
  first.threads = options.threads;
  static_cast<SceneOptions&>(options) = std::move(first);
  return start;
}

/// A journal brings its first scene, with the options of then.
void open_journal(ViewCommand& options, ViewOptions& view) {
  if (lower_extension(options.scene) != ".jsonl") return;
  refuse_scene_options(options);
  std::error_code no_such_file;
  if (std::filesystem::equivalent(options.scene, options.journal, no_such_file))
    throw InputError("--journal: " + options.journal + " is the journal that is replayed");
  view.replay = view.replay_name = options.scene;
  take_start(options, view.replay);
}

/// The files of a bundle are written to the output folder; its journal is replayed from its first scene on.
void open_bundle(ViewCommand& options, ViewOptions& view) {
  if (!is_bundle_name(options.scene)) return;
  refuse_scene_options(options);
  UnpackedSession session = WindowFiles(options.output).unpack_bundle(options.scene);
  view.replay = session.journal;
  view.replay_name = options.scene;
  view.replay_loads = std::move(session.loads);
  const JournalStart start = take_start(options, view.replay);
  const UnpackedScene first = view.replay_loads.front();
  view.scene = first.file.string();
  view.load_scene = [first, start](const std::string& name, const std::string& variant) {
    return name == first.file ? load_bundled(first, variant, start) : load_variant(name, variant);
  };
}

/// Without a scene: the last one that was shown, if it is shipped still, or drop.
void choose_scene(ViewCommand& options, const std::filesystem::path& memory_file) {
  if (!options.scene.empty()) return;
  options.scene = "drop";
  const WindowMemory memory = read_window_memory(memory_file);
  const std::vector<SceneInfo> scenes = list_scenes();
  const auto last = std::ranges::find(scenes, memory.scene, &SceneInfo::name);
  if (last == scenes.end()) return;
  options.scene = memory.scene;
  const bool known =
      std::ranges::any_of(last->variants, [&](const auto& v) { return v.first == memory.variant; });
  if (options.variant.empty() && known) options.variant = memory.variant;
}

/// Without --output: the folder of the last window that had one.
void choose_output(ViewCommand& options, ViewOptions& view) {
  const std::filesystem::path usual = ViewOptions{}.output;
  if (options.output.empty()) {
    view.kept_output = read_window_memory(view.memory).output;
    options.output = view.kept_output.empty() ? usual.string() : view.kept_output.string();
    if (!view.kept_output.empty())
      spdlog::info("pictures and other files go to {}, as --output said last time", options.output);
  } else if (options.output != usual.string()) {
    view.kept_output = std::filesystem::absolute(options.output);
  }
}

}  // namespace

int command_view(const ViewCommand& command, const EngineFactory& factory) {
  if (command.print_keys) {
    std::cout << key_table_markdown();
    return exit_good;
  }
  ViewOptions view;
  if (!command.fresh) view.memory = window_memory_file();
  ViewCommand options = command;
  choose_scene(options, view.memory);
  choose_output(options, view);
  open_journal(options, view);
  if (view.replay.empty()) open_bundle(options, view);
  try {
    view.quality = parse_quality(options.quality);
  } catch (const std::invalid_argument& error) {
    throw InputError(std::string("--quality: ") + error.what());
  }
  view.interop = parse_interop(options.interop);
  const Backend backend = prepare_backend(options.backend);
  if (view.replay_loads.empty()) view.scene = options.scene;
  view.variant = options.variant;
  view.backend = backend_name(backend);
  view.paused = options.paused;
  view.panels_in_pictures = options.panels;
  view.validation = options.validation;
  view.journal = options.journal;
  view.output = options.output;
  view.actions = options.script;
  view.journal_start = journal_start(options, view.backend);
  view.origin = bundle_origin(backend);
  view.make_engine = [&] { return factory(backend, options.threads); };
  // Races always run on the cpu, whatever the simulation's backend.
  view.make_lab = [&] { return make_contact_lab(Backend::cpu, options.threads); };
  view.make_race_engine = [&] { return factory(Backend::cpu, options.threads); };
  if (view.replay_loads.empty()) view.load_scene = FirstSceneLoader(options);
  view.load_replayed = [](const JournalStart& start) { return FirstSceneLoader(options_of(start)); };
  view.load_bundled = [](const JournalStart& start, const std::vector<UnpackedScene>& loads) {
    return
        [start, loads, next = std::size_t{0}](const std::string& name, const std::string& variant) mutable {
          // What has another name is loaded by the user, which ends the replay.
          if (next < loads.size() && (name == loads[next].name || loads[next].name.empty()))
            return load_bundled(loads[next++], variant, start);
          return load_variant(name, variant);
        };
  };
  const InterruptGuard interrupt;
  view.interrupt = &interrupt.flag();
  try {
    return run_viewer(view);
  } catch (const NoDeviceError& error) {
    throw DeviceError(error.what());
  }
}

}  // namespace stickslip
