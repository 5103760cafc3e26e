#include "gpu/core/timer.h"
#include "gpu/core/trace_span.h"

namespace stickslip {

double trace_clock() {
  static const Timer timer;
  return timer.seconds();
}

}  // namespace stickslip
