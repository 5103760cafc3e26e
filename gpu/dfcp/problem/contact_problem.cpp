#include "gpu/dfcp/problem/contact_problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "gpu/dfcp/problem/dynamics_inverse.h"
#include "gpu/dfcp/problem/lower_blocks.h"

namespace stickslip {
namespace {

using Form = ContactProblem::Form;

/// y += m x for a small row-major matrix.
void add_product(const double* m, int rows, int columns, const double* x, double* y) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) y[i] += m[i * columns + j] * x[j];
}

bool moves(const ContactProblem& problem, std::int32_t body) {
  const std::ptrdiff_t size = problem.body_dofs * problem.body_dofs;
  const auto first = problem.inverse_mass.begin() + body * size;
  return std::any_of(first, first + size, [](double x) { return x != 0; });
}

Incidence incidence_of_bodies(const ContactProblem& problem) {
  Incidence incidence;
  incidence.entry_begin = problem.block_start;
  std::vector<std::uint8_t> movable(problem.bodies());
  for (std::size_t b = 0; b < movable.size(); ++b) movable[b] = moves(problem, static_cast<std::int32_t>(b));
  incidence.group.reserve(problem.jacobian.size());
  for (const JacobianBlock& block : problem.jacobian)
    incidence.group.push_back(movable[block.body] != 0 ? block.body : -1);
  incidence.invert(problem.bodies());
  return incidence;
}

/// The nonzero entries of H in one block's rows and one connected part's columns.
struct PartTerms {
  struct Term {
    std::int32_t row, place;  // in the block, in the part
    double value;
  };
  Incidence incidence;
  std::vector<std::int32_t> begin{0};  // entries of `incidence` + 1
  std::vector<Term> terms;
};

PartTerms split_by_parts(const ContactProblem& problem, const DynamicsInverse& inverse) {
  const SparseRows& h = problem.H;
  PartTerms out;
  out.incidence.entry_begin.assign(1, 0);
  std::vector<std::int32_t> next;  // where the next terms of each part of this block go; parts are few
  for (std::size_t c = 0; c < problem.blocks(); ++c) {
    const auto first = static_cast<std::size_t>(out.incidence.entry_begin.back());
    std::vector<std::int32_t>& parts = out.incidence.group;
    const auto slot = [&](std::int32_t part) {
      return static_cast<std::size_t>(
                 std::find(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), part) -
                 parts.begin()) -
             first;
    };
    const auto for_terms = [&](const auto& visit) {
      for (int i = 0; i < problem.dim; ++i)
        for (std::int32_t k = h.offsets[c * problem.dim + i]; k < h.offsets[c * problem.dim + i + 1]; ++k)
          if (h.values[k] != 0) visit(i, h.indices[k], h.values[k]);
    };
    next.clear();
    for_terms([&](int, std::int32_t dof, double) {
      const std::size_t at = slot(inverse.part_of(dof));
      if (at == next.size()) {
        parts.push_back(inverse.part_of(dof));
        next.push_back(0);
      }
      ++next[at];
    });
    for (std::int32_t& count : next) {
      const std::int32_t begin = out.begin.back();
      out.begin.push_back(begin + count);
      count = begin;
    }
    out.terms.resize(static_cast<std::size_t>(out.begin.back()));
    for_terms([&](int i, std::int32_t dof, double value) {
      out.terms[next[slot(inverse.part_of(dof))]++] = {i, inverse.place_of(dof), value};
    });
    out.incidence.entry_begin.push_back(static_cast<std::int32_t>(parts.size()));
  }
  out.incidence.invert(inverse.part_count());
  return out;
}

