#include "gpu/elastic/rod_splitting.cuh"

#include <algorithm>
#include <type_traits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/math/lanes.h"
#include "gpu/model/element_group.h"

namespace stickslip {

struct RodSplitView {
  const RodSlot* slots;
  const std::int32_t *segment_slot, *segment_element, *vertex_element;
  const Real *length, *arm;
  PairMetric *segment_metric, *vertex_metric;
  Vec3 *segment_still, *vertex_still;
  Vec3 *segment_z, *segment_u, *segment_z_last, *segment_u_last, *segment_pull;
  Vec3 *vertex_z, *vertex_u, *vertex_z_last, *vertex_u_last, *vertex_pull;
  const std::uint8_t* held;
  const Vec3 *x_t, *turned, *load;
  const Real* inertia;
  RodViews rods;
  Real dt, tolerance;
};

namespace {

/// Weights of copies against what resists them, in units of mass / dt^2 of a node: of an edge that is
/// stretched, and at least of the segments of a vertex, whose common motion it does not resist. Smaller ones
/// let stretches converge slowly, larger ones the motions of whole strands: 64 iterations of a wavy hair of
/// 24 segments leave 6 um with 40, 12 um with 100 and 84 um with 250 times the mass.
constexpr Real kStretchWeight = 50, kTurnWeight = 5;
/// Times the tension T / L of an edge, by which its force turns with it: under compression smaller weights
/// would let the edge buckle within its local step.
constexpr Real kTensionWeight = 4;
/// Of the stiffness that holds a ghost in its place. With all of it, twist converges slowly.
constexpr Real kGaugeShare = Real(0.1);
/// Shares of the stiffness in the weights of a vertex's common motions: of edges and of ghosts at no strain,
/// of both per square of strain, and at most. Forces of a strained vertex turn with its segments: with less
/// weight, and strains above 0.3, iterations do not converge.
constexpr Real kEdgeShare = Real(0.05), kGhostShare = Real(0.01), kShareByStrain = 10, kMostShare = 4;

/// The part of both kinds of elements.
struct SegmentParts {
  using Copies = SegmentCopies;
  static constexpr int weighed = 1;  // strains that weights depend on
  SS_HD static bool exists(const RodSplitView&, std::size_t) { return true; }
  SS_HD static Vec3* z(const RodSplitView& of, std::size_t k) { return of.segment_z + 2 * k; }
  SS_HD static Vec3* u(const RodSplitView& of, std::size_t k) { return of.segment_u + 2 * k; }
  SS_HD static Vec3* z_last(const RodSplitView& of, std::size_t k) { return of.segment_z_last + 2 * k; }
  SS_HD static Vec3* u_last(const RodSplitView& of, std::size_t k) { return of.segment_u_last + 2 * k; }
  SS_HD static Vec3* pull(const RodSplitView& of, std::size_t k) { return of.segment_pull + 2 * k; }
  SS_HD static Vec3& still(const RodSplitView& of, std::size_t k) { return of.segment_still[k]; }
  SS_HD static PairMetric* metric(const RodSplitView& of, std::size_t k) { return of.segment_metric + k; }
  SS_HD static std::int32_t element(const RodSplitView& of, std::size_t k) { return of.segment_element[k]; }
  SS_HD static const RodView& rods(const RodSplitView& of) { return of.rods.segments; }
  SS_HD static std::int32_t node(const RodSplitView& of, std::size_t k, int c) {
    return of.slots[of.segment_slot[k] + (c == 2 ? 1 : 2 * c)].node;  // x0, x1, y
  }
};
struct VertexParts {
  using Copies = VertexCopies;
  static constexpr int weighed = 3;
  SS_HD static bool exists(const RodSplitView& of, std::size_t k) { return of.vertex_element[k] >= 0; }
  SS_HD static Vec3* z(const RodSplitView& of, std::size_t k) { return of.vertex_z + 4 * k; }
  SS_HD static Vec3* u(const RodSplitView& of, std::size_t k) { return of.vertex_u + 4 * k; }
  SS_HD static Vec3* z_last(const RodSplitView& of, std::size_t k) { return of.vertex_z_last + 4 * k; }
  SS_HD static Vec3* u_last(const RodSplitView& of, std::size_t k) { return of.vertex_u_last + 4 * k; }
  SS_HD static Vec3* pull(const RodSplitView& of, std::size_t k) { return of.vertex_pull + 4 * k; }
  SS_HD static Vec3& still(const RodSplitView& of, std::size_t k) { return of.vertex_still[k]; }
  SS_HD static PairMetric* metric(const RodSplitView& of, std::size_t k) { return of.vertex_metric + 2 * k; }
  SS_HD static std::int32_t element(const RodSplitView& of, std::size_t k) { return of.vertex_element[k]; }
  SS_HD static const RodView& rods(const RodSplitView& of) { return of.rods.vertices; }
  SS_HD static std::int32_t node(const RodSplitView& of, std::size_t k, int c) {
    return of.slots[of.segment_slot[k] + (c < 3 ? 2 * c : 2 * c - 5)].node;  // x0, x1, x2, y0, y1
  }
};

/// Whether some node of an element is free. Others would take many iterations to find forces that no node
/// feels.
template <class Parts>
SS_HD bool moves(const RodSplitView& of, std::size_t k) {
  if (!Parts::exists(of, k)) return false;
  for (int c = 0; c < Parts::Copies::nodes; ++c)
    if (of.held[Parts::node(of, k, c)] == 0) return true;
  return false;
}

/// D x of an element at the nodes' positions x, or x + dt v with `v` not null.
template <class Parts>
SS_HD void copies_at(const RodSplitView& of, std::size_t k, const Vec3* x, const Vec3* v, Vec3* z) {
  Vec3 at[Parts::Copies::nodes];
  for (int c = 0; c < Parts::Copies::nodes; ++c) {
    const std::int32_t node = Parts::node(of, k, c);
    at[c] = v != nullptr ? x[node] + of.dt * v[node] : x[node];
  }
  Parts::Copies::of_nodes(at, z);
}

template <class Parts>
SS_HD CopyEnergy energy_of(const RodSplitView& of, std::size_t k) {
  const RodView& rods = Parts::rods(of);
  const std::int32_t e = Parts::element(of, k);
  const RodRest& rest = rods.rest[e];
  const RodMaterial& material = rods.materials[rods.material[e]];
  CopyEnergy energy;
  for (int i = 0; i < 3; ++i) energy.stiffness[i] = rest.stiffness(material, i);
  energy.rest = rest.strain;
  energy.still = Parts::still(of, k);
  energy.rate = material.damping > Real(0) ? material.damping / of.dt : Real(0);
  return energy;
}

/// Squares of the strains that weights depend on: those of x_t, and the larger ones of the starts of u and of
/// z, which is a straight step away, so that its lengths are no measure.
struct StrainSquares {
  Real before, start;
};

SS_HD void weigh(const RodSplitView& of, std::size_t k, const CopyEnergy& energy,
                 const StrainSquares& strains, PairMetric* metric, SegmentParts) {
  const Real mass = (of.inertia[SegmentParts::node(of, k, 0)] + of.inertia[SegmentParts::node(of, k, 1)]) / 2;
  const Real stretch = energy.stiff(0), least = kStretchWeight * mass;
  const Real turn = kTensionWeight * stretch * root(strains.before) / of.length[k];
  const Real enough = turn > least ? turn : least;
  metric[0] = {stretch < enough ? stretch : enough, Real(0), kGaugeShare * energy.stiff(1)};
}
/// Bending has the energy K |e_1 / l_1 - e_0 / l_0|^2 / 2 near a straight rod, twist nearly the same of w.
SS_HD void weigh(const RodSplitView& of, std::size_t k, const CopyEnergy& energy,
                 const StrainSquares& strains, PairMetric* metric, VertexParts) {
  const Real a = of.length[k], b = of.length[k + 1], p = of.arm[k], q = of.arm[k + 1];
  const Real bend = energy.stiff(0) > energy.stiff(1) ? energy.stiff(0) : energy.stiff(1);
  const Real twist = energy.stiff(2), by_strain = kShareByStrain * strains.start;
  const auto limited = [](Real share) { return share < kMostShare ? share : kMostShare; };
  const Real mass = of.inertia[VertexParts::node(of, k, 1)];
  const Real turn = kTurnWeight * mass, bent = limited(kEdgeShare + by_strain) * bend / (a * b);
  const Real edge = turn > bent ? turn : bent;
  const Real ghost = limited(kGhostShare + by_strain) * twist / (p * q);
  metric[0] = {bend / (a * a) + edge, -bend / (a * b), bend / (b * b) + edge};
  metric[1] = {twist / (p * p) + ghost, -twist / (p * q), twist / (q * q) + ghost};
}

/// Metric, start of z at D (x_t + dt v), and u, whose force S u is that of the strains at `turned`.
template <class Parts>
struct StartCopies {
  RodSplitView of;
  const Vec3* v;

