#include <algorithm>
#include <stdexcept>

#include "app/io/fclib/fclib.h"
#include "app/io/fclib/hdf5_file.h"
#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

using Form = ContactProblem::Form;

std::size_t rows_per_block(const ContactProblem& problem) { return static_cast<std::size_t>(problem.dim); }

bool is_bilateral(const BlockLaw& law) { return law.set == FrictionSet::bilateral; }

/// The property of a block that FCLIB cannot represent; nullptr if there is none.
const char* inexpressible(const BlockLaw& law, Form form) {
  if (law.compliance != 0 && form != Form::local)
    return "has a compliance, which only local problems can hold: form W first";
  if (is_bilateral(law)) return nullptr;
  if (law.cohesion != 0) return "has a cohesion: form W first, which moves it into q";
  if (law.mu[0] != law.mu[1]) return "has an elliptic cone";
  if (law.set == FrictionSet::rolling)
    return law.flow != FlowRule::exact ? "has the associated flow rule" : nullptr;
  // Without friction all friction sets and flow rules are equal.
  if (law.mu[0] != 0 && law.set != FrictionSet::ellipsoid) return "has a pyramid for its cone";
  if (law.mu[0] != 0 && law.flow != FlowRule::exact) return "has the associated flow rule";
  return nullptr;
}

std::vector<double> chosen(const std::vector<double>& values, const std::vector<std::int32_t>& rows) {
  std::vector<double> out;
  out.reserve(rows.size());
  for (const std::int32_t row : rows) out.push_back(values[static_cast<std::size_t>(row)]);
  return out;
}

std::vector<std::int32_t> all_of(std::int32_t count) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  for (std::int32_t k = 0; k < count; ++k) all[static_cast<std::size_t>(k)] = k;
  return all;
}

void add_to_diagonal(SparseRows& w, std::int32_t row, double value) {
  for (std::int32_t k = w.offsets[row]; k < w.offsets[row + 1]; ++k)
    if (w.indices[k] == row) w.values[k] += value;
}

class FclibWriter {
 public:
  FclibWriter(const std::filesystem::path& path, std::optional<FclibStorage> storage)
      : file_(path), storage_(storage) {}

  void write(const FclibFile& content) {
    const ContactProblem& problem = content.problem;
    root_ = problem.form == Form::local ? "/fclib_local" : "/fclib_global";
    const bool rolls = problem.dim == kRollingRows;
    if (rolls) root_ += "_rolling";
    rows_ = fclib_rows(problem);
    file_.group(root_);
    file_.integer(root_ + "/spacedim", problem.dim);
    file_.group(root_ + "/vectors");
    file_.reals(root_ + "/vectors/mu", coefficients(problem, 0));
    if (rolls) file_.reals(root_ + "/vectors/mu_r", coefficients(problem, 2));
    if (problem.form == Form::local) write_local(problem);
    else write_global(problem);
    write_info(content);
    if (!content.solution.empty()) write_solution("/solution", content.solution);
    if (!content.guesses.empty()) write_guesses(content.guesses);
    file_.commit();
  }

 private:
  /// Of all contacts along one tangential row.
  static std::vector<double> coefficients(const ContactProblem& problem, std::size_t row) {
    std::vector<double> mu;
    for (const BlockLaw& law : problem.laws)
      if (!is_bilateral(law)) mu.push_back(law.mu[row]);
    return mu;
  }

  void matrix(const std::string& name, const SparseRows& rows, bool transposed, FclibStorage usual) {
    const FclibMatrix m = to_fclib(rows, transposed, storage_.value_or(usual));
    const std::string path = root_ + "/" + name;
    file_.group(path);
    file_.integer(path + "/nzmax", m.nzmax);
    file_.integer(path + "/m", m.m);
    file_.integer(path + "/n", m.n);
    file_.integer(path + "/nz", m.nz);
    file_.integers(path + "/p", m.p);
    file_.integers(path + "/i", m.i);
    file_.reals(path + "/x", m.x);
  }

  void write_local(const ContactProblem& problem) {
    SparseRows w = problem.W;
    for (std::size_t row = 0; row < problem.size(); ++row)
      if (const double e = problem.laws[row / rows_per_block(problem)].compliance +
                           (problem.softness.empty() ? 0 : problem.softness[row]);
          e != 0)
        add_to_diagonal(w, static_cast<std::int32_t>(row), e);
    const auto& [contacts, equalities] = rows_;
    matrix("W", submatrix(w, contacts, contacts), false, FclibStorage::rows);
    file_.reals(root_ + "/vectors/q", chosen(problem.q, contacts));
    if (equalities.empty()) return;
    matrix("V", submatrix(w, contacts, equalities), false, FclibStorage::rows);
    matrix("R", submatrix(w, equalities, equalities), false, FclibStorage::rows);
    file_.reals(root_ + "/vectors/s", chosen(problem.q, equalities));
  }

  void write_global(const ContactProblem& problem) {
    const std::vector<std::int32_t> dofs = all_of(problem.A.rows);
    const auto& [contacts, equalities] = rows_;
    matrix("M", problem.A, false, FclibStorage::triplets);
    matrix("H", submatrix(problem.H, contacts, dofs), true, FclibStorage::triplets);
    file_.reals(root_ + "/vectors/f", problem.f);
    file_.reals(root_ + "/vectors/w", chosen(problem.w, contacts));
    if (equalities.empty()) return;
    matrix("G", submatrix(problem.H, equalities, dofs), true, FclibStorage::triplets);
    file_.reals(root_ + "/vectors/b", chosen(problem.w, equalities));
  }

