#include "gpu/rigid/position_projection.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::size_t kRowsPerBlock = 3;

SS_HD BodyAtStep resting(const ProjectionProblem& p, std::int32_t b) {
  BodyAtStep at = BodyAtStep::world();
  if (b < 0) return at;
  at.pose = p.pose[b];
  at.inverse = p.inverse[b];
  return at;
}

SS_HD PositionRow no_row() { return {{-1, -1}, false, {}, 0, 0}; }

/// The rows of a joint block; a limit has one.
SS_HD void joint_rows(const ProjectionProblem& p, const ErrorFeedback& feedback, std::size_t k,
                      PositionRow* out) {
  const DeviceJoint& j = p.joints[p.block_joint[k]];
  const std::int32_t part = p.block_part[k];
  for (std::size_t i = 0; i < kRowsPerBlock; ++i) out[i] = no_row();
  if (joint_parts(j).part[part] == JointPart::motor) return;
  ConstraintBlock<3> block;
  fill_joint_block(j, part, resting(p, j.a), resting(p, j.b), feedback, block);
  const bool bilateral = block.law.set == FrictionSet::bilateral;
  for (int i = 0; i < (bilateral ? 3 : 1); ++i) {
    const Vec<double, 6>&a = block.jacobian[0][i], &b = block.jacobian[1][i];
    if (a == Vec<double, 6>::zero() && b == Vec<double, 6>::zero()) continue;  // unused row
    out[i] = {{block.body[0], block.body[1]}, bilateral, {a, b}, block.w[i], 0};
  }
}

/// Tracks the two points that faced each other when the contact was found, along its normal.
SS_HD PositionRow contact_row(const ProjectionProblem& p, const ErrorFeedback& feedback,
                              const RigidContact& c) {
  const auto now = [&](std::int32_t b, const Vec<double, 3>& x) {
    return b < 0 ? x : p.pose[b].apply(p.found_at[b].apply_back(x));
  };
  const Vec<double, 3> half = (0.5 * c.gap) * c.normal;
  const Vec<double, 3> xa = now(c.a, c.point + half), xb = now(c.b, c.point - half);
  PositionRow row = no_row();
  row.body[0] = c.a;
  row.jacobian[0] = rigid_detail::point_row(c.normal, xa - p.pose[c.a].x);
  if (c.b >= 0) {
    row.body[1] = c.b;
    row.jacobian[1] = -rigid_detail::point_row(c.normal, xb - p.pose[c.b].x);
  }
  row.error = rigid_detail::gap_speed(feedback, dot(c.normal, xa - xb));
  return row;
}

}  // namespace

void PositionProjection::make_rows(Context& ctx, const ProjectionProblem& problem,
                                   const ProjectionOptions& options) {
  const std::size_t of_joints = kRowsPerBlock * problem.joint_blocks;
  row_.resize(ctx, of_joints + problem.contact_count);
  PositionRow* row = row_.data();
  const ProjectionProblem p = problem;
  ErrorFeedback feedback = whole_error();
  feedback.slop = options.slop;
  feedback.fastest = options.furthest;
  launch(
      ctx, p.joint_blocks,
      [=] SS_LAMBDA(std::size_t k) { joint_rows(p, feedback, k, row + kRowsPerBlock * k); }, kMedium);
  launch(
      ctx, p.contact_count,
      [=] SS_LAMBDA(std::size_t c) { row[of_joints + c] = contact_row(p, feedback, p.contacts[c]); },
      kMedium);
}

void PositionProjection::gather_rows(Context& ctx, std::size_t bodies) {
  const std::size_t n = 2 * row_.size();
  std::uint32_t* key = gather_.keys(ctx, n);
  const PositionRow* row = row_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t e) {
    const std::int32_t b = row[e / 2].body[e % 2];
    key[e] = static_cast<std::uint32_t>(b < 0 ? bodies : static_cast<std::size_t>(b));
  });
  gather_.sort(ctx, bodies);
}

void PositionProjection::weigh_rows(Context& ctx, const ProjectionProblem& problem) {
  d_.resize(ctx, row_.size());
  ahead_.resize(ctx, row_.size());
  shift_.resize(ctx, problem.bodies);
  PositionRow* row = row_.data();
  double *d = d_.data(), *ahead = ahead_.data();
  const std::int32_t* start = gather_.start();
  const BodyInverse* inverse = problem.inverse;
  launch(
      ctx, row_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        double majorant = 0;
        for (int side = 0; side < 2; ++side) {
          const std::int32_t b = row[i].body[side];
          if (b < 0) continue;
          const Vec<double, 6>& h = row[i].jacobian[side];
          majorant += (start[b + 1] - start[b]) * dot(h, inverse[b].times(h));
        }
        row[i].inverse = majorant > 0 ? 1 / majorant : 0.0;
        d[i] = ahead[i] = 0;
      },
      kMedium);
}

/// shift = A^-1 H' d.
void PositionProjection::move_bodies(Context& ctx, const ProjectionProblem& problem, const double* d) {
  const PositionRow* row = row_.data();
  const std::int32_t *start = gather_.start(), *entry = gather_.entry();
  const BodyInverse* inverse = problem.inverse;
  Vec<double, 6>* shift = shift_.data();
  launch(
      ctx, problem.bodies,
      [=] SS_LAMBDA(std::size_t b) {
        Vec<double, 6> push = Vec<double, 6>::zero();
        for (std::int32_t k = start[b]; k < start[b + 1]; ++k)
          push += d[entry[k] / 2] * row[entry[k] / 2].jacobian[entry[k] % 2];
        shift[b] = inverse[b].times(push);
      },
      kMedium);
}

void PositionProjection::step_rows(Context& ctx, double momentum) {
  const PositionRow* row = row_.data();
  const Vec<double, 6>* shift = shift_.data();
  double *d = d_.data(), *ahead = ahead_.data();
  launch(
      ctx, row_.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const PositionRow& r = row[i];
        if (r.inverse == 0) return;
        double error = r.error;
        for (int side = 0; side < 2; ++side)
          if (r.body[side] >= 0) error += dot(r.jacobian[side], shift[r.body[side]]);
        double next = ahead[i] - r.inverse * error;
        if (!r.bilateral && next < 0) next = 0;
        ahead[i] = next + momentum * (next - d[i]);
        d[i] = next;
      },
      kMedium);
}

void PositionProjection::project(Context& ctx, const ProjectionProblem& problem,
                                 const ProjectionOptions& options) {
  make_rows(ctx, problem, options);
  if (row_.empty()) return;
  gather_rows(ctx, problem.bodies);
  weigh_rows(ctx, problem);
  double t = 1;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    move_bodies(ctx, problem, ahead_.data());
    const double next = 0.5 * (1 + std::sqrt(1 + 4 * t * t));
    step_rows(ctx, (t - 1) / next);
    t = next;
  }
  move_bodies(ctx, problem, d_.data());
  Pose* pose = problem.pose;
  const Vec<double, 6>* shift = shift_.data();
  launch(ctx, problem.bodies, [=] SS_LAMBDA(std::size_t b) {
    const Vec<double, 6>& z = shift[b];
    // Keeps untouched poses bitwise unchanged.
    if (z == Vec<double, 6>::zero()) return;
    pose[b] = {pose[b].x + Vec<double, 3>{z[0], z[1], z[2]},
               normalized(rotation_by(Vec<double, 3>{z[3], z[4], z[5]}) * pose[b].q)};
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