  SS_HD static Real strain_square(const CopyEnergy& energy, const Vec3& s) {
    Real sum = 0;
    for (int i = 0; i < Parts::weighed; ++i) {
      const Real strain = Parts::Copies::difference(i, s[i], energy.rest[i]);
      sum += strain * strain;
    }
    return sum;
  }
  SS_HD void operator()(std::size_t k) const {
    using Copies = typename Parts::Copies;
    if (!Parts::exists(of, k)) return;
    Vec3 z[Copies::copies], g[3][Copies::copies], force[Copies::copies];
    copies_at<Parts>(of, k, of.x_t, nullptr, z);
    Parts::still(of, k) = Copies::strain(z, g);
    const CopyEnergy energy = energy_of<Parts>(of, k);
    copies_at<Parts>(of, k, of.turned, nullptr, z);
    const Vec3 s = Copies::strain(z, g);
    const Real strain2 = strain_square(energy, s);
    for (int c = 0; c < Copies::copies; ++c) force[c] = Vec3::zero();
    for (int i = 0; i < 3; ++i) {
      const Real strain = Copies::difference(i, s[i], energy.rest[i]);
      for (int c = 0; c < Copies::copies; ++c) force[c] += (energy.stiffness[i] * strain) * g[i][c];
    }
    copies_at<Parts>(of, k, of.x_t, v, Parts::z(of, k));
    const Real there = strain_square(energy, Copies::strain(Parts::z(of, k), g)),
               before = strain_square(energy, energy.still);
    weigh(of, k, energy, {before, strain2 > there ? strain2 : there}, Parts::metric(of, k), Parts{});
    for (int m = 0; m < Copies::pairs; ++m)
      Parts::metric(of, k)[m].inverse().apply(force + 2 * m, Parts::u(of, k) + 2 * m);
  }
};

#if STICKSLIP_ON_CUDA
using CopyLanes = Real;  // each thread has an element
#else
using CopyLanes = std::conditional_t<std::is_same_v<Real, double>, WideLanes, Real>;
SS_HD inline void put_lane(WideLanes& of, int lane, double value) { of.v[lane] = value; }
SS_HD inline double get_lane(const WideLanes& of, int lane) { return of.v[lane]; }
#endif
SS_HD inline void put_lane(Real& of, int, Real value) { of = value; }
SS_HD inline Real get_lane(Real of, int) { return of; }
template <class T>
SS_HD void put_lane(Vec<T, 3>& of, int lane, const Vec3& value) {
  for (int i = 0; i < 3; ++i) put_lane(of[i], lane, value[i]);
}
constexpr int kCopyLanes = sizeof(CopyLanes) / sizeof(Real);

/// z and u of the elements of a pack, as many as there are lanes; returns the largest component of D x - z.
template <class Parts>
struct SeparateCopies {
  using Copies = typename Parts::Copies;
  using T = CopyLanes;
  static constexpr int n = Copies::copies;
  RodSplitView of;
  const Vec3* v;
  std::size_t count;  // of elements

