#include "gpu/params/params.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "gpu/params/param_rows.h"

namespace stickslip {
namespace {

/// The shortest usual notation that reads back as the same number.
std::string number_text(double value) {
  char buffer[32];
  for (const int digits : {6, 15, 17}) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) break;
  }
  return buffer;
}

std::string choice_list(const ParamInfo& info) {
  std::string list;
  for (const std::string_view choice : info.choices) list += (list.empty() ? "" : ", ") + std::string(choice);
  return list;
}

std::string with_unit(const std::string& text, const ParamInfo& info) {
  return info.unit.empty() || info.unit == "1" ? text : text + " " + std::string(info.unit);
}

[[noreturn]] void refuse(const ParamInfo& info, const std::string& got) {
  std::string message = std::string(info.name) + " = " + got + ": must be ";
  switch (info.type) {
    case ParamType::boolean:
      message += "true or false";
      break;
    case ParamType::choice:
      message += "one of " + choice_list(info);
      break;
    case ParamType::integer:
      message += "a whole number in ";
      [[fallthrough]];
    case ParamType::real:
      if (info.type == ParamType::real) message += "a number in ";
      message += with_unit("[" + number_text(info.low) + ", " + number_text(info.high) + "]", info);
  }
  throw std::invalid_argument(message + " (" + std::string(info.meaning) + ")");
}

template <class T>
T load_field(const void* object, const ParamInfo& info) {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + info.offset, sizeof value);
  return value;
}

template <class T>
void store_field(void* object, const ParamInfo& info, T value) {
  std::memcpy(static_cast<char*>(object) + info.offset, &value, sizeof value);
}

// Longer names get no suggestion: edit distance costs the product of the lengths.
constexpr std::size_t kLongestMisspelt = 200;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const ParamInfo> param_table() {
  using namespace param_rules;
  using Owner = Params;
  constexpr auto group_of = param_group;
  static const std::vector<ParamInfo> table{
      STICKSLIP_PARAMS(STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
  return table;
}

std::span<const ParamInfo> material_table() {
  using namespace param_rules;
  using Owner = Material;
  constexpr auto group_of = param_group;
  static const std::vector<ParamInfo> table{STICKSLIP_MATERIAL_PARAMS(
      STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
  return table;
}

const ParamInfo* find_param(std::span<const ParamInfo> table, std::string_view name) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const ParamInfo& p) { return p.name == name; });
  return row == table.end() ? nullptr : &*row;
}

std::string nearest_name(std::span<const std::string_view> names, std::string_view name) {
  std::string_view best;
  if (name.size() > kLongestMisspelt) return {};
  std::size_t best_cost = 2 + name.size() / 3;  // beyond this a suggestion confuses more than it tells
  for (const std::string_view known : names) {
    // A name that is part of the other is near, however much longer the other one is.
    const bool contained =
        std::min(name.size(), known.size()) >= 3 &&
        (known.find(name) != std::string_view::npos || name.find(known) != std::string_view::npos);
    const std::size_t distance = edit_distance(known, name);
    const std::size_t cost = contained ? std::min<std::size_t>(distance, 1) : distance;
    if (cost < best_cost) {
      best_cost = cost;
      best = known;
    }
  }
  return std::string(best);
}

std::string nearest_name(std::span<const ParamInfo> table, std::string_view name) {
  std::vector<std::string_view> names;
  for (const ParamInfo& info : table) names.push_back(info.name);
  return nearest_name(names, name);
}

double get_param(const void* object, const ParamInfo& info) {
  switch (info.type) {
    case ParamType::real:
      return load_field<double>(object, info);
    case ParamType::boolean:
      return load_field<bool>(object, info) ? 1 : 0;
    case ParamType::integer:
    case ParamType::choice:
      break;
  }
  return load_field<int>(object, info);
}

void set_param(void* object, const ParamInfo& info, double value) {
  const bool inside = value >= info.low && value <= info.high;  // false for NaN
  if (!inside || (info.type != ParamType::real && value != std::floor(value)))
    refuse(info, with_unit(number_text(value), info));
  switch (info.type) {
    case ParamType::real:
      store_field(object, info, value);
      break;
    case ParamType::boolean:
      store_field(object, info, value != 0);
      break;
    case ParamType::integer:
    case ParamType::choice:
      store_field(object, info, static_cast<int>(value));
      break;
  }
}

void set_param(void* object, const ParamInfo& info, std::string_view text) {
  std::string quoted("'");
  quoted.append(text).append("'");
  if (info.type == ParamType::boolean) {
    if (text != "true" && text != "false") refuse(info, quoted);
    return set_param(object, info, text == "true" ? 1.0 : 0.0);
  }
  if (info.type == ParamType::choice) {
    const auto choice = std::find(info.choices.begin(), info.choices.end(), text);
    if (choice == info.choices.end()) refuse(info, quoted);
    return set_param(object, info, static_cast<double>(choice - info.choices.begin()));
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(info, quoted);
  set_param(object, info, value);
}

std::string param_text(const void* object, const ParamInfo& info) {
  const double value = get_param(object, info);
  if (info.type == ParamType::boolean) return value != 0 ? "true" : "false";
  if (info.type == ParamType::choice) return std::string(info.choices[static_cast<std::size_t>(value)]);
  return number_text(value);
}

}  // namespace stickslip