/// Column by column: Y = A^-1 H_d' in each part of block d, then H_c Y for block d and all later blocks on
/// the part; for all blocks on the part where W is not symmetric.
void add_parts(const PartTerms& h, const DynamicsInverse& inverse, LowerBlocks& lower) {
  const Incidence& incidence = h.incidence;
  const int dim = lower.dim;
  std::vector<double> y;
  for (std::size_t part = 0; part < inverse.part_count(); ++part) {
    const auto n = static_cast<std::ptrdiff_t>(inverse.size(part));
    y.resize(n * dim);
    for (std::int32_t item = incidence.list_begin[part]; item < incidence.list_begin[part + 1]; ++item) {
      std::fill(y.begin(), y.end(), 0.0);
      for (std::int32_t t = h.begin[incidence.list[item]]; t < h.begin[incidence.list[item] + 1]; ++t)
        y[h.terms[t].row * n + h.terms[t].place] = h.terms[t].value;
      inverse.solve_part(part, y.data(), dim);
      const std::int32_t first = lower.mirrored.empty() ? item : incidence.list_begin[part];
      for (std::int32_t other = first; other < incidence.list_begin[part + 1]; ++other) {
        const std::int32_t c = incidence.block[other], e = incidence.list[other];
        double* out = lower.block(c, incidence.block[item]);
        for (std::int32_t t = h.begin[e]; t < h.begin[e + 1]; ++t)
          for (int j = 0; j < dim; ++j)
            out[h.terms[t].row * dim + j] += h.terms[t].value * y[j * n + h.terms[t].place];
      }
    }
  }
}

void multiply_bodies(const ContactProblem& problem, const std::vector<double>& b, std::vector<double>& x) {
  const int n = problem.body_dofs;
  x.assign(b.size(), 0.0);
  for (std::size_t body = 0; body < problem.bodies(); ++body)
    add_product(problem.inverse_mass.data() + body * n * n, n, n, b.data() + body * n, x.data() + body * n);
}

/// q = w + H v for v, the velocities without impulses.
std::vector<double> free_velocities(const ContactProblem& problem, const std::vector<double>& v) {
  std::vector<double> q = problem.w;
  const int dim = problem.dim, n = problem.body_dofs;
  if (problem.form == Form::global) {
    for (std::size_t row = 0; row < problem.size(); ++row)
      for (std::int32_t k = problem.H.offsets[row]; k < problem.H.offsets[row + 1]; ++k)
        q[row] += problem.H.values[k] * v[problem.H.indices[k]];
    return q;
  }
  for (std::size_t c = 0; c < problem.blocks(); ++c)
    for (std::int32_t e = problem.block_start[c]; e < problem.block_start[c + 1]; ++e) {
      const JacobianBlock& block = problem.jacobian[e];
      add_product(block.rows.data(), dim, n, v.data() + static_cast<std::ptrdiff_t>(block.body) * n,
                  q.data() + c * dim);
    }
  return q;
}

void form_local(const ContactProblem& problem, const InverseOptions& options, ContactProblem& local,
                InverseReport& report) {
  if (problem.form == Form::local) {
    local.W = complete_blocks(problem.W, problem.dim);
    local.q = problem.q;
  } else if (problem.form == Form::bodies) {
    const Incidence incidence = incidence_of_bodies(problem);
    LowerBlocks lower = make_lower_blocks(problem.dim, incidence);
    add_bodies(problem, incidence, lower);
    local.W = to_rows(lower);
    std::vector<double> v;
    multiply_bodies(problem, problem.f, v);
    local.q = free_velocities(problem, v);
  } else {
    const DynamicsInverse inverse(problem.A, options);
    const PartTerms h = split_by_parts(problem, inverse);
    LowerBlocks lower = make_lower_blocks(problem.dim, h.incidence);
    if (!inverse.symmetric()) lower.mirrored.assign(lower.values.size(), 0.0);
    add_parts(h, inverse, lower);
    local.W = to_rows(lower);
    local.q = free_velocities(problem, inverse.solve(problem.f));
    report = inverse.report();
  }
}

/// Position of entry (row, row); the matrix must contain it.
std::size_t diagonal_place(const SparseRows& matrix, std::size_t row) {
  const auto first = matrix.indices.begin();
  return static_cast<std::size_t>(std::lower_bound(first + matrix.offsets[row],
                                                   first + matrix.offsets[row + 1],
                                                   static_cast<std::int32_t>(row)) -
                                  first);
}

double softness_of(const ContactProblem& problem, std::size_t row) {
  return problem.softness.empty() ? 0 : problem.softness[row];
}

