// Newton's method on the augmented Lagrangian of Coulomb's law, with updates of the multipliers by Uzawa's
// method [Alart91].
//
// From a centre r_k, block c answers a velocity u with the impulse p_c(u): r_N = max(r_kN - rho_c u_N, 0),
// and r_T the point of the section of radius mu r_N next to r_kT - rho_c u_T, with rho_c = rho / s_c.
// Newton's method finds the velocity that its own answer causes, u = W p(u) + q, and p(u) is the next centre.
// At a fixed point of this the law holds exactly, whatever rho. For finite rho each contact yields a little,
// so the equation is regular where W is not, even far beyond nu = 1. A large rho takes fewer centres, and
// more steps of Newton's method for each, until they fail: for large rho the equation may have no solution
// near by (docs/solvers/newton_al.md).
//
// The equation is solved in the velocities of the bodies where W is given by bodies, which costs the same
// whatever the number of contacts, and else in impulses.
#include <algorithm>
#include <cmath>
#include <optional>

#include "gpu/dfcp/solvers/newton_system.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/dfcp/solvers/velocity_system.cuh"
#include "gpu/law/nonsmooth.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// p(u) of a block.
template <int D>
struct Answer {
  const ContactLaw<D>* law;
  const double* scale;
  const Vec<double, D>* centre;
  double rho;

  /// p(u) [N s], and its slope -dp/du where `slope` is not null.
  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& u, Mat<double, D>* slope) const {
    const double factor = rho / scale[c];
    if (law[c].set == FrictionSet::bilateral) {
      if (slope != nullptr) *slope = factor * Mat<double, D>::identity();
      return centre[c] - factor * u;
    }
    const NonsmoothBlock<D> block = alart_curnier(law[c], centre[c], u, factor, factor);
    if (slope != nullptr) *slope = -1.0 * block.df_du;
    return centre[c] + block.f;
  }
};

/// rho_c of a block.
struct RhoInUse {
  const double* scale;
  double rho;

  SS_HD Vec<float, 2> operator()(std::size_t c) const {
    const auto factor = static_cast<float>(rho / scale[c]);
    return {factor, factor};
  }
};

/// lag = p(u + t W d) - (r + t d), and the slopes there.
template <int D>
struct LagAlong {
  Answer<D> answer;
  const Vec<double, D>*r, *u, *d, *w_d;
  double t;
  Vec<double, D>* lag;
  Mat<double, D>* slope;

  SS_HD void operator()(std::size_t c) const {
    // At t = 0 the direction may not have been written yet.
    const Vec<double, D> velocity = t > 0 ? u[c] + t * w_d[c] : u[c], x = t > 0 ? r[c] + t * d[c] : r[c];
    lag[c] = answer(c, velocity, slope + c) - x;
  }
};

/// The kinetic energy that impulses x would give to bodies at rest, with their velocities W x [J].
template <int D>
struct EnergyOf {
  const Vec<double, D>*x, *w_x;

  SS_HD double operator()(std::size_t c) const { return 0.5 * dot(x[c], w_x[c]); }
};

/// |q|^2 / 2 s_c: the energy that stops each contact alone [J].
template <int D>
struct EnergyOfContact {
  const Vec<double, D>* q;
  const double* scale;

  SS_HD double operator()(std::size_t c) const { return 0.5 * norm2(q[c]) / scale[c]; }
};

template <int D>
struct AdvanceBoth {
  const Vec<double, D>*d, *w_d;
  double t;
  Vec<double, D>*r, *u;

  SS_HD void operator()(std::size_t c) const {
    r[c] += t * d[c];
    u[c] += t * w_d[c];
  }
};

template <int D>
struct MoveCentre {
  Answer<D> answer;
  const Vec<double, D>* u;
  Vec<double, D>* centre;

  SS_HD void operator()(std::size_t c) const { centre[c] = answer(c, u[c], nullptr); }
};

template <int D>
class NewtonAl {
 public:
  explicit NewtonAl(System<D>& s)
      : s_(s),
        centre_(s.ctx, s.blocks()),
        u_(s.ctx, s.blocks()),
        lag_(s.ctx, s.blocks()),
        w_lag_(s.ctx, s.blocks()),
        step_(s.ctx, s.blocks()),
        w_step_(s.ctx, s.blocks()),
        slope_(s.ctx, s.blocks()),
        sum_(s.ctx, 1),
        rho_(s.params.al_rho) {
    if (s.W.factored()) {
      velocities_.emplace(s.ctx, s.W);
    } else {
      NewtonLinearOptions options;
      options.stop = [&s] { return s.monitor.out_of_budget(); };
      impulses_.emplace(s.ctx, s.W, options);
    }
  }

  /// For contact records: rho_c as it is now.
  void note_rho() { s_.monitor.note_steps(StepKind::rho, RhoInUse{s_.W.scale(), rho_}); }