  struct Pack {
    CopyProblem<Copies, T> problem;
    Vec<T, 3> at[n], z0[n], z[n];
  };

  SS_HD void read(std::size_t k, int lane, Pack& pack) const {
    const CopyEnergy energy = energy_of<Parts>(of, k);
    CopyEnergyOf<T>& to = pack.problem.energy;
    put_lane(to.stiffness, lane, energy.stiffness);
    put_lane(to.rest, lane, energy.rest);
    put_lane(to.still, lane, energy.still);
    put_lane(to.rate, lane, energy.rate);
    for (int m = 0; m < Copies::pairs; ++m) {
      const PairMetric& metric = Parts::metric(of, k)[m];
      put_lane(pack.problem.metric[m].a, lane, metric.a);
      put_lane(pack.problem.metric[m].b, lane, metric.b);
      put_lane(pack.problem.metric[m].c, lane, metric.c);
    }
    Vec3 at[n];
    copies_at<Parts>(of, k, of.x_t, v, at);
    const Vec3 *u = Parts::u(of, k), *z = Parts::z(of, k);
    for (int c = 0; c < n; ++c) {
      put_lane(pack.at[c], lane, at[c]);
      put_lane(pack.z0[c], lane, at[c] + u[c]);
      put_lane(pack.z[c], lane, z[c]);
    }
  }
  SS_HD double write(std::size_t k, int lane, const Pack& pack) const {
    double most = 0;
    Vec3 *u = Parts::u(of, k), *z = Parts::z(of, k);
    for (int c = 0; c < n; ++c)
      for (int i = 0; i < 3; ++i) {
        z[c][i] = get_lane(pack.z[c][i], lane);
        const Real apart = get_lane(pack.at[c][i], lane) - z[c][i];
        u[c][i] += apart;
        const double size = std::fabs(static_cast<double>(apart));
        most = size > most ? size : most;
      }
    return most;
  }

