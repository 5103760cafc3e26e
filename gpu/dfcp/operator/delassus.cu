#include "gpu/dfcp/operator/delassus.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/segmented.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Block rows of W on the host, from compressed scalar rows.
template <int D>
struct HostRows {
  std::vector<std::int32_t> start, column;
  std::vector<Mat<double, D>> value;

  explicit HostRows(const SparseRows& w) {
    const auto blocks = static_cast<std::size_t>(w.rows) / D;
    std::vector<std::int32_t> slot(blocks, -1);  // position of block d in row c, for the current row
    start.reserve(blocks + 1);
    start.push_back(0);
    column.reserve(w.values.size() / D + blocks);
    for (std::size_t c = 0; c < blocks; ++c) {
      collect_columns(w, c, slot);
      const auto first = static_cast<std::size_t>(start.back());
      value.resize(column.size(), Mat<double, D>::zero());
      for (std::size_t k = first; k < column.size(); ++k)
        slot[static_cast<std::size_t>(column[k])] = static_cast<std::int32_t>(k);
      for (int i = 0; i < D; ++i) {
        const std::size_t row = c * D + static_cast<std::size_t>(i);
        for (std::int32_t k = w.offsets[row]; k < w.offsets[row + 1]; ++k) {
          const std::int32_t j = w.indices[static_cast<std::size_t>(k)];
          value[static_cast<std::size_t>(slot[static_cast<std::size_t>(j / D)])](i, j % D) =
              w.values[static_cast<std::size_t>(k)];
        }
      }
      for (std::size_t k = first; k < column.size(); ++k) slot[static_cast<std::size_t>(column[k])] = -1;
      start.push_back(static_cast<std::int32_t>(column.size()));
    }
  }

 private:
  /// Appends the block columns of block row c, ascending, the diagonal one among them.
  void collect_columns(const SparseRows& w, std::size_t c, std::vector<std::int32_t>& slot) {
    const std::size_t first = column.size();
    const auto add = [&](std::int32_t d) {
      if (slot[static_cast<std::size_t>(d)] == -2) return;
      slot[static_cast<std::size_t>(d)] = -2;
      column.push_back(d);
    };
    add(static_cast<std::int32_t>(c));
    for (std::size_t row = c * D; row < (c + 1) * D; ++row)
      for (std::int32_t k = w.offsets[row]; k < w.offsets[row + 1]; ++k)
        add(w.indices[static_cast<std::size_t>(k)] / D);
    std::sort(column.begin() + static_cast<std::ptrdiff_t>(first), column.end());
  }
};

/// False if a row cannot move; `to_local` gives such a row a compliance.
bool has_full_diagonal(const SparseRows& w) {
  for (std::int32_t row = 0; row < w.rows; ++row) {
    const auto begin = w.indices.begin() + w.offsets[static_cast<std::size_t>(row)];
    const auto end = w.indices.begin() + w.offsets[static_cast<std::size_t>(row) + 1];
    const auto at = std::lower_bound(begin, end, row);
    if (at == end || *at != row || !(w.values[static_cast<std::size_t>(at - w.indices.begin())] > 0))
      return false;
  }
  return true;
}

bool is_plain_local(const ContactProblem& problem) {
  return problem.form == ContactProblem::Form::local && problem.softness.empty() &&
         std::all_of(problem.laws.begin(), problem.laws.end(),
                     [](const BlockLaw& law) { return law.cohesion == 0 && law.compliance == 0; }) &&
         has_full_diagonal(problem.W);
}

template <int D>
std::vector<Vec<double, D>> blocks_of(const std::vector<double>& x) {
  std::vector<Vec<double, D>> v(x.size() / D);
  for (std::size_t i = 0; i < x.size(); ++i) v[i / D][static_cast<int>(i % D)] = x[i];
  return v;
}

}  // namespace

template <int D>
void Delassus<D>::build(Context& ctx, const ContactProblem& problem, bool factored) {
  begin_build(problem.blocks());
  factored_ = factored && problem.form == ContactProblem::Form::bodies;
  if (factored_) build_factored(ctx, problem);
  else if (is_plain_local(problem)) build_assembled(ctx, problem);
  else build_assembled(ctx, to_local(problem));
}

template <int D>
void Delassus<D>::build_by_columns(Context& ctx, const ContactProblem& problem,
                                   const InverseOptions& options) {
  begin_build(problem.blocks());
  build_assembled(ctx, to_local(problem, options, &columns_report_));
}

template <int D>
void Delassus<D>::build_products(Context& ctx, const ContactProblem& problem, const InverseOptions& options,
                                 const Delassus& scales) {
  begin_build(problem.blocks());
  host_start_.clear();
  host_column_.clear();
  auto products = std::make_unique<DualProducts>(problem, options);
  set_q(ctx, blocks_of<D>(products->q()));
  products_ = std::move(products);
  diagonal_.resize(ctx, blocks_);
  scale_.resize(ctx, blocks_);
  copy(ctx, diagonal_.data(), scales.diagonal(), blocks_);
  copy(ctx, scale_.data(), scales.scale(), blocks_);
  mean_diagonal_ = scales.mean_diagonal();
  norm_q_ = scales.norm_q();
}

template <int D>
void Delassus<D>::begin_build(std::size_t blocks) {
  blocks_ = blocks;
  factored_ = from_blocks_ = false;
  products_.reset();
  columns_report_ = {};
  host_body_start_.clear();
  host_value_.clear();
}

