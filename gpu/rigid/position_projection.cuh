// PositionProjection: corrects overlaps and joint errors after a step, in positions alone [Course §3.4.6].
#pragma once

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/core/buffer.h"
#include "gpu/rigid/body_gather.cuh"
#include "gpu/rigid/joint_rows.h"

namespace stickslip {

/// Input and output of the projection. Backend memory.
struct ProjectionProblem {
  const DeviceJoint* joints = nullptr;
  const std::int32_t *block_joint = nullptr, *block_part = nullptr;  // as in StepConstraints
  std::size_t joint_blocks = 0;
  const RigidContact* contacts = nullptr;
  std::size_t contact_count = 0;
  const Pose* found_at = nullptr;        // per body: its pose when the contacts were found
  const BodyInverse* inverse = nullptr;  // per body; zero: immovable
  std::size_t bodies = 0;
  Pose* pose = nullptr;  // per body, corrected
};

struct ProjectionOptions {
  int iterations = 10;
  double slop = 0;                                       // [m] overlap that is not corrected
  double furthest = std::numeric_limits<double>::max();  // [m] largest error corrected at once
};

inline ProjectionOptions projection_options(const Params& params) {
  return {params.projection_iterations, params.contact_slop, params.baumgarte_speed * params.dt};
}

/// One scalar row of the projection: an error phi and its derivatives with respect to both bodies. A
/// bilateral row requires phi + H z = 0, others >= 0.
struct PositionRow {
  std::int32_t body[2];  // -1: none
  bool bilateral;
  Vec<double, 6> jacobian[2];
  double error;    // [m]
  double inverse;  // inverse of the majorant's diagonal; 0: both bodies immovable
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Solves the linearised problem phi + W d >= 0, d >= 0, complementary (bilateral rows: phi + W d = 0)
/// with W = H A^-1 H' [Course Eq.254] and moves bodies by z = A^-1 H' d: heavy ones less, and centres of
/// mass of free groups not at all.
///
/// All rows are updated at once, each as if it had its own share of its bodies' masses: with n_b rows at body
/// b, W <= D = diag(sum_b n_b H_b A_b^-1 H_b'), and d <- max(y - D^-1 (W y + phi), 0) never overshoots; y
/// extrapolates d by Nesterov's momentum. Deviation from the text's proximal sweeps: nothing is coloured, and
/// the result does not depend on the order of rows or the number of threads.
class PositionProjection {
 public:
  /// Two launches per iteration; no host reads.
  void project(Context& ctx, const ProjectionProblem& problem, const ProjectionOptions& options);

  /// From the last call: d and rows, joints first (3 per block), then one per contact. Backend memory.
  const double* displacement() const { return d_.data(); }
  const PositionRow* rows() const { return row_.data(); }
  std::size_t count() const { return row_.size(); }

 private:
  void make_rows(Context& ctx, const ProjectionProblem& problem, const ProjectionOptions& options);
  void gather_rows(Context& ctx, std::size_t bodies);
  void weigh_rows(Context& ctx, const ProjectionProblem& problem);
  void move_bodies(Context& ctx, const ProjectionProblem& problem, const double* d);
  void step_rows(Context& ctx, double momentum);

  Buffer<PositionRow> row_;
  Buffer<double> d_, ahead_;      // per row
  BodyGather gather_;             // entry index: 2 row + side
  Buffer<Vec<double, 6>> shift_;  // per body
};

}  // namespace stickslip::STICKSLIP_BACKEND
