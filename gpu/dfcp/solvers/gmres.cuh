// GMRES with restarts for nonsymmetric systems in blocks [Saad86].
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/core/cleared.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/math/vec.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace gmres_detail {

inline constexpr int kPack = 8;  // dot products with basis vectors in one reduction
using Pack = Vec<double, kPack>;

/// |v|^2 into the first number of *out.
template <int D>
void square(Context& ctx, std::size_t n, const Vec<double, D>* v, Pack* out) {
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t c) {
        Pack p{};
        p[0] = norm2(v[c]);
        return p;
      },
      out);
}

/// w -= sum <V_i, w> V_i over i < count; the products go to `out`, packed. The basis V has n blocks a vector.
template <int D>
void orthogonalise(Context& ctx, std::size_t n, const Vec<double, D>* basis, int count, Vec<double, D>* w,
                   Pack* out) {
  for (int begin = 0; begin < count; begin += kPack) {
    const int some = count - begin < kPack ? count - begin : kPack;
    reduce_sum(
        ctx, n,
        [=] SS_LAMBDA(std::size_t c) {
          Pack p{};
          for (int i = 0; i < some; ++i) p[i] = dot(basis[static_cast<std::size_t>(begin + i) * n + c], w[c]);
          return p;
        },
        out + begin / kPack);
  }
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t c) {
        for (int i = 0; i < count; ++i)
          w[c] -= out[i / kPack][i % kPack] * basis[static_cast<std::size_t>(i) * n + c];
      },
      kMedium);
}

template <int D>
void scale(Context& ctx, std::size_t n, double factor, Vec<double, D>* v) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t c) { v[c] *= factor; });
}

/// v /= |v|, with |v|^2 as the first number of *square. A zero vector stays.
template <int D>
void normalise(Context& ctx, std::size_t n, const Pack* square, Vec<double, D>* v) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t c) {
    const double norm = std::sqrt((*square)[0]);
    if (norm > 0) v[c] *= 1 / norm;
  });
}

/// x += V y with the first `count` vectors of the basis V; y in backend memory.
template <int D>
void add_combination(Context& ctx, std::size_t n, const Vec<double, D>* basis, int count, const double* y,
                     Vec<double, D>* x) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t c) {
        for (int i = 0; i < count; ++i) x[c] += y[i] * basis[static_cast<std::size_t>(i) * n + c];
      },
      kMedium);
}

}  // namespace gmres_detail

/// The basis stays on the backend; columns of the Hessenberg matrix are read back, see kAhead.
template <int D>
class Gmres {
 public:
  /// y = A x. Type-erased: nvcc allows no device lambda in a template of a lambda.
  using Apply = std::function<void(const Vec<double, D>* x, Vec<double, D>* y)>;
  using Stop = std::function<bool()>;
  static constexpr int kBasis = 40;  // vectors between restarts

  /// Finds x with |b - A x| <= tolerance |b| in at most `iterations` products; `apply(x, y)` computes y = A x
  /// and must not keep the pointers. Starts from x = 0. `stop` is checked every few products; true ends the
  /// solve with the current x. Returns the relative residual reached (by the recurrence).
  double solve(Context& ctx, std::size_t n, const Vec<double, D>* b, Vec<double, D>* x, double tolerance,
               int iterations, const Apply& apply, const Stop& stop = nullptr) {
    prepare(ctx, n);
    stop_ = stop;
    fill(ctx, x, n, Vec<double, D>::zero());
    copy(ctx, basis_.data(), b, n);
    const double norm_b = norm_of(ctx, basis_.data());
    if (!(norm_b > 0)) return 0;
    double residual = norm_b, last = 2 * norm_b;
    int left = iterations;
    // Stops after a restart without progress: the next ones would repeat it.
    while (left > 0 && residual > tolerance * norm_b && residual < 0.999 * last) {
      last = residual;
      const int used = cycle(ctx, residual, tolerance * norm_b, left, apply);
      left -= used;
      add_solution(ctx, used, x);
      if (left <= 0 || (stop_ && stop_())) break;
      apply(x, basis_.data());
      Vec<double, D>* v = basis_.data();
      launch(ctx, n, [=] SS_LAMBDA(std::size_t c) { v[c] = b[c] - v[c]; });
      residual = norm_of(ctx, v);
    }
    return residual / norm_b;
  }

 private:
  static constexpr int kAsk = 8;  // products between two checks of `stop`
  /// Most iterations between two read-backs. A device would idle during each; on the CPU a read costs
  /// nothing, and iterations beyond the goal would. A cycle begins with few: loose goals are soon reached.
  static constexpr int kAhead = STICKSLIP_ON_CUDA ? 8 : 1;
  static constexpr int kPack = gmres_detail::kPack;
  static constexpr int kPacks = (kBasis + kPack) / kPack;
  static constexpr int kColumn = 2 * kPacks + 1;  // packs of one iteration: two passes, and |w|^2
  using Pack = gmres_detail::Pack;

