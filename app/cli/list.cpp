// stickslip list: scenes, solvers, params, backends, contact solvers of steps; and the solvers, params and
// problems of the contact lab.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/io/report/report.h"
#include "gpu/dfcp/problem/generators.h"

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
                    {"kind", scene_kind_names[static_cast<std::size_t>(scene.kind)]},
                    {"description", scene.description},
                    {"file", scene.file.string()},
                    {"frames", scene.frames},
                    {"picture", scene.picture},
                    {"variants", variants_json(scene)}});
  return rows;
}

/// The parameters of a table that belong to one of the groups.
json params_json(std::span<const ParamInfo> table, const std::vector<std::string_view>& groups) {
  json rows = json::array();
  for (const ParamInfo& info : table)
    if (std::find(groups.begin(), groups.end(), info.group) != groups.end()) rows.push_back(to_json(info));
  return rows;
}

/// The stepping methods. The name of a contact solver selects velocity-level stepping with that solver.
json solvers_json() {
  json rows = json::array();
  for (const SolverInfo& solver : list_solvers()) {
    json row{{"name", solver.name},
             {"meaning", solver.meaning},
             {"params", params_json(param_table(), solver.groups)}};
    if (solver.name == "velocity")
      row["contact_solvers"] = find_param(param_table(), "contact_solver")->choices;
    rows.push_back(std::move(row));
  }
  return rows;
}

json contact_solver_json(const ContactSolverInfo& solver) {
  return {{"name", solver.name},
          {"meaning", solver.meaning},
          {"law", solver.law},
          {"problems", solver.solves_problems},
          {"lab", solver.in_lab},
          {"assembled", solver.has(SolverTrait::assembled)},
          {"rolling", solver.has(SolverTrait::rolling)},
          {"products", solver.has(SolverTrait::products)},
          {"params", params_json(lab_param_table(), solver.groups)}};
}

/// The solvers of the lab.
json contact_solvers_json() {
  json rows = json::array();
  for (const ContactSolverInfo& solver : list_lab_solvers()) rows.push_back(contact_solver_json(solver));
  return rows;
}

/// All contact solvers of steps: those of contact_solvers_json() and penalty forces.
json step_solvers_json() {
  json rows = json::array();
  for (const ContactSolverInfo& solver : contact_solver_table()) rows.push_back(contact_solver_json(solver));
  return rows;
}

json lab_params_json() {
  json rows = json::array();
  for (const ParamInfo& info : lab_param_table()) rows.push_back(to_json(info));
  return rows;
}

json problems_json() {
  json rows = json::array();
  for (const GeneratorInfo& generator : list_generators())
    rows.push_back({{"name", generator.name},
                    {"meaning", generator.meaning},
                    {"size", generator.size},
                    {"default_size", generator.default_size},
                    {"largest_size", generator.largest_size},
                    {"dim", generator.dim}});
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
    std::cout << padded(value_text(row["group"]), 15) << padded(value_text(row["name"]), 22)
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

/// Each solver with the parameters that no earlier one reads.
void print_solvers(const json& rows) {
  json known = json::array();
  for (const json& row : rows) {
    json fresh = json::array();
    for (const json& param : row["params"])
      if (std::find(known.begin(), known.end(), param) == known.end()) fresh.push_back(param);
    std::cout << padded(value_text(row["name"]), 13) << value_text(row["meaning"]) << "\n"
              << (known.empty() ? "" : "what is above, and\n");
    if (row.contains("contact_solvers")) {
      std::cout << "contact solvers, whose name may stand for it (stickslip list step-solvers):";
      for (const json& name : row["contact_solvers"]) std::cout << " " << value_text(name);
      std::cout << "\n";
    }
    print_params(fresh);
    std::cout << "\n";
    known.insert(known.end(), fresh.begin(), fresh.end());
  }
}

/// One line per solver with its parameter groups; `list lab-params` has the parameters of each group.
void print_contact_solvers(const json& rows) {
  for (const json& row : rows) {
    json groups = json::array();
    for (const json& param : row["params"])
      if (groups.empty() || groups.back() != param["group"]) groups.push_back(param["group"]);
    std::string reads;
    for (const json& group : groups) reads.append(reads.empty() ? "" : ", ").append(value_text(group));
    std::cout << padded(value_text(row["name"]), 19) << padded(value_text(row["law"]), 12)
              << padded(reads, 54) << value_text(row["meaning"]) << "\n";
  }
}

void print_problems(const json& rows) {
  for (const json& row : rows)
    std::cout << padded(value_text(row["name"]), 20)
              << padded("--size " + value_text(row["default_size"]), 16)
              << padded(value_text(row["size"]), 38) << value_text(row["meaning"]) << "\n";
}

struct List {
  const char* name;
  json (*rows)();
  void (*print)(const json& rows);
};

constexpr List kLists[] = {{"scenes", scenes_json, print_scenes},
                           {"solvers", solvers_json, print_solvers},
                           {"params", params_json, print_params},
                           {"backends", backends_json, print_backends},
                           {"contact-solvers", contact_solvers_json, print_contact_solvers},
                           {"step-solvers", step_solvers_json, print_contact_solvers},
                           {"lab-params", lab_params_json, print_params},
                           {"problems", problems_json, print_problems}};

}  // namespace

int command_list(const std::string& what, bool as_json) {
  for (const List& list : kLists) {
    if (what != list.name) continue;
    const json rows = list.rows();
    if (as_json) std::cout << rows.dump(2) << std::endl;
    else list.print(rows);
  }
  return exit_good;
}

}  // namespace stickslip
