// The factored form: H and A^-1 H' by bodies, without W.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gpu/dfcp/operator/delassus.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

bool moves(const ContactProblem& problem, std::size_t body) {
  const auto n = static_cast<std::size_t>(problem.body_dofs * problem.body_dofs);
  const auto begin = problem.inverse_mass.begin() + static_cast<std::ptrdiff_t>(body * n);
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(n), [](double x) { return x != 0; });
}

}  // namespace

/// Entries of H on movable bodies, by block and by body. Immovable bodies are left out: blocks that do not
/// conflict can share them, and would write to them concurrently.
struct BodyEntries {
  std::vector<std::int32_t> block_start;   // those of block c are block_start[c] .. block_start[c + 1]
  std::vector<std::int32_t> source;        // of each entry, its index in the problem
  std::vector<std::int32_t> block, body;   // of each entry
  std::vector<std::int32_t> start, entry;  // those of body b are entry[start[b] .. start[b + 1])

  explicit BodyEntries(const ContactProblem& problem) {
    block_start.push_back(0);
    start.assign(problem.bodies() + 1, 0);
    for (std::size_t c = 0; c < problem.blocks(); ++c) {
      for (std::int32_t k = problem.block_start[c]; k < problem.block_start[c + 1]; ++k) {
        const std::int32_t b = problem.jacobian[static_cast<std::size_t>(k)].body;
        if (!moves(problem, static_cast<std::size_t>(b))) continue;
        source.push_back(k);
        block.push_back(static_cast<std::int32_t>(c));
        body.push_back(b);
        ++start[static_cast<std::size_t>(b) + 1];
      }
      block_start.push_back(static_cast<std::int32_t>(source.size()));
    }
    for (std::size_t b = 0; b < problem.bodies(); ++b) start[b + 1] += start[b];
    entry.resize(source.size());
    std::vector<std::int32_t> next(start.begin(), start.end() - 1);
    for (std::size_t k = 0; k < source.size(); ++k)
      entry[static_cast<std::size_t>(next[static_cast<std::size_t>(body[k])]++)] =
          static_cast<std::int32_t>(k);
  }
};

template <int D>
void Delassus<D>::build_factored(Context& ctx, const ContactProblem& problem) {
  dofs_ = problem.body_dofs;
  bodies_ = problem.bodies();
  const auto n = static_cast<std::size_t>(dofs_);
  const BodyEntries entries(problem);
  const std::size_t count = entries.source.size();
  std::vector<double> jacobian(count * D * n), response(count * D * n);
  for (std::size_t k = 0; k < count; ++k) {
    const JacobianBlock& from = problem.jacobian[static_cast<std::size_t>(entries.source[k])];
    std::copy_n(from.rows.begin(), D * n, jacobian.begin() + static_cast<std::ptrdiff_t>(k * D * n));
    const double* inverse = problem.inverse_mass.data() + static_cast<std::size_t>(from.body) * n * n;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < D; ++i) {
        double sum = 0;
        for (std::size_t l = 0; l < n; ++l) sum += inverse[j * n + l] * from.rows[i * n + l];
        response[k * D * n + j * D + i] = sum;
      }
  }
  host_body_start_ = entries.block_start;

  std::vector<Vec<double, D>> q(blocks_), compliance(blocks_);
  std::vector<Mat<double, D>> diagonal(blocks_, Mat<double, D>::zero());
  const std::vector<double> v = velocities(problem, std::vector<double>(problem.size(), 0.0));
  const std::vector<double> extra = row_compliance(problem);
  for (std::size_t c = 0; c < blocks_; ++c)
    for (std::size_t i = 0; i < D; ++i) {
      const int row = static_cast<int>(i);
      q[c][row] = problem.w[c * D + i];
      compliance[c][row] = extra[c * D + i];
      for (auto k = static_cast<std::size_t>(entries.block_start[c]);
           k < static_cast<std::size_t>(entries.block_start[c + 1]); ++k) {
        const double* h = jacobian.data() + (k * D + i) * n;
        const double* vb = v.data() + static_cast<std::size_t>(entries.body[k]) * n;
        for (std::size_t j = 0; j < n; ++j) {
          q[c][row] += h[j] * vb[j];
          for (int l = 0; l < D; ++l)
            diagonal[c](row, l) += h[j] * response[k * D * n + j * D + static_cast<std::size_t>(l)];
        }
      }
      diagonal[c](row, row) += compliance[c][row];
    }
  gather_start_.upload(ctx, entries.start);
  gather_entry_.upload(ctx, entries.entry);
  entry_block_.upload(ctx, entries.block);
  start_.upload(ctx, host_body_start_);
  column_.upload(ctx, entries.body);
  jacobian_.upload(ctx, jacobian);
  response_.upload(ctx, response);
  set_q(ctx, q);
  compliance_.upload(ctx, compliance);
  finish_diagonal(ctx, diagonal);
  build_pattern(entries);
  move_apices(ctx, problem, q);
}