  SS_HD double operator()(std::size_t p) const {
    const std::size_t first = p * kCopyLanes;
    const std::size_t last = first + kCopyLanes < count ? first + kCopyLanes : count;
    std::size_t some = last;  // an element that moves; it also fills lanes without one
    for (std::size_t k = first; k < last && some == last; ++k)
      if (moves<Parts>(of, k)) some = k;
    if (some == last) return 0;
    Pack pack;
    for (int lane = 0; lane < kCopyLanes; ++lane) {
      const std::size_t k = first + static_cast<std::size_t>(lane);
      read(k < last && moves<Parts>(of, k) ? k : some, lane, pack);
    }
    pack.problem.minimise(pack.z0, of.tolerance, pack.z);
    double most = 0;
    for (std::size_t k = first; k < last; ++k) {
      if (!moves<Parts>(of, k)) continue;
      const double size = write(k, static_cast<int>(k - first), pack);
      most = size > most ? size : most;
    }
    return most;
  }
};

/// z, u = z, u + momentum (z - z_last, u - u_last); pull = S (z - u - D x).
template <class Parts>
struct PullCopies {
  RodSplitView of;
  const Vec3* v;
  Real momentum;

  SS_HD void operator()(std::size_t k) const {
    using Copies = typename Parts::Copies;
    if (!Parts::exists(of, k)) return;
    Vec3 away[Copies::copies];
    copies_at<Parts>(of, k, of.x_t, v, away);
    for (int c = 0; c < Copies::copies; ++c) {
      Vec3 &z = Parts::z(of, k)[c], &u = Parts::u(of, k)[c];
      Vec3 &z_last = Parts::z_last(of, k)[c], &u_last = Parts::u_last(of, k)[c];
      const Vec3 z_now = z, u_now = u;
      if (momentum > Real(0)) {
        z += momentum * (z - z_last);
        u += momentum * (u - u_last);
      }
      z_last = z_now;
      u_last = u_now;
      away[c] = z - u - away[c];
    }
    for (int m = 0; m < Copies::pairs; ++m)
      Parts::metric(of, k)[m].apply(away + 2 * m, Parts::pull(of, k) + 2 * m);
  }
};

/// The drag of segment k at one of its nodes.
SS_HD CornerDrag split_drag(const RodSplitView& of, std::size_t k) {
  const RodView& rods = of.rods.segments;
  const std::int32_t e = of.segment_element[k];
  return segment_drag(of.x_t[SegmentParts::node(of, k, 0)], of.x_t[SegmentParts::node(of, k, 1)],
                      rods.diameter[e], rods.materials[rods.material[e]].drag, rods.wind.density);
}
SS_HD Vec3 air_speed(const RodSplitView& of, std::int32_t node, const Vec3& v) {
  return v - of.rods.segments.wind(of.x_t[node].template cast<double>()).template cast<Real>();
}

/// What drag adds to the diagonal of A [kg]: twice the largest slope at the speed that iterations start from,
/// so that they converge where the air gets faster.
struct DragBound {
  RodSplitView of;
  const Vec3* v;
  Real* out;

