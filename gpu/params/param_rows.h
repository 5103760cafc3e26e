// How a list of parameters (params.h, lab_params.h) becomes the rows of a table. Only the tables include
// this.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/params/param_rules.h"
#include "gpu/params/param_scope.h"
#include "gpu/params/params.h"

namespace stickslip {

inline std::vector<std::string_view> split_choices(std::string_view text) {
  std::vector<std::string_view> names;
  while (true) {
    const std::size_t bar = text.find('|');
    names.push_back(text.substr(0, bar));
    if (bar == std::string_view::npos) return names;
    text.remove_prefix(bar + 1);
  }
}

using ParamRule = std::string (*)(const ParamScope& scope);

inline ParamInfo choice_row(std::string_view name, int value, std::string_view meaning,
                            std::string_view choices, std::size_t offset, const ParamGroup& group,
                            ParamRule rule) {
  std::vector<std::string_view> names = split_choices(choices);
  const double high = static_cast<double>(names.size()) - 1;
  return {name,       ParamType::choice, static_cast<double>(value), 0,      high, "",
          group.name, meaning,           std::move(names),           offset, rule, &group};
}

}  // namespace stickslip

// The rules of a row as a function: the first whose condition holds gives the reason.
#define INACTIVE(condition, reason) \
  if (condition) return reason;
#define STICKSLIP_RULE(...)                                 \
  []([[maybe_unused]] const ParamScope& s) -> std::string { \
    __VA_ARGS__                                             \
    return {};                                              \
  }
// `Owner` is the struct whose fields the rows locate, `group_of` the function that finds a group's row.
#define STICKSLIP_ROW_REAL(name, value, low, high, unit, group, meaning, ...) \
  ParamInfo{#name,                                                            \
            ParamType::real,                                                  \
            value,                                                            \
            low,                                                              \
            high,                                                             \
            unit,                                                             \
            #group,                                                           \
            meaning,                                                          \
            {},                                                               \
            offsetof(Owner, name),                                            \
            STICKSLIP_RULE(__VA_ARGS__),                                      \
            &group_of(#group)},
#define STICKSLIP_ROW_INT(name, value, low, high, unit, group, meaning, ...) \
  ParamInfo{#name,                                                           \
            ParamType::integer,                                              \
            value,                                                           \
            low,                                                             \
            high,                                                            \
            unit,                                                            \
            #group,                                                          \
            meaning,                                                         \
            {},                                                              \
            offsetof(Owner, name),                                           \
            STICKSLIP_RULE(__VA_ARGS__),                                     \
            &group_of(#group)},
#define STICKSLIP_ROW_BOOL(name, value, group, meaning, ...) \
  ParamInfo{#name,                                           \
            ParamType::boolean,                              \
            value ? 1.0 : 0.0,                               \
            0,                                               \
            1,                                               \
            "",                                              \
            #group,                                          \
            meaning,                                         \
            {},                                              \
            offsetof(Owner, name),                           \
            STICKSLIP_RULE(__VA_ARGS__),                     \
            &group_of(#group)},
#define STICKSLIP_ROW_CHOICE(name, Enum, value, group, meaning, choices, ...)               \
  choice_row(#name, static_cast<int>(Enum::value), meaning, choices, offsetof(Owner, name), \
             group_of(#group), STICKSLIP_RULE(__VA_ARGS__)),
