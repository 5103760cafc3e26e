#include "bench/program/reproduce/fibre_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <stdexcept>

#include "gpu/dfcp/problem/generator_tools.h"
#include "gpu/energy/rod_element.h"

namespace stickslip {
namespace {

using DofVector = Vec<double, kFibreDofs>;
using DofMatrix = Mat<double, kFibreDofs>;
using PointMotion = Mat<double, 3, kFibreDofs>;  // of a point, by the dofs of its strand

constexpr double kPoisson = 0.35, kShear = 1 / (2 * (1 + kPoisson));  // of Young's modulus
/// Cells of the integrals along a strand; a multiple of the numbers of parts of all models.
constexpr int kCells = 360;

/// The centreline of a strand at rest, by the share s of its length.
struct FibreCurve {
  Vec3d root;
  double length, radius, turns, phase;

  Vec3d at(double s) const {
    const double angle = phase + 2 * std::numbers::pi * turns * s;
    const double winding = 2 * std::numbers::pi * turns * radius;
    const double drop = std::sqrt(length * length - winding * winding);
    return root + Vec3d{radius * std::cos(angle), -drop * s, radius * std::sin(angle)};
  }
};

/// A strand in one of the models.
class FibreStrand {
 public:
  FibreStrand(const FibreCurve& curve, const Wisp& wisp)
      : curve_(curve), wisp_(wisp), section_(rod_section(wisp.diameter, 1)) {}
  virtual ~FibreStrand() = default;

  /// 3 x kFibreDofs: the velocity of the point at s by those of the dofs.
  virtual PointMotion motion(double s) const = 0;
  /// K at rest [N per unit of the dofs].
  virtual DofMatrix stiffness() const = 0;
  /// The part of M that turns about the line.
  virtual DofMatrix spin_inertia() const = 0;

  double line_mass() const { return wisp_.density * section_.area; }

 protected:
  Vec3d point(double s) const { return curve_.at(s); }

  FibreCurve curve_;
  const Wisp& wisp_;
  RodSection section_;
};

/// Nodes 0 to `segments` in equal distances along the strand; the first two are held.
class NodeStrand : public FibreStrand {
 public:
  NodeStrand(const FibreCurve& curve, const Wisp& wisp, int segments)
      : FibreStrand(curve, wisp), segments_(segments) {
    for (int i = 0; i <= segments; ++i) nodes_.push_back(point(static_cast<double>(i) / segments));
  }
  PointMotion motion(double s) const override {
    PointMotion out = PointMotion::zero();
    const int e = std::min(static_cast<int>(s * segments_), segments_ - 1);
    const double share = s * segments_ - e;
    for (int side = 0; side < 2; ++side)
      if (const int first = dof(e + side); first >= 0)
        for (int c = 0; c < 3; ++c) out(c, first + c) += side == 0 ? 1 - share : share;
    return out;
  }

 protected:
  /// The first dof of a node; -1: held.
  static int dof(int node) { return node < 2 ? -1 : 3 * (node - 2); }
  double segment_length(int e) const { return norm(nodes_[place(e + 1)] - nodes_[place(e)]); }
  static std::size_t place(int i) { return static_cast<std::size_t>(i); }
  /// Adds stiffness g g' of a strain with the derivatives g by three coordinates at each of these dofs.
  template <std::size_t n>
  static void add_square(DofMatrix& k, double stiffness, const std::array<int, n>& dofs,
                         const std::array<Vec3d, n>& g) {
    DofVector all = DofVector::zero();
    for (std::size_t a = 0; a < n; ++a)
      for (int c = 0; c < 3 && dofs[a] >= 0; ++c) all[dofs[a] + c] += g[a][c];
    k += stiffness * outer(all, all);
  }

  int segments_;
  std::vector<Vec3d> nodes_;
};

/// [Baraff98] E A / l of each distance, and E I / l^3 of each second difference of positions.
class SpringStrand : public NodeStrand {
 public:
  SpringStrand(const FibreCurve& curve, const Wisp& wisp) : NodeStrand(curve, wisp, kFibreDofs / 3 + 1) {}

