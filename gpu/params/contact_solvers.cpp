#include "gpu/params/contact_solvers.h"

#include <algorithm>
#include <iterator>

namespace stickslip {
namespace {

ContactSolverInfo make_row(ContactSolverKind kind, std::string_view name, std::string_view law,
                           unsigned traits, std::string_view groups, std::string_view meaning,
                           bool solves_problems, bool in_lab) {
  ContactSolverInfo row{name, meaning, law, {"stop"}, kind, traits, solves_problems, in_lab};
  while (!groups.empty()) {
    const std::size_t space = std::min(groups.find(' '), groups.size());
    row.groups.push_back(groups.substr(0, space));
    groups.remove_prefix(std::min(space + 1, groups.size()));
  }
  return row;
}

std::vector<ContactSolverInfo> make_table() {
  using namespace SolverTrait;
#define STICKSLIP_PROBLEM(kind, name, law, traits, groups, meaning) \
  make_row(ContactSolverKind::kind, #name, #law, traits, groups, meaning, true, true),
#define STICKSLIP_BODIES(kind, name, law, traits, groups, meaning) \
  make_row(ContactSolverKind::kind, #name, #law, traits, groups, meaning, false, true),
#define STICKSLIP_STEP(kind, name, law, traits, groups, meaning) \
  make_row(ContactSolverKind::kind, #name, #law, traits, groups, meaning, false, false),
  return {STICKSLIP_CONTACT_SOLVERS(STICKSLIP_PROBLEM, STICKSLIP_BODIES, STICKSLIP_STEP)};
#undef STICKSLIP_PROBLEM
#undef STICKSLIP_BODIES
#undef STICKSLIP_STEP
}

/// Place of a law in the lists.
std::size_t rank_of(const ContactSolverInfo& solver) {
  constexpr std::string_view laws[] = {"exact", "associated", "box", "polyhedral", "penalty"};
  if (solver.kind == ContactSolverKind::automatic) return 0;
  return 1 + static_cast<std::size_t>(std::ranges::find(laws, solver.law) - std::begin(laws));
}

}  // namespace

std::span<const ContactSolverInfo> contact_solver_table() {
  static const std::vector<ContactSolverInfo> table = make_table();
  return table;
}

const ContactSolverInfo& contact_solver_info(ContactSolverKind kind) {
  return contact_solver_table()[static_cast<std::size_t>(kind)];
}

const ContactSolverInfo* find_contact_solver(std::string_view name) {
  const auto table = contact_solver_table();
  const auto row = std::ranges::find(table, name, &ContactSolverInfo::name);
  return row == table.end() ? nullptr : &*row;
}

std::vector<ContactSolverInfo> list_contact_solvers() {
  std::vector<ContactSolverInfo> solvers;
  for (const ContactSolverInfo& solver : contact_solver_table())
    if (solver.solves_problems) solvers.push_back(solver);
  std::ranges::stable_sort(solvers, {}, rank_of);
  return solvers;
}

std::vector<ContactSolverInfo> list_lab_solvers() {
  std::vector<ContactSolverInfo> solvers = list_contact_solvers();
  for (const ContactSolverInfo& solver : contact_solver_table())
    if (solver.in_lab && !solver.solves_problems) solvers.push_back(solver);
  return solvers;
}

std::vector<ContactSolverInfo> list_stepping_solvers() {
  std::vector<ContactSolverInfo> solvers = list_lab_solvers();
  for (const ContactSolverInfo& solver : contact_solver_table())
    if (!solver.in_lab && !solver.has(SolverTrait::forces)) solvers.push_back(solver);
  return solvers;
}

std::string_view contact_solver_choices() {
#define STICKSLIP_CHOICE(kind, name, ...) "|" #name
  constexpr std::string_view names =
      STICKSLIP_CONTACT_SOLVERS(STICKSLIP_CHOICE, STICKSLIP_CHOICE, STICKSLIP_CHOICE);
#undef STICKSLIP_CHOICE
  return names.substr(1);
}

}  // namespace stickslip
