// What the emulated device finds wrong with the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stickslip::emulation {

enum class FaultKind {
  address,      // a kernel touched memory that is not its own
  unwritten,    // read of memory before it was written
  race,         // two lanes, no order between them
  barrier,      // that some lanes never reach
  limit,        // of the device, by a launch
  capture,      // a call that may not be captured, or a graph left open
  call,         // an argument that the runtime refuses
  host_access,  // the host touched device memory
  trap,         // that a kernel asked for
  release,      // double or foreign free, or free while work is pending
};
const char* name(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string text;  // with kernel, lanes and source lines
};

/// Records the fault and prints it, each place in the program once.
void report_fault(FaultKind kind, const std::string& text);
/// All since the start, or since `forget_faults`.
const std::vector<Fault>& faults();
void forget_faults();
/// From now on the process ends with code 4 if faults were found, whatever the program returns. Programs with
/// tests of their own call `keep_exit_code`.
void end_with_error_on_faults();
void keep_exit_code();

/// Places need seconds to find in a large program: without them, messages have "?".
void find_places(bool on);

/// "function at file:line" of a return address or a function, innermost frame outside the emulation first.
std::string place_of(const void* address, bool is_return_address = true);

/// Where the program lies in memory: addresses of code minus those in its file.
std::uintptr_t load_address();

/// The function whose loop a kernel runs, such as "BroadPhase::find".
std::string kernel_name(const void* function);

}  // namespace stickslip::emulation
