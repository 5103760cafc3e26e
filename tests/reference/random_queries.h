// Collision queries: random ones, and difficult ones.
#pragma once

#include <cmath>

#include "bench/ccd_truth.h"
#include "tests/geometry/random_points.h"

namespace stickslip::testing {

/// Moving edges, or a point and a triangle, about one unit wide unless scaled.
class QueryGenerator {
 public:
  explicit QueryGenerator(PairKind kind) : kind_(kind) {}
  const std::string& trace() const { return random_.trace(); }

  /// Coordinates that T represents exactly. The true answer is not determined.
  template <class T = double>
  CcdQuery next() {
    CcdQuery query{};
    switch (random_.index(8)) {
      case 0:
        query = anywhere(1.0);
        break;
      case 1:
        query = anywhere(std::pow(10.0, random_.uniform(-8, 3)));
        break;
      case 2:
        query = on_small_grid();
        break;
      case 3:
        query = nearly_parallel();
        break;
      case 4:
        query = planar();
        break;
      default:
        query = meeting_halfway();
    }
    disturb(query);
    transform(query);
    for (int i = 0; i < 4; ++i) {
      query.start[i] = query.start[i].template cast<T>().template cast<double>();
      query.end[i] = query.end[i].template cast<T>().template cast<double>();
    }
    if (chance(1.0 / 3)) nudge<T>(query);
    return query;
  }

 private:
  using P = Vec<double, 3>;

  int corners_of_a() const { return kind_ == PairKind::edge_edge ? 2 : 1; }
  bool chance(double p) { return random_.uniform(0, 1) < p; }
  /// Multiples of 1/8: their sums, and products with weights, are exact, also in float.
  P grid_point(int reach = 12) {
    P x{};
    for (int a = 0; a < 3; ++a) x[a] = (random_.index(2 * reach + 1) - reach) / 8.0;
    return x;
  }
  double grid_weight() { return random_.index(5) / 4.0; }

  CcdQuery anywhere(double motion) {
    CcdQuery query{};
    const int target = random_.index(2) + 2;
    const P aim = random_.point(-0.3, 0.3);
    for (int i = 0; i < 4; ++i) {
      query.start[i] = random_.point();
      query.end[i] = query.start[i] + motion * random_.point();
    }
    if (chance(0.5))  // aimed at the other side
      for (int i = 0; i < corners_of_a(); ++i)
        query.end[i] = query.start[i] + 2.0 * (query.start[target] + aim - query.start[0]);
    return query;
  }

  CcdQuery on_small_grid() {
    CcdQuery query{};
    const int reach = 1 + random_.index(3);
    for (int i = 0; i < 4; ++i) {
      query.start[i] = 8.0 * grid_point(reach);
      query.end[i] = chance(0.3) ? query.start[i] : 8.0 * grid_point(reach);
    }
    return query;
  }

  /// Nearly parallel sides that move across each other.
  CcdQuery nearly_parallel() {
    CcdQuery query = anywhere(0.5);
    const double off = std::pow(10.0, random_.uniform(-18, -3));
    const P along = query.start[1] - query.start[0], shift = random_.point();
    for (auto* x : {query.start, query.end}) {
      if (kind_ == PairKind::edge_edge) {
        x[1] = x[0] + along + off * random_.point();
        x[3] = x[2] + random_.uniform(-1.5, 1.5) * along + off * random_.point();
      } else {
        x[0] = x[1] + random_.uniform(-0.2, 1) * (x[2] - x[1]) + random_.uniform(-0.2, 1) * (x[3] - x[1]) +
               off * random_.point();
      }
    }
    if (chance(0.5))
      for (int i = 0; i < corners_of_a(); ++i) {
        query.start[i] += shift;
        query.end[i] -= shift;
      }
    return query;
  }

  /// All in one plane, at rest or moving: the volume vanishes at all times.
  CcdQuery planar() {
    CcdQuery query = chance(0.5) ? on_small_grid() : anywhere(1.0);
    const P slope = 8.0 * grid_point(2), drift = chance(0.5) ? P::zero() : grid_point();
    for (auto* x : {query.start, query.end})
      for (int i = 0; i < 4; ++i) x[i][1] = slope[0] * x[i][0] + slope[2] * x[i][2];
    for (auto& x : query.end) x += drift;
    return query;
  }

  /// Exactly in contact at t = 1/2, often with a corner or a side, often passing along it.
  CcdQuery meeting_halfway() {
    CcdQuery query{};
    P middle[4], motion[4];
    for (int i = 0; i < 4; ++i) {
      middle[i] = grid_point();
      motion[i] = chance(0.3) ? P::zero() : grid_point();
    }
    P contact{};
    if (kind_ == PairKind::edge_edge) {
      const double s = grid_weight(), u = grid_weight();
      contact = (1 - u) * middle[2] + u * middle[3];
      const P along = grid_point();
      middle[0] = contact - s * along;
      middle[1] = contact + (1 - s) * along;
    } else {
      const double u = grid_weight(), v = grid_weight() * (1 - u);
      contact = (1 - u - v) * middle[1] + u * middle[2] + v * middle[3];
      middle[0] = contact;
    }
    if (chance(0.3))  // sides that do not rotate, one along the other
      for (int i = 0; i < 4; ++i) motion[i] = i < corners_of_a() ? 0.5 * (middle[2] - middle[3]) : P::zero();
    for (int i = 0; i < 4; ++i) {
      query.start[i] = middle[i] - motion[i];
      query.end[i] = middle[i] + motion[i];
    }
    return query;
  }

  /// Adds coincident corners and corners at rest.
  void disturb(CcdQuery& query) {
    if (chance(0.1)) {
      const int i = random_.index(4), j = random_.index(4);
      query.start[i] = query.start[j];
      if (chance(0.5)) query.end[i] = query.end[j];
    }
    if (chance(0.05))
      for (int i = 0; i < 4; ++i) query.end[i] = query.start[i];
  }

  void transform(CcdQuery& query) {
    double scale = 1;
    P offset = P::zero(), drift = P::zero();
    if (chance(0.3)) scale = std::pow(10.0, random_.uniform(-8, 8));
    if (chance(0.2)) scale = std::ldexp(1.0, random_.index(60) - 30);
    if (chance(0.2)) offset = scale * std::pow(10.0, random_.uniform(0, 8)) * random_.point();
    if (chance(0.1)) offset = scale * 1024.0 * grid_point();
    if (chance(0.2)) drift = scale * std::pow(10.0, random_.uniform(0, 6)) * random_.point();
    const int turn = random_.index(3);
    for (auto* x : {query.start, query.end})
      for (int i = 0; i < 4; ++i) {
        const P moved = scale * x[i] + offset + (x == query.end ? drift : P::zero());
        for (int a = 0; a < 3; ++a) x[i][(a + turn) % 3] = moved[a];
      }
  }

  /// Changes a few coordinates by the last bit: contacts become near misses, near misses become contacts.
  template <class T>
  void nudge(CcdQuery& query) {
    for (int n = random_.index(3); n >= 0; --n) {
      P& x = (chance(0.5) ? query.start : query.end)[random_.index(4)];
      double& coordinate = x[random_.index(3)];
      const T towards = chance(0.5) ? std::numeric_limits<T>::max() : -std::numeric_limits<T>::max();
      if (coordinate != 0) coordinate = std::nextafter(static_cast<T>(coordinate), towards);
    }
  }

  PairKind kind_;
  Random random_;
};

}  // namespace stickslip::testing