  Vec<double, D>* vector(int i) { return basis_.data() + static_cast<std::size_t>(i) * n_; }

  void prepare(Context& ctx, std::size_t n) {
    n_ = n;
    basis_.resize(ctx, n * (kBasis + 1));
    resize_cleared(ctx, products_, kAhead * kColumn);
    host_.resize(kAhead * kColumn);
    coefficients_.resize(ctx, kBasis);
  }

  double norm_of(Context& ctx, const Vec<double, D>* v) {
    Pack* out = products_.data();
    gmres_detail::square(ctx, n_, v, out);
    return std::sqrt(read_back(ctx, out)[0]);
  }

  /// Builds the basis from its first vector, whose norm is `residual`. Returns the number of columns that
  /// count.
  int cycle(Context& ctx, double& residual, double goal, int left, const Apply& apply) {
    gmres_detail::scale(ctx, n_, 1 / residual, vector(0));
    rotated_.assign(1, residual);
    columns_.clear();
    turns_.clear();
    const int most = left < kBasis ? left : kBasis;
    for (int begin = 0, end = 0; begin < most; begin = end) {
      end = std::min({begin + kAhead, 2 * begin + 1, most});
      for (int j = begin; j < end; ++j) iterate(ctx, j, products_.data() + (j - begin) * kColumn, apply);
      copy_to_host(ctx, host_.data(), products_.data(), static_cast<std::size_t>(end - begin) * kColumn);
      for (int j = begin; j < end; ++j) {
        const Pack* column = host_.data() + (j - begin) * kColumn;
        const double norm_w = std::sqrt(column[2 * kPacks][0]);
        residual = add_column(j, column, norm_w);
        if (!(residual > goal) || !(norm_w > 0)) return j + 1;
      }
      if (end / kAsk != begin / kAsk && stop_ && stop_()) return end;
    }
    return most;
  }

  /// Vector j + 1 of the basis; its products with the others, and its square before the scaling, go to `out`.
  void iterate(Context& ctx, int j, Pack* out, const Apply& apply) {
    const Vec<double, D>* basis = basis_.data();
    Vec<double, D>* w = vector(j + 1);
    apply(vector(j), w);
    // Classical Gram-Schmidt, applied twice, is as accurate as modified Gram-Schmidt and
    // allows batched reductions.
    gmres_detail::orthogonalise(ctx, n_, basis, j + 1, w, out);
    gmres_detail::orthogonalise(ctx, n_, basis, j + 1, w, out + kPacks);
    gmres_detail::square(ctx, n_, w, out + 2 * kPacks);
    gmres_detail::normalise(ctx, n_, static_cast<const Pack*>(out + 2 * kPacks), w);
  }

  /// Column j of the Hessenberg matrix, rotated to a triangle. Returns the new norm of the residual.
  double add_column(int j, const Pack* column, double norm_w) {
    std::vector<double> h(static_cast<std::size_t>(j) + 2);
    for (int i = 0; i <= j; ++i)
      h[static_cast<std::size_t>(i)] = column[i / kPack][i % kPack] + column[kPacks + i / kPack][i % kPack];
    h.back() = norm_w;
    for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i].apply(h[i], h[i + 1]);
    const auto k = static_cast<std::size_t>(j);
    const double length = std::hypot(h[k], h[k + 1]);
    turns_.push_back(length > 0 ? Turn{h[k] / length, h[k + 1] / length} : Turn{1, 0});
    turns_.back().apply(h[k], h[k + 1]);
    rotated_.push_back(0);
    turns_.back().apply(rotated_[k], rotated_[k + 1]);
    h.pop_back();
    columns_.push_back(std::move(h));
    return std::fabs(rotated_.back());
  }

  /// x += V y with the triangle's solution y.
  void add_solution(Context& ctx, int count, Vec<double, D>* x) {
    std::vector<double> y(rotated_.begin(), rotated_.begin() + count);
    for (int j = count - 1; j >= 0; --j) {
      const std::vector<double>& column = columns_[static_cast<std::size_t>(j)];
      const double pivot = column.back();
      double& value = y[static_cast<std::size_t>(j)];
      value = pivot != 0 ? value / pivot : 0.0;
      for (int i = 0; i < j; ++i)
        y[static_cast<std::size_t>(i)] -= column[static_cast<std::size_t>(i)] * value;
    }
    coefficients_.upload(ctx, y);
    gmres_detail::add_combination(ctx, n_, basis_.data(), count, coefficients_.data(), x);
  }

  struct Turn {
    double cosine, sine;
    void apply(double& a, double& b) const {
      const double rotated = cosine * a + sine * b;
      b = cosine * b - sine * a;
      a = rotated;
    }
  };

  std::size_t n_ = 0;
  Buffer<Vec<double, D>> basis_;
  Buffer<Pack> products_;
  Buffer<double> coefficients_;
  std::vector<Pack> host_;
  Stop stop_;
  std::vector<double> rotated_;
  std::vector<std::vector<double>> columns_;
  std::vector<Turn> turns_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
