// Contact problems of fibres by nu = 3 contacts / dofs, solved by the methods of a claim.
#pragma once

#include "bench/program/reproduce/measure.h"

namespace stickslip {

struct FibreProblem {
  explicit FibreProblem(ContactProblem of);
  double nu;
  ContactProblem problem;
};

/// Adds the quantities and curves of `problems` that measure_fibre_nu.cpp states, with `prefix` in front of
/// the names of methods.
void measure_fibres(const Claim& claim, const ClaimRun& run, const MeasureContext& context,
                    const std::string& prefix, std::vector<FibreProblem> problems, Measurement& out);

}  // namespace stickslip
