// P-SPG-FB, the preconditioned spectral projected gradient method with fallback [Tasora13].
//
// P is the diagonal of W, averaged over the rows of each convex set. A contact is one set. A joint's block is
// not: each of its rows is a set of its own, the real line, and keeps its own entry.
//
// Deviations: without the preconditioner the step is in units of the mean diagonal of W, so that the bounds
// on alpha mean the same. f is quadratic, so a line search needs no product with W. Only differences of f are
// used: f(x + l d) - f(x) = l <d, g> + l^2/2 <d, A d> stays accurate where f itself has lost its digits. A
// cut goes to the minimum along d, within [sigma_min, sigma_max].
#include <limits>
#include <vector>

#include "gpu/dfcp/solvers/de_saxce.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Scalars of one iteration. P is the preconditioner, or its mean where there is none. alpha is a step in the
/// metric P for every direction, although the fallback's direction is not preconditioned.
struct SpgSums {
  double dg, dAd, dPd, AdPAd;  // <d, g>, <d, A d>, <d, P d>, <A d, P^-1 A d>
  double e2, w2, u2;           // |e|^2, |[x - Pi(x - tau g)] / tau|^2, |u|^2
};

/// The values of f that the line search may rise to, relative to the last value [GLL].
class Memory {
 public:
  explicit Memory(int size) : rise_(static_cast<std::size_t>(size), 0.0) {}
  void clear() { std::fill(rise_.begin(), rise_.end(), 0.0); }
  /// Records a change of f.
  void add(double change) {
    for (double& r : rise_) r = std::max(0.0, r - change);
    if (rise_.size() > 1) {
      std::rotate(rise_.begin(), rise_.end() - 1, rise_.end());
      rise_[0] = std::max(0.0, -change);
    }
  }
  double largest() const { return *std::max_element(rise_.begin(), rise_.end()); }

 private:
  std::vector<double> rise_;
};

/// The arrays of an iteration, per block. Backend memory.
template <int D>
struct SpgArrays {
  const ContactLaw<D>* law;
  const double* scale;           // s_c, for the errors that the judge measures
  const Vec<double, D>* metric;  // P, per row
  Vec<double, D>*x, *u, *d;      // u = W x + q
  const Vec<double, D>* Ad;
};

template <int D>
struct SpgStart {
  SpgArrays<D> at;
  const Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const { at.x[c] = project(at.law[c], r[c]); }
};

/// The entries of P. The projection stays Euclidean in P, since entries differ only between sets. A row that
/// cannot move has no entry of its own.
template <int D>
struct SpgMetric {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  const double* scale;
  Vec<double, D>* metric;

  SS_HD void operator()(std::size_t c) const {
    const bool joint = law[c].set == FrictionSet::bilateral;
    for (int i = 0; i < D; ++i) {
      const double w = diagonal[c](i, i);
      metric[c][i] = joint && w > 1e-300 ? w : scale[c];
    }
  }
};

/// d = Pi(x - alpha P^-1 g) - x, with P or its mean.
template <int D>
struct SpgDirection {
  SpgArrays<D> at;
  const double* shift;
  double alpha, mean;
  bool precondition;

  SS_HD void operator()(std::size_t c) const {
    Vec<double, D> g = at.u[c];
    g[0] += shift[c];
    for (int i = 0; i < D; ++i) g[i] *= alpha / (precondition ? at.metric[c][i] : mean);
    at.d[c] = project(at.law[c], at.x[c] - g) - at.x[c];
  }
};

/// A block's part of SpgSums.
template <int D>
struct SpgMeasure {
  SpgArrays<D> at;
  const double* shift;
  double tau, mean;
  bool preconditioned;

  SS_HD Vec<double, 7> operator()(std::size_t c) const {
    Vec<double, D> g = at.u[c];
    g[0] += shift[c];
    double dPd = 0, AdPAd = 0;
    for (int i = 0; i < D; ++i) {
      const double p = preconditioned ? at.metric[c][i] : mean;
      dPd += p * at.d[c][i] * at.d[c][i];
      AdPAd += at.Ad[c][i] * at.Ad[c][i] / p;
    }
    const double e = convex_error(at.law[c], at.scale[c], at.x[c], at.u[c], shift[c]);
    const double w2 = norm2(at.x[c] - project(at.law[c], at.x[c] - tau * g)) / (tau * tau);
    return Vec<double, 7>{dot(at.d[c], g), dot(at.d[c], at.Ad[c]), dPd, AdPAd, e * e, w2, norm2(at.u[c])};
  }
};

/// x += lambda d, u += lambda A d.
template <int D>
struct SpgMove {
  SpgArrays<D> at;
  double lambda;

  SS_HD void operator()(std::size_t c) const {
    at.x[c] += lambda * at.d[c];
    at.u[c] += lambda * at.Ad[c];
  }
};

template <int D>
class Spg {
 public:
  explicit Spg(System<D>& s)
      : s_(s),
        x_(s.ctx, s.blocks()),
        u_(s.ctx, s.blocks()),
        d_(s.ctx, s.blocks()),
        Ad_(s.ctx, s.blocks()),
        metric_(s.ctx, s.blocks()),
        best_(s.ctx, s.blocks()),
        sums_(s.ctx, 1),
        memory_(s.params.spg_memory) {}

