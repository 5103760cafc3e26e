#include "gpu/dfcp/solvers/velocity_system.cuh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/math/dense_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <class T>
std::vector<T> host_copy(Context& ctx, const T* from, std::size_t count) {
  std::vector<T> to(count);
  if (count > 0) copy_to_host(ctx, to.data(), from, count);
  return to;
}

template <int D>
bool is_zero(const Mat<double, D>& m) {
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j)
      if (m(i, j) != 0) return false;
  return true;
}

}  // namespace

template <int D>
VelocitySystem<D>::VelocitySystem(Context& ctx, const Delassus<D>& W)
    : ctx_(ctx), blocks_(W.blocks()), bodies_(W.bodies()), dofs_(W.body_dofs()) {
  if (!W.factored()) throw std::logic_error("VelocitySystem: W is not given by bodies");
  const BodyRows<D> rows = W.body_rows();
  const auto n = static_cast<std::size_t>(dofs_);
  const std::vector<std::int32_t> start = host_copy(ctx, rows.start, blocks_ + 1);
  const auto entries = static_cast<std::size_t>(start.back());
  const std::vector<std::int32_t> body = host_copy(ctx, rows.body, entries);
  const std::vector<double> jacobian = host_copy(ctx, rows.jacobian, entries * D * n);
  std::vector<double> response;
  std::vector<BodyInverse> inverse;
  if (rows.response != nullptr) response = host_copy(ctx, rows.response, entries * D * n);
  else inverse = host_copy(ctx, rows.inverse, bodies_);
  compliance_ = host_copy(ctx, rows.compliance, blocks_);
  start_.push_back(0);
  for (std::size_t c = 0; c < blocks_; ++c) {
    for (auto k = static_cast<std::size_t>(start[c]); k < static_cast<std::size_t>(start[c + 1]); ++k) {
      if (body[k] < 0) continue;
      body_.push_back(body[k]);
      const double* h = jacobian.data() + k * D * n;
      jacobian_.insert(jacobian_.end(), h, h + D * n);
      const std::size_t at = response_.size();
      response_.resize(at + D * n);
      if (rows.response != nullptr) {
        std::copy_n(response.begin() + static_cast<std::ptrdiff_t>(k * D * n), D * n,
                    response_.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      for (std::size_t i = 0; i < D; ++i) {
        Vec<double, 6> row{};
        for (std::size_t j = 0; j < 6; ++j) row[static_cast<int>(j)] = h[i * 6 + j];
        const Vec<double, 6> moved = inverse[static_cast<std::size_t>(body[k])].times(row);
        for (std::size_t j = 0; j < 6; ++j) response_[at + j * D + i] = moved[static_cast<int>(j)];
      }
    }
    start_.push_back(static_cast<std::int32_t>(body_.size()));
  }
  dofs_ == 6 ? analyse(six_) : analyse(three_);
}

template <int D>
template <int N>
void VelocitySystem<D>::analyse(BlockLu<N>& lu) {
  // Bodies of each row: those that share a contact.
  std::vector<std::vector<std::int32_t>> row(bodies_);
  for (std::size_t b = 0; b < bodies_; ++b) row[b].push_back(static_cast<std::int32_t>(b));
  for (std::size_t c = 0; c < blocks_; ++c)
    for (std::size_t k = entry_begin(c); k < entry_end(c); ++k)
      for (std::size_t l = entry_begin(c); l < entry_end(c); ++l)
        if (k != l) row[static_cast<std::size_t>(body_[k])].push_back(body_[l]);
  pattern_start_.push_back(0);
  for (std::vector<std::int32_t>& r : row) {
    std::sort(r.begin(), r.end());
    r.erase(std::unique(r.begin(), r.end()), r.end());
    pattern_column_.insert(pattern_column_.end(), r.begin(), r.end());
    pattern_start_.push_back(static_cast<std::int32_t>(pattern_column_.size()));
  }
  const auto place = [&](std::int32_t i, std::int32_t j) {
    const auto first = pattern_column_.begin() + pattern_start_[static_cast<std::size_t>(i)],
               last = pattern_column_.begin() + pattern_start_[static_cast<std::size_t>(i) + 1];
    return static_cast<std::int32_t>(std::lower_bound(first, last, j) - pattern_column_.begin());
  };
  for (std::size_t c = 0; c < blocks_; ++c)
    for (std::size_t k = entry_begin(c); k < entry_end(c); ++k)
      for (std::size_t l = entry_begin(c); l < entry_end(c); ++l) place_.push_back(place(body_[k], body_[l]));
  for (std::size_t b = 0; b < bodies_; ++b) {
    const auto self = static_cast<std::int32_t>(b);
    diagonal_.push_back(place(self, self));
  }
  lu.analyse(pattern_start_, pattern_column_);
}

template <int D>
double VelocitySystem<D>::work() const {
  return dofs_ == 6 ? six_.work() : three_.work();
}

template <int D>
template <int N>
void VelocitySystem<D>::assemble(std::vector<Mat<double, N>>& values) const {
  values.assign(pattern_column_.size(), Mat<double, N>::zero());
  for (const std::int32_t d : diagonal_) values[static_cast<std::size_t>(d)] = Mat<double, N>::identity();
  std::size_t pair = 0;
  for (std::size_t c = 0; c < blocks_; ++c) {
    const std::size_t begin = entry_begin(c), end = entry_end(c);
    if (is_zero(c_[c])) {  // an open contact
      pair += (end - begin) * (end - begin);
      continue;
    }
    for (std::size_t k = begin; k < end; ++k) {
      double pushed[N * D];  // A^-1 H' C of entry k
      for (int j = 0; j < N; ++j)
        for (int i = 0; i < D; ++i) {
          double sum = 0;
          for (int l = 0; l < D; ++l)
            sum += response_[k * D * N + static_cast<std::size_t>(j * D + l)] * c_[c](l, i);
          pushed[j * D + i] = sum;
        }
      for (std::size_t l = begin; l < end; ++l) {
        Mat<double, N>& m = values[static_cast<std::size_t>(place_[pair++])];
        const double* h = jacobian_.data() + l * D * N;
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j) {
            double sum = 0;
            for (int x = 0; x < D; ++x) sum += pushed[i * D + x] * h[x * N + j];
            m(i, j) += sum;
          }
      }
    }
  }
}

template <int D>
template <int N>
bool VelocitySystem<D>::solve_with(BlockLu<N>& lu) {
  if constexpr (N == 6) assemble(six_values_);
  else assemble(three_values_);
  bool regular = false;
  if constexpr (N == 6) regular = lu.factorise(six_values_);
  else regular = lu.factorise(three_values_);
  if (!regular) return false;
  std::vector<Vec<double, N>> v(bodies_, Vec<double, N>::zero());
  for (std::size_t c = 0; c < blocks_; ++c)
    for (std::size_t k = entry_begin(c); k < entry_end(c); ++k)
      for (int j = 0; j < N; ++j)
        for (int i = 0; i < D; ++i)
          v[static_cast<std::size_t>(body_[k])][j] +=
              response_[k * D * N + static_cast<std::size_t>(j * D + i)] * b_[c][i];
  lu.solve(v.data(), v.data());
  double size = 0;
  for (std::size_t c = 0; c < blocks_; ++c) {
    Vec<double, D> u = Vec<double, D>::zero();
    for (std::size_t k = entry_begin(c); k < entry_end(c); ++k)
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < N; ++j)
          u[i] += jacobian_[k * D * N + static_cast<std::size_t>(i * N + j)] *
                  v[static_cast<std::size_t>(body_[k])][j];
    b_[c] -= c_[c] * u;
    size += norm2(b_[c]);
  }
  return std::isfinite(size);
}

template <int D>
bool VelocitySystem<D>::solve(const Mat<double, D>* c, const Vec<double, D>* b, Vec<double, D>* d) {
  c_.resize(blocks_);
  b_.resize(blocks_);
  copy_to_host(ctx_, c_.data(), c, blocks_);
  copy_to_host(ctx_, b_.data(), b, blocks_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    if (compliance_[k] == Vec<double, D>::zero()) continue;
    Mat<double, D> t = Mat<double, D>::identity();
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) t(i, j) += c_[k](i, j) * compliance_[k][j];
    const Mat<double, D> inverse = solve_dense(t, Mat<double, D>::identity());
    c_[k] = inverse * c_[k];
    b_[k] = inverse * b_[k];
  }
  if (!(dofs_ == 6 ? solve_with(six_) : solve_with(three_))) return false;
  copy_to_device(ctx_, d, b_.data(), blocks_);
  return true;
}

template class VelocitySystem<3>;
template class VelocitySystem<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
