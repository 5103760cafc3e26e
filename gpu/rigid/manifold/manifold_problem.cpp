#include "gpu/rigid/manifold/manifold_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "gpu/rigid/manifold/manifold.h"

namespace stickslip {
namespace {

using V3 = Vec<double, 3>;

// How far rows may be from those of a point, relative to a unit vector and to the length of the arm.
constexpr double kRowTolerance = 1e-9;

std::string at_block(std::size_t c, const char* what) { return "block " + std::to_string(c) + " " + what; }

/// A^-1 of body b as a mass and an inertia.
bool read_body(const ContactProblem& p, std::size_t b, BodyInverse& out) {
  const double* a = p.inverse_mass.data() + 36 * b;
  out = {a[0], {a[21], a[28], a[35], a[22], a[23], a[29]}};
  const double size = std::max({std::abs(a[0]), std::abs(a[21]), std::abs(a[28]), std::abs(a[35])});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const bool both_linear = i < 3 && j < 3, both_angular = i >= 3 && j >= 3;
      const double want = both_angular ? a[6 * i + j] : both_linear && i == j ? out.mass : 0;
      if (std::abs(a[6 * i + j] - want) > kRowTolerance * size) return false;
    }
  return true;
}

Mat<double, 3> corner(const std::array<double, 36>& block, std::size_t at) {
  Mat<double, 3> m{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      m(static_cast<int>(i), static_cast<int>(j)) = block[6 * (at + i) + at + j];
  return m;
}

struct Rows {
  V3 linear[3], angular[3];
};

Rows rows_of(const JacobianBlock& entry) {
  Rows rows;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      rows.linear[i][k] = entry.rows[static_cast<std::size_t>(6 * i + k)];
      rows.angular[i][k] = entry.rows[static_cast<std::size_t>(6 * i + 3 + k)];
    }
  return rows;
}

/// The arm r with angular_i = r x d_i for orthonormal d_0, d_1.
V3 arm_of(const Rows& rows, const V3& n, const V3& t) {
  const V3 b = cross(n, t), rn = rows.angular[0], rt = rows.angular[1];
  return dot(rt, b) * n - dot(rn, b) * t + dot(rn, t) * b;
}

/// Whether the rows are those of a point: `sign` times the axes, and the torques about the centre.
bool is_point(const Rows& rows, double sign, const V3 (&axes)[3], const V3& arm) {
  for (int i = 0; i < 3; ++i) {
    if (norm(rows.linear[i] - sign * axes[i]) > kRowTolerance) return false;
    if (norm(rows.angular[i] - sign * cross(arm, axes[i])) > kRowTolerance * (1 + norm(arm))) return false;
  }
  return true;
}

/// A block as a point of a manifold, or why it is none.
struct Reader {
  const ContactProblem& p;
  double speed;  // [m/s] largest in the problem: less than its rounding is no velocity
  RigidContact contact{};
  ProblemPoint point{};
  double handedness = 1;

