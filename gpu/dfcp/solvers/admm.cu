// ADMM on min 1/2 r' W r + q' r over K, split into r (the quadratic) and z (the cones). The
// penalty is R = rho diag(s_c), scaled by s_c to compensate mass ratios. y is the multiplier in
// units of impulses, u~ = -R y:
//   (W + R) r = R (z - y) - q - sigma n,   g = relaxation r + (1 - relaxation) z + y,
//   z = P_K(g),  y = g - z.
//
// The state is v = z + y alone. So an iteration is a map v -> g, and Anderson mixing extrapolates it.
// De Saxce's shift follows from y in every iteration (`de_saxce_inner` is ignored here). An
// extrapolation after which |g - v
// grows is undone. When |g - v| stops shrinking, the penalty walks through smaller values and back:
// at low curvature the iterates are far from the solution, and the step length is inversely
// proportional to the penalty.
#include <limits>

#include "gpu/dfcp/solvers/anderson.cuh"
#include "gpu/dfcp/solvers/damped_solver.cuh"
#include "gpu/dfcp/solvers/de_saxce.cuh"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <int D>
class Admm {
 public:
  explicit Admm(System<D>& s)
      : s_(s),
        solver_(s),
        shift_(s),
        v_(s.ctx, s.blocks()),
        g_(s.ctx, s.blocks()),
        z_(s.ctx, s.blocks()),
        last_z_(s.ctx, s.blocks()),
        r_(s.ctx, s.blocks()),
        b_(s.ctx, s.blocks()),
        plain_(s.ctx, s.blocks()),
        saved_(s.ctx, s.blocks()),
        penalty_(s.ctx, s.blocks()),
        damping_(s.ctx, s.blocks()),
        free_law_(s.ctx, s.blocks()),
        sums_(s.ctx, 1),
        free_{s.ctx, s.W, free_law_.data(), s.params, s.monitor, s.colouring, s.r},
        mixing_(free_, kMemory) {}

  void solve() {
    rho_ = base_ = s_.params.admm_rho;
    start();
    if (!set_penalty()) return;
    for (long k = 1;; ++k) {
      split();
      if (k > 1 && s_.monitor.done(z_.data())) return;
      if (!step()) return;
      if (!(impulse_ < kMostImpulse * s_.W.norm_q()))
        return s_.monitor.stop(SolveEnd::stalled, "the impulses grow without bounds");
      if (extrapolated_ && length_ > kWorse * last_length_) {
        take_back();
        continue;
      }
      last_length_ = length_;
      if (ended_associated() || (adapt(k) && !set_penalty())) return;
      if (!changed_) extrapolate();
    }
  }

  void start();
  void split();
  void measure(Vec<double, 4>& sums);
  void scale_multiplier(double factor);
  void write_penalty();
  double associated_residual();

 private:
  static constexpr int kMemory = 8;
  static constexpr double kMostImpulse = 1e12;  // in units of the impulses that cancel q
  static constexpr double kWorse = 2;           // largest growth of |g - v| after an extrapolation
  static constexpr int kPlain = 10;             // iterations before the first extrapolation
  static constexpr int kPatience = 20;          // iterations within which |g - v| must halve

  bool set_penalty() {
    write_penalty();
    if (solver_.set(damping_.data())) return true;
    s_.monitor.stop(SolveEnd::stalled, "W + R could not be factorised");
    return false;
  }

  /// Computes r and g from v, and |g - v|.
  bool step() {
    // The error of r must stay well below |g - v|, or it would keep |g - v| from shrinking.
    const double tolerance = 1e-2 * std::min(last_length_ * rho_, s_.W.norm_q());
    if (!solver_.solve(b_.data(), r_.data(), std::max(tolerance, 1e-14 * s_.W.norm_q()))) {
      s_.monitor.done(z_.data());
      return false;
    }
    Vec<double, 4> sums;
    measure(sums);
    length_ = std::sqrt(sums[0]);
    primal_ = std::sqrt(sums[1]);
    dual_ = std::sqrt(sums[2]);
    impulse_ = std::sqrt(sums[3]);
    return true;
  }

  void take_back() {
    std::swap(v_, plain_);
    mixing_.restart();
    extrapolated_ = false;
  }

