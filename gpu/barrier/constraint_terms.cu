#include "gpu/barrier/constraint_terms.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip {
namespace {

// Stiffness of a constraint in units of its lighter body's mass over dt^2. A round of multipliers divides a
// violation by about this number.
constexpr Real kConstraintStiffness = Real(1e3);
// The same of a constraint that tets hold, in units of what the tets' nodes resist. PCG takes its root times
// as many iterations.
constexpr Real kTetStiffness = Real(100);
// [rad] Turns are known up to multiples of a full one. Where a side of a gear turns by more than this in a
// step, whether it turned forwards or backwards is not certain.
constexpr Real kMostTurn = Real(2.8);
// Width of Huber's function: the lack of speed at which a motor reaches its limit, relative to its target
// speed. The least width, which brakes have, is in arms per second.
constexpr Real kMotorSlack = Real(1e-3), kBrakeSlack = Real(1e-4);
// The widest for the motor of a joint that tets hold: it is as wide as the stiffness above asks for.
constexpr Real kSoftMotorSlack = Real(2e-2);

/// What the kernels of a step read.
struct ConstraintView {
  const ConstraintStencil* stencils;
  const MovedPoint* points;
  const Vec3* multipliers;
  const Real* start;
  Real dt;

  SS_HD Real held_stiffness(const ConstraintStencil& s) const {
    return s.tet_mass / (dt * dt) + s.tet_stiffness;
  }
  SS_HD Real stiffness(const ConstraintStencil& s) const {
    const Real inertia = s.mass / (dt * dt), held = held_stiffness(s);
    return held > Real(0) && held < inertia ? kTetStiffness * held : kConstraintStiffness * inertia;
  }
  SS_HD Real reference(std::size_t i) const {
    const ConstraintStencil& s = stencils[i];
    return s.limit > Real(0) ? start[i] : (s.low + s.high) / Real(2);
  }
  SS_HD ConstraintForce force(std::size_t i, Real c) const {
    const ConstraintStencil& s = stencils[i];
    if (!(s.limit > Real(0))) return constraint_force(s, c, multipliers[i][0], stiffness(s));
    const Real speed = s.speed < Real(0) ? -s.speed : s.speed;
    const Real least = kBrakeSlack * s.arm, slack = kMotorSlack * speed;
    const Real width = dt * (slack > least ? slack : least);
    return motor_force(s, c, start[i] + dt * s.speed, soft_width(s, width, dt * speed));
  }
  /// [m] at least `width`; `way`: the motor's way in a step.
  SS_HD Real soft_width(const ConstraintStencil& s, Real width, Real way) const {
    const Real held = held_stiffness(s);
    if (!(held > Real(0))) return width;
    const Real soft = s.limit / (kTetStiffness * held), most = kSoftMotorSlack * way;
    const Real wanted = soft < most ? soft : most;
    return wanted > width ? wanted : width;
  }
};

/// The positions of a constraint's points.
struct ConstraintCorners {
  Vec3 x[4];
  SS_HD ConstraintCorners(const ConstraintStencil& s, const MovedPoint* points, const Vec3* all) {
    for (int c = 0; c < 4; ++c) x[c] = s.points[c] >= 0 ? points[s.points[c]].at(all) : Vec3::zero();
  }
};

SS_HD double constraint_energy(const ConstraintView& view, std::size_t i, const Vec3* x) {
  const ConstraintStencil& s = view.stencils[i];
  const ConstraintCorners at(s, view.points, x);
  if (s.kind == NodeConstraint::Kind::coincide) {
    const Vec3 d = at.x[0] - at.x[1];
    return static_cast<double>(dot(view.multipliers[i], d) + view.stiffness(s) / Real(2) * norm2(d));
  }
  return static_cast<double>(view.force(i, constraint_state(s, at.x, view.reference(i)).c).value);
}

/// Derivatives with respect to the points.
template <bool with_blocks>
SS_HD void constraint_derivatives(const ConstraintView& view, std::size_t i, const Vec3* x, CornerVectors& g,
                                  [[maybe_unused]] CornerBlocks* blocks) {
  const ConstraintStencil& s = view.stencils[i];
  const ConstraintCorners at(s, view.points, x);
  for (int c = 0; c < 4; ++c) g[c] = Vec3::zero();
  if constexpr (with_blocks)
    for (Mat3& b : blocks->b) b = Mat3::zero();
  if (s.kind == NodeConstraint::Kind::coincide) {
    const Real k = view.stiffness(s);
    g[0] = view.multipliers[i] + k * (at.x[0] - at.x[1]);
    g[1] = -g[0];
    if constexpr (with_blocks) {
      (*blocks)(0, 0) = (*blocks)(1, 1) = k * Mat3::identity();
      (*blocks)(1, 0) = -k * Mat3::identity();
    }
    return;
  }
  const ConstraintState state = constraint_state(s, at.x, view.reference(i));
  const ConstraintForce f = view.force(i, state.c);
  for (int c = 0; c < 4; ++c) g[c] = f.force * state.gradient[c];
  if constexpr (with_blocks) {
    add_outer(state.gradient, f.stiffness, *blocks);
    add_curvature(s, at.x, f.force, *blocks);
  }
}

/// Sets the multiplier, and returns the violation [m]; infinite if a gear lost count of its turns.
SS_HD double updated_multiplier(const ConstraintView& view, std::size_t i, const Vec3* x, Vec3& multiplier) {
  const ConstraintStencil& s = view.stencils[i];
  const ConstraintCorners at(s, view.points, x);
  if (s.kind == NodeConstraint::Kind::coincide) {
    const Vec3 d = at.x[0] - at.x[1];
    multiplier += view.stiffness(s) * d;
    return static_cast<double>(norm(d));
  }
  if (s.limit > Real(0)) return 0;
  if (s.kind == NodeConstraint::Kind::gear && largest_turn(s, at.x) > kMostTurn)
    return std::numeric_limits<double>::infinity();
  const Real c = constraint_state(s, at.x, view.reference(i)).c;
  multiplier[0] = view.force(i, c).force;
  const Real over = c - s.high, under = s.low - c;
  const Real most = over > under ? over : under;
  return most > Real(0) ? static_cast<double>(most) : 0.0;
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void ConstraintTerms::load(Context& ctx, const Model& model) {
  std::vector<ConstraintStencil> stencils;
  std::vector<MovedPoint> points;
  for (const NodeConstraint& c : model.constraints)
    stencils.push_back({c.kind,
                        c.points,
                        c.first.cast<Real>(),
                        c.second.cast<Real>(),
                        static_cast<Real>(c.arm),
                        static_cast<Real>(c.low),
                        static_cast<Real>(c.high),
                        static_cast<Real>(c.motor_speed),
                        static_cast<Real>(c.motor_limit),
                        static_cast<Real>(c.ratio),
                        c.tips,
                        {},
                        Real(0),
                        static_cast<Real>(c.mass),
                        static_cast<Real>(c.tet_mass),
                        static_cast<Real>(c.tet_stiffness)});
  stencils_.upload(ctx, stencils);
  if (empty()) return;
  for (const ConstraintPoint& p : model.constraint_points)
    points.push_back({p.nodes, p.weights.cast<Real>(), p.fixed.cast<Real>()});
  points_.upload(ctx, points);
  const std::vector<ConstraintShare> shares = constraint_shares(model);
  std::vector<Vec4i> nodes;
  nodes.reserve(shares.size());
  for (const ConstraintShare& share : shares) nodes.push_back(share.nodes);
  shares_.upload(ctx, shares);
  nodes_.upload(ctx, nodes);
  multipliers_.resize(ctx, size());
  start_.resize(ctx, size());
  violations_.resize(ctx, size());
  value_.resize(ctx, 1);
  gradients_.resize(ctx, share_count());
  gather_.build(ctx, nodes_.data(), share_count(), model.node_count());
  forget();
}

void ConstraintTerms::begin_step(Context& ctx, Real dt, const Vec3* x_t) {
  dt_ = dt;
  if (empty()) return;
  const bool is_first = std::exchange(forgotten_, false);
  if (is_first && !std::exchange(given_, false)) fill(ctx, multipliers_.data(), size(), Vec3::zero());
  ConstraintStencil* stencils = stencils_.data();
  const MovedPoint* points = points_.data();
  Real* start = start_.data();
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t i) {
    ConstraintStencil& s = stencils[i];
    const ConstraintCorners at(s, points, x_t);
    if (s.kind == NodeConstraint::Kind::gear) {
      const Vec3 tips[] = {points[s.tips[0]].at(x_t), points[s.tips[1]].at(x_t)};
      start_gear(s, at.x, tips, is_first);
    }
    start[i] = s.kind == NodeConstraint::Kind::coincide
                   ? Real(0)
                   : constraint_state(s, at.x, (s.low + s.high) / Real(2)).c;
  });
}

