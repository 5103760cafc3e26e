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

/// The arrays of an iteration, per block. Backend memory.
template <int D>
struct AdmmArrays {
  const ContactLaw<D>* law;
  const double* scale;
  Vec<double, D>*v, *g, *z, *r;  // as in the formulas above
  const Vec<double, D>* last_z;
  Vec<double, D>* b;  // of (W + R) r = b
  double* penalty;    // R
};

/// v = z = r = P_K(given): y = 0 at the start. Sets the laws of the mixing too.
template <int D>
struct StartAdmm {
  AdmmArrays<D> at;
  const Vec<double, D>* given;
  ContactLaw<D>* free_law;

  SS_HD void operator()(std::size_t c) const {
    at.z[c] = at.r[c] = at.v[c] = project(at.law[c], given[c]);
    free_law[c] = at.law[c];
    free_law[c].set = FrictionSet::bilateral;
  }
};

/// R = rho diag(s_c), per block and per row. Joints do not need a penalty; a small one keeps W + R regular.
template <int D>
struct WritePenalty {
  AdmmArrays<D> at;
  double rho;
  Vec<double, D>* damping;

  SS_HD void operator()(std::size_t c) const {
    at.penalty[c] = (at.law[c].set == FrictionSet::bilateral ? 1e-3 : 1.0) * rho * at.scale[c];
    damping[c] = Vec<double, D>::filled(at.penalty[c]);
  }
};

/// R of a block.
struct PenaltyInUse {
  const double* penalty;

  SS_HD Vec<float, 2> operator()(std::size_t c) const {
    const auto value = static_cast<float>(penalty[c]);
    return {value, value};
  }
};

/// z = P_K(v), y = v - z, the shift if `exact`, and b = R (z - y) - q - sigma n.
template <int D>
struct SplitIterate {
  AdmmArrays<D> at;
  const Vec<double, D>* q;
  bool exact;

  SS_HD void operator()(std::size_t c) const {
    at.z[c] = project(at.law[c], at.v[c]);
    const Vec<double, D> y = at.v[c] - at.z[c], u = (-at.penalty[c]) * y;
    at.b[c] = at.penalty[c] * (at.z[c] - y) - q[c];
    if (exact) at.b[c][0] -= shifted(at.law[c], u)[0] - u[0];
  }
};

/// Writes g. Returns a block's part of |s_c (g - v)|^2, |s_c (r - z)|^2, |R (z - last z)|^2 and |s_c z|^2.
template <int D>
struct MeasureStep {
  AdmmArrays<D> at;
  double relaxation;

  SS_HD Vec<double, 4> operator()(std::size_t c) const {
    at.g[c] = at.v[c] + relaxation * (at.r[c] - at.z[c]);
    const double weight = at.scale[c] * at.scale[c], lag = norm2(at.r[c] - at.z[c]);
    return Vec<double, 4>{weight * relaxation * relaxation * lag, weight * lag,
                          at.penalty[c] * at.penalty[c] * norm2(at.z[c] - at.last_z[c]),
                          weight * norm2(at.z[c])};
  }
};

/// v = z + factor y: the same velocities under another penalty.
template <int D>
struct ScaleMultiplier {
  AdmmArrays<D> at;
  double factor;

  SS_HD void operator()(std::size_t c) const {
    const Vec<double, D> z = project(at.law[c], at.v[c]);
    at.v[c] = z + factor * (at.v[c] - z);
  }
};

/// A block's part of |e|^2 under the associated law and of |u|^2.
template <int D>
struct AssociatedError {
  AdmmArrays<D> at;
  const Vec<double, D>* u;

  SS_HD Vec<double, 4> operator()(std::size_t c) const {
    const double e = convex_error(at.law[c], at.scale[c], at.z[c], u[c], 0.0);
    return Vec<double, 4>{e * e, norm2(u[c]), 0.0, 0.0};
  }
};

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
    each(StartAdmm<D>{arrays(), s_.r, free_law_.data()});
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

  /// For contact records: R as it is now.
  void note_penalty() { s_.monitor.note_steps(StepKind::penalty, PenaltyInUse{penalty_.data()}); }

 private:
  static constexpr int kMemory = 8;
  static constexpr double kMostImpulse = 1e12;  // in units of the impulses that cancel q
  static constexpr double kWorse = 2;           // largest growth of |g - v| after an extrapolation
  static constexpr int kPlain = 10;             // iterations before the first extrapolation
  static constexpr int kPatience = 20;          // iterations within which |g - v| must halve

  AdmmArrays<D> arrays() {
    return {s_.law,    s_.W.scale(),   v_.data(), g_.data(),      z_.data(),
            r_.data(), last_z_.data(), b_.data(), penalty_.data()};
  }

  template <class F>
  void each(const F& f) {
    launch(s_.ctx, s_.blocks(), f, kMedium);
  }

  bool set_penalty() {
    each(WritePenalty<D>{arrays(), rho_, damping_.data()});
    if (solver_.set(damping_.data())) return true;
    s_.monitor.stop(SolveEnd::stalled, "W + R could not be factorised");
    return false;
  }

  /// z and b from v.
  void split() {
    std::swap(z_, last_z_);
    each(SplitIterate<D>{arrays(), s_.W.q(), shift_.active()});
  }

  /// Computes r and g from v, and |g - v|.
  bool step() {
    // The error of r must stay well below |g - v|, or it would keep |g - v| from shrinking.
    const double tolerance = 1e-2 * std::min(last_length_ * rho_, s_.W.norm_q());
    if (!solver_.solve(b_.data(), r_.data(), std::max(tolerance, 1e-14 * s_.W.norm_q()))) {
      s_.monitor.done(z_.data());
      return false;
    }
    reduce_sum(s_.ctx, s_.blocks(), MeasureStep<D>{arrays(), s_.params.admm_relaxation}, sums_.data(),
               kMedium);
    const Vec<double, 4> sums = read_back(s_.ctx, sums_.data());
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
    each(ScaleMultiplier<D>{arrays(), rho_ / next});
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

  double associated_residual() {
    s_.W.apply(s_.ctx, z_.data(), b_.data(), true);
    reduce_sum(s_.ctx, s_.blocks(), AssociatedError<D>{arrays(), b_.data()}, sums_.data(), kMedium);
    const Vec<double, 4> sums = read_back(s_.ctx, sums_.data());
    return std::sqrt(sums[0]) / std::max(s_.W.norm_q(), 1e-300);
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

}  // namespace

template <int D>
void solve_admm(System<D>& s) {
  Admm<D> admm(s);
  admm.solve();
  admm.note_penalty();
}
STICKSLIP_ROLLING_SOLVER(solve_admm)

}  // namespace stickslip::STICKSLIP_BACKEND