void add_compliance(const ContactProblem& problem, ContactProblem& local) {
  const std::vector<double> e = row_compliance(problem);
  for (std::size_t row = 0; row < e.size(); ++row) {
    if (e[row] == 0) continue;
    double& diagonal = local.W.values[diagonal_place(local.W, row)];
    if (diagonal == 0) check_immovable_row(problem, row, e[row], local.q[row]);
    diagonal += e[row];
  }
}

void shift_by_cohesion(ContactProblem& local) {
  if (std::none_of(local.laws.begin(), local.laws.end(),
                   [](const BlockLaw& law) { return law.cohesion != 0; }))
    return;
  const std::vector<double> apex = with_cohesion(local, std::vector<double>(local.size(), 0.0));
  for (std::size_t row = 0; row < local.size(); ++row)
    for (std::int32_t k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k)
      local.q[row] -= local.W.values[k] * apex[local.W.indices[k]];
}

void require_impulses(const ContactProblem& problem, const std::vector<double>& r) {
  if (r.size() != problem.size())
    throw std::invalid_argument("impulses have " + std::to_string(r.size()) + " rows, and the problem " +
                                std::to_string(problem.size()));
}

std::vector<double> add_cohesion(const ContactProblem& problem, std::vector<double> r, double sign) {
  require_impulses(problem, r);
  for (std::size_t c = 0; c < problem.blocks(); ++c)
    if (problem.laws[c].set != FrictionSet::bilateral) r[c * problem.dim] += sign * problem.laws[c].cohesion;
  return r;
}

}  // namespace

std::size_t ContactProblem::dofs() const {
  switch (form) {
    case Form::local:
      return 0;
    case Form::global:
      return static_cast<std::size_t>(A.rows);
    case Form::bodies:
      return bodies() * static_cast<std::size_t>(body_dofs);
  }
  return 0;
}

std::size_t ContactProblem::moving_dofs() const {
  if (form != Form::bodies) return dofs();
  const auto n = static_cast<std::size_t>(body_dofs);
  std::size_t moving = 0;
  for (std::size_t dof = 0; dof < dofs(); ++dof)
    if (inverse_mass[dof / n * n * n + dof % n * (n + 1)] != 0) ++moving;
  return moving;
}

std::size_t ContactProblem::contacts() const {
  return static_cast<std::size_t>(std::count_if(
      laws.begin(), laws.end(), [](const BlockLaw& law) { return law.set != FrictionSet::bilateral; }));
}

