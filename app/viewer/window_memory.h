// What the window keeps from one run of the program to the next.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/render/camera.h"
#include "app/render/overlays.h"
#include "app/render/renderer.h"
#include "app/viewer/lab_race.h"
#include "app/viewer/stepper_race.h"
#include "app/viewer/view_choices.h"

namespace stickslip {

struct WindowMemory {
  std::string scene, variant;  // that was shown last; empty: none
  int width = 1280, height = 720;
  Quality quality = Quality::automatic;
  bool panels = true, patterns = true;
  Overlays overlays;
  float timeline_megabytes = 256;
  std::map<std::string, Camera> cameras;  // by the name of a scene
  std::map<std::string, bool> sections;   // of the panels, by title: whether they are open
  ContactScale scale = ContactScale::state;
  ForceArrows arrows = ForceArrows::contacts;
  SurfaceColors surfaces = SurfaceColors::objects;
  ContactFilter filter;
  PictureSettings pictures;
  RaceSettings race;
  StepperRaceSettings stepper_race;
  std::filesystem::path output;  // absolute, of `view --output`; empty: that of the present folder
};

/// $XDG_CONFIG_HOME/stickslip/window.json, or ~/.config/stickslip/window.json. Empty if neither is known.
std::filesystem::path window_memory_file();

/// The defaults where the file, or a part of it, is missing or makes no sense.
WindowMemory read_window_memory(const std::filesystem::path& file);
/// Makes the folder. Throws OutputError or InputError when the file cannot be written.
void write_window_memory(const std::filesystem::path& file, const WindowMemory& memory);

}  // namespace stickslip
