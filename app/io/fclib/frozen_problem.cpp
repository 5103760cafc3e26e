#include "app/io/fclib/frozen_problem.h"

#include <algorithm>
#include <string>

#include "app/io/fclib/fclib.h"

namespace stickslip {
namespace {

/// FCLIB's global form has neither compliance nor cohesion. Forming W and q includes both.
bool wants_w(const ContactProblem& problem) {
  if (problem.dim == 4 || problem.form == ContactProblem::Form::local) return false;
  return !problem.softness.empty() || std::ranges::any_of(problem.laws, [](const BlockLaw& law) {
    return law.compliance != 0 || (law.set != FrictionSet::bilateral && law.cohesion != 0);
  });
}

}  // namespace

void write_frozen(const std::filesystem::path& file, const ContactProblem& problem) {
  FclibFile content;
  content.problem = wants_w(problem) ? to_local(problem) : problem;
  check_expressible(content.problem, file.string());
  const ContactProblem& p = content.problem;
  if (!p.solution.empty()) content.solution = to_fclib(p, p.solution, {});
  if (!p.guess.empty()) content.guesses = {to_fclib(p, p.guess, {})};
  write_fclib(file, content);
}

}  // namespace stickslip