std::vector<double> row_compliance(const ContactProblem& problem) {
  const int dim = problem.dim, n = problem.body_dofs;
  std::vector<double> e(problem.size(), 1.0);
  for (std::size_t c = 0; c < problem.blocks(); ++c) {
    double* rows = e.data() + c * dim;
    if (problem.form == Form::bodies) {
      for (std::int32_t k = problem.block_start[c]; k < problem.block_start[c + 1]; ++k) {
        const double* a =
            problem.inverse_mass.data() + static_cast<std::ptrdiff_t>(problem.jacobian[k].body) * n * n;
        for (int i = 0; i < dim; ++i) {
          const double* h = problem.jacobian[k].rows.data() + i * n;
          std::array<double, 6> ah{};
          add_product(a, n, n, h, ah.data());
          if (std::inner_product(h, h + n, ah.data(), 0.0) > 0) rows[i] = 0;
        }
      }
    } else {
      for (std::size_t row = c * dim; row < (c + 1) * dim; ++row) {
        const bool local = problem.form == Form::local;
        const SparseRows& matrix = local ? problem.W : problem.H;
        for (std::int32_t k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
          if (matrix.values[k] != 0 && (!local || matrix.indices[k] == static_cast<std::int32_t>(row)))
            e[row] = 0;
      }
    }
    for (int i = 0; i < dim; ++i) {
      if (const double soft = softness_of(problem, c * dim + i); soft > 0) rows[i] = soft;
      rows[i] += problem.laws[c].compliance;
    }
  }
  return e;
}

void check_immovable_row(const ContactProblem& problem, std::size_t row, double compliance, double q) {
  const BlockLaw& law = problem.laws[row / problem.dim];
  const bool opens = law.set != FrictionSet::bilateral && row % problem.dim == 0 && q > 0;
  const bool soft = softness_of(problem, row) > 0 || compliance == law.compliance;
  if (soft || q == 0 || opens) return;
  std::ostringstream text;
  text << "row " << row % problem.dim << " of block " << row / problem.dim << " moves at " << q
       << " m/s and nothing that it touches can move: let one of its bodies move, or drop it";
  throw std::invalid_argument(text.str());
}

std::vector<double> with_cohesion(const ContactProblem& problem, std::vector<double> r) {
  return add_cohesion(problem, std::move(r), 1);
}

std::vector<double> without_cohesion(const ContactProblem& problem, std::vector<double> s) {
  return add_cohesion(problem, std::move(s), -1);
}

ContactProblem to_local(const ContactProblem& problem) { return to_local(problem, InverseOptions{}); }

ContactProblem to_local(const ContactProblem& problem, const InverseOptions& options, InverseReport* report) {
  ContactProblem local;
  InverseReport took;
  local.title = problem.title;
  local.description = problem.description;
  local.dim = problem.dim;
  local.laws = problem.laws;
  form_local(problem, options, local, took);
  if (report != nullptr) *report = took;
  add_compliance(problem, local);
  shift_by_cohesion(local);
  if (!problem.guess.empty()) local.guess = with_cohesion(problem, problem.guess);
  if (!problem.solution.empty()) local.solution = with_cohesion(problem, problem.solution);
  for (BlockLaw& law : local.laws) law.cohesion = law.compliance = 0;
  return local;
}

std::vector<double> momenta(const ContactProblem& problem, const std::vector<double>& r) {
  std::vector<double> b = problem.f;
  if (problem.form == Form::global) {
    for (std::size_t row = 0; row < r.size(); ++row)
      for (std::int32_t k = problem.H.offsets[row]; k < problem.H.offsets[row + 1]; ++k)
        b[problem.H.indices[k]] += problem.H.values[k] * r[row];
    return b;
  }
  const int n = problem.body_dofs;
  for (std::size_t c = 0; c < problem.blocks(); ++c)
    for (std::int32_t e = problem.block_start[c]; e < problem.block_start[c + 1]; ++e) {
      const JacobianBlock& block = problem.jacobian[e];
      for (int i = 0; i < problem.dim; ++i)
        for (int j = 0; j < n; ++j)
          b[static_cast<std::size_t>(block.body) * n + j] += block.rows[i * n + j] * r[c * problem.dim + i];
    }
  return b;
}

std::vector<double> velocities(const ContactProblem& problem, const std::vector<double>& r) {
  if (problem.form == Form::local)
    throw std::invalid_argument("a local problem (W, q) has no body velocities: only u = W r + q");
  require_impulses(problem, r);
  std::vector<double> b = momenta(problem, r);
  if (problem.form == Form::global) return DynamicsInverse(problem.A).solve(b);
  std::vector<double> v;
  multiply_bodies(problem, b, v);
  return v;
}

double equation_residual(const ContactProblem& problem, const std::vector<double>& v,
                         const std::vector<double>& r) {
  if (problem.form != Form::global)
    throw std::invalid_argument("only a global problem has equations A v = b");
  require_impulses(problem, r);
  if (v.size() != problem.dofs())
    throw std::invalid_argument("velocities have " + std::to_string(v.size()) + " rows, and the problem " +
                                std::to_string(problem.dofs()) + " degrees of freedom");
  const std::vector<double> b = momenta(problem, r);
  double off = 0, given = 0, pushed = 0;
  for (std::int32_t i = 0; i < problem.A.rows; ++i) {
    double sum = -b[i];
    for (std::int32_t k = problem.A.offsets[i]; k < problem.A.offsets[i + 1]; ++k)
      sum += problem.A.values[k] * v[problem.A.indices[k]];
    off += sum * sum;
    given += problem.f[i] * problem.f[i];
    pushed += (b[i] - problem.f[i]) * (b[i] - problem.f[i]);
  }
  const double size = given > 0 ? given : pushed;
  return std::sqrt(size > 0 ? off / size : off);
}

}  // namespace stickslip
