// stickslip list: scenes, solvers, params, backends.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/io/report.h"

namespace stickslip {
namespace {

using nlohmann::json;

json variants_json(const SceneInfo& scene) {
  json rows = json::array();
  for (const auto& [name, description] : scene.variants)
    rows.push_back({{"name", name}, {"description", description}});
  return rows;
}

json scenes_json() {
  json rows = json::array();
  for (const SceneInfo& scene : list_scenes())
    rows.push_back({{"name", scene.name},
                    {"title", scene.title},
                    {"description", scene.description},
                    {"file", scene.file.string()},
                    {"frames", scene.frames},
                    {"picture", scene.picture},
                    {"variants", variants_json(scene)}});
  return rows;
}

/// Those of all parameters that belong to one of the groups.
json params_json(const std::vector<std::string_view>& groups) {
  json rows = json::array();
  for (const ParamInfo& info : param_table())
    if (std::find(groups.begin(), groups.end(), info.group) != groups.end()) rows.push_back(to_json(info));
  return rows;
}

json solvers_json() {
  json rows = json::array();
  for (const SolverInfo& solver : list_solvers())
    rows.push_back(
        {{"name", solver.name}, {"meaning", solver.meaning}, {"params", params_json(solver.groups)}});
  return rows;
}

json params_json() {
  json rows = json::array();
  for (const auto& table : {param_table(), material_table()})
    for (const ParamInfo& info : table) rows.push_back(to_json(info));
  return rows;
}

json backends_json() {
  json rows = json::array();
  for (const BackendInfo& info : list_backends())
    rows.push_back({{"name", info.name},
                    {"device", info.device},
                    {"available", info.available},
                    {"reason", info.available ? json() : json(info.reason)}});
  return rows;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 1, ' ');
}

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string range_text(const json& row) {
  if (row.contains("choices")) {
    std::string text;
    for (const json& choice : row["choices"]) text.append(text.empty() ? "" : "|").append(value_text(choice));
    return text;
  }
  if (!row.contains("low")) return "true|false";
  std::string text("[");
  text.append(value_text(row["low"])).append(", ").append(value_text(row["high"])).append("]");
  if (row["unit"] != "1") text.append(" ").append(value_text(row["unit"]));
  return text;
}

void print_params(const json& rows) {
  for (const json& row : rows)
    std::cout << padded(value_text(row["group"]), 13) << padded(value_text(row["name"]), 22)
              << padded(value_text(row["default"]), 24) << padded(range_text(row), 38)
              << value_text(row["meaning"]) << "\n";
}

void print_scenes(const json& rows) {
  for (const json& row : rows) {
    std::cout << padded(value_text(row["name"]), 24) << value_text(row["title"]) << "\n";
    for (const json& variant : row["variants"])
      std::cout << padded("  --variant " + value_text(variant["name"]), 24)
                << value_text(variant["description"]) << "\n";
  }
}

void print_backends(const json& rows) {
  for (const json& row : rows)
    std::cout << padded(value_text(row["name"]), 8)
              << (row["available"] ? value_text(row["device"])
                                   : "not available: " + value_text(row["reason"]))
              << "\n";
}

/// Each with the parameters that none before it reads.
void print_solvers(const json& rows) {
  json known = json::array();
  for (const json& row : rows) {
    json fresh = json::array();
    for (const json& param : row["params"])
      if (std::find(known.begin(), known.end(), param) == known.end()) fresh.push_back(param);
    std::cout << padded(value_text(row["name"]), 13) << value_text(row["meaning"]) << "\n"
              << (known.empty() ? "" : "what is above, and\n");
    print_params(fresh);
    std::cout << "\n";
    known.insert(known.end(), fresh.begin(), fresh.end());
  }
}

}  // namespace

int command_list(const std::string& what, bool as_json) {
  const json rows = what == "scenes"    ? scenes_json()
                    : what == "solvers" ? solvers_json()
                    : what == "params"  ? params_json()
                                        : backends_json();
  if (as_json) {
    std::cout << rows.dump(2) << std::endl;
  } else if (what == "params") {
    print_params(rows);
  } else if (what == "backends") {
    print_backends(rows);
  } else if (what == "scenes") {
    print_scenes(rows);
  } else {
    print_solvers(rows);
  }
  return exit_good;
}

}  // namespace stickslip
