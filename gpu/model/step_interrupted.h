// StepInterrupted: a step that was asked to end before it is done.
#pragma once

#include <stdexcept>

namespace stickslip {

/// Thrown by a step while the flag of Engine::set_cancel is set. The state is that at the end of the step
/// before.
struct StepInterrupted : std::runtime_error {
  StepInterrupted() : std::runtime_error("the step was stopped on request") {}
};

}  // namespace stickslip
