// Decides in integers whether two moving edges, or a moving point and triangle, touch within [0, 1].
//
// At a fixed time the answer follows from the signs of orientations and of differences of coordinates; both
// are polynomials in time. Corners can touch only in one plane. So the first contact is at t = 0 or at a root
// of the volume spanned by the corners; if that vanishes at all times, at a root of another of these
// polynomials. Each such root is isolated, and the signs there are computed without rounding.
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

/// The volume spanned by the corners over time.
Polynomial exact_volume(const ExactMotion& motion);

/// Contacts at the times at which a contact can begin.
class ExactContact {
 public:
  ExactContact(PairKind kind, const ExactMotion& motion);
  bool collides() const { return !contacts_.empty(); }
  /// Whether the first contact is at or before time t.
  bool by(double t);

 private:
  std::vector<Root> contacts_;
};

}  // namespace stickslip::testing
