#include "app/cli/race_sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "app/cli/lab.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

constexpr int kMostRuns = 200;

struct Sweep {
  std::string solver, param;
  double from, to;
  int count;
};

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Sweep parse(const std::string& text, const std::string& option) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(option + ": " + what +
                     "; solver.param=a:b:n is expected, as in prox_gs.r_scale=0.01:10:7");
  };
  const std::size_t dot = text.find('.'), equals = text.find('='), first = text.find(':', equals),
                    second = text.find(':', first == std::string::npos ? first : first + 1);
  if (dot == 0 || dot == std::string::npos || equals == std::string::npos || dot > equals ||
      second == std::string::npos)
    refuse("does not parse");
  const std::string_view view = text;
  const std::optional<double> from = number(view.substr(equals + 1, first - equals - 1)),
                              to = number(view.substr(first + 1, second - first - 1)),
                              count = number(view.substr(second + 1));
  if (!from || !to) refuse("its ends are no numbers");
  if (!count || *count != std::floor(*count) || *count < 1 || *count > kMostRuns)
    refuse("the number of runs is not a whole number from 1 to " + std::to_string(kMostRuns));
  return {text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), *from, *to, static_cast<int>(*count)};
}

double value_at(const Sweep& s, int k) {
  if (k == 0) return s.from;
  if (k == s.count - 1) return s.to;
  const double t = static_cast<double>(k) / (s.count - 1);
  const bool ratios = s.from > 0 && s.to > 0 && std::max(s.from, s.to) >= 10 * std::min(s.from, s.to);
  return ratios ? s.from * std::pow(s.to / s.from, t) : s.from + t * (s.to - s.from);
}

bool reads(const ContactSolverInfo& solver, const ParamInfo& row) {
  return std::find(solver.groups.begin(), solver.groups.end(), row.group) != solver.groups.end();
}

/// Names of the solvers that read the parameter: "spg, apgd".
std::string readers(const std::vector<ContactSolverInfo>& solvers, const ParamInfo& row) {
  std::string names;
  for (const ContactSolverInfo& solver : solvers)
    if (reads(solver, row)) names.append(names.empty() ? "" : ", ").append(solver.name);
  return names;
}

}  // namespace

std::vector<RaceEntry> expand_sweep(const std::string& sweep, const std::vector<ContactSolverInfo>& solvers,
                                    const LabParams& base) {
  const std::string option = "--sweep " + sweep;
  const Sweep s = parse(sweep, option);
  const ContactSolverInfo& solver = find_contact_solver(solvers, s.solver, option);
  const ParamInfo& row = find_lab_param(s.param, option);
  if (row.type != ParamType::real && row.type != ParamType::integer)
    throw InputError(option + ": " + s.param + " is no number");
  if (!reads(solver, row))
    throw InputError(option + ": " + s.solver + " does not read " + s.param + "; read by " +
                     readers(solvers, row));
  std::vector<RaceEntry> entries;
  for (int k = 0; k < s.count; ++k) {
    const double value = row.type == ParamType::integer ? std::round(value_at(s, k)) : value_at(s, k);
    RaceEntry entry{s.solver, "", base};
    try {
      set_param(&entry.params, row, value);
    } catch (const std::invalid_argument& error) {
      throw InputError(option + ": " + error.what());
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    entry.setting = s.param + "=" + text;
    if (entries.empty() || get_param(&entries.back().params, row) != value)
      entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace stickslip
