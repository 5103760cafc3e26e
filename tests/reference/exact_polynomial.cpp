#include "tests/reference/exact_polynomial.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stickslip::testing {

Dyadic Dyadic::from(double t) {
  int exponent = 0;
  const double mantissa = std::frexp(t, &exponent);
  Dyadic result{mpz_class(std::ldexp(mantissa, 53)), 0};
  exponent -= 53;
  if (exponent >= 0) result.numerator <<= static_cast<unsigned>(exponent);
  else result.level = static_cast<unsigned>(-exponent);
  return result;
}
int compare(const Dyadic& a, const Dyadic& b) {
  const unsigned level = std::max(a.level, b.level);
  return cmp(mpz_class(a.numerator << (level - a.level)), mpz_class(b.numerator << (level - b.level)));
}

Polynomial::Polynomial(std::initializer_list<mpz_class> coefficients) : c_(coefficients) { trim(); }
void Polynomial::trim() {
  while (!c_.empty() && c_.back() == 0) c_.pop_back();
}

int Polynomial::sign_at(const Dyadic& t) const {
  mpz_class value = 0;
  unsigned shift = 0;
  for (int i = degree(); i >= 0; --i, shift += t.level) value = value * t.numerator + (c_[i] << shift);
  return sgn(value);
}

Polynomial Polynomial::derivative() const {
  Polynomial d;
  for (int i = 1; i <= degree(); ++i) d.c_.push_back(c_[i] * i);
  return d;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial sum = a;
  sum.c_.resize(std::max(a.c_.size(), b.c_.size()));
  for (std::size_t i = 0; i < b.c_.size(); ++i) sum.c_[i] += b.c_[i];
  sum.trim();
  return sum;
}
Polynomial operator-(const Polynomial& a, const Polynomial& b) { return a + Polynomial{-1} * b; }
Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  if (a.is_zero() || b.is_zero()) return product;
  product.c_.resize(a.c_.size() + b.c_.size() - 1);
  for (std::size_t i = 0; i < a.c_.size(); ++i)
    for (std::size_t j = 0; j < b.c_.size(); ++j) product.c_[i + j] += a.c_[i] * b.c_[j];
  return product;
}

Polynomial remainder(const Polynomial& a, const Polynomial& b) {
  Polynomial rest = a;
  const mpz_class lead = b.c_.back();
  while (rest.degree() >= b.degree()) {
    const mpz_class factor = rest.c_.back();
    const std::size_t shift = rest.c_.size() - b.c_.size();
    // rest |lead| - factor sign(lead) t^shift b
    for (mpz_class& c : rest.c_) c *= abs(lead);
    for (std::size_t i = 0; i < b.c_.size(); ++i) rest.c_[i + shift] -= factor * sgn(lead) * b.c_[i];
    rest.trim();
  }
  // Divides by the content: smaller numbers, same signs.
  mpz_class content = 0;
  for (const mpz_class& c : rest.c_) content = gcd(content, c);
  if (content > 1)
    for (mpz_class& c : rest.c_) c /= content;
  return rest;
}

Polynomial quotient(Polynomial a, const Polynomial& b) {
  Polynomial result;
  const mpz_class lead = b.c_.back();
  result.c_.resize(a.c_.size() - b.c_.size() + 1);
  for (int i = a.degree() - b.degree(); i >= 0; --i) {
    for (mpz_class& c : a.c_) c *= lead;
    for (mpz_class& c : result.c_) c *= lead;
    const mpz_class factor = a.c_[i + b.degree()] / lead;
    result.c_[i] = factor;
    for (int j = 0; j <= b.degree(); ++j) a.c_[i + j] -= factor * b.c_[j];
  }
  return result;
}

Polynomial greatest_common_divisor(Polynomial a, Polynomial b) {
  while (!b.is_zero()) a = std::exchange(b, remainder(a, b));
  return a;
}

SturmChain::SturmChain(const Polynomial& p) {
  Polynomial before = p, next = p.derivative();
  chain_.push_back(before);
  while (!next.is_zero()) {
    chain_.push_back(next);
    before = std::exchange(next, Polynomial{-1} * remainder(before, next));
  }
}
int SturmChain::variations(const Dyadic& t) const {
  int count = 0, last = 0;
  for (const Polynomial& p : chain_) {
    const int sign = p.sign_at(t);
    if (sign == 0) continue;
    count += sign == -last;
    last = sign;
  }
  return count;
}

Root::Root(Polynomial p, Dyadic low, Dyadic high)
    : p_(std::move(p)), chain_(p_), low_(std::move(low)), high_(std::move(high)) {}

Root Root::zero() { return Root(Polynomial{0, 1}, Dyadic{-1, 0}, Dyadic{0, 0}); }

std::vector<Root> Root::in_unit_interval(const Polynomial& p) {
  std::vector<Root> roots;
  if (p.degree() < 1) return roots;
  const Polynomial repeated = greatest_common_divisor(p, p.derivative());
  const Polynomial simple = repeated.degree() > 0 ? quotient(p, repeated) : p;
  const SturmChain chain(simple);
  // Depth first; the left half is on top of the stack.
  std::vector<std::pair<Dyadic, Dyadic>> open{{Dyadic{0, 0}, Dyadic{1, 0}}};
  while (!open.empty()) {
    auto [low, high] = open.back();
    open.pop_back();
    const int count = chain.roots_in(low, high);
    if (count == 1) roots.push_back(Root(simple, low, high));
    if (count < 2) continue;
    const Dyadic middle{2 * low.numerator + 1, low.level + 1};
    open.push_back({middle, {2 * high.numerator, high.level + 1}});
    open.push_back({{2 * low.numerator, low.level + 1}, middle});
  }
  return roots;
}

void Root::halve() {
  Dyadic middle{low_.numerator + high_.numerator, low_.level + 1};
  if (chain_.roots_in(low_, middle) == 1) {
    high_ = std::move(middle);
    low_ = {2 * low_.numerator, low_.level + 1};
  } else {
    low_ = std::move(middle);
    high_ = {2 * high_.numerator, high_.level + 1};
  }
}

int Root::sign_of(const Polynomial& g) {
  if (g.degree() < 1 || p_.sign_at(high_) == 0) return g.sign_at(high_);
  const Polynomial common = greatest_common_divisor(p_, g);
  if (common.degree() > 0 && SturmChain(common).roots_in(low_, high_) > 0) return 0;
  const Polynomial repeated = greatest_common_divisor(g, g.derivative());
  const SturmChain roots_of_g(repeated.degree() > 0 ? quotient(g, repeated) : g);
  while (roots_of_g.roots_in(low_, high_) > 0) halve();
  return g.sign_at(high_);
}

int Root::compare_to(const Dyadic& t) {
  if (p_.sign_at(high_) == 0) return compare(high_, t);
  while (compare(low_, t) < 0 && compare(t, high_) <= 0) {
    if (p_.sign_at(t) == 0) return 0;
    halve();
  }
  return compare(t, low_) <= 0 ? 1 : -1;
}

}  // namespace stickslip::testing