  DofMatrix stiffness() const override {
    DofMatrix k = DofMatrix::zero();
    for (int e = 0; e < segments_; ++e) {
      const double l = segment_length(e);
      const Vec3d t = (1 / l) * (nodes_[place(e + 1)] - nodes_[place(e)]);
      add_square<2>(k, wisp_.young * section_.area / l, {dof(e), dof(e + 1)}, {-t, t});
    }
    for (int i = 1; i < segments_; ++i) {
      const double l = (segment_length(i - 1) + segment_length(i)) / 2;
      for (int c = 0; c < 3; ++c) {
        Vec3d axis{0, 0, 0};
        axis[c] = 1;
        add_square<3>(k, wisp_.young * section_.across_d1 / (l * l * l), {dof(i - 1), dof(i), dof(i + 1)},
                      {axis, -2.0 * axis, axis});
      }
    }
    return k;
  }
  DofMatrix spin_inertia() const override { return DofMatrix::zero(); }
};

/// The strains of gpu/energy/rod_element.h. Dofs of nodes, then of ghosts; the first ghost is held.
class RodStrand : public NodeStrand {
 public:
  RodStrand(const FibreCurve& curve, const Wisp& wisp) : NodeStrand(curve, wisp, kFibreDofs / 6 + 1) {
    std::vector<Vec2i> chain;
    chain.reserve(static_cast<std::size_t>(segments_));
    for (int e = 0; e < segments_; ++e) chain.push_back({e, e + 1});
    ghosts_ = place_ghosts(nodes_, chain, wisp.diameter);
  }

  DofMatrix stiffness() const override {
    DofMatrix k = DofMatrix::zero();
    const double shear = kShear * wisp_.young;
    for (int e = 0; e < segments_; ++e) {
      const RodFrameOf<double> f = frame(e);
      const double gauge = shear * section_.torsion / (f.length * f.rho * f.rho);
      const double stiff[] = {wisp_.young * section_.area / f.length, gauge, gauge};
      const Vec3d by_edge[] = {f.t, (-f.along / f.length) * f.d1, (f.rho / f.length) * f.d1};
      const Vec3d by_ghost[] = {{0, 0, 0}, f.d1, f.t};
      for (int s = 0; s < kSegmentStrains; ++s)
        add_square<3>(k, stiff[s], {dof(e), dof(e + 1), ghost_dof(e)},
                      {-by_edge[s] - 0.5 * by_ghost[s], by_edge[s] - 0.5 * by_ghost[s], by_ghost[s]});
    }
    for (int i = 1; i < segments_; ++i) {
      const RodFrameOf<double> a = frame(i - 1), b = frame(i);
      const VertexGradientOf<double> g = vertex_gradient(a, b, vertex_strain(a, b));
      const double l = (a.length + b.length) / 2;
      const double stiff[] = {wisp_.young * section_.across_d2 / l, wisp_.young * section_.across_d1 / l,
                              shear * section_.torsion / l};
      for (int s = 0; s < kVertexStrains; ++s)
        add_square<5>(k, stiff[s], {dof(i - 1), dof(i), dof(i + 1), ghost_dof(i - 1), ghost_dof(i)},
                      {g.g[s][0], g.g[s][1], g.g[s][2], g.g[s][3], g.g[s][4]});
    }
    return k;
  }
  /// A ghost has the mass with which it turns as the segment does about its line.
  DofMatrix spin_inertia() const override {
    DofMatrix m = DofMatrix::zero();
    for (int e = 1; e < segments_; ++e) {
      const RodFrameOf<double> f = frame(e);
      for (int c = 0; c < 3; ++c)
        m(ghost_dof(e) + c, ghost_dof(e) + c) = ghost_share(section_, f.rho) * line_mass() * f.length;
    }
    return m;
  }

 private:
  static int ghost_dof(int e) { return e < 1 ? -1 : kFibreDofs / 2 + 3 * (e - 1); }
  RodFrameOf<double> frame(int e) const {
    const Vec3d &x0 = nodes_[place(e)], &x1 = nodes_[place(e + 1)];
    return rod_frame<double>(x1 - x0, ghosts_[place(e)] - 0.5 * (x0 + x1));
  }

