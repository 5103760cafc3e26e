// JSON and CSV forms of the contact lab's reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "gpu/contact_lab.h"

namespace stickslip {

/// All values except the vectors, by the names in SolveReport and Judgement; unknown ones are null.
nlohmann::json to_json(const SolveReport& report);

/// One JSON document on one line; invalid UTF-8 is replaced.
std::string json_line(const nlohmann::json& document);

/// Header of a CSV file of histories, and one row per check of the judge. `setting`: the swept parameter's
/// value.
void write_history_head(std::ostream& csv);
void write_history(std::ostream& csv, const SolveReport& report, const std::string& setting);

}  // namespace stickslip
