#include "gpu/rigid/frozen_records.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/dfcp/problem/rolling_rows.h"
#include "gpu/rigid/contact_record.h"

namespace stickslip {
namespace {

using Form = ContactProblem::Form;

constexpr int kStride = 6;  // numbers of a row in Contact::rows

/// trace(H_c A^-1 H_c') of a problem of bodies.
double mobility(const ContactProblem& problem, std::size_t c) {
  const int n = problem.body_dofs;
  double sum = 0;
  for (std::int32_t e = problem.block_start[c]; e < problem.block_start[c + 1]; ++e) {
    const JacobianBlock& entry = problem.jacobian[static_cast<std::size_t>(e)];
    const double* inverse = problem.inverse_mass.data() + static_cast<std::ptrdiff_t>(entry.body) * n * n;
    for (int row = 0; row < problem.dim; ++row) {
      const double* h = entry.rows.data() + row * n;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) sum += h[i] * inverse[i * n + j] * h[j];
    }
  }
  return sum;
}

/// trace(W_cc) of a local problem.
double trace_of(const ContactProblem& local, std::size_t c) {
  const auto dim = static_cast<std::size_t>(local.dim);
  double sum = 0;
  for (std::size_t row = c * dim; row < (c + 1) * dim; ++row)
    for (std::int32_t k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k)
      if (local.W.indices[static_cast<std::size_t>(k)] == static_cast<std::int32_t>(row))
        sum += local.W.values[static_cast<std::size_t>(k)];
  return sum;
}

/// s_c of each block; that of immovable ones is the mean, as in the judge.
std::vector<double> scales_of(const ContactProblem& problem) {
  std::vector<double> scales(problem.blocks());
  if (problem.form == Form::bodies) {
    const std::vector<double> compliance = row_compliance(problem);
    const auto dim = static_cast<std::size_t>(problem.dim);
    for (std::size_t c = 0; c < scales.size(); ++c) {
      scales[c] = mobility(problem, c);
      for (std::size_t row = c * dim; row < (c + 1) * dim; ++row) scales[c] += compliance[row];
    }
  } else {
    const ContactProblem local = to_local(problem);
    for (std::size_t c = 0; c < scales.size(); ++c) scales[c] = trace_of(local, c);
  }
  double sum = 0;
  for (double& scale : scales) sum += scale /= problem.dim;
  const double mean = sum > 0 ? sum / static_cast<double>(scales.size()) : 1.0;
  for (double& scale : scales)
    if (!(scale > 1e-300)) scale = mean;
  return scales;
}

/// The pull of cohesion [N]: the part of the normal impulse that the step's record leaves out.
double pull_of(const ContactProblem& problem, std::size_t block, const ContactRecord& record, double dt) {
  constexpr double kRounding = 1e-6;  // of records, which are floats
  if (problem.solution.size() != problem.size()) return 0;
  const double whole = problem.solution[block * static_cast<std::size_t>(problem.dim)] / dt,
               pull = whole - static_cast<double>(record.normal_force);
  return pull > kRounding * std::abs(whole) ? pull : 0.0;
}

template <int D>
ContactLaw<D> law_of(const BlockLaw& from) {
  ContactLaw<D> law{};
  for (int i = 0; i < D - 1; ++i) law.mu[i] = from.mu[static_cast<std::size_t>(i)];
  law.set = from.set;
  law.flow = from.flow;
  return law;
}

template <int D>
Vec<double, D> block_of(const std::vector<double>& rows, std::size_t block) {
  Vec<double, D> x{};
  for (int i = 0; i < D; ++i) x[i] = rows[block * D + static_cast<std::size_t>(i)];
  return x;
}

}  // namespace