  void write_info(const FclibFile& content) {
    file_.group(root_ + "/info");
    file_.text(root_ + "/info/title", content.problem.title);
    file_.text(root_ + "/info/description", content.problem.description);
    file_.text(root_ + "/info/math_info", content.math_info);
  }

  void write_solution(const std::string& group, const FclibSolution& s) {
    file_.group(group);
    const auto vector = [&](const char* name, const std::vector<double>& values) {
      if (!values.empty()) file_.reals(group + name, values);
    };
    vector("/v", s.v), vector("/u", s.u), vector("/r", s.r), vector("/l", s.l);
  }

  void write_guesses(const std::vector<FclibSolution>& guesses) {
    file_.group("/guesses");
    file_.integer("/guesses/number_of_guesses", static_cast<std::int32_t>(guesses.size()));
    for (std::size_t k = 0; k < guesses.size(); ++k)
      write_solution("/guesses/" + std::to_string(k + 1), guesses[k]);
  }

  Hdf5Writer file_;
  std::optional<FclibStorage> storage_;
  std::string root_;
  FclibRows rows_;
};

/// Checks the sizes of the vectors stored with the problem.
void check_sizes(const FclibFile& content) {
  const FclibRows rows = fclib_rows(content.problem);
  const auto fits = [](const std::vector<double>& values, std::size_t size) {
    return values.empty() || values.size() == size;
  };
  std::vector<FclibSolution> all = content.guesses;
  all.push_back(content.solution);
  for (const FclibSolution& s : all)
    if (!fits(s.u, rows.contacts.size()) || !fits(s.r, rows.contacts.size()) ||
        !fits(s.l, rows.equalities.size()) ||
        (content.problem.form != Form::local && !fits(s.v, content.problem.f.size())))
      throw std::invalid_argument("an FCLIB solution or guess has vectors of other sizes than its problem");
}

/// The same content as a global problem, without the velocities of immovable dofs.
FclibFile globalised(const FclibFile& content) {
  FclibFile global = content;
  std::vector<std::int32_t> dofs;
  global.problem = global_of_bodies(content.problem, dofs);
  const auto shorten = [&](FclibSolution& s) {
    if (!s.v.empty()) s.v = chosen(s.v, dofs);
  };
  shorten(global.solution);
  std::for_each(global.guesses.begin(), global.guesses.end(), shorten);
  return global;
}

}  // namespace

void check_expressible(const ContactProblem& problem, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(name + ": FCLIB cannot hold this: " + what);
  };
  if (problem.dim != 3 && problem.dim != kRollingRows)
    refuse("contacts of " + std::to_string(problem.dim) + " rows");
  for (std::size_t c = 0; c < problem.laws.size(); ++c)
    if (const char* what = inexpressible(problem.laws[c], problem.form))
      refuse("block " + std::to_string(c) + " " + what);
  if (!problem.softness.empty() && problem.form != Form::local)
    refuse("rows of their own softness, which only local problems can hold: form W first");
  if (problem.blocks() == 0) refuse("an empty problem");
}

FclibRows fclib_rows(const ContactProblem& problem) {
  FclibRows rows;
  const std::size_t dim = rows_per_block(problem);
  const auto is_empty = [&](std::size_t row) {
    if (problem.form == Form::local)
      return problem.q[row] == 0 && problem.W.offsets[row] == problem.W.offsets[row + 1];
    if (problem.w[row] != 0) return false;
    if (problem.form == Form::global) return problem.H.offsets[row] == problem.H.offsets[row + 1];
    const auto n = static_cast<std::size_t>(problem.body_dofs);
    const auto first = problem.jacobian.begin() + problem.block_start[row / dim],
               last = problem.jacobian.begin() + problem.block_start[row / dim + 1];
    return std::all_of(first, last, [&](const JacobianBlock& block) {
      const double* inverse = problem.inverse_mass.data() + static_cast<std::size_t>(block.body) * n * n;
      for (std::size_t j = 0; j < n; ++j)
        if (block.rows[row % dim * n + j] != 0 && inverse[j * n + j] != 0) return false;
      return true;
    });
  };
  for (std::size_t row = 0; row < problem.size(); ++row)
    if (!is_bilateral(problem.laws[row / dim])) rows.contacts.push_back(static_cast<std::int32_t>(row));
    else if (!is_empty(row)) rows.equalities.push_back(static_cast<std::int32_t>(row));
  return rows;
}

FclibSolution to_fclib(const ContactProblem& problem, const std::vector<double>& r,
                       const std::vector<double>& u) {
  const FclibRows rows = fclib_rows(problem);
  FclibSolution s;
  if (!u.empty()) s.u = chosen(u, rows.contacts);
  s.r = chosen(r, rows.contacts), s.l = chosen(r, rows.equalities);
  if (problem.form != Form::local) s.v = velocities(problem, r);
  return s;
}

void write_fclib(const std::filesystem::path& file, const FclibFile& content,
                 std::optional<FclibStorage> storage) {
  check_writable(file);
  check_expressible(content.problem, file.string());
  check_sizes(content);
  FclibWriter(file, storage).write(content.problem.form == Form::bodies ? globalised(content) : content);
}

}  // namespace stickslip
