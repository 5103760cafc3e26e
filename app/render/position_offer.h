// What whoever draws offers to an engine.
#pragma once

#include <memory>

#include "app/render/position_slots.h"

namespace stickslip {

/// Memory for an engine to write positions into; without slots there is none, and `how` says why.
struct PositionOffer {
  Sharing how;
  std::shared_ptr<PositionSlots> slots = nullptr;
  PositionTarget target = {};
};

}  // namespace stickslip
