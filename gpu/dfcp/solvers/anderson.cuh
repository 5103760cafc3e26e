// Anderson mixing: extrapolates a fixed-point iteration r -> g(r) from its last steps.
#pragma once

#include <array>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/law/projection.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace anderson_detail {

inline constexpr int kMost = 10;          // remembered steps
using Dots = Vec<double, 2 * kMost + 1>;  // df_new . df_j, then f . df_j, then f . f

/// The differences of the remembered steps and the last step, per block. Backend memory.
template <int D>
struct Steps {
  Vec<double, D>* df[kMost];
  Vec<double, D>* dg[kMost];
  Vec<double, D>*last_f, *last_g;
};

/// Remembers the step from r to g: writes its differences from the last one to column `newest` (-1: there is
/// no last one). Returns a block's part of Dots with the `known` columns.
template <int D>
struct Remember {
  Steps<D> steps;
  const Vec<double, D>*r, *g;
  const double* scale;
  int newest, known;

  SS_HD Dots operator()(std::size_t c) const {
    Dots sum{};
    const double weight = scale[c] * scale[c];
    const Vec<double, D> f = g[c] - r[c];
    if (newest >= 0) {
      steps.df[newest][c] = f - steps.last_f[c];
      steps.dg[newest][c] = g[c] - steps.last_g[c];
      const Vec<double, D> newest_df = steps.df[newest][c];
      for (int j = 0; j < known; ++j) {
        sum[j] = weight * dot(newest_df, steps.df[j][c]);
        sum[kMost + j] = weight * dot(f, steps.df[j][c]);
      }
    }
    sum[2 * kMost] = weight * norm2(f);
    steps.last_f[c] = f;
    steps.last_g[c] = g[c];
    return sum;
  }
};

/// g -= sum weight_j dg_j over the `known` columns, projected onto the cones.
template <int D>
struct Combine {
  Steps<D> steps;
  Vec<double, kMost> weight;
  int known;
  const ContactLaw<D>* law;
  Vec<double, D>* g;

  SS_HD void operator()(std::size_t c) const {
    Vec<double, D> x = g[c];
    for (int j = 0; j < known; ++j) x -= weight[j] * steps.dg[j][c];
    g[c] = project(law[c], x);
  }
};

}  // namespace anderson_detail

/// Finds the combination of the last steps that minimises the combined f = g(r) - r in the norm |s_c
/// f_c|, which is independent of masses. Combines the g's with the same weights (type II) and
/// projects onto the cones.
template <int D>
class Anderson {
 public:
  static constexpr int kMost = anderson_detail::kMost;

  /// `memory`: number of remembered steps, at most kMost.
  Anderson(System<D>& s, int memory)
      : s_(s),
        memory_(memory < kMost ? memory : kMost),
        last_f_(s.ctx, s.blocks()),
        last_g_(s.ctx, s.blocks()),
        sums_(s.ctx, 1) {
    for (int k = 0; k < memory_; ++k) {
      df_[static_cast<std::size_t>(k)].resize(s.ctx, s.blocks());
      dg_[static_cast<std::size_t>(k)].resize(s.ctx, s.blocks());
    }
  }

  /// Forgets all steps.
  void restart() { steps_ = 0; }

  /// |s_c f_c|_2 of the last step [m/s].
  double step_norm() const { return step_norm_; }

  /// `r`: start of the step; `g`: its end. Writes the extrapolated iterate to g.
  void mix(const Vec<double, D>* r, Vec<double, D>* g) {
    const int newest = steps_ == 0 ? -1 : (steps_ - 1) % memory_;
    const Dots dots = remember(r, g, newest);
    step_norm_ = std::sqrt(dots[2 * kMost]);
    const int known = steps_ < memory_ ? steps_ : memory_;
    ++steps_;
    if (known == 0) return;
    for (int j = 0; j < known; ++j) gram_[newest][j] = gram_[j][newest] = dots[j];
    double gamma[kMost];
    if (!least_squares(known, dots, gamma)) {
      restart();
      return;
    }
    combine(known, gamma, g);
  }

 private:
  using Dots = anderson_detail::Dots;

  anderson_detail::Steps<D> steps() {
    anderson_detail::Steps<D> all{};
    for (int k = 0; k < memory_; ++k) {
      all.df[k] = df_[static_cast<std::size_t>(k)].data();
      all.dg[k] = dg_[static_cast<std::size_t>(k)].data();
    }
    all.last_f = last_f_.data();
    all.last_g = last_g_.data();
    return all;
  }

  Dots remember(const Vec<double, D>* r, const Vec<double, D>* g, int newest) {
    const int known = steps_ < memory_ ? steps_ : memory_;
    reduce_sum(s_.ctx, s_.blocks(), anderson_detail::Remember<D>{steps(), r, g, s_.W.scale(), newest, known},
               sums_.data(), kMedium);
    return read_back(s_.ctx, sums_.data());
  }

  void combine(int known, const double* gamma, Vec<double, D>* g) {
    Vec<double, kMost> weight{};
    for (int j = 0; j < known; ++j) weight[j] = gamma[j];
    launch(s_.ctx, s_.blocks(), anderson_detail::Combine<D>{steps(), weight, known, s_.law, g}, kMedium);
  }

  /// Cholesky of the Gram matrix with a small diagonal shift: its columns are nearly
  /// dependent close to convergence.
  bool least_squares(int known, const Dots& dots, double* gamma) const {
    double l[kMost][kMost];
    double mean = 0;
    for (int i = 0; i < known; ++i) mean += gram_[i][i] / known;
    if (!(mean > 0)) return false;
    for (int i = 0; i < known; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = gram_[i][j] + (i == j ? 1e-12 * mean : 0.0);
        for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
        if (i == j) {
          if (!(sum > 0)) return false;
          l[i][i] = std::sqrt(sum);
        } else {
          l[i][j] = sum / l[j][j];
        }
      }
    for (int i = 0; i < known; ++i) {
      double sum = dots[kMost + i];
      for (int k = 0; k < i; ++k) sum -= l[i][k] * gamma[k];
      gamma[i] = sum / l[i][i];
    }
    for (int i = known - 1; i >= 0; --i) {
      double sum = gamma[i];
      for (int k = i + 1; k < known; ++k) sum -= l[k][i] * gamma[k];
      gamma[i] = sum / l[i][i];
    }
    return true;
  }

  System<D>& s_;
  int memory_, steps_ = 0;
  double step_norm_ = 0;
  double gram_[kMost][kMost] = {};
  std::array<Buffer<Vec<double, D>>, kMost> df_, dg_;
  Buffer<Vec<double, D>> last_f_, last_g_;
  Buffer<Dots> sums_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
