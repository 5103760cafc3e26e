// ContractionTest: ends a projection method by a merit of its iterates [Course §3.2.1 Alg.7].
#pragma once

#include <cmath>
#include <cstdio>
#include <limits>

#include "gpu/core/reduce.h"
#include "gpu/dfcp/solvers/system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace contraction_detail {

/// The larger of each of two numbers.
struct Larger {
  SS_HD Vec<double, 2> operator()(const Vec<double, 2>& a, const Vec<double, 2>& b) const {
    return {a[0] < b[0] ? b[0] : a[0], a[1] < b[1] ? b[1] : a[1]};
  }
};

/// Of a block: the largest change since `before`, or without that the largest impulse, as printed without the
/// absolute value; and the largest |r_i|.
template <int D>
struct MeasureBlock {
  const Vec<double, D>*r, *before;

  SS_HD Vec<double, 2> operator()(std::size_t c) const {
    Vec<double, 2> size{0.0, 0.0};
    for (int i = 0; i < D; ++i) {
      const double x = before != nullptr ? std::fabs(r[c][i] - before[c][i]) : r[c][i];
      size[0] = size[0] < x ? x : size[0];
      size[1] = size[1] < std::fabs(r[c][i]) ? std::fabs(r[c][i]) : size[1];
    }
    return size;
  }
};

}  // namespace contraction_detail

/// The merit of an iterate is the largest change of an impulse in a sweep (`contraction_test = change`),
/// which tends to zero where sweeps contract, or, as printed, the largest impulse. In both, a merit above the
/// one before counts as divergence. `change` ends when the merit is below `contraction_threshold` times the
/// largest impulse. The printed test compares (merit - before) / before without the absolute value that it
/// needs: whatever does not grow is below any threshold, so that it ends at the second sweep, or at the first
/// with a smaller merit.
///
/// It says why it ended; whether the iterate solves the problem is for the judge to say. One host read a
/// sweep.
template <int D>
class ContractionTest {
 public:
  explicit ContractionTest(System<D>& s) : s_(s) {
    if (off()) return;
    sizes_.resize(s.ctx, 1);
    if (s.params.contraction_test == Kind::change) {
      before_.resize(s.ctx, s.blocks());
      copy(s.ctx, before_.data(), s.r, s.blocks());
    }
  }

  /// To be called after every sweep that the monitor did not end; true: stop, the monitor has the reason.
  bool ended(const Vec<double, D>* r) {
    if (off() || s_.blocks() == 0) return false;
    const double last = merit_;
    const Vec<double, 2> sizes = measure(r);
    merit_ = sizes[0];
    if (merit_ > last) return stop("diverges", last);
    const bool printed = s_.params.contraction_test == Kind::printed;
    const bool settled = printed ? (merit_ - last) / last < s_.params.contraction_threshold
                                 : merit_ <= s_.params.contraction_threshold * sizes[1];
    return settled && stop("has settled", last);
  }

 private:
  using Kind = stickslip::ContractionTest;
  bool off() const { return s_.params.contraction_test == Kind::off; }

  /// The merit, and the largest |r_i|.
  Vec<double, 2> measure(const Vec<double, D>* r) {
    const bool printed = s_.params.contraction_test == Kind::printed;
    reduce(s_.ctx, s_.blocks(), contraction_detail::MeasureBlock<D>{r, printed ? nullptr : before_.data()},
           contraction_detail::Larger{}, Vec<double, 2>{0.0, 0.0}, sizes_.data());
    if (!printed) copy(s_.ctx, before_.data(), r, s_.blocks());
    return read_back(s_.ctx, sizes_.data());
  }

  bool stop(const char* verdict, double last) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the test for contraction says that it %s: the merit went from %.3g to %.3g", verdict, last,
                  merit_);
    s_.monitor.check(s_.r);
    s_.monitor.stop(SolveEnd::stalled, text);
    return true;
  }

  System<D>& s_;
  Buffer<Vec<double, D>> before_;
  Buffer<Vec<double, 2>> sizes_;
  double merit_ = std::numeric_limits<double>::infinity();
};

}  // namespace stickslip::STICKSLIP_BACKEND
