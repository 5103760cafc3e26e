// The window: `stickslip view`.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/io/scene/scene.h"
#include "app/render/renderer.h"
#include "app/viewer/actions.h"
#include "app/viewer/simulation.h"
#include "gpu/contact_lab.h"
#include "gpu/engine.h"

namespace stickslip {

/// There is no display to open a window on. Like a missing device: exit code 3.
struct NoDisplayError : NoDeviceError {
  using NoDeviceError::NoDeviceError;
};

/// For tests: what the window does on its own.
struct ViewScript {
  int quit_after_frames = 0;         // time steps shown until the window closes; 0: it stays
  std::filesystem::path screenshot;  // PNG of the last picture with its panels; empty: none
  /// Asked after every event, with hands for the actions of keys; the window closes when it says false.
  std::function<bool(Simulation&, const std::function<void(ActionId)>&)> drive = {};
};

struct ViewOptions {
  std::string scene = "drop";  // shipped name or path
  /// Made on the simulation's thread; what it throws ends run_viewer.
  std::function<std::unique_ptr<Engine>()> make_engine;
  /// Of the lab that frozen problems are solved in; made on its thread, for each race.
  std::function<std::unique_ptr<ContactLab>()> make_lab = [] { return make_contact_lab(Backend::cpu); };
  std::string backend;  // its name, for the title
  std::function<Scene(const std::string& name_or_path)> load_scene = [](const std::string& name_or_path) {
    return stickslip::load_scene(name_or_path);
  };
  int width = 1280, height = 720;
  Quality quality = Quality::automatic;
  bool validation = false;
  Interop interop = Interop::automatic;
  bool paused = false;            // otherwise the scene plays from the start
  std::filesystem::path journal;  // a file for what is done in the window; empty: none
  ViewScript script;
};

/// Opens the window and returns when it is closed: 0, or 1 when a script's run ended with an error or the
/// validation layers complained. Throws NoDisplayError, NoDeviceError, RenderError, InputError (for the first
/// scene), and what `make_engine` throws.
int run_viewer(const ViewOptions& options);

}  // namespace stickslip
