// Damped nonsmooth Newton on Phi(r) = f(r, W r + q) = 0, for a function f that is zero when a block obeys its
// law [Bertails11; Course §3.3].
//
// The linear system of an iterate is (B (W + E) + A) d = -f with A = df/dr and B = df/du of each block. E is
// a deviation from the papers: W is singular where contacts outnumber degrees of freedom, and their method
// then breaks down [Bertails11: nu > 1]. With E, steps are Newton's for the proximal-point problem u = W r +
// q + E (r - centre), which has the same solutions once the centre is a solution. The centre moves when the
// merit has dropped tenfold, and E shrinks as long as that takes few steps. `newton_safeguards` = false
// leaves E out, and what follows where damped steps fail.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/dfcp/solvers/newton_system.cuh"
#include "gpu/dfcp/solvers/system.cuh"
#include "gpu/law/natural_map.h"
#include "gpu/law/nonsmooth.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace newton_detail {

/// See NonsmoothNewton::settle.
template <int D>
struct SettleImpulse {
  const ContactLaw<D>* law;
  const double* scale;
  const Vec<double, D>*r, *u;
  Vec<double, D>* settled;

  SS_HD void operator()(std::size_t c) const { settled[c] = settled_impulse(law[c], scale[c], r[c], u[c]); }
};

inline constexpr int kTrials = 4;  // steps whose merits are measured at once
using Merits = Vec<double, kTrials>;

/// A map with an unknown of its own per block, beside the impulse: see NcpMap.
template <class Map>
concept HasInnerUnknown = requires {
  typename Map::InnerUnknown;
};
/// A map whose systems W + E + A are symmetric, with the identity for B.
template <class Map>
concept IsSymmetric = requires {
  typename Map::Symmetric;
};

/// A block's part of the merit at a step of this length from the linearised point, with r and u there.
template <int D, class Map>
SS_HD inline double merit_of(const Map& map, std::size_t c, const Vec<double, D>& r, const Vec<double, D>& u,
                             [[maybe_unused]] double length) {
  if constexpr (requires { map.merit(c, r, u, length); }) return map.merit(c, r, u, length);
  else return 0.5 * norm2(map(c, r, u).f);
}

/// The merit of the linearised point, block by block.
template <int D, class Map>
struct MeritHere {
  Map map;
  const Vec<double, D>*r, *u, *centre;
  const double* scale;
  double proximal;

  SS_HD Merits operator()(std::size_t c) const {
    return Merits{merit_of(map, c, r[c], u[c] + proximal * scale[c] * (r[c] - centre[c]), 0.0)};
  }
};

/// The step of the inner unknown that belongs to d.
template <int D, class Map>
struct InnerStep {
  Map map;
  const Vec<double, D>*r, *u, *d, *w_d, *centre;
  const double* scale;
  double proximal;

  SS_HD void operator()(std::size_t c) const {
    const double e = proximal * scale[c];
    map.find_step(c, r[c], u[c] + e * (r[c] - centre[c]), d[c], w_d[c] + e * d[c]);
  }
};

/// A block's part of the merits of `count` steps along d: length, length / 2, ...
template <int D, class Map>
struct MeritsAlong {
  Map map;
  const Vec<double, D>*r, *u, *d, *w_d, *centre;  // w_d = W d
  const double* scale;
  double proximal, length;
  int count;

  SS_HD Merits operator()(std::size_t c) const {
    Merits m{};
    double t = length;
    for (int i = 0; i < count; ++i, t *= 0.5) {
      const Vec<double, D> x = r[c] + t * d[c];
      m[i] = merit_of(map, c, x, u[c] + t * w_d[c] + proximal * scale[c] * (x - centre[c]), t);
    }
    return m;
  }
};

/// r += length d, and the inner unknown of a map that has one.
template <int D, class Map>
struct StepAlong {
  Map map;
  const Vec<double, D>* d;
  double length;
  Vec<double, D>* r;

  SS_HD void operator()(std::size_t c) const {
    r[c] += length * d[c];
    if constexpr (HasInnerUnknown<Map>) map.move(c, length);
  }
};

}  // namespace newton_detail

