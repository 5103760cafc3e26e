// What a sweep changes, and which values it tries.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/io/file/input_error.h"
#include "app/viewer/journal_file.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/sweep.h"

namespace stickslip {
namespace {

bool is_numeric(const ParamInfo& row) {
  return row.type == ParamType::real || row.type == ParamType::integer;
}

double sweep_number(const std::string& word, const char* what) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    throw InputError("'" + word + "' is no number: " + what + " is expected");
  return value;
}

int sweep_whole_number(const std::string& word, const char* what) {
  const double value = sweep_number(word, what);
  if (value != std::floor(value) || std::abs(value) > 1e9)
    throw InputError("'" + word + "' is no whole number: " + what + " is expected");
  return static_cast<int>(value);
}

/// Without the rounding errors of a range: 0.3 in place of 0.30000000000000004, and 0 in place of -3e-17,
/// which a row of positive numbers would refuse.
double without_rounding_errors(double value, double range) {
  if (std::abs(value) < 1e-12 * range) return 0;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 11).ptr;
  std::from_chars(text, end, value);
  return value;
}

}  // namespace

std::vector<std::string> sweep_keys() {
  std::vector<std::string> keys;
  const auto add = [&](std::span<const ParamInfo> table, std::string_view prefix) {
    for (const ParamInfo& row : table)
      if (is_numeric(row)) keys.push_back(std::string(prefix).append(row.name));
  };
  add(param_table(), "");
  add(material_table(), "");
  add(lab_param_table(), contact_key_prefix);
  return keys;
}

SweepKey find_sweep_key(const std::string& key) {
  SweepKey found;
  if (key.starts_with(contact_key_prefix))
    found = {SweepKey::Table::contact, find_param(lab_param_table(), key.substr(contact_key_prefix.size()))};
  else if (const ParamInfo* row = find_param(param_table(), key)) found = {SweepKey::Table::params, row};
  else found = {SweepKey::Table::materials, find_param(material_table(), key)};
  if (found.row != nullptr && is_numeric(*found.row)) return found;
  if (found.row != nullptr) throw InputError("'" + key + "' has no numbers: a sweep needs a numeric key");
  const std::vector<std::string> keys = sweep_keys();
  const std::string nearest = nearest_name(std::vector<std::string_view>(keys.begin(), keys.end()), key);
  throw InputError("unknown key '" + key + "'" +
                   (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

Command sweep_edit(const SweepKey& key, double value) {
  switch (key.table) {
    case SweepKey::Table::contact:
      return ContactParamEdit{key.row->name, value};
    case SweepKey::Table::materials:
      return MaterialEdit{-1, key.row->name, value};
    case SweepKey::Table::params:
      break;
  }
  return ParamEdit{key.row->name, value};
}

std::optional<double> present_value(const SweepKey& key, const Settings& settings) {
  if (key.table == SweepKey::Table::params) return get_param(&settings.params, *key.row);
  if (key.table == SweepKey::Table::contact) return get_param(&settings.contact_params, *key.row);
  std::optional<double> value;
  for (const Material& material : settings.materials) {
    const double own = get_param(&material, *key.row);
    if (value && *value != own) return std::nullopt;
    value = own;
  }
  return value;
}

SweepRequest default_sweep(const std::string& key, const Settings& settings) {
  const SweepKey found = find_sweep_key(key);
  const ParamInfo& row = *found.row;
  const double present = present_value(found, settings).value_or(row.default_value);
  SweepRequest request;
  request.key = key;
  const SliderScale scale = slider_scale(row, present);
  request.low = present > 0 ? std::clamp(present / 4, row.low, row.high) : scale.low;
  request.high = present > 0 ? std::clamp(present * 4, row.low, row.high) : scale.high;
  if (row.type == ParamType::integer) {
    request.low = std::ceil(request.low);
    request.high = std::max(std::floor(request.high), std::min(row.high, request.low + 1));
  }
  request.logarithmic = present > 0 ? request.low > 0 : scale.logarithmic;
  return request;
}

SweepRequest sweep_request(const std::vector<std::string>& words) {
  if (words.size() < 5) throw InputError("sweep needs KEY LOW HIGH COUNT STEPS");
  if (words.size() > 6) throw InputError("unexpected '" + words[6] + "'");
  SweepRequest request;
  request.key = words[0];
  request.low = sweep_number(words[1], "the lowest value");
  request.high = sweep_number(words[2], "the highest value");
  request.count = sweep_whole_number(words[3], "a number of values");
  request.steps = sweep_whole_number(words[4], "a number of steps");
  request.logarithmic = words.size() == 6;
  if (request.logarithmic && words[5] != "log")
    throw InputError("unexpected '" + words[5] + "': only 'log' may follow the number of steps");
  if (const std::string reason = sweep_refusal(request); !reason.empty()) throw InputError(reason);
  return request;
}

std::string sweep_refusal(const SweepRequest& request) try {
  find_sweep_key(request.key);
  const auto between = [](int low, int high) {
    return "from " + std::to_string(low) + " to " + std::to_string(high);
  };
  if (request.count < SweepRequest::kFewest || request.count > SweepRequest::kMost)
    return "a sweep has " + between(SweepRequest::kFewest, SweepRequest::kMost) + " values";
  if (request.steps < 1 || request.steps > SweepRequest::kMostSteps)
    return "a sweep has " + between(1, SweepRequest::kMostSteps) + " steps";
  if (!std::isfinite(request.low) || !std::isfinite(request.high)) return "both ends must be finite";
  if (!(request.low < request.high)) return "the lowest value must be below the highest";
  if (request.logarithmic && !(request.low > 0)) return "a logarithmic range begins above 0";
  return "";
} catch (const InputError& error) {
  return error.what();
}

std::vector<double> sweep_values(const SweepRequest& request) {
  const bool whole = find_sweep_key(request.key).row->type == ParamType::integer;
  std::vector<double> values;
  for (int i = 0; i < request.count; ++i) {
    const double share = static_cast<double>(i) / (request.count - 1);
    double value = request.logarithmic ? request.low * std::pow(request.high / request.low, share)
                                       : request.low + share * (request.high - request.low);
    if (i == request.count - 1) value = request.high;
    else if (i > 0) value = without_rounding_errors(value, request.high - request.low);
    if (whole) value = std::round(value);
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

}  // namespace stickslip