std::vector<Vec<double, 3>> ConstraintTerms::multipliers(Context& ctx) const {
  std::vector<Vec<double, 3>> all;
  if (empty() || (forgotten_ && !given_)) return all;
  for (const Vec3& m : multipliers_.download(ctx)) all.push_back(m.template cast<double>());
  return all;
}

void ConstraintTerms::start_from(Context& ctx, const std::vector<Vec<double, 3>>& multipliers) {
  const auto is_finite = [](const Vec<double, 3>& m) { return std::isfinite(norm2(m)); };
  if (empty() || multipliers.size() != size() || !std::ranges::all_of(multipliers, is_finite)) return;
  std::vector<Vec3> all;
  all.reserve(multipliers.size());
  for (const auto& m : multipliers) all.push_back(m.template cast<Real>());
  multipliers_.upload(ctx, all);
  given_ = true;
}

void ConstraintTerms::save(Context& ctx, ConstraintMemory& to) const {
  to.forgotten = forgotten_;
  to.given = given_;
  if (empty()) return;
  to.multipliers.resize(ctx, size());
  copy(ctx, to.multipliers.data(), multipliers_.data(), size());
  to.stencils.resize(ctx, size());
  copy(ctx, to.stencils.data(), stencils_.data(), size());
}

void ConstraintTerms::restore(Context& ctx, const ConstraintMemory& from) {
  forgotten_ = from.forgotten;
  given_ = from.given;
  if (empty()) return;
  copy(ctx, multipliers_.data(), from.multipliers.data(), size());
  copy(ctx, stencils_.data(), from.stencils.data(), size());
}

