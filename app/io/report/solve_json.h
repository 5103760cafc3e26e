// What a solve of the contact lab came to, as JSON and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "gpu/contact_lab.h"

namespace stickslip {

/// All figures but the vectors, by the names of SolveReport and Judgement; what is unknown is null.
nlohmann::json to_json(const SolveReport& report);

/// One JSON document on one line; bytes that are no UTF-8 are replaced.
std::string json_line(const nlohmann::json& document);

/// The head of a CSV file of histories, and a row for each check by the judge. `setting`: what was swept.
void write_history_head(std::ostream& csv);
void write_history(std::ostream& csv, const SolveReport& report, const std::string& setting);

}  // namespace stickslip
