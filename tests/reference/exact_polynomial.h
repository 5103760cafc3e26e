// Exact polynomials with integer coefficients, and their real roots.
#pragma once

#include <gmpxx.h>

#include <vector>

namespace stickslip::testing {

/// numerator / 2^level.
struct Dyadic {
  mpz_class numerator;
  unsigned level;

  /// Exactly `t`, which must be finite and not negative.
  static Dyadic from(double t);
};
int compare(const Dyadic& a, const Dyadic& b);

/// Coefficients from the constant upwards, without leading zeros; empty: zero.
class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(std::initializer_list<mpz_class> coefficients);

  bool is_zero() const { return c_.empty(); }
  int degree() const { return static_cast<int>(c_.size()) - 1; }  // -1 for zero
  int sign_at(const Dyadic& t) const;
  Polynomial derivative() const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  /// A positive multiple of the remainder of a / b.
  friend Polynomial remainder(const Polynomial& a, const Polynomial& b);
  /// A multiple of the quotient a / b; the division must be exact.
  friend Polynomial quotient(Polynomial a, const Polynomial& b);

 private:
  void trim();
  std::vector<mpz_class> c_;
};

Polynomial greatest_common_divisor(Polynomial a, Polynomial b);

/// Counts distinct roots by sign variations [Sturm1829].
class SturmChain {
 public:
  explicit SturmChain(const Polynomial& p);
  /// The number of distinct roots in (a, b], for a polynomial without multiple roots.
  int roots_in(const Dyadic& a, const Dyadic& b) const { return variations(a) - variations(b); }

 private:
  int variations(const Dyadic& t) const;
  std::vector<Polynomial> chain_;
};

/// One real root of a polynomial without multiple roots, isolated in an interval (low, high].
class Root {
 public:
  /// All distinct roots of p (nonzero) in (0, 1], in ascending order.
  static std::vector<Root> in_unit_interval(const Polynomial& p);
  static Root zero();

  /// The sign of g at the root.
  int sign_of(const Polynomial& g);
  /// The sign of root - t.
  int compare_to(const Dyadic& t);

 private:
  Root(Polynomial p, Dyadic low, Dyadic high);
  void halve();
  Polynomial p_;
  SturmChain chain_;
  Dyadic low_, high_;
};

}  // namespace stickslip::testing