  void run() {
    energy_ = sum_over(EnergyOfContact<D>{s_.W.q(), s_.W.scale()});
    copy(s_.ctx, centre_.data(), s_.r, s_.blocks());
    for (int failures = 0; !s_.monitor.out_of_budget();) {
      copy(s_.ctx, s_.r, centre_.data(), s_.blocks());
      const Minimised result = minimise();
      if (!result.solved && s_.monitor.out_of_budget()) {
        // What was found so far may be the best.
        launch(s_.ctx, s_.blocks(), MoveCentre<D>{answer(), u_.data(), centre_.data()}, kMedium);
        s_.monitor.check(centre_.data());
        return;
      }
      if (result.solved) {
        failures = 0;
        launch(s_.ctx, s_.blocks(), MoveCentre<D>{answer(), u_.data(), centre_.data()}, kMedium);
        if (result.steps <= kFewSteps) rho_ = std::min(kGrowth * rho_, kMostRho);
      } else {
        rho_ *= kCut;
        if (++failures > kMostFailures) {
          s_.monitor.stop(SolveEnd::stalled,
                          "Newton's method fails from the best impulses, however soft contacts are");
          return;
        }
      }
      // `done` counts one, and each step has been counted.
      s_.monitor.count(result.steps > 0 ? -1 : 0);
      // The centre is in its cones.
      s_.W.apply(s_.ctx, centre_.data(), u_.data(), true);
      if (s_.monitor.done(centre_.data(), u_.data())) return;
    }
  }

 private:
  static constexpr long kMostSteps = 25, kFewSteps = 5;
  static constexpr double kGrowth = 1.5, kCut = 0.5, kMostRho = 1e6;
  static constexpr int kMostFailures = 30;
  static constexpr double kLeastLength = 1e-3, kSlope = 1e-3;
  static constexpr double kExact = 1e-12;  // lag that ends Newton's method, as the root of energies
  static constexpr double kEnough = 1e-2;  // the same relative to the best residual, where steps fail

  struct Minimised {
    bool solved;
    long steps;
  };

  Answer<D> answer() const { return {s_.law, s_.W.scale(), centre_.data(), rho_}; }

  template <class F>
  double sum_over(const F& f) {
    double* out = sum_.data();
    reduce_sum(s_.ctx, s_.blocks(), f, out, kMedium);
    return read_back(s_.ctx, out);
  }

  /// Fills lag and slopes at length t along the step. Returns the energy of the lag [J], the merit.
  double lag_along(double t) {
    launch(
        s_.ctx, s_.blocks(),
        LagAlong<D>{answer(), s_.r, u_.data(), step_.data(), w_step_.data(), t, lag_.data(), slope_.data()},
        kMedium);
    s_.W.apply(s_.ctx, lag_.data(), w_lag_.data(), false);
    return sum_over(EnergyOf<D>{lag_.data(), w_lag_.data()});
  }

  /// The step d with (I + C W) d = lag.
  bool find_step() {
    if (velocities_) return velocities_->solve(slope_.data(), lag_.data(), step_.data());
    fill(s_.ctx, impulses_->impulse_blocks(), s_.blocks(), Mat<double, D>::identity());
    copy(s_.ctx, impulses_->velocity_blocks(), slope_.data(), s_.blocks());
    return impulses_->solve({0, 0}, lag_.data(), step_.data());
  }

  /// Newton's method on u = W p(u) + q, from s.r; u_ is its result.
  Minimised minimise() {
    s_.W.apply(s_.ctx, s_.r, u_.data(), true);
    const double residual = std::min(1.0, s_.monitor.best_residual());
    const double exact = kExact * kExact * energy_, enough = std::pow(kEnough * residual, 2) * energy_;
    double merit = lag_along(0);
    long k = 0;
    for (; k < kMostSteps && !s_.monitor.out_of_budget(); ++k) {
      if (k > 0 && merit <= exact) return {true, k};
      s_.monitor.count(1);
      if (!find_step()) return {false, k + 1};
      s_.W.apply(s_.ctx, step_.data(), w_step_.data(), false);
      double t = 1, next = lag_along(t);
      while (!(next <= (1 - kSlope * t) * merit)) {
        t *= 0.5;
        if (t < kLeastLength) return {k > 0 && merit <= enough, k + 1};
        next = lag_along(t);
      }
      launch(s_.ctx, s_.blocks(), AdvanceBoth<D>{step_.data(), w_step_.data(), t, s_.r, u_.data()});
      merit = next;
    }
    return {merit <= enough, k};
  }

  System<D>& s_;
  Buffer<Vec<double, D>> centre_, u_, lag_, w_lag_, step_, w_step_;  // w_x = W x
  Buffer<Mat<double, D>> slope_;
  Buffer<double> sum_;
  std::optional<VelocitySystem<D>> velocities_;
  std::optional<NewtonSystem<D>> impulses_;
  double rho_, energy_ = 0;
};

}  // namespace

template <int D>
void solve_newton_al(System<D>& s) {
  NewtonAl<D> newton(s);
  newton.run();
  newton.note_rho();
}
STICKSLIP_SOLVER(solve_newton_al)

}  // namespace stickslip::STICKSLIP_BACKEND