/// `Map`: map(c, r_c, u_c) -> NonsmoothBlock<D>, in velocity units so that blocks are commensurate; the merit
/// is |Phi|^2 / 2, or the sum of map.merit(...) where there is one.
template <int D, class Map>
class NonsmoothNewton {
 public:
  NonsmoothNewton(System<D>& s, const Map& map) : NonsmoothNewton(s, map, s.params.newton_linear) {}
  NonsmoothNewton(System<D>& s, const Map& map, NewtonLinear linear)
      : s_(s),
        map_(map),
        system_(s.ctx, s.W,
                {linear, s.params.krylov_tolerance, s.params.krylov_iterations,
                 [&s] { return s.monitor.out_of_budget(); }, newton_detail::IsSymmetric<Map>}),
        u_(s.ctx, s.blocks()),
        residual_(s.ctx, s.blocks()),
        step_(s.ctx, s.blocks()),
        change_(s.ctx, s.blocks()),
        centre_(s.ctx, s.blocks()),
        settled_(s.ctx, s.blocks()),
        settled_u_(s.ctx, s.blocks()),
        merits_(s.ctx, 1) {}

  enum class End { stopped, no_step, no_progress, enough };

  /// Runs until the monitor stops it or steps fail. Where damped steps fail, a few undamped ones may help:
  /// the merit of the cone's functions is nearly flat where friction is huge.
  void run() {
    constexpr int kRounds = 3;
    constexpr long kUndamped = 20, kAll = std::numeric_limits<long>::max();
    End end = iterate(kAll, s_.params.newton_damped);
    const bool retries = s_.params.newton_damped && s_.params.newton_safeguards;
    for (int k = 0; k < kRounds && retries && end != End::stopped; ++k) {
      end = iterate(kUndamped, false);
      if (end != End::stopped) end = iterate(kAll, true);
    }
    if (end == End::no_step) stop_stalled("no step reduces the merit");
    else if (end == End::no_progress) stop_stalled("the residual has not shrunk for many steps");
  }

  /// At most `most` iterations from s.r. Undamped steps may raise the merit, and so leave points
  /// where damped ones are stuck.
  End iterate(long most, bool damped) {
    damped_ = damped;
    proximal_ = s_.params.newton_safeguards ? kFirstProximal : 0;
    since_milestone_ = 0;
    update_velocities();
    recentre();
    for (long k = 0; k < most; ++k) {
      if (!advance()) return End::no_step;
      update_velocities();
      settle();
      if (s_.monitor.done(settled_.data(), settled_u_.data())) return End::stopped;
      if (!makes_progress()) return End::no_progress;
      merit_ = linearise();
      ++inner_;
      // An undamped step belongs to Newton's method itself, a damped step to the proximal problem.
      if (!damped || merit_ <= kInnerDecrease * kInnerDecrease * outer_merit_ || inner_ >= kInnerSteps) {
        adapt(merit_ <= kInnerDecrease * kInnerDecrease * outer_merit_);
        recentre();
      }
    }
    return End::enough;
  }

  // The parts of a linearisation at s.r.

  /// Centres the proximal problem at the current r.
  void recentre() {
    copy(s_.ctx, centre_.data(), s_.r, s_.blocks());
    outer_merit_ = merit_ = linearise();
    inner_ = 0;
  }

  /// u = W r + q.
  void update_velocities() { s_.W.apply(s_.ctx, s_.r, u_.data(), true); }

  /// Fills the system with A, B and -f at (r, u). Returns the merit.
  double linearise() {
    const Map map = map_;
    const Vec<double, D>*r = s_.r, *u = u_.data(), *centre = centre_.data();
    const double* scale = s_.W.scale();
    const double proximal = proximal_;
    Vec<double, D>* minus_f = residual_.data();
    Mat<double, D>*a = system_.impulse_blocks(), *b = system_.velocity_blocks();
    launch(
        s_.ctx, s_.blocks(),
        [=] SS_LAMBDA(std::size_t c) {
          const NonsmoothBlock<D> block = map(c, r[c], u[c] + proximal * scale[c] * (r[c] - centre[c]));
          minus_f[c] = -block.f;
          a[c] = block.df_dr;
          b[c] = block.df_du;
        },
        kMedium);
    reduce_sum(s_.ctx, s_.blocks(), newton_detail::MeritHere<D, Map>{map, r, u, centre, scale, proximal},
               merits_.data(), kMedium);
    return read_back(s_.ctx, merits_.data())[0];
  }

  NewtonSystem<D>& system() { return system_; }
  /// Its right side [m/s], per block. Backend memory.
  const Vec<double, D>* minus_f() const { return residual_.data(); }
  /// E of the system.
  Shift shift() const { return {s_.params.newton_regularisation * s_.W.mean_diagonal(), proximal_}; }

 private:
  static constexpr int kAttempts = 12, kPatience = 60;
  static constexpr int kInnerSteps = 8, kFewSteps = 3;
  static constexpr double kFirstProximal = 1e-2, kInnerDecrease = 0.1;
  static constexpr int kTrials = newton_detail::kTrials;
  using Merits = newton_detail::Merits;

