#include "gpu/dfcp/solvers/infeasible.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/damped_solver.cuh"
#include "gpu/dfcp/solvers/sweep.cuh"
#include "gpu/law/local_solve.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Inactive rows get this much on the diagonal, in units of s_c; a true z does not move them anyway ...
constexpr double kOff = 1e6;
/// ... and W is shifted by this much for the projection onto its null space.
constexpr double kShift = 1e-10;
constexpr double kMargin = 1e10;

/// The exact step of one block in the normal problem.
template <int D>
struct NormalUpdate {
  const ContactLaw<D>* law;
  const Mat<double, D>* diagonal;
  SS_HD bool skip(std::size_t) const { return false; }
  SS_HD Vec<double, D> operator()(std::size_t c, const Vec<double, D>& z, const Vec<double, D>& u) const {
    const Mat<double, D>& w = diagonal[c];
    if (law[c].set == FrictionSet::bilateral) return local_solve(law[c], w, u - w * z);
    Vec<double, D> next = Vec<double, D>::zero();
    // For an immovable block any z is a solution.
    const double n = w(0, 0) > 0 ? z[0] - u[0] / w(0, 0) : z[0] - u[0];
    next[0] = n > 0 ? n : 0.0;
    return next;
  }
};

/// The part of x allowed in a certificate.
template <int D>
SS_HD Vec<double, D> normal_part(const ContactLaw<D>& law, Vec<double, D> x) {
  if (law.set == FrictionSet::bilateral) return x;
  for (int i = 1; i < D; ++i) x[i] = 0;
  if (!(x[0] > 0)) x[0] = 0;
  return x;
}

/// The arrays of a search, per block. Backend memory.
template <int D>
struct CertificateArrays {
  const ContactLaw<D>* law;
  const double* scale;
  const Vec<double, D>* q;
  Vec<double, D>*z, *before;  // of the sweeps, now and some sweeps ago
  Vec<double, D>* trial;      // the candidate for a certificate
  Vec<double, D>* image;      // W trial; the right side of a projection
  Vec<double, D>* damping;

  SS_HD bool joint(std::size_t c) const { return law[c].set == FrictionSet::bilateral; }
};

/// Initial z and trial: the normal part of r, or unit impulses in all blocks.
template <int D>
struct BeginSearch {
  CertificateArrays<D> at;
  const Vec<double, D>* r;
  bool all;

  SS_HD void operator()(std::size_t c) const {
    at.z[c] = at.trial[c] = normal_part(at.law[c], all ? Vec<double, D>::filled(1.0) : r[c]);
  }
};

/// A block's part of |z - before|^2 and |q|^2 in the norms in which both are energies.
template <int D>
struct ChangeOfSweeps {
  CertificateArrays<D> at;

  SS_HD Vec<double, 4> operator()(std::size_t c) const {
    return Vec<double, 4>{at.scale[c] * norm2(at.z[c] - at.before[c]), norm2(at.q[c]) / at.scale[c], 0.0,
                          0.0};
  }
};

/// trial = the change by the sweeps.
template <int D>
struct TryChange {
  CertificateArrays<D> at;

  SS_HD void operator()(std::size_t c) const { at.trial[c] = normal_part(at.law[c], at.z[c] - at.before[c]); }
};

/// A block's part of q . trial, |W trial|^2, |q|^2 and |trial|^2.
template <int D>
struct CertificateSums {
  CertificateArrays<D> at;

  SS_HD Vec<double, 4> operator()(std::size_t c) const {
    return Vec<double, 4>{dot(at.q[c], at.trial[c]), norm2(at.image[c]) / at.scale[c],
                          norm2(at.q[c]) / at.scale[c], at.scale[c] * norm2(at.trial[c])};
  }
};

/// Activates the normal rows of blocks with z_N > 0, and all rows of joints.
template <int D>
struct SwitchRows {
  CertificateArrays<D> at;

  SS_HD void operator()(std::size_t c) const {
    const bool joint = at.joint(c);
    for (int i = 0; i < D; ++i)
      at.damping[c][i] = (joint || (i == 0 && at.z[c][0] > 0) ? kShift : kOff) * at.scale[c];
  }
};

/// The right side of a projection on the active rows: -x at first, R x later.
template <int D>
struct ActiveRows {
  CertificateArrays<D> at;
  const Vec<double, D>* x;
  bool first;