  std::vector<Vec3d> ghosts_;
};

/// [Bertails06] The rate of a curvature about d_1, d_2 or t of a part turns what is behind it:
///   v(s) = int_0^s sum_c q_c(s') d_c(s') x (x(s) - x(s')) ds'.
class CurvatureStrand : public FibreStrand {
 public:
  CurvatureStrand(const FibreCurve& curve, const Wisp& wisp) : FibreStrand(curve, wisp) {
    for (int k = 0; k < kCells; ++k) {
      const double s = (k + 0.5) / kCells, h = 0.25 / kCells;
      const Vec3d step = point(s + h) - point(s - h), t = (1 / norm(step)) * step;
      // Turned from cell to cell by as little as possible.
      const Vec3d last = k > 0 ? frames_.back()[0] : std::abs(t[0]) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
      Vec3d d1 = last - dot(last, t) * t;
      d1 = (1 / norm(d1)) * d1;
      frames_.push_back({d1, cross(t, d1), t});
      middles_.push_back(point(s));
    }
  }
  PointMotion motion(double s) const override {
    PointMotion out = PointMotion::zero();
    const Vec3d x = point(s);
    for (int k = 0; k < kCells && k < s * kCells; ++k) {
      const double share = std::min(s * kCells - k, 1.0) * cell();
      for (int c = 0; c < 3; ++c)
        add_column(out, column(k, c), share * cross(frames_[index(k)][index(c)], x - middles_[index(k)]));
    }
    return out;
  }
  DofMatrix stiffness() const override {
    DofMatrix k = DofMatrix::zero();
    const double part = wisp_.length / kParts, bending = wisp_.young * section_.across_d1;
    for (int i = 0; i < kFibreDofs; ++i)
      k(i, i) = part * (i % 3 < 2 ? bending : kShear * wisp_.young * section_.torsion);
    return k;
  }
  /// density (I_1 + I_2) of the spin t . omega, omega(s) = int_0^s sum_c q_c d_c ds'.
  DofMatrix spin_inertia() const override {
    DofMatrix m = DofMatrix::zero();
    PointMotion turn = PointMotion::zero();
    for (int k = 0; k < kCells; ++k) {
      for (int c = 0; c < 3; ++c) add_column(turn, column(k, c), cell() * frames_[index(k)][index(c)]);
      const DofVector spin = transposed_times(turn, frames_[index(k)][2]);
      m += (wisp_.density * section_.polar * cell()) * outer(spin, spin);
    }
    return m;
  }

 private:
  static constexpr int kParts = kFibreDofs / 3;
  double cell() const { return wisp_.length / kCells; }
  static void add_column(PointMotion& to, int column, const Vec3d& v) {
    for (int c = 0; c < 3; ++c) to(c, column) += v[c];
  }
  static int column(int cell, int axis) { return 3 * (cell * kParts / kCells) + axis; }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<std::array<Vec3d, 3>> frames_;  // d1, d2, t of the cells
  std::vector<Vec3d> middles_;
};

std::unique_ptr<FibreStrand> make_fibre(FibreModel model, const FibreCurve& curve, const Wisp& wisp) {
  if (model == FibreModel::rods) return std::make_unique<RodStrand>(curve, wisp);
  if (model == FibreModel::springs) return std::make_unique<SpringStrand>(curve, wisp);
  return std::make_unique<CurvatureStrand>(curve, wisp);
}

/// Where two strands touch, and the frame (n, t1, t2) of the contact.
struct FibreContact {
  std::size_t a, b;
  double s_a, s_b;
  Vec3d frame[3];
};

/// Random points of strand a, with the points of a neighbour b that are nearest to them.
std::vector<FibreContact> touch_at_random(const std::vector<FibreCurve>& curves, const Wisp& wisp,
                                          SeededNumbers& random) {
  constexpr int kSamples = 400;
  std::vector<FibreContact> contacts;
  while (static_cast<int>(contacts.size()) < wisp.contacts) {
    FibreContact c{};
    c.a = random.below(curves.size());
    c.b = random.below(curves.size());
    if (c.a == c.b || norm(curves[c.a].root - curves[c.b].root) > 1.5 * wisp.spacing) continue;
    c.s_a = random.between(0.25, 1);
    const Vec3d x = curves[c.a].at(c.s_a);
    double nearest = 1e300;
    for (int k = kSamples / 4; k <= kSamples; ++k) {
      const double s = static_cast<double>(k) / kSamples, distance = norm(x - curves[c.b].at(s));
      if (distance < nearest) {
        nearest = distance;
        c.s_b = s;
      }
    }
    if (nearest < 0.05 * wisp.spacing) continue;  // a normal of chance
    const Vec3d n = (1 / nearest) * (x - curves[c.b].at(c.s_b));
    const Vec3d along = std::abs(n[1]) < 0.9 ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0};
    Vec3d t = along - dot(along, n) * n;
    t = (1 / norm(t)) * t;
    c.frame[0] = n;
    c.frame[1] = t;
    c.frame[2] = cross(n, t);
    contacts.push_back(c);
  }
  return contacts;
}

template <int R>
DofVector dof_row(const Mat<double, R, kFibreDofs>& m, int row) {
  DofVector out;
  for (int k = 0; k < kFibreDofs; ++k) out[k] = m(row, k);
  return out;
}
/// Appends the entries that are not zero, from the first column of a strand on.
void appclose_row(SparseRows& rows, std::size_t strand, const DofVector& values) {
  for (int k = 0; k < kFibreDofs; ++k)
    if (values[k] != 0) {
      rows.indices.push_back(static_cast<std::int32_t>(strand) * kFibreDofs + k);
      rows.values.push_back(values[k]);
    }
}
void close_row(SparseRows& rows) { rows.offsets.push_back(static_cast<std::int32_t>(rows.indices.size())); }

}  // namespace