void ConstraintTerms::add_value(Context& ctx, const Vec3* x, double* out) {
  const ConstraintView view{stencils_.data(), points_.data(), multipliers_.data(), start_.data(), dt_};
  double* value = value_.data();
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return constraint_energy(view, i, x); }, value);
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *out += *value; });
}

void ConstraintTerms::linearise(Context& ctx, const Vec3* x, Vec4i* nodes, CornerVectors* gradients,
                                CornerBlocks* blocks) {
  const ConstraintView view{stencils_.data(), points_.data(), multipliers_.data(), start_.data(), dt_};
  const ConstraintShare* shares = shares_.data();
  launch(
      ctx, share_count(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors of_points{};
        CornerBlocks between{};
        constraint_derivatives<true>(view, static_cast<std::size_t>(shares[i].constraint), x, of_points,
                                     &between);
        nodes[i] = shares[i].nodes;
        share_gradient(shares[i], of_points, gradients[i]);
        share_blocks(shares[i], between, blocks[i]);
      },
      kMedium);
}

void ConstraintTerms::add_gradient(Context& ctx, const Vec3* x, Vec3* gradient) {
  const ConstraintView view{stencils_.data(), points_.data(), multipliers_.data(), start_.data(), dt_};
  const ConstraintShare* shares = shares_.data();
  CornerVectors* gradients = gradients_.data();
  launch(
      ctx, share_count(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors of_points{};
        constraint_derivatives<false>(view, static_cast<std::size_t>(shares[i].constraint), x, of_points,
                                      nullptr);
        share_gradient(shares[i], of_points, gradients[i]);
      },
      kMedium);
  const Vec3* corner = reinterpret_cast<const Vec3*>(gradients);
  gather_.sum(
      ctx, [=] SS_LAMBDA(std::size_t c) { return corner[c]; }, gradient);
}

double ConstraintTerms::update_multipliers(Context& ctx, const Vec3* x) {
  const ConstraintView view{stencils_.data(), points_.data(), multipliers_.data(), start_.data(), dt_};
  Vec3* multipliers = multipliers_.data();
  double* violations = violations_.data();
  launch(ctx, size(),
         [=] SS_LAMBDA(std::size_t i) { violations[i] = updated_multiplier(view, i, x, multipliers[i]); });
  reduce_max(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return violations[i]; }, 0.0, value_.data());
  return read_back(ctx, value_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