  void extrapolate() {
    extrapolated_ = false;
    if (plain_left_ > 0) {
      --plain_left_;
    } else {
      copy(s_.ctx, plain_.data(), g_.data(), s_.blocks());
      mixing_.mix(v_.data(), g_.data());
      extrapolated_ = true;
    }
    std::swap(v_, g_);
  }

  /// Chooses rho. True when it changed; v is then rescaled.
  bool adapt(long k) {
    changed_ = false;
    if (length_ < 0.5 * milestone_) {
      milestone_ = length_;
      since_ = 0;
    } else {
      ++since_;
    }
    double next = rho_;
    const bool adaptive = s_.params.admm_adaptive;
    if (adaptive && k == kPlain && dual_ > 0 && primal_ > 0) {
      const double ratio = primal_ / dual_;
      if (ratio > kImbalance * kImbalance) next = kBalance * rho_;
      if (ratio < 1 / (kImbalance * kImbalance)) next = rho_ / kBalance;
      base_ = next;
    }
    if (since_ >= (walk_ == 0 ? patience_ : kPatience)) {
      since_ = 0;
      milestone_ = length_;
      plain_left_ = kPatience / 2;
      mixing_.restart();
      if (adaptive) next = walk();
    }
    if (next == rho_) return false;
    scale_multiplier(rho_ / next);
    rho_ = next;
    milestone_ = last_length_ = std::numeric_limits<double>::infinity();
    extrapolated_ = false;
    mixing_.restart();
    changed_ = true;
    return true;
  }

  /// The next penalty when progress stalls: base, base / 16, base, base / 16, base / 256, base, ... A walk
  /// that did not help is undone, and the wait before the next one doubles.
  double walk() {
    if (walk_ == 0) {
      if (length_ < 0.7 * base_length_) {
        patience_ = kPatience;
      } else {
        patience_ *= 2;
        if (length_ > base_length_) copy(s_.ctx, v_.data(), saved_.data(), s_.blocks());
      }
      if (length_ <= base_length_) {
        base_length_ = length_;
        copy(s_.ctx, saved_.data(), v_.data(), s_.blocks());
      }
    }
    if (++walk_ > depth_) {
      walk_ = 0;
      depth_ = std::min(depth_ + 1, kDeepest);
    }
    return base_ * std::pow(16.0, -walk_);
  }

  /// True when only the associated law was requested (`de_saxce` off) and it is solved.
  bool ended_associated() {
    const double tolerance = s_.monitor.limits().tolerance;
    if (s_.params.de_saxce || !shift_.exact() || length_ > tolerance * s_.W.norm_q()) return false;
    const double residual = associated_residual();
    if (!(residual <= tolerance)) return false;
    s_.monitor.check(z_.data());
    if (!s_.monitor.converged()) s_.monitor.stop(SolveEnd::stalled, associated_message(residual));
    return true;
  }

  static constexpr double kImbalance = 3, kBalance = 4;
  static constexpr int kDeepest = 5;

  System<D>& s_;
  DampedSolver<D> solver_;
  DeSaxce<D> shift_;
  Buffer<Vec<double, D>> v_, g_, z_, last_z_, r_, b_, plain_, saved_;
  Buffer<double> penalty_;          // R per block
  Buffer<Vec<double, D>> damping_;  // the same per row
  Buffer<ContactLaw<D>> free_law_;  // for mixing: v lies in no cone, so nothing is projected
  Buffer<Vec<double, 4>> sums_;
  System<D> free_;
  Anderson<D> mixing_;
  double rho_ = 1, base_ = 1;
  // |s_c (g - v)|, |s_c (r - z)|, |R (z - last z)| and |s_c z| [m/s]
  double length_ = 0, last_length_ = std::numeric_limits<double>::infinity(), primal_ = 0, dual_ = 0,
         impulse_ = 0;
  double base_length_ = std::numeric_limits<double>::infinity();  // length_ when the last walk began
  double milestone_ = std::numeric_limits<double>::infinity();
  int since_ = 0, plain_left_ = kPlain, walk_ = 0, depth_ = 1, patience_ = kPatience;
  bool extrapolated_ = false, changed_ = false;
};

