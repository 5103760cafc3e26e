// The picture of a claim's run, as SVG.
#pragma once

#include <string>

#include "bench/program/reproduce/verdict.h"

namespace stickslip {

/// The curves of the measurement; without curves one row per checked quantity: median, range, and what is
/// claimed.
std::string picture_of(const Claim& claim, const Measurement& measured, const ClaimVerdict& verdict);

}  // namespace stickslip
