#include "gpu/model/exact_orientation.h"

#include <cmath>
#include <limits>
#include <vector>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// A sum of doubles that do not overlap, the smallest first; empty: zero.
using Expansion = std::vector<double>;

Expansion plus(const Expansion& e, double b) {
  Expansion sum;
  for (const double a : e) {
    const double s = a + b, b_part = s - a, a_part = s - b_part;
    const double error = (a - a_part) + (b - b_part);
    if (error != 0) sum.push_back(error);
    b = s;
  }
  if (b != 0) sum.push_back(b);
  return sum;
}

Expansion plus(Expansion e, const Expansion& f) {
  for (const double b : f) e = plus(e, b);
  return e;
}

Expansion times(const Expansion& e, double b) {
  Expansion product;
  for (const double a : e) {
    const double high = a * b;
    product = plus(plus(product, std::fma(a, b, -high)), high);
  }
  return product;
}

Expansion times(const Expansion& e, const Expansion& f) {
  Expansion product;
  for (const double b : f) product = plus(product, times(e, b));
  return product;
}

Expansion difference(double a, double b) { return plus(plus({}, a), -b); }

Expansion negative(Expansion e) {
  for (double& a : e) a = -a;
  return e;
}

int exact_sign(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p) {
  Expansion u[3], v[3], w[3];
  for (int i = 0; i < 3; ++i) {
    u[i] = difference(b[i], a[i]);
    v[i] = difference(c[i], a[i]);
    w[i] = difference(p[i], a[i]);
  }
  Expansion sum;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum = plus(sum, times(plus(times(u[j], v[k]), negative(times(u[k], v[j]))), w[i]));
  }
  return sum.empty() ? 0 : sum.back() > 0 ? 1 : -1;
}

}  // namespace

int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p) {
  const Vec3d u = b - a, v = c - a, w = p - a;
  double sum = 0, size = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum += (u[j] * v[k] - u[k] * v[j]) * w[i];
    size += (std::abs(u[j] * v[k]) + std::abs(u[k] * v[j])) * std::abs(w[i]);
  }
  // Nine rounded operations lie on the way of each term: twice that bounds their error.
  if (std::abs(sum) > 10 * std::numeric_limits<double>::epsilon() * size) return sum > 0 ? 1 : -1;
  return exact_sign(a, b, c, p);
}

}  // namespace stickslip
