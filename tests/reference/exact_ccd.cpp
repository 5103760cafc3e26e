#include "tests/reference/exact_ccd.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip::testing {
namespace {

/// The exponent of the last bit of x.
int last_bit(double x) {
  if (x == 0) return std::numeric_limits<int>::max();
  int exponent = 0;
  const mpz_class mantissa(std::ldexp(std::frexp(x, &exponent), 53));
  return exponent - 53 + static_cast<int>(mpz_scan1(mantissa.get_mpz_t(), 0));
}
/// x 2^-exponent, which is whole.
mpz_class scaled(double x, int exponent) {
  int own = 0;
  mpz_class mantissa(std::ldexp(std::frexp(x, &own), 53));
  own -= 53 + exponent;
  if (own >= 0) mantissa <<= static_cast<unsigned>(own);
  else mantissa >>= static_cast<unsigned>(-own);
  return mantissa;
}
ExactMotion scaled_motion(const Vec<double, 3> (&x)[4], const Vec<double, 3> (&y)[4]) {
  int unit = std::numeric_limits<int>::max();
  for (int i = 0; i < 4; ++i)
    for (int a = 0; a < 3; ++a) unit = std::min({unit, last_bit(x[i][a]), last_bit(y[i][a])});
  if (unit == std::numeric_limits<int>::max()) unit = 0;
  ExactMotion motion;
  for (int i = 0; i < 4; ++i)
    for (int a = 0; a < 3; ++a) {
      motion.x[i][a] = scaled(x[i][a], unit);
      motion.p[i][a] = scaled(y[i][a], unit);
    }
  return motion;
}

/// The polynomials of the corners of a motion.
class Corners {
 public:
  explicit Corners(const ExactMotion& motion) {
    for (int i = 0; i < 4; ++i)
      for (int a = 0; a < 3; ++a) x_[i][a] = Polynomial{motion.x[i][a], motion.p[i][a]};
  }
  Polynomial difference(int i, int j, int axis) const { return x_[i][axis] - x_[j][axis]; }
  /// Component `axis` of (x_j - x_i) x (x_l - x_k).
  Polynomial normal(int i, int j, int k, int l, int axis) const {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return difference(j, i, u) * difference(l, k, v) - difference(j, i, v) * difference(l, k, u);
  }
  Polynomial volume() const {
    Polynomial sum;
    for (int a = 0; a < 3; ++a) sum = sum + normal(0, 1, 0, 2, a) * difference(3, 0, a);
    return sum;
  }

 private:
  Polynomial x_[4][3];
};

/// Predicates at a time at which all corners lie in one plane.
class PlanarTest {
 public:
  PlanarTest(const Corners& corners, Root& time) : corners_(corners), time_(time) {}

  bool point_in_triangle() {
    for (int axis = 0; axis < 3; ++axis) {
      const int whole = normal(1, 2, 1, 3, axis);
      if (whole == 0) continue;
      for (int i = 1; i < 4; ++i)
        if (orientation(i, i % 3 + 1, 0, axis) == -whole) return false;
      return true;
    }
    return on_edge(0, 1, 2) || on_edge(0, 2, 3) || on_edge(0, 3, 1);
  }
  bool edges_meet() {
    if (on_edge(0, 2, 3) || on_edge(1, 2, 3) || on_edge(2, 0, 1) || on_edge(3, 0, 1)) return true;
    for (int axis = 0; axis < 3; ++axis)
      if (normal(0, 1, 2, 3, axis) != 0)
        return orientation(0, 1, 2, axis) * orientation(0, 1, 3, axis) < 0 &&
               orientation(2, 3, 0, axis) * orientation(2, 3, 1, axis) < 0;
    return false;
  }

 private:
  int normal(int i, int j, int k, int l, int axis) {
    return time_.sign_of(corners_.normal(i, j, k, l, axis));
  }
  int orientation(int i, int j, int k, int axis) { return normal(i, j, i, k, axis); }
  bool on_edge(int p, int a, int b) {
    for (int axis = 0; axis < 3; ++axis)
      if (orientation(a, b, p, axis) != 0) return false;
    for (int axis = 0; axis < 3; ++axis)
      if (time_.sign_of(corners_.difference(p, a, axis)) * time_.sign_of(corners_.difference(p, b, axis)) > 0)
        return false;
    return true;
  }

  const Corners& corners_;
  Root& time_;
};

/// All times after 0 at which a sign used by PlanarTest can change.
std::vector<Root> planar_events(const Corners& corners) {
  std::vector<Polynomial> signs;
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        signs.push_back(corners.difference(i, j, axis));
        for (int k = j + 1; k < 4; ++k) signs.push_back(corners.normal(i, j, i, k, axis));
      }
    signs.push_back(corners.normal(0, 1, 2, 3, axis));
  }
  std::vector<Root> events;
  for (const Polynomial& p : signs)
    for (Root& root : Root::in_unit_interval(p)) events.push_back(std::move(root));
  return events;
}

}  // namespace

ExactMotion ExactMotion::between(const Vec<double, 3> (&start)[4], const Vec<double, 3> (&end)[4]) {
  ExactMotion motion = scaled_motion(start, end);
  for (int i = 0; i < 4; ++i)
    for (int a = 0; a < 3; ++a) motion.p[i][a] -= motion.x[i][a];
  return motion;
}
ExactMotion ExactMotion::along(const Vec<double, 3> (&x)[4], const Vec<double, 3> (&p)[4]) {
  return scaled_motion(x, p);
}

Polynomial exact_volume(const ExactMotion& motion) { return Corners(motion).volume(); }

ExactContact::ExactContact(PairKind kind, const ExactMotion& motion) {
  const Corners corners(motion);
  const auto meet = [&](Root& time) {
    PlanarTest test(corners, time);
    return kind == PairKind::edge_edge ? test.edges_meet() : test.point_in_triangle();
  };
  const Polynomial volume = corners.volume();
  Root start = Root::zero();
  if (start.sign_of(volume) == 0 && meet(start)) contacts_.push_back(start);
  if (!contacts_.empty()) return;
  for (Root& time : volume.is_zero() ? planar_events(corners) : Root::in_unit_interval(volume))
    if (meet(time)) contacts_.push_back(std::move(time));
}

bool ExactContact::by(double t) {
  const Dyadic limit = Dyadic::from(t);
  return std::any_of(contacts_.begin(), contacts_.end(),
                     [&](Root& root) { return root.compare_to(limit) <= 0; });
}

}  // namespace stickslip::testing