  SS_HD void operator()(std::size_t s) const {
    out[s] = 0;
    const RodSlot& slot = of.slots[s];
    if (slot.is_ghost != 0 || !of.rods.segments.wind.blows()) return;
    const Real speed = norm(air_speed(of, slot.node, v[slot.node]));
    for (int side = 0; side < 2; ++side) {
      if (side == 0 ? slot.after < 0 : slot.before < 1) continue;
      const CornerDrag drag = split_drag(of, static_cast<std::size_t>(slot.segment - side));
      out[s] += 4 * of.dt * (drag.axial > drag.lateral ? drag.axial : drag.lateral) * speed;
    }
  }
};

/// f + W (p + lambda) + dt D' pull - (M + W) v + drag at a slot [N s]; zero at held nodes.
struct SlotResidual {
  RodSplitView of;
  const Vec3 *v, *contact_pull;
  const double* weight;
  Vec3* out;

  SS_HD void operator()(std::size_t s) const {
    const RodSlot& slot = of.slots[s];
    const std::int32_t i = slot.node;
    if (of.held[i] != 0) {
      out[s] = Vec3::zero();
      return;
    }
    Vec3 r = of.load[i] - (of.dt * of.dt * of.inertia[i]) * v[i] +
             (contact_pull[i] - static_cast<Real>(weight[i]) * v[i]);
    r += of.dt * elastic(slot);
    if (slot.is_ghost == 0 && of.rods.segments.wind.blows()) {
      const Vec3 u = air_speed(of, i, v[i]);
      if (slot.after >= 0) r -= of.dt * split_drag(of, static_cast<std::size_t>(slot.segment)).resistance(u);
      if (slot.before >= 1)
        r -= of.dt * split_drag(of, static_cast<std::size_t>(slot.segment - 1)).resistance(u);
    }
    out[s] = r;
  }

