// APGD: projected gradient with Nesterov's acceleration [Mazhar15], in the metric P = diag(s_c), which
// compensates mass ratios: x+ = Pi(y - t P^-1 g(y)).
//
// Deviations: a step is cut to the length that the quadratic model gives, t = <d, P d> / <d, A d>,
// not by halving, so a second cut is rare. It grows slowly and not in every iteration, because every
// cut costs a product with W.
#include "gpu/dfcp/solvers/de_saxce.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct ApgdSums {
  double dPd, dAd;  // of d = x+ - y
  double turn;      // <g(y), x+ - x>: positive when the step runs uphill
  double e2, u2;    // |e|^2 and |u|^2 at x+
};

/// The arrays of an iteration, per block. Backend memory.
template <int D>
struct ApgdArrays {
  const ContactLaw<D>* law;
  const double* scale;
  Vec<double, D>*x, *u;          // u = W x + q
  Vec<double, D>*next, *next_u;  // x+ and its u
  Vec<double, D>*y, *yu;         // y and its u
  Vec<double, D>* d;             // x+ - y
  const Vec<double, D>* Ad;
};

template <int D>
struct ApgdStart {
  ApgdArrays<D> at;
  const Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const { at.x[c] = project(at.law[c], r[c]); }
};

/// x+ = y + d.
template <int D>
struct ApgdStep {
  ApgdArrays<D> at;
  const double* shift;
  double t;

  SS_HD void operator()(std::size_t c) const {
    Vec<double, D> g = at.yu[c];
    g[0] += shift[c];
    at.next[c] = project(at.law[c], at.y[c] - (t / at.scale[c]) * g);
    at.d[c] = at.next[c] - at.y[c];
  }
};

/// u+ = u_y + A d. Returns a block's part of ApgdSums.
template <int D>
struct ApgdMeasure {
  ApgdArrays<D> at;
  const double* shift;

  SS_HD Vec<double, 5> operator()(std::size_t c) const {
    Vec<double, D> g = at.yu[c];
    g[0] += shift[c];
    const Vec<double, D> u = at.yu[c] + at.Ad[c];
    at.next_u[c] = u;
    const double e = convex_error(at.law[c], at.scale[c], at.next[c], u, shift[c]);
    return Vec<double, 5>{at.scale[c] * norm2(at.d[c]), dot(at.d[c], at.Ad[c]), dot(g, at.next[c] - at.x[c]),
                          e * e, norm2(u)};
  }
};

/// x = x+, y = x+ + beta (x+ - x), and their velocities.
template <int D>
struct ApgdAdvance {
  ApgdArrays<D> at;
  double beta;

  SS_HD void operator()(std::size_t c) const {
    at.y[c] = at.next[c] + beta * (at.next[c] - at.x[c]);
    at.yu[c] = at.next_u[c] + beta * (at.next_u[c] - at.u[c]);
    at.x[c] = at.next[c];
    at.u[c] = at.next_u[c];
  }
};

template <int D>
class Apgd {
 public:
  explicit Apgd(System<D>& s)
      : s_(s),
        x_(s.ctx, s.blocks()),
        u_(s.ctx, s.blocks()),
        next_(s.ctx, s.blocks()),
        next_u_(s.ctx, s.blocks()),
        y_(s.ctx, s.blocks()),
        yu_(s.ctx, s.blocks()),
        d_(s.ctx, s.blocks()),
        Ad_(s.ctx, s.blocks()),
        sums_(s.ctx, 1) {}

  void start() {
    launch(s_.ctx, s_.blocks(), ApgdStart<D>{arrays(), s_.r}, kMedium);
    rest();
  }
  const Vec<double, D>* r() const { return x_.data(); }
  const Vec<double, D>* u() const { return u_.data(); }

  ConvexEnd run(const double* shift, double target) {
    double theta = 1;
    rest();
    int uncut = 0;
    for (long k = 0;; ++k) {
      ApgdSums m = step(shift);
      // The slack of 1e-9 covers rounding: close to convergence <d, A d> is mostly rounding.
      for (int cut = 0; cut < 50 && m.dAd * t_ > m.dPd * (1 + 1e-9); ++cut) {
        t_ = std::min(0.99 * t_, m.dPd / m.dAd);
        m = step(shift);
        uncut = 0;
      }
      if (++uncut >= kUncut) {
        t_ *= kGrowth;
        uncut = 0;
      }
      const ConvexEnd here{std::sqrt(m.e2) / std::max(s_.W.norm_q(), 1e-300)};
      const double theta2 = theta * theta, next = 0.5 * (theta * std::sqrt(theta2 + 4) - theta2);
      const bool back = s_.params.restart && m.turn > 0;
      const double beta = back ? 0.0 : theta * (1 - theta) / (theta2 + next);
      theta = back ? 1.0 : next;
      launch(s_.ctx, s_.blocks(), ApgdAdvance<D>{arrays(), beta}, kMedium);
      if (k % kFresh == kFresh - 1) refresh();
      if (s_.monitor.done(x_.data())) return {here.residual, true, false};
      if (here.residual <= target) return here;
      if (!(m.dPd > 0) && beta == 0) return {here.residual, false, true};
    }
  }

 private:
  static constexpr int kUncut = 20;        // steps without a cut before t grows ...
  static constexpr double kGrowth = 1.05;  // ... by this
  static constexpr long kFresh = 64;       // steps after which velocities are recomputed

  ApgdArrays<D> arrays() {
    return {s_.law,         s_.W.scale(), x_.data(),  u_.data(), next_.data(),
            next_u_.data(), y_.data(),    yu_.data(), d_.data(), Ad_.data()};
  }

  /// x+ = y + d and u+ = u_y + A d into `next`.
  ApgdSums step(const double* shift) {
    launch(s_.ctx, s_.blocks(), ApgdStep<D>{arrays(), shift, t_}, kMedium);
    s_.W.apply(s_.ctx, d_.data(), Ad_.data(), false);
    reduce_sum(s_.ctx, s_.blocks(), ApgdMeasure<D>{arrays(), shift}, sums_.data(), kMedium);
    const Vec<double, 5> v = read_back(s_.ctx, sums_.data());
    return {v[0], v[1], v[2], v[3], v[4]};
  }

  void refresh() {
    s_.W.apply(s_.ctx, x_.data(), u_.data(), true);
    s_.W.apply(s_.ctx, y_.data(), yu_.data(), true);
  }
  /// Drops the momentum.
  void rest() {
    copy(s_.ctx, y_.data(), x_.data(), s_.blocks());
    refresh();
  }

  System<D>& s_;
  Buffer<Vec<double, D>> x_, u_, next_, next_u_, y_, yu_, d_, Ad_;
  Buffer<Vec<double, 5>> sums_;
  double t_ = 1;  // in units of P^-1: 1 is a Jacobi step
};

}  // namespace

template <int D>
void solve_apgd(System<D>& s) {
  Apgd<D> apgd(s);
  apgd.start();
  solve_by_shifts(s, apgd);
}
STICKSLIP_ROLLING_SOLVER(solve_apgd)

}  // namespace stickslip::STICKSLIP_BACKEND