template <int D>
void Delassus<D>::build_assembled(Context& ctx, const ContactProblem& local) {
  HostRows<D> rows(local.W);
  std::vector<Mat<double, D>> diagonal(blocks_);
  for (std::size_t c = 0; c < blocks_; ++c) {
    const auto begin = rows.column.begin() + rows.start[c], end = rows.column.begin() + rows.start[c + 1];
    diagonal[c] = rows.value[static_cast<std::size_t>(
        std::lower_bound(begin, end, static_cast<std::int32_t>(c)) - rows.column.begin())];
  }
  start_.upload(ctx, rows.start);
  column_.upload(ctx, rows.column);
  value_.upload(ctx, rows.value);
  set_q(ctx, blocks_of<D>(local.q));
  host_start_ = std::move(rows.start);
  host_column_ = std::move(rows.column);
  finish_diagonal(ctx, diagonal);
}

template <int D>
void Delassus<D>::set_q(Context& ctx, const std::vector<Vec<double, D>>& q) {
  double sum = 0;
  for (const Vec<double, D>& v : q) sum += norm2(v);
  norm_q_ = std::sqrt(sum);
  q_.upload(ctx, q);
}

template <int D>
void Delassus<D>::finish_diagonal(Context& ctx, std::vector<Mat<double, D>>& diagonal) {
  std::vector<double> scale(blocks_);
  double sum = 0;
  for (std::size_t c = 0; c < blocks_; ++c) sum += scale[c] = trace(diagonal[c]) / D;
  mean_diagonal_ = blocks_ == 0 || sum <= 0 ? 1.0 : sum / static_cast<double>(blocks_);
  // An immovable pair has W_cc = 0: any positive scale gives the same verdict.
  for (double& s : scale)
    if (!(s > 1e-300)) s = mean_diagonal_;
  for (Mat<double, D>& m : diagonal)
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < i; ++j) m(i, j) = m(j, i) = 0.5 * (m(i, j) + m(j, i));
  scale_.upload(ctx, scale);
  diagonal_.upload(ctx, diagonal);
}

template <int D>
BodyRows<D> Delassus<D>::body_rows() const {
  return {dofs_,
          start_.data(),
          column_.data(),
          jacobian_.data(),
          from_blocks_ ? nullptr : response_.data(),
          from_blocks_ ? inverse_.data() : nullptr,
          compliance_.data()};
}

template <int D>
std::span<const Mat<double, D>> Delassus<D>::host_values(Context& ctx) const {
#if STICKSLIP_ON_CUDA
  if (host_value_.empty()) host_value_ = value_.download(ctx);
  return host_value_;
#else
  (void)ctx;
  return {value_.data(), value_.size()};
#endif
}

template <int D>
void Delassus<D>::apply(Context& ctx, const Vec<double, D>* x, Vec<double, D>* y, bool with_q) const {
  const Vec<double, D>* q = with_q ? q_.data() : nullptr;
  if (products_) {
    const std::size_t rows = D * blocks_;
    host_r_.resize(rows);
    host_u_.resize(rows);
    copy_to_host(ctx, host_r_.data(), reinterpret_cast<const double*>(x), rows);
    products_->apply(host_r_.data(), host_u_.data());
    copy_to_device(ctx, reinterpret_cast<double*>(y), host_u_.data(), rows);
    if (q != nullptr) launch(ctx, blocks_, [=] SS_LAMBDA(std::size_t c) { y[c] += q[c]; });
    return;
  }
  if (!factored_) {
    const BlockRows<D> w = rows();
    launch(
        ctx, blocks_,
        [=] SS_LAMBDA(std::size_t c) {
          const Vec<double, D> sum = w.times(c, x);
          y[c] = q != nullptr ? sum + q[c] : sum;
        },
        kMedium);
    return;
  }
  v_.resize(ctx, bodies_ * static_cast<std::size_t>(dofs_));
  double* v = v_.data();
  body_velocities(ctx, x, v);
  const BodyRows<D> h = body_rows();
  launch(
      ctx, blocks_,
      [=] SS_LAMBDA(std::size_t c) {
        Vec<double, D> sum = h.times(c, v);
        for (int i = 0; i < D; ++i) sum[i] += h.compliance[c][i] * x[c][i];
        y[c] = q != nullptr ? sum + q[c] : sum;
      },
      kMedium);
}

template <int D>
void Delassus<D>::body_velocities(Context& ctx, const Vec<double, D>* x, double* v) const {
  const BodyRows<D> h = body_rows();
  const std::int32_t *gather_start = gather_start_.data(), *entry = gather_entry_.data(),
                     *block = entry_block_.data();
  const int dofs = dofs_;
  launch(
      ctx, bodies_,
      [=] SS_LAMBDA(std::size_t b) {
        if (h.response == nullptr) {
          Vec<double, 6> force = Vec<double, 6>::zero();
          for (std::int32_t k = gather_start[b]; k < gather_start[b + 1]; ++k)
            force += h.wrench(entry[k], x[block[entry[k]]]);
          const Vec<double, 6> dv = h.inverse[b].times(force);
          for (int j = 0; j < 6; ++j) v[6 * b + static_cast<std::size_t>(j)] = dv[j];
          return;
        }
        double sum[6] = {0, 0, 0, 0, 0, 0};
        for (std::int32_t k = gather_start[b]; k < gather_start[b + 1]; ++k) {
          const std::int32_t e = entry[k];
          const double* response = h.response + static_cast<std::size_t>(e) * D * dofs;
          const Vec<double, D>& xc = x[block[e]];
          for (int j = 0; j < dofs; ++j)
            for (int i = 0; i < D; ++i) sum[j] += response[j * D + i] * xc[i];
        }
        for (int j = 0; j < dofs; ++j)
          v[b * static_cast<std::size_t>(dofs) + static_cast<std::size_t>(j)] = sum[j];
      },
      kMedium);
}

template class Delassus<3>;
template class Delassus<4>;
template class Delassus<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