  SS_HD void operator()(std::size_t c) const {
    for (int i = 0; i < D; ++i) {
      const double weight = first ? -1.0 : at.damping[c][i];
      at.image[c][i] = at.damping[c][i] < at.scale[c] ? weight * x[c][i] : 0.0;
    }
  }
};

/// Reduces trial to the part allowed in a certificate; clears z in blocks where trial has no push.
template <int D>
struct ClipTrial {
  CertificateArrays<D> at;

  SS_HD void operator()(std::size_t c) const {
    at.trial[c] = normal_part(at.law[c], at.trial[c]);
    if (!at.joint(c) && !(at.trial[c][0] > 0)) at.z[c][0] = 0;
  }
};

template <int D>
class Certifier {
 public:
  explicit Certifier(System<D>& s)
      : s_(s),
        z_(s.ctx, s.blocks()),
        before_(s.ctx, s.blocks()),
        trial_(s.ctx, s.blocks()),
        image_(s.ctx, s.blocks()),
        damping_(s.ctx, s.blocks()),
        sums_(s.ctx, 1),
        deadline_(s.monitor.seconds() + std::max(s.monitor.seconds(), kGranted)) {}

  bool search(const Vec<double, D>* r, long effort) {
    constexpr int kRound = 50;
    each(BeginSearch<D>{arrays(), r, false});
    if (accepted() || polished()) return true;
    each(BeginSearch<D>{arrays(), r, true});
    if (polished()) return true;
    each(BeginSearch<D>{arrays(), r, false});
    // For many blocks the search is expensive: keep it short when the impulses did not even grow.
    const bool dear = s_.blocks() > kFewBlocks && growth_ < kGrown;
    const long sweeps =
        dear ? kRound : std::clamp(effort / static_cast<long>(s_.blocks()), 2L * kRound, 100L * kRound);
    Sweeper<D> sweeper(s_);
    const NormalUpdate<D> update{s_.law, s_.W.diagonal()};
    for (long done = 0, next = kRound; done < sweeps;) {
      copy(s_.ctx, before_.data(), z_.data(), s_.blocks());
      sweeper.refresh(z_.data());
      for (int k = 0; k < kRound; ++k) {
        if (k % kAsk == 0 && over()) return false;
        sweeper.run(z_.data(), update, k % 2 == 1);
      }
      done += kRound;
      if (stands_still()) return false;  // the normal problem has a solution: no certificate
      each(TryChange<D>{arrays()});      // in the long run the change is parallel to z
      if (accepted()) return true;
      if (done < next) continue;
      next *= 8;
      if (polished()) return true;
    }
    return false;
  }

  const Vec<double, D>* z() const { return trial_.data(); }

 private:
  CertificateArrays<D> arrays() {
    return {s_.law,         s_.W.scale(),  s_.W.q(),      z_.data(),
            before_.data(), trial_.data(), image_.data(), damping_.data()};
  }

  template <class F>
  void each(const F& f) {
    launch(s_.ctx, s_.blocks(), f, kMedium);
  }

  /// True when the sweeps changed z negligibly.
  bool stands_still() {
    reduce_sum(s_.ctx, s_.blocks(), ChangeOfSweeps<D>{arrays()}, sums_.data(), kMedium);
    const Vec<double, 4> v = read_back(s_.ctx, sums_.data());
    return v[0] <= 1e-24 * v[1];
  }

  /// True when trial is a certificate.
  bool accepted() {
    s_.W.apply(s_.ctx, trial_.data(), image_.data(), false);
    reduce_sum(s_.ctx, s_.blocks(), CertificateSums<D>{arrays()}, sums_.data(), kMedium);
    const Vec<double, 4> v = read_back(s_.ctx, sums_.data());
    // q . z is accurate only to the rounding of its terms.
    growth_ = std::sqrt(v[3] / v[2]);
    const double gain = -v[0], noise = 1e-12 * std::sqrt(v[2] * v[3]);
    return gain > noise && gain >= kMargin * std::sqrt(v[1] * v[2]);
  }

  /// trial = (W + R)^-1 b on the active rows. R is negligible for them in the null space of W and suppresses
  /// the rest: b = -q at first, R x later.
  void project_out(const Vec<double, D>* x, bool first) {
    each(ActiveRows<D>{arrays(), x, first});
    solver_->solve(image_.data(), trial_.data(), 0.0);
  }

