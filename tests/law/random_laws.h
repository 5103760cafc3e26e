// Random laws, blocks and vectors for the tests of gpu/law.
#pragma once

#include <random>

#include "gpu/law/contact_law.h"
#include "gpu/math/mat.h"

namespace stickslip::testing {

/// The judge's scale trace(w) / D; 1 for an immovable block.
template <int D>
double block_scale(const Mat<double, D>& w) {
  const double s = trace(w) / D;
  return s > 0 ? s : 1.0;
}

class RandomLaws {
 public:
  explicit RandomLaws(unsigned seed) : rng_(seed) {}

  double normal() { return std::normal_distribution<double>()(rng_); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(rng_); }
  double power(double decades) { return std::pow(10.0, uniform(-decades, decades)); }

  template <int N>
  Vec<double, N> vector() {
    Vec<double, N> v{};
    for (int i = 0; i < N; ++i) v[i] = normal();
    return v;
  }

  /// A law of the given set and rule; coefficients equal, unequal, some or all zero, or from 1e-3 to
  /// `largest_mu`.
  template <int D>
  ContactLaw<D> law(FrictionSet set, FlowRule flow, double largest_mu) {
    ContactLaw<D> law{};
    law.set = set;
    law.flow = flow;
    const int kind = index(8);
    const double common = kind == 0   ? 0.0
                          : kind == 1 ? std::pow(10.0, uniform(-3, std::log10(largest_mu)))
                                      : uniform(0, 1.5);
    for (int i = 0; i < D - 1; ++i) {
      law.mu[i] = common;
      if (kind >= 5) law.mu[i] = uniform(0.05, 1.5);
      if (kind == 6 && index(2) == 0) law.mu[i] = 0;
      if (kind == 7) law.mu[i] = std::pow(10.0, uniform(-3, std::log10(largest_mu)));
    }
    return law;
  }
  template <int D>
  ContactLaw<D> law(double largest_mu) {
    const FrictionSet sets[] = {FrictionSet::ellipsoid, FrictionSet::ellipsoid, FrictionSet::box,
                                FrictionSet::bilateral};
    return law<D>(sets[index(4)], index(2) == 0 ? FlowRule::exact : FlowRule::associated, largest_mu);
  }

  /// Symmetric positive definite: Q diag(1 .. 1/condition) Q'.
  template <int D>
  Mat<double, D> block(double condition) {
    Mat<double, D> w = Mat<double, D>::zero();
    Vec<double, D> basis[D];
    for (int i = 0; i < D; ++i) {
      Vec<double, D> v = vector<D>();
      for (int pass = 0; pass < 2; ++pass)
        for (int j = 0; j < i; ++j) v -= dot(v, basis[j]) * basis[j];
      basis[i] = v / norm(v);
      const double share = i == 0 ? 0.0 : i == 1 ? 1.0 : uniform(0, 1);
      w += std::pow(condition, -share) * outer(basis[i], basis[i]);
    }
    return 0.5 * (w + w.transposed());
  }

 private:
  std::mt19937 rng_;
};

}  // namespace stickslip::testing