  void start() {
    each(SpgMetric<D>{s_.law, s_.W.diagonal(), s_.W.scale(), metric_.data()});
    each(SpgStart<D>{arrays(), s_.r});
    refresh();
  }
  const Vec<double, D>* r() const { return x_.data(); }
  const Vec<double, D>* u() const { return u_.data(); }

  ConvexEnd run(const double* shift, double target) {
    const LabParams& p = s_.params;
    double alpha = 1, best = 1e29;  // w_0
    bool best_is_here = true;
    memory_.clear();
    refresh();
    for (long j = 0;; ++j) {
      SpgSums m = direction(shift, alpha, p.spg_precondition);
      const ConvexEnd here{std::sqrt(m.e2) / std::max(s_.W.norm_q(), 1e-300)};
      if (here.residual <= target) return here;
      best_is_here = m.w2 <= best;
      if (best_is_here) {
        best = m.w2;
        copy(s_.ctx, best_.data(), x_.data(), s_.blocks());
      }
      if (m.dg >= 0) m = direction(shift, alpha, false);
      if (!(m.dg < 0)) return stalled(here, best_is_here);
      const double lambda = search(m);
      if (!(lambda > 0)) return stalled(here, best_is_here);
      each(SpgMove<D>{arrays(), lambda});
      memory_.add(lambda * (m.dg + 0.5 * lambda * m.dAd));
      alpha = spectral_step(m, j);
      if (j % 64 == 63) refresh();
      if (s_.monitor.done(x_.data())) return over(here, best_is_here);
    }
  }

 private:
  SpgArrays<D> arrays() {
    return {s_.law, s_.W.scale(), metric_.data(), x_.data(), u_.data(), d_.data(), Ad_.data()};
  }

  template <class F>
  void each(const F& f) {
    launch(s_.ctx, s_.blocks(), f, kMedium);
  }

  /// d = Pi(x - alpha P^-1 g) - x and the scalars of the iteration.
  SpgSums direction(const double* shift, double alpha, bool precondition) {
    const double mean = s_.W.mean_diagonal(), tau = s_.params.spg_tau / mean;
    each(SpgDirection<D>{arrays(), shift, alpha, mean, precondition});
    s_.W.apply(s_.ctx, d_.data(), Ad_.data(), false);
    reduce_sum(s_.ctx, s_.blocks(), SpgMeasure<D>{arrays(), shift, tau, mean, s_.params.spg_precondition},
               sums_.data(), kMedium);
    const Vec<double, 7> v = read_back(s_.ctx, sums_.data());
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
  }

  void refresh() { s_.W.apply(s_.ctx, x_.data(), u_.data(), true); }

  /// The fallback: returns the iterate with the least w.
  ConvexEnd over(ConvexEnd end, bool best_is_here) {
    if (!best_is_here && !s_.monitor.converged()) s_.monitor.check(best_.data());
    end.over = true;
    return end;
  }
  ConvexEnd stalled(ConvexEnd end, bool best_is_here) {
    if (!best_is_here) {
      copy(s_.ctx, x_.data(), best_.data(), s_.blocks());
      refresh();
    }
    end.stalled = true;
    return end;
  }

  /// lambda of the non-monotone Armijo search; 0 when it fails.
  double search(const SpgSums& m) const {
    const LabParams& p = s_.params;
    const double allowed = memory_.largest();
    double lambda = 1;
    for (int cut = 0; cut < 1000; ++cut) {
      const double change = lambda * (m.dg + 0.5 * lambda * m.dAd);
      if (change <= allowed + p.spg_gamma * lambda * m.dg) return lambda;
      const double minimum = m.dAd > 0 ? -m.dg / m.dAd : lambda;
      lambda =
          std::clamp(minimum, std::min(p.spg_sigma_min, p.spg_sigma_max) * lambda, p.spg_sigma_max * lambda);
    }
    return 0;
  }

  /// BB1 and BB2 in turn; with s = lambda d and y = lambda A d, lambda cancels.
  double spectral_step(const SpgSums& m, long j) const {
    const LabParams& p = s_.params;
    const double alpha = j % 2 == 1 ? m.dPd / m.dAd : m.dAd / m.AdPAd;
    if (!(m.dAd > 0)) return p.spg_alpha_max;
    return std::min(p.spg_alpha_max, std::max(p.spg_alpha_min, alpha));
  }

  System<D>& s_;
  Buffer<Vec<double, D>> x_, u_, d_, Ad_, metric_, best_;
  Buffer<Vec<double, 7>> sums_;
  Memory memory_;
};

}  // namespace

template <int D>
void solve_spg(System<D>& s) {
  Spg<D> spg(s);
  spg.start();
  solve_by_shifts(s, spg);
}
STICKSLIP_ROLLING_SOLVER(solve_spg)

}  // namespace stickslip::STICKSLIP_BACKEND
