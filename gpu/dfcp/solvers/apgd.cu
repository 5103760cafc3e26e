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

  void start();
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
      advance(beta);
      if (k % kFresh == kFresh - 1) refresh();
      if (s_.monitor.done(x_.data())) return {here.residual, true, false};
      if (here.residual <= target) return here;
      if (!(m.dPd > 0) && beta == 0) return {here.residual, false, true};
    }
  }

  ApgdSums step(const double* shift);
  void advance(double beta);

 private:
  static constexpr int kUncut = 20;        // steps without a cut before t grows ...
  static constexpr double kGrowth = 1.05;  // ... by this
  static constexpr long kFresh = 64;       // steps after which velocities are recomputed

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

template <int D>
void Apgd<D>::start() {
  Vec<double, D>* x = x_.data();
  const Vec<double, D>* r = s_.r;
  const ContactLaw<D>* law = s_.law;
  launch(
      s_.ctx, s_.blocks(), [=] SS_LAMBDA(std::size_t c) { x[c] = project(law[c], r[c]); }, kMedium);
  rest();
}

/// x+ = y + d and u+ = u_y + A d into `next`.
template <int D>
ApgdSums Apgd<D>::step(const double* shift) {
  Vec<double, D>*d = d_.data(), *next = next_.data(), *next_u = next_u_.data();
  const Vec<double, D>*x = x_.data(), *y = y_.data(), *yu = yu_.data(), *Ad = Ad_.data();
  const ContactLaw<D>* law = s_.law;
  const double *scale = s_.W.scale(), t = t_;
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        Vec<double, D> g = yu[c];
        g[0] += shift[c];
        next[c] = project(law[c], y[c] - (t / scale[c]) * g);
        d[c] = next[c] - y[c];
      },
      kMedium);
  s_.W.apply(s_.ctx, d, Ad_.data(), false);
  reduce_sum(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        Vec<double, D> g = yu[c];
        g[0] += shift[c];
        const Vec<double, D> u = yu[c] + Ad[c];
        next_u[c] = u;
        const double e = convex_error(law[c], scale[c], next[c], u, shift[c]);
        return Vec<double, 5>{scale[c] * norm2(d[c]), dot(d[c], Ad[c]), dot(g, next[c] - x[c]), e * e,
                              norm2(u)};
      },
      sums_.data(), kMedium);
  const Vec<double, 5> v = read_back(s_.ctx, sums_.data());
  return {v[0], v[1], v[2], v[3], v[4]};
}

/// x = x+, y = x+ + beta (x+ - x), and their velocities.
template <int D>
void Apgd<D>::advance(double beta) {
  Vec<double, D>*x = x_.data(), *u = u_.data(), *y = y_.data(), *yu = yu_.data();
  const Vec<double, D>*next = next_.data(), *next_u = next_u_.data();
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        y[c] = next[c] + beta * (next[c] - x[c]);
        yu[c] = next_u[c] + beta * (next_u[c] - u[c]);
        x[c] = next[c];
        u[c] = next_u[c];
      },
      kMedium);
}

}  // namespace

template <int D>
void solve_apgd(System<D>& s) {
  Apgd<D> apgd(s);
  apgd.start();
  solve_by_shifts(s, apgd);
}
STICKSLIP_SOLVER(solve_apgd)

}  // namespace stickslip::STICKSLIP_BACKEND
