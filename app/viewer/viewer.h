// The window: `stickslip view`.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/io/bundle/bundle.h"
#include "app/io/scene/scene_variant.h"
#include "app/render/renderer.h"
#include "app/viewer/actions.h"
#include "app/viewer/journal_file.h"
#include "app/viewer/simulation.h"
#include "gpu/contact_lab.h"
#include "gpu/engine.h"

namespace stickslip {

/// No display is available for a window. Exit code 3, as for a missing device.
struct NoDisplayError : NoDeviceError {
  using NoDeviceError::NoDeviceError;
};

/// For tests: scripted actions of the window.
struct ViewScript {
  int quit_after_frames = 0;         // number of steps shown before the window closes; 0: it stays
  std::filesystem::path screenshot;  // PNG of the last picture with its panels; empty: none
  /// Called after every event, with a function that performs an action; the window closes when it returns
  /// false.
  std::function<bool(Simulation&, const std::function<void(ActionId)>&)> drive = {};
};

struct ViewOptions {
  std::string scene = "drop";  // shipped name or path
  std::string variant = {};    // of that scene; empty: none
  /// Called on the simulation's thread; run_viewer passes on its exceptions.
  std::function<std::unique_ptr<Engine>()> make_engine;
  /// Creates the lab for frozen problems; called on its thread for each race.
  std::function<std::unique_ptr<ContactLab>()> make_lab = [] { return make_contact_lab(Backend::cpu); };
  /// Creates the engines of a race of steppers; called on its thread for each of them.
  std::function<std::unique_ptr<Engine>()> make_race_engine = [] {
    return stickslip::make_engine(Backend::cpu);
  };
  std::string backend;  // its name, for the title
  /// Loads a scene with one of its variants; an empty name: without.
  Simulation::SceneLoader load_scene = load_variant;
  /// The loader for the replay of a journal with this start.
  std::function<Simulation::SceneLoader(const JournalStart&)> load_replayed =
      [](const JournalStart&) -> Simulation::SceneLoader { return load_variant; };
  /// The same for the journal of a bundle, whose scenes these are, in the order of its loads.
  std::function<Simulation::SceneLoader(const JournalStart&, std::vector<UnpackedScene>)> load_bundled =
      [](const JournalStart&, const std::vector<UnpackedScene>&) -> Simulation::SceneLoader {
    return load_variant;
  };
  std::filesystem::path replay;  // a journal that the window begins with; `scene` is its first
  std::string replay_name;       // of it, in messages; a bundle's
  std::vector<UnpackedScene> replay_loads = {};  // of a bundle's journal
  int width = 1280, height = 720;
  /// Keeps size, view and cameras from one run to the next; empty: nothing is kept. The fields here win.
  std::filesystem::path memory;
  Quality quality = Quality::automatic;
  bool validation = false;
  Interop interop = Interop::automatic;
  bool paused = false;              // false: the scene plays from the start
  bool panels_in_pictures = false;  // otherwise pictures and videos show the scene alone
  std::filesystem::path journal;    // a file for the actions in the window; empty: none
  JournalStart journal_start = {};  // its first line
  BundleOrigin origin = {};         // of bundles, without the window's device
  std::filesystem::path actions;    // a file of actions, see action_script.h; empty: none
  /// Folder of pictures, videos and frozen problems; made when the first is written.
  std::filesystem::path output = "stickslip-output";
  std::filesystem::path kept_output = {};  // what `memory` keeps as WindowMemory::output
  ViewScript script;
  /// When set (by a signal), the window closes as by Ctrl+Q: a video is completed, the settings are kept. It
  /// must outlive the window. nullptr: never.
  const std::atomic<bool>* interrupt = nullptr;
};

/// Opens the window and returns when it is closed: 0, or 1 when a scripted run ended with an error or the
/// validation layers reported one. Throws NoDisplayError, NoDeviceError, RenderError, InputError (for the
/// first scene), and the exceptions of `make_engine`.
int run_viewer(const ViewOptions& options);

}  // namespace stickslip
