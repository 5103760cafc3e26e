// A manifold: up to four contacts of two bodies with a common normal, and its update in a Gauss-Seidel sweep.
// Written for one double or for SIMD lanes, one manifold per lane.
#pragma once

#include <limits>

#include "gpu/math/lanes.h"
#include "gpu/math/vec.h"

namespace stickslip {

inline constexpr int kManifoldPoints = 4;

/// The fields of a manifold, in the storage order of packs.
namespace manifold_field {
enum : int {
  normal = 0,      // unit, from b to a
  tangent = 3,     // the first; the second is normal x tangent
  apart = 6,       // [m] from b's centre to a's
  mu = 9,          // friction coefficient, isotropic
  mass_a = 10,     // 1 / m [1/kg]; 0: immovable
  mass_b = 11,     //
  inertia_a = 12,  // I^-1 as in BodyInverse
  inertia_b = 18,  //
  points = 24,     // index of the first point's fields
};
}  // namespace manifold_field

/// Fields of a point.
namespace point_field {
enum : int {
  arm = 0,        // [m] from a's centre
  speed = 3,      // w_N [m/s]
  softness = 4,   // E_NN [m/s per N s]
  r_normal = 5,   // r-factor 1 / W_NN [kg]; 0: unused point
  r_tangent = 6,  // 2 / trace W_TT [kg]
  lever = 7,      // W_TN along both tangents [1/kg]
  count = 9,
};
}  // namespace point_field

inline constexpr int kManifoldFields = manifold_field::points + kManifoldPoints * point_field::count;
/// Along normal, tangent and second tangent [N s], of each point.
inline constexpr int kImpulseFields = 3 * kManifoldPoints;

SS_HD constexpr int point_at(int p) { return manifold_field::points + p * point_field::count; }

/// The fields of one lane, or of all lanes of a pack: field f of lane l is at[f * width + l].
template <class T>
struct PackCell {
  T* at;
  int width;

  SS_HD void read(int field, double& out) const { out = at[field * width]; }
  SS_HD void write(int field, double value) const { at[field * width] = value; }
#if !STICKSLIP_ON_CUDA
  template <int N>
  void read(int field, Lanes<N>& out) const {
    out = Lanes<N>::load(at + field * N);
  }
  template <int N>
  void write(int field, const Lanes<N>& value) const {
    value.store(at + field * N);
  }
#endif
  template <class S>
  SS_HD S get(int field) const {
    S out;
    read(field, out);
    return out;
  }
  template <class S>
  SS_HD Vec<S, 3> get3(int field) const {
    return {get<S>(field), get<S>(field + 1), get<S>(field + 2)};
  }
  template <class S>
  SS_HD void set3(int field, const Vec<S, 3>& value) const {
    for (int i = 0; i < 3; ++i) write(field + i, value[i]);
  }
};

/// Velocities of a manifold's bodies: those of their centres [m/s] and spins [rad/s].
template <class S>
struct PairMotion {
  Vec<S, 3> va, wa, vb, wb;
};

/// I^-1 of a body.
template <class S>
struct InverseInertia {
  S xx, yy, zz, xy, xz, yz;

  SS_HD InverseInertia(const PackCell<const double>& cell, int field)
      : xx(cell.get<S>(field)),
        yy(cell.get<S>(field + 1)),
        zz(cell.get<S>(field + 2)),
        xy(cell.get<S>(field + 3)),
        xz(cell.get<S>(field + 4)),
        yz(cell.get<S>(field + 5)) {}
  SS_HD Vec<S, 3> operator()(const Vec<S, 3>& t) const {
    return {xx * t[0] + xy * t[1] + xz * t[2], xy * t[0] + yy * t[1] + yz * t[2],
            xz * t[0] + yz * t[1] + zz * t[2]};
  }
};

/// Data common to all points of a manifold.
template <class S>
struct ManifoldBase {
  Vec<S, 3> n, t1, t2, apart;
  S mu, mass_a, mass_b;
  InverseInertia<S> turn_a, turn_b;

  SS_HD explicit ManifoldBase(const PackCell<const double>& cell)
      : n(cell.get3<S>(manifold_field::normal)),
        t1(cell.get3<S>(manifold_field::tangent)),
        t2(cross(n, t1)),
        apart(cell.get3<S>(manifold_field::apart)),
        mu(cell.get<S>(manifold_field::mu)),
        mass_a(cell.get<S>(manifold_field::mass_a)),
        mass_b(cell.get<S>(manifold_field::mass_b)),
        turn_a(cell, manifold_field::inertia_a),
        turn_b(cell, manifold_field::inertia_b) {}