  /// Projects the iterate onto the cones before it is judged and returned. Iterates leave the cones by some
  /// share of the largest impulses: little in velocities (times s_c), but much relative to a small impulse.
  void settle() {
    launch(s_.ctx, s_.blocks(),
           newton_detail::SettleImpulse<D>{s_.law, s_.W.scale(), s_.r, u_.data(), settled_.data()}, kMedium);
    s_.W.apply(s_.ctx, settled_.data(), settled_u_.data(), true);
  }

  /// One step from the linearised r; false when none can be found.
  bool advance() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (s_.monitor.out_of_budget()) return true;
      if (system_.solve(shift(), residual_.data(), step_.data(), forcing())) {
        prepare_step();
        const double length = damped_ ? line_search() : 1.0;
        if (length > 0) {
          move(length);
          return true;
        }
      }
      if (!s_.params.newton_safeguards) return false;
      proximal_ = std::max(10 * proximal_, 1e-6);
      recentre();
    }
    return false;
  }

  /// What follows from the step of r: W times it, where that is used, and the step of an inner unknown.
  void prepare_step() {
    if (damped_ || newton_detail::HasInnerUnknown<Map>)
      s_.W.apply(s_.ctx, step_.data(), change_.data(), false);
    if constexpr (newton_detail::HasInnerUnknown<Map>)
      launch(s_.ctx, s_.blocks(),
             newton_detail::InnerStep<D, Map>{map_, s_.r, u_.data(), step_.data(), change_.data(),
                                              centre_.data(), s_.W.scale(), proximal_},
             kMedium);
  }

  /// The first of 1, 1/2, 1/4, ... that lowers the merit enough; 0 when none of them does.
  double line_search() {
    constexpr double kSlope = 1e-4;
    double length = 1;
    // The full step alone first, since it is accepted near a solution; then four at a time.
    for (int tried = 0; tried <= s_.params.newton_cuts;) {
      const int some = tried == 0 ? 1 : std::min(kTrials, s_.params.newton_cuts + 1 - tried);
      const Merits merits = merits_at(length, some);
      for (int i = 0; i < some; ++i, length *= 0.5)
        if (merits[i] <= (1 - 2 * kSlope * length) * merit_) return length;
      tried += some;
    }
    return 0;
  }

  /// Merits of `count` steps: length, length / 2, ...
  Merits merits_at(double length, int count) {
    Merits* out = merits_.data();
    reduce_sum(s_.ctx, s_.blocks(),
               newton_detail::MeritsAlong<D, Map>{map_, s_.r, u_.data(), step_.data(), change_.data(),
                                                  centre_.data(), s_.W.scale(), proximal_, length, count},
               out, kMedium);
    return read_back(s_.ctx, out);
  }

  void move(double length) {
    launch(s_.ctx, s_.blocks(), newton_detail::StepAlong<D, Map>{map_, step_.data(), length, s_.r});
  }

  /// |Phi| relative to the free velocities.
  double relative_error() const {
    return std::min(1.0, std::sqrt(2 * merit_) / std::max(s_.W.norm_q(), 1e-300));
  }

  /// Far from the solution a Krylov method need not be exact [Eisenstat96].
  double forcing() const { return 0.1 * relative_error(); }

  /// Weakens the proximal term of easy problems and strengthens that of hard ones.
  void adapt(bool solved) {
    if (!s_.params.newton_safeguards) return;
    if (!damped_ || (solved && inner_ <= kFewSteps)) proximal_ = std::max(0.1 * proximal_, 1e-10);
    else if (!solved) proximal_ = std::min(4 * proximal_, 1e3);
  }

  /// True when the best residual has shrunk within the last kPatience iterations.
  bool makes_progress() {
    if (s_.monitor.best_residual() < 0.99 * milestone_) {
      milestone_ = s_.monitor.best_residual();
      since_milestone_ = 0;
    }
    return ++since_milestone_ <= kPatience;
  }

  void stop_stalled(const char* why) {
    s_.monitor.stop(
        SolveEnd::stalled,
        std::string(why) +
            ": W may be singular, as it is with more contact rows than degrees of freedom (nu > 1)");
  }

  System<D>& s_;
  Map map_;
  NewtonSystem<D> system_;
  Buffer<Vec<double, D>> u_, residual_, step_, change_, centre_;  // change_ = W step_
  Buffer<Vec<double, D>> settled_, settled_u_;
  Buffer<Merits> merits_;
  double merit_ = 0, outer_merit_ = 0, proximal_ = kFirstProximal, milestone_ = 1e300;
  int since_milestone_ = 0, inner_ = 0;
  bool damped_ = true;
};

}  // namespace stickslip::STICKSLIP_BACKEND