  std::string read(std::size_t c) {
    const BlockLaw& law = p.laws[c];
    if (law.set != FrictionSet::ellipsoid || law.flow != FlowRule::exact || law.mu[0] != law.mu[1])
      return at_block(c, "has another law than Coulomb's with isotropic friction");
    const auto softness = [&](std::size_t i) {
      return law.compliance + (p.softness.empty() ? 0 : p.softness[3 * c + i]);
    };
    if (softness(1) != 0 || softness(2) != 0) return at_block(c, "is soft along its tangents");
    if (std::abs(p.w[3 * c + 1]) > kRowTolerance * speed || std::abs(p.w[3 * c + 2]) > kRowTolerance * speed)
      return at_block(c, "has a given velocity along its tangents");
    const auto first = static_cast<std::size_t>(p.block_start[c]),
               last = static_cast<std::size_t>(p.block_start[c + 1]);
    if (last == first || last - first > 2) return at_block(c, "does not act on one or two bodies");
    Rows rows[2];
    for (std::size_t e = first; e < last; ++e) rows[e - first] = rows_of(p.jacobian[e]);
    const V3 n = rows[0].linear[0], t = rows[0].linear[1];
    handedness = dot(cross(n, t), rows[0].linear[2]) < 0 ? -1 : 1;
    const V3 axes[3] = {n, t, handedness * cross(n, t)};
    if (std::abs(norm2(n) - 1) > kRowTolerance || std::abs(norm2(t) - 1) > kRowTolerance ||
        std::abs(dot(n, t)) > kRowTolerance)
      return at_block(c, "has axes that are not orthonormal");
    point = {arm_of(rows[0], n, t), {0, 0, 0}, t, law.mu[0], p.w[3 * c], softness(0), {0, 0, 0}};
    if (!is_point(rows[0], 1, axes, point.arm)) return at_block(c, "is no point of contact");
    contact.a = p.jacobian[first].body;
    contact.b = -1;
    contact.normal = n;
    contact.previous = -1;
    if (last - first == 2) {
      Rows other = rows[1];
      for (V3& v : other.angular) v = -v;
      point.arm_b = arm_of(other, n, t);
      contact.b = p.jacobian[first + 1].body;
      if (!is_point(rows[1], -1, axes, point.arm_b)) return at_block(c, "is no point of contact");
    } else {
      point.arm_b = point.arm;
    }
    if (p.guess.size() == p.size())
      point.start = {p.guess[3 * c], p.guess[3 * c + 1], handedness * p.guess[3 * c + 2]};
    return {};
  }
};

/// Block c with all its rows, of any law; or why it cannot be one. `compliance`: of all rows.
std::string read_block(const ContactProblem& p, std::size_t c, const std::vector<double>& compliance,
                       ConstraintBlock<3>& out) {
  const BlockLaw& law = p.laws[c];
  if (law.cohesion != 0) return at_block(c, "has cohesion");
  const auto first = static_cast<std::size_t>(p.block_start[c]),
             last = static_cast<std::size_t>(p.block_start[c + 1]);
  if (last == first || last - first > 2) return at_block(c, "does not act on one or two bodies");
  out = {};
  out.body[0] = out.body[1] = -1;
  for (std::size_t e = first; e < last; ++e) {
    const JacobianBlock& entry = p.jacobian[e];
    out.body[e - first] = entry.body;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 6; ++k)
        out.jacobian[e - first][i][k] = entry.rows[static_cast<std::size_t>(6 * i + k)];
  }
  for (int i = 0; i < 3; ++i) {
    const std::size_t row = 3 * c + static_cast<std::size_t>(i);
    out.w[i] = p.w[row];
    out.compliance[i] = compliance[row];
  }
  out.law.mu = {law.mu[0], law.mu[1]};
  out.law.set = law.set;
  out.law.flow = law.flow;
  return {};
}

/// What the problem as a whole must be.
std::string form_fault(const ContactProblem& p) {
  if (p.form == ContactProblem::Form::global)
    return "the problem is global, and A has other entries than masses and inertias of rigid bodies";
  if (p.form != ContactProblem::Form::bodies) return "the problem is not given by bodies";
  if (p.dim != 3) return p.dim == 4 ? "blocks have torsion" : "blocks have rolling resistance";
  if (p.body_dofs != 6) return "bodies have no rotation";
  return {};
}

/// Contacts that one manifold can hold beside each other.
bool go_together(const RigidContact& c, const ProblemPoint& x, const RigidContact& d, const ProblemPoint& y) {
  const V3 apart = (x.arm_b - x.arm) - (y.arm_b - y.arm);
  return c.a == d.a && c.b == d.b && x.mu == y.mu && norm(c.normal - d.normal) <= kRowTolerance &&
         norm(x.tangent - y.tangent) <= kRowTolerance &&
         norm(apart) <= kRowTolerance * (1 + norm(x.arm_b - x.arm));
}

