// The verdict on a claim, from what was measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/program/reproduce/measure.h"

namespace stickslip {

/// Median and range of the samples of a quantity.
struct Seen {
  int count = 0;
  double median = 0, low = 0, high = 0;
};
/// Throws std::invalid_argument without samples.
Seen seen_of(std::vector<double> samples);

struct CheckResult {
  ClaimCheck check;
  Seen seen;  // count 0: not measured
  bool holds = false;
};

/// reproduced: every check holds; partly: some hold, some do not; not_reproduced: none holds; not_measured: a
/// checked quantity has no sample.
enum class Outcome { reproduced, partly, not_reproduced, not_measured };
const char* name_of(Outcome outcome);

struct ClaimVerdict {
  Outcome outcome = Outcome::not_measured;
  std::vector<CheckResult> checks;

  /// "reproduced: ...", "not reproduced: seen x, claimed y (...)": one line, of the checks that decide.
  std::string line() const;
};

ClaimVerdict judge_claim(const Claim& claim, const Measurement& measured);

nlohmann::json to_json(const ClaimVerdict& verdict);

}  // namespace stickslip
