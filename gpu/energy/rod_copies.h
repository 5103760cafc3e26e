// Elements of rods with copies of their own, as ADMM integrates them [Narain16; Daviet20 §6.1]: an element
// has its own z in place of D x, the edges and ghosts that its strains depend on, and minimises its energy
// plus |z - D x - u|^2 / 2 in a metric. Strains and their derivatives: rod_element.h. T is Real, or Lanes:
// several elements go through the same arithmetic.
#pragma once

#include "gpu/energy/rod_element.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// A symmetric 2x2 metric [N/m] of two vectors: a |z_0|^2 + 2 b z_0.z_1 + c |z_1|^2.
template <class T>
struct PairMetricOf {
  T a, b, c;

  SS_HD void apply(const Vec<T, 3>* z, Vec<T, 3>* out) const {
    out[0] = a * z[0] + b * z[1];
    out[1] = b * z[0] + c * z[1];
  }
  SS_HD PairMetricOf inverse() const {
    const T per_det = Real(1) / (a * c - b * b);
    return {c * per_det, -b * per_det, a * per_det};
  }
};
using PairMetric = PairMetricOf<Real>;

/// The copies of a segment: z = (e, w), its edge, and its ghost from the middle of the edge [m].
struct SegmentCopies {
  static constexpr int copies = 2, pairs = 1, nodes = 3;
  /// The force of the first strain stiffens the first copy across itself. Pairs have no `b` then.
  static constexpr bool stiffens = true;

  /// The strains at z, and their derivatives by the copies.
  template <class T>
  SS_HD static Vec<T, 3> strain(const Vec<T, 3>* z, Vec<T, 3> (*g)[copies]) {
    const RodFrameOf<T> f = rod_frame(z[0], z[1]);
    g[0][0] = f.t;
    g[0][1] = Vec<T, 3>::zero();
    g[1][0] = (-f.along / f.length) * f.d1;
    g[1][1] = f.d1;
    g[2][0] = (f.rho / f.length) * f.d1;
    g[2][1] = f.t;
    return {f.length, f.rho, f.along};
  }
  template <class T>
  SS_HD static T difference(int /*k*/, T a, T b) {
    return a - b;
  }
  /// D x of the nodes x0, x1, y.
  SS_HD static void of_nodes(const Vec3* x, Vec3* z) {
    z[0] = x[1] - x[0];
    z[1] = x[2] - Real(0.5) * (x[0] + x[1]);
  }
};

/// The copies of a vertex: z = (e_0, e_1, w_0, w_1) of its two segments; pairs (e_0, e_1) and (w_0, w_1).
struct VertexCopies {
  static constexpr int copies = 4, pairs = 2, nodes = kRodVertexNodes;
  static constexpr bool stiffens = false;

  template <class T>
  SS_HD static Vec<T, 3> strain(const Vec<T, 3>* z, Vec<T, 3> (*g)[copies]) {
    const RodFrameOf<T> a = rod_frame(z[0], z[2]), b = rod_frame(z[1], z[3]);
    const VertexStrainOf<T> s = vertex_strain(a, b);
    const VertexGradientOf<T> of_nodes = vertex_gradient(a, b, s);
    for (int k = 0; k < kVertexStrains; ++k) {
      const Vec<T, 3>* node = of_nodes.g[k];  // x0, x1, x2, y0, y1
      g[k][2] = node[3];
      g[k][3] = node[4];
      g[k][0] = -node[0] - Real(0.5) * node[3];
      g[k][1] = node[2] + Real(0.5) * node[4];
    }
    return {s.s[0], s.s[1], s.s[2]};
  }
  template <class T>
  SS_HD static T difference(int k, T a, T b) {
    return vertex_strain_difference(k, a, b);
  }
  /// D x of the nodes x0, x1, x2, y0, y1.
  SS_HD static void of_nodes(const Vec3* x, Vec3* z) {
    z[0] = x[1] - x[0];
    z[1] = x[2] - x[1];
    z[2] = x[3] - Real(0.5) * (x[0] + x[1]);
    z[3] = x[4] - Real(0.5) * (x[1] + x[2]);
  }
};

/// The energy of an element in a step: sum_k K_k / 2 ((s_k - rest_k)^2 + rate (s_k - still_k)^2).
template <class T>
struct CopyEnergyOf {
  Vec<T, 3> stiffness;    // K [of the strain]
  Vec<T, 3> rest, still;  // strains without force, and those from which damping is measured
  T rate;                 // damping time / dt

  /// The strain whose square times K (1 + rate) / 2 is the energy but for a constant.
  template <class Copies>
  SS_HD T offset(int k, T s) const {
    return (Copies::difference(k, s, rest[k]) + rate * Copies::difference(k, s, still[k])) / (Real(1) + rate);
  }
  SS_HD T stiff(int k) const { return stiffness[k] * (Real(1) + rate); }
};
using CopyEnergy = CopyEnergyOf<Real>;

/// The minimisation of an element: E(z) = energy(z) + |z - z0|^2 / 2 in `metric`.
template <class Copies, class T = Real>
struct CopyProblem {
  using V = Vec<T, 3>;
  CopyEnergyOf<T> energy;
  PairMetricOf<T> metric[Copies::pairs];

  struct Point {
    V offset;                // of the strains
    V g[3][Copies::copies];  // their derivatives
    V pull[Copies::copies];  // metric times (z - z0)
    T value;                 // E
  };