/// A global problem whose A is made of mass and inertia blocks of rigid bodies, as FCLIB files of frozen
/// steps have it, by bodies. Nothing for another one.
std::optional<ContactProblem> by_bodies(const ContactProblem& global) {
  if (global.form != ContactProblem::Form::global || global.dim != 3 || global.A.rows % 6 != 0) return {};
  ContactProblem p = global;
  p.form = ContactProblem::Form::bodies;
  p.A = p.H = {};
  const auto bodies = static_cast<std::size_t>(global.A.rows / 6);
  p.inverse_mass.assign(36 * bodies, 0.0);
  for (std::size_t b = 0; b < bodies; ++b) {
    std::array<double, 36> block{};
    for (std::size_t i = 0; i < 6; ++i)
      for (auto k = global.A.offsets[6 * b + i]; k < global.A.offsets[6 * b + i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const std::size_t column = static_cast<std::size_t>(global.A.indices[at]);
        if (column / 6 != b && global.A.values[at] != 0) return {};
        if (column / 6 == b) block[6 * i + column % 6] = global.A.values[at];
      }
    const Mat<double, 3> linear = corner(block, 0), angular = corner(block, 3);
    if (!(block[0] > 0) || !(determinant(angular) > 0)) return {};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        const double mass = linear(static_cast<int>(i), static_cast<int>(j));
        if (block[6 * i + 3 + j] != 0 || block[6 * (3 + i) + j] != 0 || mass != (i == j ? block[0] : 0))
          return {};
        p.inverse_mass[36 * b + 6 * i + j] = i == j ? 1 / block[0] : 0;
        p.inverse_mass[36 * b + 6 * (3 + i) + 3 + j] =
            inverse(angular)(static_cast<int>(i), static_cast<int>(j));
      }
  }
  p.block_start.assign(1, 0);
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    const auto first = static_cast<std::ptrdiff_t>(p.jacobian.size());
    for (std::size_t i = 0; i < 3; ++i)
      for (auto k = global.H.offsets[3 * c + i]; k < global.H.offsets[3 * c + i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const std::int32_t body = global.H.indices[at] / 6, dof = global.H.indices[at] % 6;
        auto entry = std::find_if(p.jacobian.begin() + first, p.jacobian.end(),
                                  [&](const JacobianBlock& e) { return e.body == body; });
        if (entry == p.jacobian.end()) {
          p.jacobian.push_back({body, {}});
          entry = p.jacobian.end() - 1;
        }
        entry->rows[6 * i + static_cast<std::size_t>(dof)] = global.H.values[at];
      }
    p.block_start.push_back(static_cast<std::int32_t>(p.jacobian.size()));
  }
  return p;
}

}  // namespace

std::string read_manifolds(const ContactProblem& given, ManifoldProblem& out) {
  const std::optional<ContactProblem> made = by_bodies(given);
  const ContactProblem& p = made ? *made : given;
  if (std::string fault = form_fault(p); !fault.empty()) return fault;
  out.inverse.resize(p.bodies());
  for (std::size_t b = 0; b < p.bodies(); ++b)
    if (!read_body(p, b, out.inverse[b])) return "body " + std::to_string(b) + " is not a rigid body";
  out.free = velocities(p, std::vector<double>(p.size(), 0.0));

  double speed = 0;
  for (const double v : p.w) speed = std::max(speed, std::abs(v));
  for (const double v : out.free) speed = std::max(speed, std::abs(v));

  std::vector<RigidContact> contacts(p.blocks());
  std::vector<ProblemPoint> points(p.blocks());
  std::vector<double> handedness(p.blocks());
  const std::vector<double> compliance = row_compliance(p);
  std::vector<std::int32_t> in_manifolds;
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    Reader reader{p, speed};
    if (p.laws[c].cohesion == 0 && reader.read(c).empty()) {
      in_manifolds.push_back(static_cast<std::int32_t>(c));
      contacts[c] = reader.contact;
      points[c] = reader.point;
      handedness[c] = reader.handedness;
      continue;
    }
    ConstraintBlock<3> block;
    if (std::string fault = read_block(p, c, compliance, block); !fault.empty()) return fault;
    out.blocks.push_back(block);
    const bool starts = p.guess.size() == p.size();
    out.block_start.push_back(starts ? V3{p.guess[3 * c], p.guess[3 * c + 1], p.guess[3 * c + 2]}
                                     : V3{0, 0, 0});
    out.block.push_back(static_cast<std::int32_t>(c));
    out.handedness.push_back(1);
  }
  const auto pair = [&](std::int32_t c) {
    const RigidContact& contact = contacts[static_cast<std::size_t>(c)];
    return std::tuple(contact.a, contact.b);
  };
  std::ranges::stable_sort(in_manifolds, {}, pair);
  for (std::size_t k = 0; k < in_manifolds.size(); ++k) {
    const auto c = static_cast<std::size_t>(in_manifolds[k]);
    const std::size_t first = out.start.empty() ? 0 : static_cast<std::size_t>(out.start.back());
    const bool joins = !out.start.empty() && k - first < kManifoldPoints &&
                       go_together(out.contacts[first], out.points[first], contacts[c], points[c]);
    if (!joins) out.start.push_back(static_cast<std::int32_t>(k));
    out.contacts.push_back(contacts[c]);
    out.points.push_back(points[c]);
    out.block.push_back(in_manifolds[k]);
    out.handedness.push_back(handedness[c]);
    // Members of a manifold share its normal to the last bit: the search for manifolds compares them.
    if (joins) out.contacts.back().normal = out.contacts[first].normal;
  }
  out.start.push_back(static_cast<std::int32_t>(in_manifolds.size()));
  return {};
}

}  // namespace stickslip