  /// D' pull.
  SS_HD Vec3 elastic(const RodSlot& slot) const {
    const std::ptrdiff_t k = slot.segment;
    const Vec3 *p = of.segment_pull + 2 * k, *q = of.vertex_pull + 4 * k;
    const Real half = Real(0.5);
    Vec3 sum = Vec3::zero();
    if (slot.is_ghost != 0) {
      sum += p[1];
      if (slot.after >= 1) sum += q[2];
      if (slot.before >= 1) sum += q[3 - 4];
      return sum;
    }
    if (slot.after >= 0) sum -= p[0] + half * p[1];
    if (slot.after >= 1) sum -= q[0] + half * q[2];
    if (slot.before >= 1) sum += p[-2] - half * p[-1];
    if (slot.before >= 1 && slot.after >= 0) {
      const Vec3* m = q - 4;
      sum += m[0] - m[1] - half * (m[2] + m[3]);
    }
    if (slot.before >= 2) {
      const Vec3* m = q - 8;
      sum += m[1] - half * m[3];
    }
    return sum;
  }
};

/// The coefficient of relative slot `s` (x0, y0, x1, y1, x2) in edge `c` of a vertex; likewise of a ghost
/// from the middle of its edge. Those of a segment are those of c = 0.
SS_HD Real in_edge(int c, int s) { return s == 2 * c ? Real(-1) : s == 2 * c + 2 ? Real(1) : Real(0); }
SS_HD Real in_ghost(int c, int s) {
  return s == 2 * c + 1 ? Real(1) : s == 2 * c || s == 2 * c + 2 ? Real(-0.5) : Real(0);
}

/// A of one strand as L D L'.
struct FactoriseStrand {
  RodSplitView of;
  const std::int32_t* begin;
  const double* weight;
  const Real* drag;
  ScalarRow* rows;

  static constexpr int kBand = ScalarRow::width;

  SS_HD bool is_held(std::int32_t s) const { return of.held[of.slots[s].node] != 0; }
  SS_HD void add(std::int32_t row, std::int32_t column, Real value) const {
    if (row == column) rows[row].inverse_pivot += value;
    else if (!is_held(row) && !is_held(column)) rows[row].l[kBand - (row - column)] += value;
  }
  SS_HD void add_elements(std::int32_t first, std::int32_t last) const {
    const Real dt2 = of.dt * of.dt;
    for (std::int32_t s = first; s + 2 < last; s += 2) {
      const auto k = static_cast<std::size_t>(of.slots[s].segment);
      const PairMetric& m = of.segment_metric[k];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c <= r; ++c)
          add(s + r, s + c,
              dt2 * (m.a * in_edge(0, r) * in_edge(0, c) + m.c * in_ghost(0, r) * in_ghost(0, c)));
      if (of.vertex_element[k] < 0) continue;
      const PairMetric &e = of.vertex_metric[2 * k], &w = of.vertex_metric[2 * k + 1];
      for (int r = 0; r < 5; ++r)
        for (int c = 0; c <= r; ++c) {
          const Real r0 = in_edge(0, r), r1 = in_edge(1, r), c0 = in_edge(0, c), c1 = in_edge(1, c);
          const Real p0 = in_ghost(0, r), p1 = in_ghost(1, r), q0 = in_ghost(0, c), q1 = in_ghost(1, c);
          add(s + r, s + c,
              dt2 * (e.a * r0 * c0 + e.b * (r0 * c1 + r1 * c0) + e.c * r1 * c1 + w.a * p0 * q0 +
                     w.b * (p0 * q1 + p1 * q0) + w.c * p1 * q1));
        }
    }
  }

  SS_HD void operator()(std::size_t strand) const {
    const std::int32_t first = begin[strand], last = begin[strand + 1];
    for (std::int32_t s = first; s < last; ++s) {
      const std::int32_t node = of.slots[s].node;
      for (int k = 0; k < kBand; ++k) rows[s].l[k] = 0;
      rows[s].inverse_pivot = of.dt * of.dt * of.inertia[node] + static_cast<Real>(weight[node]) + drag[s];
    }
    add_elements(first, last);
    for (std::int32_t i = first; i < last; ++i) {
      ScalarRow& row = rows[i];
      Real pivot = row.inverse_pivot;
      const int before = i - first < kBand ? i - first : kBand;
      for (int k = kBand - before; k < kBand; ++k) {
        const ScalarRow& of_column = rows[i - kBand + k];
        for (int m = kBand - before; m < k; ++m) row.l[k] -= row.l[m] * of_column.l[m + kBand - k];
      }
      for (int k = kBand - before; k < kBand; ++k) {
        const Real scaled = row.l[k] * rows[i - kBand + k].inverse_pivot;
        pivot -= row.l[k] * scaled;
        row.l[k] = scaled;
      }
      row.inverse_pivot = Real(1) / pivot;
    }
  }
};

/// v += A^-1 y along one strand.
struct SolveStrand {
  const RodSlot* slots;
  const std::int32_t* begin;
  const ScalarRow* rows;
  Vec3 *y, *v;