/// Blocks conflict where they share a movable body.
template <int D>
void Delassus<D>::build_pattern(const BodyEntries& entries) {
  std::vector<std::int32_t> seen(blocks_, -1);
  host_start_.assign(1, 0);
  host_column_.clear();
  for (std::size_t c = 0; c < blocks_; ++c) {
    if (host_column_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - blocks_)
      throw std::invalid_argument("contacts: more than 2^31 pairs of them share a body that moves");
    const auto self = static_cast<std::int32_t>(c);
    const std::size_t first = host_column_.size();
    seen[c] = self;
    host_column_.push_back(self);
    for (std::int32_t k = entries.block_start[c]; k < entries.block_start[c + 1]; ++k) {
      const auto body = static_cast<std::size_t>(entries.body[static_cast<std::size_t>(k)]);
      for (std::int32_t e = entries.start[body]; e < entries.start[body + 1]; ++e) {
        const std::int32_t other =
            entries.block[static_cast<std::size_t>(entries.entry[static_cast<std::size_t>(e)])];
        if (seen[static_cast<std::size_t>(other)] == self) continue;
        seen[static_cast<std::size_t>(other)] = self;
        host_column_.push_back(other);
      }
    }
    std::sort(host_column_.begin() + static_cast<std::ptrdiff_t>(first), host_column_.end());
    host_start_.push_back(static_cast<std::int32_t>(host_column_.size()));
  }
}

/// A cohesive cone's apex moves to the origin: W r + q = W (r + xi n) + (q - W xi n).
template <int D>
void Delassus<D>::move_apices(Context& ctx, const ContactProblem& problem, std::vector<Vec<double, D>>& q) {
  if (std::none_of(problem.laws.begin(), problem.laws.end(),
                   [](const BlockLaw& law) { return law.cohesion != 0; }))
    return;
  const std::vector<double> rows = with_cohesion(problem, std::vector<double>(problem.size(), 0.0));
  std::vector<Vec<double, D>> apex(blocks_);
  for (std::size_t i = 0; i < rows.size(); ++i) apex[i / D][static_cast<int>(i % D)] = rows[i];
  const Buffer<Vec<double, D>> xi(ctx, apex);
  Buffer<Vec<double, D>> u(ctx, blocks_);
  apply(ctx, xi.data(), u.data(), false);
  const std::vector<Vec<double, D>> shift = u.download(ctx);
  for (std::size_t c = 0; c < blocks_; ++c) q[c] -= shift[c];
  set_q(ctx, q);
}

#define STICKSLIP_DELASSUS_BODIES(D)                                          \
  template void Delassus<D>::build_factored(Context&, const ContactProblem&); \
  template void Delassus<D>::build_pattern(const BodyEntries&);               \
  template void Delassus<D>::move_apices(Context&, const ContactProblem&, std::vector<Vec<double, D>>&);
STICKSLIP_DELASSUS_BODIES(3)
STICKSLIP_DELASSUS_BODIES(4)
STICKSLIP_DELASSUS_BODIES(5)
#undef STICKSLIP_DELASSUS_BODIES

}  // namespace stickslip::STICKSLIP_BACKEND