FrozenRecords::FrozenRecords(const ContactProblem& given, std::vector<ContactRecord> contacts, double dt)
    : dim_(given.dim), dt_(dt), has_points_(!contacts.empty() && contacts.size() <= given.blocks()) {
  if (dim_ == kRollingRows) lengths_ = rolling_lengths(given);
  const ContactProblem problem = lengths_.empty() ? given : in_rolling_lengths(given, lengths_);
  laws_ = problem.laws;
  if (has_points_) {
    const std::size_t first = problem.blocks() - contacts.size();
    for (std::size_t c = 0; c < contacts.size(); ++c)
      contacts_.push_back({.block = first + c, .record = contacts[c]});
  } else {
    for (std::size_t c = 0; c < problem.blocks(); ++c)
      if (problem.laws[c].set != FrictionSet::bilateral) contacts_.push_back({.block = c, .record = {}});
  }
  const std::vector<double> scales = scales_of(problem);
  for (Contact& contact : contacts_) {
    contact.record.step_kind = StepKind::none;  // its values were those of the solver of the running scene
    contact.scale = scales[contact.block];
    const BlockLaw& law = problem.laws[contact.block];
    if (law.set != FrictionSet::bilateral) contact.pull = law.cohesion / dt_;
    if (!has_points_) continue;
    contact.pull += pull_of(problem, contact.block, contact.record, dt_);
    read_rows(problem, contact);
  }
}

void FrozenRecords::read_rows(const ContactProblem& problem, Contact& contact) const {
  const auto dim = static_cast<std::size_t>(dim_);
  const std::size_t c = contact.block;
  if (problem.form == Form::bodies) {
    if (problem.block_start[c] == problem.block_start[c + 1]) return;
    const JacobianBlock& entry = problem.jacobian[static_cast<std::size_t>(problem.block_start[c])];
    const auto n = static_cast<std::size_t>(problem.body_dofs);
    for (std::size_t i = 0; i < dim; ++i)
      for (std::size_t j = 0; j < n; ++j) contact.rows[kStride * i + j] = entry.rows[n * i + j];
    contact.moves = true;
    return;
  }
  if (problem.form != Form::global) return;
  // The dofs of a body begin with its three directions, and those of a node are three directions: the first
  // three that the normal row reads belong to a point that moves with the contact.
  const auto begin = [&](std::size_t row) { return static_cast<std::size_t>(problem.H.offsets[row]); };
  if (begin(dim * c) == begin(dim * c + 1)) return;
  const std::int32_t first = problem.H.indices[begin(dim * c)] / 3 * 3;
  for (std::size_t i = 0; i < dim; ++i)
    for (std::size_t k = begin(dim * c + i); k < begin(dim * c + i + 1); ++k)
      if (const std::int32_t j = problem.H.indices[k] - first; j >= 0 && j < kStride)
        contact.rows[kStride * i + static_cast<std::size_t>(j)] = problem.H.values[k];
  contact.moves = true;
}

template <int D>
void FrozenRecords::fill(const std::vector<double>& r, const std::vector<double>& u,
                         std::vector<ContactRecord>& records) const {
  for (const Contact& contact : contacts_) {
    const ContactLaw<D> law = law_of<D>(laws_[contact.block]);
    const Vec<double, D> u_c = block_of<D>(u, contact.block);
    Vec<double, D> r_c = block_of<D>(r, contact.block);
    // The law holds for impulses that are measured from the apex of its cone.
    if (law.set != FrictionSet::bilateral) r_c[0] += laws_[contact.block].cohesion;
    ContactRecord& x = records.emplace_back(contact.record);
    set_solution<D>({law, contact.scale, r_c, u_c, contact.moves ? contact.rows.data() : nullptr, kStride,
                     x.normal.template cast<double>()},
                    dt_, x);
    x.normal_force -= static_cast<float>(contact.pull);
  }
}

std::vector<ContactRecord> FrozenRecords::at(std::vector<double> r, std::vector<double> u) const {
  const std::size_t rows = laws_.size() * static_cast<std::size_t>(dim_);
  if (r.size() != rows || u.size() != rows)
    throw std::invalid_argument("records: " + std::to_string(r.size()) + " impulses and " +
                                std::to_string(u.size()) + " velocities for " + std::to_string(rows) +
                                " rows");
  if (!lengths_.empty()) {
    scale_rolling_rows(lengths_, -1, r);
    scale_rolling_rows(lengths_, 1, u);
  }
  std::vector<ContactRecord> records;
  records.reserve(contacts_.size());
  if (dim_ == 3) fill<3>(r, u, records);
  else if (dim_ == 4) fill<4>(r, u, records);
  else fill<kRollingRows>(r, u, records);
  return records;
}

}  // namespace stickslip
