// The renderer's offer of memory to an engine.
#pragma once

#include <memory>

#include "app/render/position_slots.h"

namespace stickslip {

/// Memory for an engine's positions. Without slots there is none; `how` gives the reason.
struct PositionOffer {
  Sharing how;
  std::shared_ptr<PositionSlots> slots = nullptr;
  PositionTarget target = {};
};

}  // namespace stickslip
