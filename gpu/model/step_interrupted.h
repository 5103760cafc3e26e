// StepInterrupted: thrown by a step that is cancelled.
#pragma once

#include <stdexcept>

namespace stickslip {

/// Thrown by a step while the flag of Engine::set_cancel is set. The state is that at the end of the step
/// before.
struct StepInterrupted : std::runtime_error {
  StepInterrupted() : std::runtime_error("the step was stopped on request") {}
};

}  // namespace stickslip