  /// Velocity of a relative to b, at the point `arm` from a's centre.
  SS_HD Vec<S, 3> relative(const PairMotion<S>& m, const Vec<S, 3>& arm) const {
    return m.va + cross(m.wa, arm) - m.vb - cross(m.wb, arm + apart);
  }
  SS_HD void push(const Vec<S, 3>& impulse, const Vec<S, 3>& arm, PairMotion<S>& m) const {
    m.va += mass_a * impulse;
    m.vb -= mass_b * impulse;
    m.wa += turn_a(cross(arm, impulse));
    m.wb -= turn_b(cross(arm + apart, impulse));
  }
  SS_HD Vec<S, 3> world(const Vec<S, 3>& r) const { return r[0] * n + r[1] * t1 + r[2] * t2; }
};

/// Options of a sweep.
struct ManifoldSweep {
  int rounds;     // passes over the points of a manifold per update
  double omega;   // over-relaxation
  bool backward;  // points from the last to the first
};

/// Updates points one after the other: first the normal impulse, then friction at the new normal impulse, by
/// proximal steps with scalar r-factors [Course Alg.11]:
///   r_N = max(0, r_N - omega rho_N u_N),  r_T = P_disc(mu r_N)(r_T - omega rho_T u_T).
/// u_T includes what the change of r_N does to it, W_TN dr_N, so the bodies are pushed once per point.
template <class S>
SS_HD inline void sweep_manifold(const PackCell<const double>& cell, const PackCell<double>& impulse,
                                 int points, const ManifoldSweep& sweep, PairMotion<S>& m) {
  const ManifoldBase<S> base(cell);
  const S omega(sweep.omega);
  for (int step = 0; step < sweep.rounds * points; ++step) {
    const int turn = step % points, p = sweep.backward ? points - 1 - turn : turn, f = point_at(p);
    const Vec<S, 3> arm = cell.get3<S>(f + point_field::arm), r = impulse.get3<S>(3 * p);
    const Vec<S, 3> v = base.relative(m, arm);
    const S u =
        dot(base.n, v) + cell.get<S>(f + point_field::speed) + cell.get<S>(f + point_field::softness) * r[0];
    const S normal = larger(S(0.0), r[0] - omega * cell.get<S>(f + point_field::r_normal) * u);
    const S change = normal - r[0], factor = omega * cell.get<S>(f + point_field::r_tangent);
    const S u1 = dot(base.t1, v) + cell.get<S>(f + point_field::lever) * change,
            u2 = dot(base.t2, v) + cell.get<S>(f + point_field::lever + 1) * change;
    const S x = r[1] - factor * u1, y = r[2] - factor * u2;
    const S limit = base.mu * normal, length2 = x * x + y * y;
    const S cut = pick(length2 > limit * limit,
                       limit / root(larger(length2, S(std::numeric_limits<double>::min()))), S(1.0));
    const Vec<S, 3> next{normal, cut * x, cut * y};
    base.push(base.world(next - r), arm, m);
    impulse.set3(3 * p, next);
  }
}

/// Adds the effect of `impulse` to the velocities of the bodies.
template <class S>
SS_HD inline void push_manifold(const PackCell<const double>& cell, const PackCell<const double>& impulse,
                                int points, PairMotion<S>& m) {
  const ManifoldBase<S> base(cell);
  for (int p = 0; p < points; ++p)
    base.push(base.world(impulse.get3<S>(3 * p)), cell.get3<S>(point_at(p) + point_field::arm), m);
}

/// Sums over points: |e_c|^2 of the natural map (law/natural_map.h) and |u_c|^2 [m^2/s^2].
template <class S>
struct ManifoldErrors {
  S error2, speed2;
};

template <class S>
SS_HD inline ManifoldErrors<S> judge_manifold(const PackCell<const double>& cell,
                                              const PackCell<const double>& impulse, int points,
                                              const PairMotion<S>& m) {
  const ManifoldBase<S> base(cell);
  const S zero(0.0), one(1.0), tiny(std::numeric_limits<double>::min());
  ManifoldErrors<S> sum{zero, zero};
  for (int p = 0; p < points; ++p) {
    const int f = point_at(p);
    const S r_normal = cell.get<S>(f + point_field::r_normal),
            r_tangent = cell.get<S>(f + point_field::r_tangent);
    const auto there = r_normal > zero;
    const Vec<S, 3> r = impulse.get3<S>(3 * p), v = base.relative(m, cell.get3<S>(f + point_field::arm));
    const S u =
        dot(base.n, v) + cell.get<S>(f + point_field::speed) + cell.get<S>(f + point_field::softness) * r[0];
    const S u1 = dot(base.t1, v), u2 = dot(base.t2, v), slide2 = u1 * u1 + u2 * u2;
    // s = trace(W_cc) / 3, z = r - u~ / s and its projection onto the cone.
    const S s = pick(there, (one / larger(r_normal, tiny) + S(2.0) / larger(r_tangent, tiny)) / S(3.0), one);
    const S z = r[0] - (u + base.mu * root(slide2)) / s, z1 = r[1] - u1 / s, z2 = r[2] - u2 / s;
    const S t = root(z1 * z1 + z2 * z2), edge = (z + base.mu * t) / (one + base.mu * base.mu);
    // Polar cone first: without friction `inside` holds for every z on the axis, also for negative ones.
    const auto inside = t <= base.mu * z, polar = base.mu * t <= -z;
    const S along = base.mu * edge / larger(t, tiny);
    const S cut = pick(polar, zero, pick(inside, one, along));
    const S e = s * (r[0] - pick(polar, zero, pick(inside, z, edge)));
    const S e1 = s * (r[1] - cut * z1), e2 = s * (r[2] - cut * z2);
    sum.error2 += pick(there, e * e + e1 * e1 + e2 * e2, zero);
    sum.speed2 += pick(there, u * u + slide2, zero);
  }
  return sum;
}

}  // namespace stickslip
