// TraceSpan: when a named stretch of work ran.
#pragma once

namespace stickslip {

/// Times in seconds since the program's trace clock began.
struct TraceSpan {
  const char* name = "";  // static
  int depth = 0;          // 0: no span around it
  double begin = 0, end = 0;
  double device_begin = -1, device_end = -1;  // on the device's own clock; -1: there is none
};

/// The clock of all spans: steady, common to all threads. [s]
double trace_clock();

}  // namespace stickslip