  /// trial = the projection of -q onto the null space of W between the blocks with z_N >
  /// 0. False if not available.
  bool polished() {
    if (s_.blocks() > kMostBlocks || s_.W.factored() || over()) return false;
    if (!solver_) solver_ = std::make_unique<DampedSolver<D>>(s_);
    if (!solver_->direct()) return false;
    // Blocks for which the projection has a tensile impulse are excluded.
    for (int round = 0; round < 4 && !over(); ++round) {
      each(SwitchRows<D>{arrays()});
      if (!solver_->set(damping_.data())) return false;
      project_out(s_.W.q(), true);
      project_out(trial_.data(), false);
      project_out(trial_.data(), false);
      each(ClipTrial<D>{arrays()});
      if (accepted()) return true;
    }
    return false;
  }

  /// True when the certificate search has taken as long as the solve.
  bool over() {
    const std::atomic<bool>* cancel = s_.monitor.limits().cancel;
    return s_.monitor.seconds() > deadline_ || (cancel != nullptr && cancel->load(std::memory_order_relaxed));
  }

  static constexpr double kGranted = 1;  // minimum time [s]
  static constexpr int kAsk = 8;         // sweeps between two checks of the time
  static constexpr std::size_t kFewBlocks = 1000, kMostBlocks = 5000;
  static constexpr double kGrown = 1000;

  System<D>& s_;
  double growth_ = 0;  // the current impulses relative to those that cancel q, at the last trial
  std::unique_ptr<DampedSolver<D>> solver_;
  Buffer<Vec<double, D>> z_, before_, trial_, image_, damping_;
  Buffer<Vec<double, 4>> sums_;
  double deadline_;  // [s] on the monitor's clock
};

/// Names the worst block, and the violation that some block must have.
template <int D>
void describe(System<D>& s, const std::vector<Vec<double, D>>& z, const Vec<double, D>* r,
              Infeasibility& found) {
  Buffer<Vec<double, D>> velocity(s.ctx, s.blocks());
  s.W.apply(s.ctx, r, velocity.data(), true);
  const std::vector<Vec<double, D>> u = velocity.download(s.ctx);
  std::vector<Vec<double, D>> q(s.blocks());
  copy_to_host(s.ctx, q.data(), s.W.q(), q.size());
  double gain = 0, length = 0, most = 0, worst = -1;
  for (std::size_t c = 0; c < z.size(); ++c)
    for (int i = 0; i < D; ++i) most = std::max(most, std::fabs(z[c][i]));
  for (std::size_t c = 0; c < z.size(); ++c) {
    double size = 0, off = 0;
    for (int i = 0; i < D; ++i) {
      gain -= q[c][i] * z[c][i];
      size += std::fabs(z[c][i]);
      if (z[c][i] != 0) off -= z[c][i] > 0 ? u[c][i] : -u[c][i];
    }
    length += size;
    if (size <= 1e-6 * most) continue;
    ++found.blocks;
    if (off <= worst) continue;
    worst = off;
    found.block = c;
  }
  found.velocity = gain / length;
  char text[256];
  std::snprintf(
      text, sizeof text,
      "infeasible: %zu blocks push against each other, and whatever the impulses one of them is off by %.3g "
      "m/s or more (block %zu by %.3g m/s here)",
      found.blocks, found.velocity, found.block, std::max(worst, 0.0));
  found.message = text;
}

}  // namespace

template <int D>
Infeasibility certify_infeasible(System<D>& s, const Vec<double, D>* r, long effort) {
  Infeasibility result;
  if (s.blocks() == 0 || !(s.W.norm_q() > 0)) return result;
  Certifier<D> certifier(s);
  if (!certifier.search(r, effort)) return result;
  result.found = true;
  std::vector<Vec<double, D>> z(s.blocks());
  copy_to_host(s.ctx, z.data(), certifier.z(), z.size());
  describe(s, z, r, result);
  return result;
}

template Infeasibility certify_infeasible(System<3>&, const Vec<double, 3>*, long);
template Infeasibility certify_infeasible(System<4>&, const Vec<double, 4>*, long);
template Infeasibility certify_infeasible(System<5>&, const Vec<double, 5>*, long);

}  // namespace stickslip::STICKSLIP_BACKEND