/// v = P_K(r0): y = 0 at the start.
template <int D>
void Admm<D>::start() {
  Vec<double, D>*v = v_.data(), *r = r_.data(), *z = z_.data();
  const Vec<double, D>* given = s_.r;
  const ContactLaw<D>* law = s_.law;
  ContactLaw<D>* free_law = free_law_.data();
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        z[c] = r[c] = v[c] = project(law[c], given[c]);
        free_law[c] = law[c];
        free_law[c].set = FrictionSet::bilateral;
      },
      kMedium);
}

/// R per block. Joints do not need a penalty; a small one keeps W + R regular.
template <int D>
void Admm<D>::write_penalty() {
  double* penalty = penalty_.data();
  Vec<double, D>* damping = damping_.data();
  const double *scale = s_.W.scale(), rho = rho_;
  const ContactLaw<D>* law = s_.law;
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        penalty[c] = (law[c].set == FrictionSet::bilateral ? 1e-3 : 1.0) * rho * scale[c];
        damping[c] = Vec<double, D>::filled(penalty[c]);
      },
      kMedium);
}

/// z = P_K(v), y = v - z, the shift, and b = R (z - y) - q - sigma n.
template <int D>
void Admm<D>::split() {
  std::swap(z_, last_z_);
  Vec<double, D>*z = z_.data(), *b = b_.data();
  const Vec<double, D>*v = v_.data(), *q = s_.W.q();
  const double* penalty = penalty_.data();
  const ContactLaw<D>* law = s_.law;
  const bool exact = shift_.active();
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        z[c] = project(law[c], v[c]);
        const Vec<double, D> y = v[c] - z[c], u = (-penalty[c]) * y;
        b[c] = penalty[c] * (z[c] - y) - q[c];
        if (exact) b[c][0] -= shifted(law[c], u)[0] - u[0];
      },
      kMedium);
}

template <int D>
void Admm<D>::measure(Vec<double, 4>& sums) {
  Vec<double, D>* g = g_.data();
  const Vec<double, D>*v = v_.data(), *z = z_.data(), *last_z = last_z_.data(), *r = r_.data();
  const double *scale = s_.W.scale(), *penalty = penalty_.data();
  const double relaxation = s_.params.admm_relaxation;
  reduce_sum(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        g[c] = v[c] + relaxation * (r[c] - z[c]);
        const double weight = scale[c] * scale[c], lag = norm2(r[c] - z[c]);
        return Vec<double, 4>{weight * relaxation * relaxation * lag, weight * lag,
                              penalty[c] * penalty[c] * norm2(z[c] - last_z[c]), weight * norm2(z[c])};
      },
      sums_.data(), kMedium);
  sums = read_back(s_.ctx, sums_.data());
}

/// v = z + factor y: the same velocities under another penalty.
template <int D>
void Admm<D>::scale_multiplier(double factor) {
  Vec<double, D>* v = v_.data();
  const ContactLaw<D>* law = s_.law;
  launch(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        const Vec<double, D> z = project(law[c], v[c]);
        v[c] = z + factor * (v[c] - z);
      },
      kMedium);
}

template <int D>
double Admm<D>::associated_residual() {
  s_.W.apply(s_.ctx, z_.data(), b_.data(), true);
  const Vec<double, D>*z = z_.data(), *u = b_.data();
  const double* scale = s_.W.scale();
  const ContactLaw<D>* law = s_.law;
  reduce_sum(
      s_.ctx, s_.blocks(),
      [=] SS_LAMBDA(std::size_t c) {
        const double e = convex_error(law[c], scale[c], z[c], u[c], 0.0);
        return Vec<double, 4>{e * e, norm2(u[c]), 0.0, 0.0};
      },
      sums_.data(), kMedium);
  const Vec<double, 4> sums = read_back(s_.ctx, sums_.data());
  return std::sqrt(sums[0]) / std::max(s_.W.norm_q(), 1e-300);
}

}  // namespace

template <int D>
void solve_admm(System<D>& s) {
  Admm<D> admm(s);
  admm.solve();
}
STICKSLIP_SOLVER(solve_admm)

}  // namespace stickslip::STICKSLIP_BACKEND