const char* name_of(FibreModel model) {
  if (model == FibreModel::rods) return "rods";
  return model == FibreModel::springs ? "springs" : "curvatures";
}

ContactProblem wisp_problem(FibreModel model, const Wisp& wisp) {
  if (wisp.side < 2 || wisp.contacts < 1)
    throw std::invalid_argument("a wisp has at least 2 strands along a side, and a contact");
  SeededNumbers random(wisp.seed);
  std::vector<FibreCurve> curves;
  std::vector<Vec3d> drifts;  // [m/s] of the tips
  const double half = 0.5 * wisp.spacing * (wisp.side - 1);
  for (int i = 0; i < wisp.side * wisp.side; ++i) {
    const int row = i / wisp.side, column = i % wisp.side;
    const Vec3d root{wisp.spacing * column - half, 0, wisp.spacing * row - half};
    const double turns = random.between(1, 2);
    curves.push_back({root, wisp.length, wisp.radius, turns, random.between(0, 2 * std::numbers::pi)});
    const Vec3d inward = -40.0 * root;  // [1/s]
    drifts.push_back(inward + random.in_cube(0.1));
  }
  const std::vector<FibreContact> contacts = touch_at_random(curves, wisp, random);

  ContactProblem problem;
  problem.form = ContactProblem::Form::global;
  problem.title = std::string("wisp of ") + name_of(model);
  problem.description = std::to_string(curves.size()) + " strands, " + std::to_string(contacts.size()) +
                        " contacts, seed " + std::to_string(wisp.seed);
  problem.A.rows = problem.A.columns = static_cast<std::int32_t>(kFibreDofs * curves.size());
  problem.A.offsets = {0};
  std::vector<std::unique_ptr<FibreStrand>> strands;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    strands.push_back(make_fibre(model, curves[i], wisp));
    const FibreStrand& strand = *strands.back();
    DofMatrix a = strand.spin_inertia() + wisp.dt * wisp.dt * strand.stiffness();
    DofVector f = DofVector::zero();
    for (int k = 0; k < kCells; ++k) {
      const double s = (k + 0.5) / kCells, mass = strand.line_mass() * wisp.length / kCells;
      const PointMotion at = strand.motion(s);
      for (int c = 0; c < 3; ++c) {
        const DofVector row = dof_row(at, c);
        a += mass * outer(row, row);
      }
      f += mass * transposed_times(at, s * s * drifts[i] + Vec3d{0, -9.81 * wisp.dt, 0});
    }
    for (int k = 0; k < kFibreDofs; ++k) {
      appclose_row(problem.A, i, dof_row(a, k));
      close_row(problem.A);
      problem.f.push_back(f[k]);
    }
  }
  problem.H.columns = problem.A.columns;
  problem.H.rows = static_cast<std::int32_t>(3 * contacts.size());
  problem.H.offsets = {0};
  for (const FibreContact& contact : contacts) {
    BlockLaw law;
    law.mu = {wisp.mu, wisp.mu, 0, 0};
    problem.laws.push_back(law);
    const PointMotion of_a = strands[contact.a]->motion(contact.s_a),
                      of_b = strands[contact.b]->motion(contact.s_b);
    for (const Vec3d& axis : contact.frame) {
      const DofVector a = transposed_times(of_a, axis), b = -transposed_times(of_b, axis);
      if (contact.a < contact.b) appclose_row(problem.H, contact.a, a);
      appclose_row(problem.H, contact.b, b);
      if (contact.a > contact.b) appclose_row(problem.H, contact.a, a);
      close_row(problem.H);
      problem.w.push_back(0);
    }
  }
  return problem;
}

}  // namespace stickslip
