// Whether two moving edges, or a moving point and triangle, meet within [0, 1]: decided in integers.
//
// At a fixed time the answer follows from the signs of orientations and of differences of coordinates, which
// are polynomials in time. Corners can meet only in one plane. So the first contact is at t = 0 or at a root
// of the volume that the corners span; where that vanishes for all times, at a root of another of these
// polynomials. Each such root is isolated, and the signs are taken there without rounding.
#pragma once

#include <vector>

#include "bench/ccd_truth.h"
#include "tests/reference/exact_polynomial.h"

namespace stickslip::testing {

/// Coordinates, all multiplied by one power of two: x + t p.
struct ExactMotion {
  mpz_class x[4][3], p[4][3];

  static ExactMotion between(const Vec<double, 3> (&start)[4], const Vec<double, 3> (&end)[4]);
  static ExactMotion along(const Vec<double, 3> (&x)[4], const Vec<double, 3> (&p)[4]);
};

/// The volume that the corners span over time.
Polynomial exact_volume(const ExactMotion& motion);

/// The times of contact among those at which a contact can begin.
class ExactContact {
 public:
  ExactContact(PairKind kind, const ExactMotion& motion);
  bool collides() const { return !contacts_.empty(); }
  /// The first contact is at time t or before.
  bool by(double t);

 private:
  std::vector<Root> contacts_;
};

}  // namespace stickslip::testing
