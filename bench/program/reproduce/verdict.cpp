#include "bench/program/reproduce/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace stickslip {
namespace {

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

const char* sense_text(ClaimCheck::Sense sense) {
  return sense == ClaimCheck::Sense::at_least  ? "at least "
         : sense == ClaimCheck::Sense::at_most ? "at most "
                                               : "";
}

std::string check_text(const CheckResult& result) {
  std::string text = "seen ";
  if (result.seen.count == 0) text += "nothing";
  else text += digits(result.seen.median);
  if (result.seen.count > 1 && result.seen.low < result.seen.high)
    text += " (" + digits(result.seen.low) + " to " + digits(result.seen.high) + " in " +
            std::to_string(result.seen.count) + ")";
  return text + ", claimed " + sense_text(result.check.sense) + digits(result.check.claimed) + ": " +
         result.check.meaning;
}

}  // namespace

Seen seen_of(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("seen_of: there are no samples");
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  return {static_cast<int>(n), 0.5 * (samples[(n - 1) / 2] + samples[n / 2]), samples.front(),
          samples.back()};
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::reproduced:
      return "reproduced";
    case Outcome::partly:
      return "partly reproduced";
    case Outcome::not_reproduced:
      return "not reproduced";
    case Outcome::not_measured:
      break;
  }
  return "not measured";
}

ClaimVerdict judge_claim(const Claim& claim, const Measurement& measured) {
  ClaimVerdict verdict;
  std::size_t held = 0, missing = 0;
  for (const ClaimCheck& check : claim.checks) {
    CheckResult result{check, {}, false};
    const auto found = measured.samples.find(check.quantity);
    if (found != measured.samples.end() && !found->second.empty()) {
      result.seen = seen_of(found->second);
      result.holds = std::isfinite(result.seen.median) && check.holds(result.seen.median);
    }
    held += result.holds;
    missing += result.seen.count == 0;
    verdict.checks.push_back(result);
  }
  if (missing > 0 || verdict.checks.empty()) verdict.outcome = Outcome::not_measured;
  else if (held == verdict.checks.size()) verdict.outcome = Outcome::reproduced;
  else verdict.outcome = held > 0 ? Outcome::partly : Outcome::not_reproduced;
  return verdict;
}

std::string ClaimVerdict::line() const {
  std::string text;
  for (const CheckResult& result : checks) {
    // Where some checks fail, these decide.
    const bool decides = outcome == Outcome::reproduced || !result.holds;
    if (decides) text += (text.empty() ? "" : "; ") + check_text(result);
  }
  return std::string(name_of(outcome)) + (text.empty() ? "" : ": " + text);
}

nlohmann::json to_json(const ClaimVerdict& verdict) {
  nlohmann::json checks = nlohmann::json::array();
  for (const CheckResult& result : verdict.checks) {
    const bool measured = result.seen.count > 0;
    const auto value = [&](double x) { return measured ? nlohmann::json(x) : nlohmann::json(); };
    checks.push_back(
        {{"quantity", result.check.quantity},
         {"meaning", result.check.meaning},
         {"sense", result.check.sense == ClaimCheck::Sense::equal
                       ? "equal"
                       : (result.check.sense == ClaimCheck::Sense::at_least ? "at_least" : "at_most")},
         {"claimed", result.check.claimed},
         {"tolerance", result.check.tolerance},
         {"median", value(result.seen.median)},
         {"low", value(result.seen.low)},
         {"high", value(result.seen.high)},
         {"starts", result.seen.count},
         {"holds", result.holds}});
  }
  return {{"outcome", name_of(verdict.outcome)}, {"line", verdict.line()}, {"checks", std::move(checks)}};
}

}  // namespace stickslip
