// Stands in for NVTX: ranges of the host name the stages of the cost model.
#pragma once

namespace stickslip::emulation {
void begin_stage(const char* name);
void end_stage();
}  // namespace stickslip::emulation

inline int nvtxRangePushA(const char* name) {
  stickslip::emulation::begin_stage(name);
  return 0;
}
inline int nvtxRangePop() {
  stickslip::emulation::end_stage();
  return 0;
}