  static constexpr int kBand = ScalarRow::width;

  SS_HD void operator()(std::size_t strand) const {
    const std::int32_t first = begin[strand], last = begin[strand + 1];
    for (std::int32_t i = first; i < last; ++i) {
      const int before = i - first < kBand ? i - first : kBand;
      Vec3 sum = y[i];
      for (int k = kBand - before; k < kBand; ++k) sum -= rows[i].l[k] * y[i - kBand + k];
      y[i] = sum;
    }
    for (std::int32_t i = last - 1; i >= first; --i) {
      const int behind = last - 1 - i < kBand ? last - 1 - i : kBand;
      Vec3 sum = rows[i].inverse_pivot * y[i];
      for (int k = 1; k <= behind; ++k) sum -= rows[i + k].l[kBand - k] * y[i + k];
      y[i] = sum;
      v[slots[i].node] += sum;
    }
  }
};

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void RodSplitting::load(Context& ctx, const Model& model) {
  // By ghost, the element of its segment, and of the vertex that begins with it.
  std::vector<std::int32_t> segment_of(model.node_count(), -1), vertex_of(model.node_count(), -1);
  std::int32_t segments = 0, vertices = 0;
  for (const ElementGroup& group : element_groups(model)) {
    if (group.kind == ElementKind::rod_segment)
      for (const Vec4i& stencil : group.stencils)
        segment_of[static_cast<std::size_t>(stencil[2])] = segments++;
    if (group.kind == ElementKind::rod_vertex)
      for (std::size_t i = 0; i < group.stencils.size(); i += kRodVertexStencils)
        vertex_of[static_cast<std::size_t>(group.stencils[i][3])] = vertices++;
  }
  std::vector<std::int32_t> begin{0}, segment_slot, segment_element, vertex_element;
  std::vector<RodSlot> slots;
  std::vector<Real> length, arm;
  for (const std::vector<std::int32_t>& chain : rod_chains(model)) {
    const auto count = static_cast<std::int32_t>(chain.size() / 2), first = begin.back();
    const auto first_segment = static_cast<std::int32_t>(segment_slot.size());
    const auto at = [&](std::size_t s) { return model.rest_positions[static_cast<std::size_t>(chain[s])]; };
    for (std::size_t s = 0; s < chain.size(); ++s) {
      const auto i = static_cast<std::int32_t>(s / 2);
      slots.push_back({chain[s], first_segment + i, i, count - 1 - i, static_cast<std::int32_t>(s % 2)});
      if (s % 2 == 0) continue;
      const auto ghost = static_cast<std::size_t>(chain[s]);
      segment_slot.push_back(first + 2 * i);
      segment_element.push_back(segment_of[ghost]);
      vertex_element.push_back(i + 1 < count ? vertex_of[ghost] : -1);
      const auto x0 = at(s - 1), x1 = at(s + 1), w = at(s) - 0.5 * (x0 + x1);
      const auto t = (1 / norm(x1 - x0)) * (x1 - x0);
      length.push_back(static_cast<Real>(norm(x1 - x0)));
      arm.push_back(static_cast<Real>(norm(w - dot(w, t) * t)));
    }
    begin.push_back(first + static_cast<std::int32_t>(chain.size()));
  }
  strands_ = begin.size() - 1;
  segments_ = segment_slot.size();
  strand_begin_.upload(ctx, begin);
  slots_.upload(ctx, slots);
  segment_slot_.upload(ctx, segment_slot);
  segment_element_.upload(ctx, segment_element);
  vertex_element_.upload(ctx, vertex_element);
  length_.upload(ctx, length);
  arm_.upload(ctx, arm);
  most_.resize(ctx, 2);
}

RodSplitView RodSplitting::view(const Step& step) {
  return {slots_.data(),
          segment_slot_.data(),
          segment_element_.data(),
          vertex_element_.data(),
          length_.data(),
          arm_.data(),
          segment_metric_.data(),
          vertex_metric_.data(),
          segment_still_.data(),
          vertex_still_.data(),
          segment_z_.data(),
          segment_u_.data(),
          segment_z_last_.data(),
          segment_u_last_.data(),
          segment_pull_.data(),
          vertex_z_.data(),
          vertex_u_.data(),
          vertex_z_last_.data(),
          vertex_u_last_.data(),
          vertex_pull_.data(),
          step.device->scripted.data(),
          step.x_t,
          step.turned,
          step.load,
          step.inertia,
          step.rods,
          static_cast<Real>(step.dt),
          static_cast<Real>(step.tolerance)};
}

void RodSplitting::begin_step(Context& ctx, const Step& step, const Vec3* v) {
  const Span span(ctx, "rod copies");
  segment_metric_.resize(ctx, segments_);
  vertex_metric_.resize(ctx, 2 * segments_);
  segment_still_.resize(ctx, segments_);
  vertex_still_.resize(ctx, segments_);
  for (Buffer<Vec3>* b : {&segment_z_, &segment_u_, &segment_z_last_, &segment_u_last_, &segment_pull_})
    b->resize(ctx, 2 * segments_);
  for (Buffer<Vec3>* b : {&vertex_z_, &vertex_u_, &vertex_z_last_, &vertex_u_last_, &vertex_pull_})
    b->resize(ctx, 4 * segments_);
  drag_.resize(ctx, slots_.size());
  rows_.resize(ctx, slots_.size());
  y_.resize(ctx, slots_.size());
  const RodSplitView of = view(step);
  launch(ctx, segments_, StartCopies<SegmentParts>{of, v}, kMedium);
  launch(ctx, segments_, StartCopies<VertexParts>{of, v}, kMedium);
}

void RodSplitting::factorise(Context& ctx, const Step& step, const double* weight, const Vec3* v) {
  const Span span(ctx, "strand factors");
  const RodSplitView of = view(step);
  launch(ctx, slots_.size(), DragBound{of, v, drag_.data()}, kMedium);
  launch(ctx, strands_, FactoriseStrand{of, strand_begin_.data(), weight, drag_.data(), rows_.data()},
         Grain{4});
}

double RodSplitting::separate(Context& ctx, const Step& step, const Vec3* v) {
  const Span span(ctx, "rod elements");
  const RodSplitView of = view(step);
  const std::size_t packs = (segments_ + kCopyLanes - 1) / kCopyLanes;
  reduce_max(ctx, packs, SeparateCopies<SegmentParts>{of, v, segments_}, 0.0, most_.data(), kHeavy);
  reduce_max(ctx, packs, SeparateCopies<VertexParts>{of, v, segments_}, 0.0, most_.data() + 1, kHeavy);
  double most[2];
  copy_to_host(ctx, most, most_.data(), 2);
  return std::max(most[0], most[1]);
}

void RodSplitting::join(Context& ctx, const Step& step, const Vec3* pull, const double* weight,
                        double momentum, Vec3* v) {
  const Span span(ctx, "strand solve");
  const RodSplitView of = view(step);
  const Real share = static_cast<Real>(momentum);
  launch(ctx, segments_, PullCopies<SegmentParts>{of, v, share}, kMedium);
  launch(ctx, segments_, PullCopies<VertexParts>{of, v, share}, kMedium);
  launch(ctx, slots_.size(), SlotResidual{of, v, pull, weight, y_.data()}, kMedium);
  launch(ctx, strands_, SolveStrand{slots_.data(), strand_begin_.data(), rows_.data(), y_.data(), v},
         Grain{4});
}

}  // namespace stickslip::STICKSLIP_BACKEND
