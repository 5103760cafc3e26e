// The scalar of the simulation: double, or float with -DSTICKSLIP_REAL=float at configure time.
#pragma once

#ifndef STICKSLIP_REAL
#define STICKSLIP_REAL double
#endif

namespace stickslip {
using Real = STICKSLIP_REAL;
}
