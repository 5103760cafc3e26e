// What the user chooses of the view, and finds again in the next window.
#pragma once

#include <cstddef>

#include "app/render/contact_scale.h"
#include "app/render/force_sums.h"
#include "app/viewer/surface_colors.h"

namespace stickslip {

/// Which contact states the overlay shows.
struct ContactFilter {
  bool open = true, stick = true, slip = true, unconverged = true;
  bool shows(ShownState state) const {
    const bool shown[kShownStates] = {open, stick, slip, unconverged};
    return shown[static_cast<std::size_t>(state)];
  }
};

/// Of screenshots and videos without panels.
struct PictureSettings {
  int scale = 1;             // size of screenshots over that of the window
  bool transparent = false;  // screenshots without ground and sky
  int rate = 30;             // [1/s] pictures of a video per simulated second
};

}  // namespace stickslip