  SS_HD Point at(const V* z, const V* z0) const {
    Point p;
    const V s = Copies::strain(z, p.g);
    p.value = T(Real(0));
    for (int k = 0; k < 3; ++k) {
      p.offset[k] = energy.template offset<Copies>(k, s[k]);
      p.value += Real(0.5) * energy.stiff(k) * p.offset[k] * p.offset[k];
    }
    V away[Copies::copies];
    for (int c = 0; c < Copies::copies; ++c) away[c] = z[c] - z0[c];
    for (int m = 0; m < Copies::pairs; ++m) metric[m].apply(away + 2 * m, p.pull + 2 * m);
    for (int c = 0; c < Copies::copies; ++c) p.value += Real(0.5) * dot(away[c], p.pull[c]);
    return p;
  }
  /// dE/dz.
  SS_HD void gradient(const Point& p, V* out) const {
    for (int c = 0; c < Copies::copies; ++c) {
      out[c] = p.pull[c];
      for (int k = 0; k < 3; ++k) out[c] += (energy.stiff(k) * p.offset[k]) * p.g[k][c];
    }
  }

  /// Out of M^-1 with M = metric + C, C from the second derivatives of strains: across an edge with tension
  /// F, F / |e| (I - t t'). Compression makes it negative, and is limited so that M stays positive definite.
  SS_HD void apply_inverse(const Point& p, const PairMetricOf<T>* inverse, T length, const V* in,
                           V* out) const {
    constexpr Real kLeast = Real(0.2);
    for (int m = 0; m < Copies::pairs; ++m) inverse[m].apply(in + 2 * m, out + 2 * m);
    if constexpr (Copies::stiffens) {
      const T a = metric[0].a, across = a + energy.stiff(0) * p.offset[0] / length;
      const V along = dot(in[0], p.g[0][0]) * p.g[0][0];
      out[0] = (Real(1) / a) * along + (Real(1) / larger(across, kLeast * a)) * (in[0] - along);
    }
  }

  /// The step of Newton's method with M + G' K G, G the derivatives of the strains. With the forces f = K
  /// (offset + G dz) of the strains, M dz = -(pull + G' f), so (1/K + G M^-1 G') f = offset - G M^-1 pull:
  /// three equations, in which stiff strains lose no digits.
  SS_HD void step(const Point& p, const V* z, V* dz) const {
    constexpr int n = Copies::copies;
    const T length = root(norm2(z[0]));
    PairMetricOf<T> inverse[Copies::pairs];
    for (int m = 0; m < Copies::pairs; ++m) inverse[m] = metric[m].inverse();
    V of_g[3][n], of_pull[n];
    for (int k = 0; k < 3; ++k) apply_inverse(p, inverse, length, p.g[k], of_g[k]);
    apply_inverse(p, inverse, length, p.pull, of_pull);
    T s[3][3];
    V f;
    for (int k = 0; k < 3; ++k) {
      f[k] = p.offset[k];
      for (int c = 0; c < n; ++c) f[k] -= dot(p.g[k][c], of_pull[c]);
      for (int l = 0; l < 3; ++l) {
        s[k][l] = T(Real(0));
        for (int c = 0; c < n; ++c) s[k][l] += dot(p.g[k][c], of_g[l][c]);
      }
      s[k][k] += Real(1) / energy.stiff(k);
    }
    for (int i = 0; i < 3; ++i)  // Gauss; s is positive definite
      for (int j = i + 1; j < 3; ++j) {
        const T share = s[j][i] / s[i][i];
        for (int k = i; k < 3; ++k) s[j][k] -= share * s[i][k];
        f[j] -= share * f[i];
      }
    for (int i = 2; i >= 0; --i) {
      for (int k = i + 1; k < 3; ++k) f[i] -= s[i][k] * f[k];
      f[i] = f[i] / s[i][i];
    }
    for (int c = 0; c < n; ++c) {
      dz[c] = -of_pull[c];
      for (int k = 0; k < 3; ++k) dz[c] -= f[k] * of_g[k][c];
    }
  }

  /// Moves z to the minimum near it, until a step is at most `tolerance` [m], halving steps along which E
  /// grows. Lanes that are done wait for the others. Returns the number of steps.
  SS_HD int minimise(const V* z0, Real tolerance, V* z) const {
    constexpr int kSteps = 30, kHalvings = 12, n = Copies::copies;
    // Steps of the size of rounding may seem to raise E.
    constexpr Real kRounding = sizeof(Real) == 8 ? Real(1e-14) : Real(1e-5);
    const T none(Real(0)), all(Real(1)), enough(tolerance);
    Point p = at(z, z0);
    T open = all;  // 0: done
    for (int i = 1; i <= kSteps; ++i) {
      V dz[n], next[n];
      step(p, z, dz);
      T size = none;
      for (int c = 0; c < n; ++c)
        for (int j = 0; j < 3; ++j) size = larger(size, larger(dz[c][j], -dz[c][j]));
      T share = open;
      open = pick(size > enough, open, none);  // the step below is the last one
      for (int h = 0;; ++h) {
        for (int c = 0; c < n; ++c) next[c] = z[c] + share * dz[c];
        if (!any_less(none, open)) break;
        const Point there = at(next, z0);
        // Positive where E grew in a lane whose step is not the last one.
        const T grew = open * (there.value - p.value * (Real(1) + kRounding));
        if (!any_less(none, grew)) {
          p = there;
          break;
        }
        share = pick(grew > none, h < kHalvings ? Real(0.5) * share : none, share);
        if (h == kHalvings) open = pick(grew > none, none, open);
      }
      for (int c = 0; c < n; ++c) z[c] = next[c];
      if (!any_less(none, open)) return i;
    }
    return kSteps;
  }
};

}  // namespace stickslip
