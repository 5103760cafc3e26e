// Generates moving pairs, and certifies that a pair stays apart.
#pragma once

#include <algorithm>

#include "gpu/ccd/additive.h"
#include "gpu/ccd/cubic.h"
#include "gpu/ccd/inclusion.h"
#include "gpu/ccd/multivariate.h"
#include "tests/geometry/random_points.h"

namespace stickslip::testing {

/// The same pair in another scalar.
template <template <class> class Pair, class To, class From>
Pair<To> cast(const Pair<From>& pair) {
  Pair<To> result;
  for (int i = 0; i < 4; ++i) {
    result.x[i] = pair.x[i].template cast<To>();
    result.p[i] = pair.p[i].template cast<To>();
  }
  return result;
}

template <class Pair>
double largest_relative_speed(const Pair& pair) {
  double speed = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) speed = std::max<double>(speed, norm(pair.p[i] - pair.p[j]));
  return speed;
}

/// The first time in [from, to] at which the distance may be at most `distance`, else a value beyond `to`.
/// The rate of the distance is bounded by the relative speed of the corners. So it stays above zero around a
/// time for the time it takes to close the gap.
template <class Pair>
double first_time_within(const Pair& pair, double distance, double to) {
  const double speed = largest_relative_speed(pair);
  double t = 0;
  for (int steps = 0; t <= to; ++steps) {
    const double gap = distance_at(pair, t) - distance;
    if (gap <= 1e-4 * distance || steps > 100000) return t;
    if (speed == 0) break;
    t += gap / speed;
  }
  return std::nextafter(to, 1e300);
}

/// Edges, or a point and a triangle, about one unit wide, with all kinds of motion. `off_parallel`: the
/// distance in pairs of nearly parallel edges that slide across each other; 0: no such pairs.
template <template <class> class Pair>
Pair<double> random_motion(Random& random, double off_parallel = 1e-7) {
  Pair<double> pair;
  for (auto& x : pair.x) x = random.point();
  for (auto& p : pair.p) p = random.point();
  const double size = std::pow(10.0, random.uniform(-6, 0.5));
  const int n_a = Pair<double>::kCornersOfA;
  switch (random.index(10)) {
    case 0:  // all in one plane
      for (int i = 0; i < 4; ++i) pair.x[i][1] = pair.p[i][1] = 0;
      break;
    case 1:  // one plane that also moves
      for (int i = 0; i < 4; ++i) {
        pair.x[i][1] = 0;
        pair.p[i][1] = 0.3;
      }
      break;
    case 2:  // the sides are rigid and translate
      for (int i = 0; i < 4; ++i) pair.p[i] = pair.p[i < n_a ? 0 : 3];
      break;
    case 3:  // nearly parallel edges, one side moves across the other
      if (off_parallel == 0) break;
      pair.x[3] = pair.x[2] + 0.8 * (pair.x[1] - pair.x[0]) + off_parallel * random.point();
      for (int i = 0; i < 4; ++i) pair.p[i] = i < n_a ? pair.x[3] - pair.x[0] : Vec<double, 3>::zero();
      break;
    case 4:  // small motion
      for (auto& p : pair.p) p *= size;
      break;
    case 5:  // a small gap
      for (int i = 0; i < n_a; ++i) pair.x[i] += pair.x[3] - pair.x[0] + size * random.direction();
      break;
    case 6:  // a flat triangle, an edge without length
      pair.x[3] = pair.x[2];
      pair.p[3] = pair.p[2];
      break;
    default:  // thrown at the other side
      for (int i = 0; i < n_a; ++i) pair.p[i] += random.uniform(0.5, 2) * (pair.x[2] - pair.x[i]);
  }
  return pair;
}

template <class Pair>
void transform(Pair& pair, double scale, const Vec<double, 3>& offset) {
  for (int i = 0; i < 4; ++i) {
    pair.x[i] = scale * (pair.x[i] + offset);
    pair.p[i] *= scale;
  }
}

}  // namespace stickslip::testing
