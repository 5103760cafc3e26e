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
  // Poses of bodies alone are corrected here, not positions of solids.
  if (joint_parts(j).part[part] == JointPart::motor || j.length > 0) return;
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

struct JointRowFiller {
  ProjectionProblem p;
  ErrorFeedback feedback;
  PositionRow* row;

  SS_HD void operator()(std::size_t k) const { joint_rows(p, feedback, k, row + kRowsPerBlock * k); }
};

struct ContactRowFiller {
  ProjectionProblem p;
  ErrorFeedback feedback;
  PositionRow* row;

  SS_HD void operator()(std::size_t c) const { row[c] = contact_row(p, feedback, p.contacts[c]); }
};

/// The body of each side of each row; `bodies` for none.
struct RowKeys {
  const PositionRow* row;
  std::size_t bodies;
  std::uint32_t* key;

  SS_HD void operator()(std::size_t e) const {
    const std::int32_t b = row[e / 2].body[e % 2];
    key[e] = static_cast<std::uint32_t>(b < 0 ? bodies : static_cast<std::size_t>(b));
  }
};

/// Sets the majorant of a row's diagonal, and d to zero.
struct RowWeigher {
  const BodyInverse* inverse;
  const std::int32_t* start;  // of each body's entries
  PositionRow* row;
  double *d, *ahead;

  SS_HD void operator()(std::size_t i) const {
    double majorant = 0;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t b = row[i].body[side];
      if (b < 0) continue;
      const Vec<double, 6>& h = row[i].jacobian[side];
      majorant += (start[b + 1] - start[b]) * dot(h, inverse[b].times(h));
    }
    row[i].inverse = majorant > 0 ? 1 / majorant : 0.0;
    d[i] = ahead[i] = 0;
  }
};

/// shift = A^-1 H' d of a body.
struct BodyShift {
  const PositionRow* row;
  const std::int32_t *start, *entry;
  const BodyInverse* inverse;
  const double* d;
  Vec<double, 6>* shift;

  SS_HD void operator()(std::size_t b) const {
    Vec<double, 6> push = Vec<double, 6>::zero();
    for (std::int32_t k = start[b]; k < start[b + 1]; ++k)
      push += d[entry[k] / 2] * row[entry[k] / 2].jacobian[entry[k] % 2];
    shift[b] = inverse[b].times(push);
  }
};

/// d <- max(y - D^-1 (W y + phi), 0), with y = `ahead` and W y = H shift; extrapolates y.
struct RowStep {
  const PositionRow* row;
  const Vec<double, 6>* shift;
  double momentum;
  double *d, *ahead;

  SS_HD void operator()(std::size_t i) const {
    const PositionRow& r = row[i];
    if (r.inverse == 0) return;
    double error = r.error;
    for (int side = 0; side < 2; ++side)
      if (r.body[side] >= 0) error += dot(r.jacobian[side], shift[r.body[side]]);
    double next = ahead[i] - r.inverse * error;
    if (!r.bilateral && next < 0) next = 0;
    ahead[i] = next + momentum * (next - d[i]);
    d[i] = next;
  }
};

}  // namespace

void PositionProjection::make_rows(Context& ctx, const ProjectionProblem& problem,
                                   const ProjectionOptions& options) {
  const std::size_t of_joints = kRowsPerBlock * problem.joint_blocks;
  row_.resize(ctx, of_joints + problem.contact_count);
  PositionRow* row = row_.data();
  ErrorFeedback feedback = whole_error();
  feedback.slop = options.slop;
  feedback.fastest = options.furthest;
  launch(ctx, problem.joint_blocks, JointRowFiller{problem, feedback, row}, kMedium);
  launch(ctx, problem.contact_count, ContactRowFiller{problem, feedback, row + of_joints}, kMedium);
}

void PositionProjection::gather_rows(Context& ctx, std::size_t bodies) {
  const std::size_t n = 2 * row_.size();
  launch(ctx, n, RowKeys{row_.data(), bodies, gather_.keys(ctx, n)});
  gather_.sort(ctx, bodies);
}

void PositionProjection::weigh_rows(Context& ctx, const ProjectionProblem& problem) {
  d_.resize(ctx, row_.size());
  ahead_.resize(ctx, row_.size());
  shift_.resize(ctx, problem.bodies);
  launch(ctx, row_.size(),
         RowWeigher{problem.inverse, gather_.start(), row_.data(), d_.data(), ahead_.data()}, kMedium);
}

/// shift = A^-1 H' d.
void PositionProjection::move_bodies(Context& ctx, const ProjectionProblem& problem, const double* d) {
  launch(ctx, problem.bodies,
         BodyShift{row_.data(), gather_.start(), gather_.entry(), problem.inverse, d, shift_.data()},
         kMedium);
}

void PositionProjection::step_rows(Context& ctx, double momentum) {
  launch(ctx, row_.size(), RowStep{row_.data(), shift_.data(), momentum, d_.data(), ahead_.data()}, kMedium);
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
