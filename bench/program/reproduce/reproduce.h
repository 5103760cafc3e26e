// stickslip reproduce: runs the claims of papers, writes what was measured, and prints one verdict each.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/cli/reproduce.h"
#include "bench/program/reproduce/measure.h"
#include "bench/program/reproduce/verdict.h"

namespace stickslip {

/// The JSON document of one run: claim, settings, samples, verdict, machine, date, version.
nlohmann::json claim_document(const Claim& claim, bool quick, const Measurement& measured,
                              const ClaimVerdict& verdict, double seconds, const MeasureContext& context);

/// Runs the claims that the options name, of `papers`. Returns exit_good if all were measured, whatever the
/// verdicts; exit_failed if one was not, or if the user stopped the run. Throws InputError.
int reproduce_claims(const std::vector<ClaimedPaper>& papers, const ReproduceOptions& options,
                     const EngineFactory& engines, const LabFactory& labs);

/// Parses and runs `stickslip reproduce ...`. Messages for the user go to stderr; never throws.
int run_reproduce_cli(int argc, const char* const* argv, const EngineFactory& engines = make_engine,
                      const LabFactory& labs = make_contact_lab);

}  // namespace stickslip
