// Control of the emulated device, for tests.
#pragma once

#include "tests/device/lanes.h"

namespace stickslip::emulation {

/// Switches the checks of kernels from the next launch on. At the start they are as STICKSLIP_DEVICE_CHECK
/// says: "off" (the default), "memory", or "races", which includes memory.
void set_checks(const Checks& checks);

/// Starts to count the accesses anew after which only some launches are checked (STICKSLIP_DEVICE_CHECK_MOST,
/// in millions).
void limit_checks();

/// The next call of this name fails with `error`, if it is one of those that tests want to fail
/// (`Device::refuses`).
void refuse_next(const char* call, cudaError_t error);

/// Calls that were to be refused and were not made.
std::size_t refusals_left();

/// Gives a lost device back to a test: no error is kept, nothing is queued or recorded.
void revive();

/// Counts since the start.
struct Totals {
  std::size_t launches = 0, graph_launches = 0, copies = 0, waits = 0;
  std::size_t bytes_read = 0, bytes_written = 0;  // by kernels, while costs are counted
};
Totals totals();

/// What the launches cost since `Checks::costs` was set, by the model of the chosen device.
const CostModel& costs();
void forget_costs();
/// What kernels take per lane: for the model, and for the number of blocks that the device says are resident.
void use_resources(CostModel::Resources resources);

/// Reports what the program has left behind: memory, captures that were not ended. Returns the number.
int leftovers();

}  // namespace stickslip::emulation
