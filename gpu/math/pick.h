// Choices and a few functions of one number, by names that Lanes have too: a formula written with them works
// for both.
#pragma once

#include <cmath>

#include "gpu/core/backend.h"

namespace stickslip {

SS_HD inline double pick(bool where, double a, double b) { return where ? a : b; }
SS_HD inline float pick(bool where, float a, float b) { return where ? a : b; }
SS_HD inline double larger(double a, double b) { return a > b ? a : b; }
SS_HD inline float larger(float a, float b) { return a > b ? a : b; }
SS_HD inline double root(double a) { return std::sqrt(a); }
SS_HD inline float root(float a) { return std::sqrt(a); }
/// Of lanes: a < b in one of them, or in all.
SS_HD inline bool any_less(double a, double b) { return a < b; }
SS_HD inline bool any_less(float a, float b) { return a < b; }
SS_HD inline bool all_less(double a, double b) { return a < b; }
SS_HD inline bool all_less(float a, float b) { return a < b; }

}  // namespace stickslip
