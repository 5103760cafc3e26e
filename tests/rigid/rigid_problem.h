// Small systems of rigid bodies and blocks on the host: an independent path from blocks to velocities.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>
#include <vector>

#include "gpu/contact_lab.h"
#include "gpu/rigid/contact_rows.h"
#include "gpu/rigid/joint_rows.h"

namespace stickslip::fixtures {

using V3d = Vec<double, 3>;

struct RigidOne {
  double mass = 1;       // [kg]; 0: does not move
  V3d inertia{1, 1, 1};  // [kg m^2] principal
  Pose pose = Pose::identity();
  V3d velocity{0, 0, 0}, spin{0, 0, 0};

  Mat<double, 3> inertia_world(bool inverse) const {
    const Mat<double, 3> r = pose.q.matrix();
    Mat<double, 3> scaled = r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) scaled(i, j) *= inverse ? 1 / inertia[j] : inertia[j];
    return scaled * r.transposed();
  }
  BodyAtStep at_step() const {
    BodyAtStep at{pose, velocity, spin, {0, {}}};
    if (mass == 0) return at;
    const Mat<double, 3> i = inertia_world(true);
    at.inverse = {1 / mass, {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}};
    return at;
  }
  double energy(double gravity) const {
    return 0.5 * mass * norm2(velocity) + 0.5 * dot(spin, inertia_world(false) * spin) -
           mass * gravity * pose.x[1];
  }
};

inline BodyAtStep at_step(const std::vector<RigidOne>& bodies, std::int32_t b) {
  return b < 0 ? BodyAtStep::world() : bodies[static_cast<std::size_t>(b)].at_step();
}

/// The blocks of all active joints.
template <int D>
std::vector<ConstraintBlock<D>> joint_blocks(const std::vector<RigidOne>& bodies,
                                             const std::vector<DeviceJoint>& joints,
                                             const ErrorFeedback& feedback) {
  std::vector<ConstraintBlock<D>> blocks;
  for (const DeviceJoint& j : joints)
    for (int i = 0; i < joint_block_count(j); ++i) {
      ConstraintBlock<D> block;
      if (fill_joint_block<D>(j, i, at_step(bodies, j.a), at_step(bodies, j.b), feedback, block))
        blocks.push_back(block);
    }
  return blocks;
}

/// H (rows x 6 bodies), A^-1, E and w as dense matrices.
struct DenseRows {
  Eigen::MatrixXd H, inverse, E;
  Eigen::VectorXd w, v;

  Eigen::MatrixXd W() const { return H * inverse * H.transpose() + E; }
  Eigen::VectorXd q() const { return H * v + w; }
};

template <int D>
DenseRows dense_rows(const std::vector<RigidOne>& bodies, const std::vector<ConstraintBlock<D>>& blocks) {
  const auto n = static_cast<Eigen::Index>(blocks.size()) * D,
             m = static_cast<Eigen::Index>(bodies.size()) * 6;
  DenseRows d{Eigen::MatrixXd::Zero(n, m), Eigen::MatrixXd::Zero(m, m), Eigen::MatrixXd::Zero(n, n),
              Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(m)};
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const auto at = static_cast<Eigen::Index>(6 * b);
    for (int i = 0; i < 3; ++i) {
      d.v[at + i] = bodies[b].velocity[i];
      d.v[at + 3 + i] = bodies[b].spin[i];
    }
    if (bodies[b].mass == 0) continue;
    const Mat<double, 3> inverse = bodies[b].inertia_world(true);
    for (int i = 0; i < 3; ++i) {
      d.inverse(at + i, at + i) = 1 / bodies[b].mass;
      for (int j = 0; j < 3; ++j) d.inverse(at + 3 + i, at + 3 + j) = inverse(i, j);
    }
  }
  for (std::size_t c = 0; c < blocks.size(); ++c)
    for (int i = 0; i < D; ++i) {
      const auto row = static_cast<Eigen::Index>(c * D + static_cast<std::size_t>(i));
      d.w[row] = blocks[c].w[i];
      d.E(row, row) = blocks[c].compliance[i];
      for (int side = 0; side < 2; ++side)
        for (int k = 0; blocks[c].body[side] >= 0 && k < 6; ++k)
          d.H(row, 6 * blocks[c].body[side] + k) += blocks[c].jacobian[side][i][k];
    }
  return d;
}

/// The local form, with W including the compliance of each row.
template <int D>
ContactProblem local_problem(const DenseRows& d, const std::vector<ConstraintBlock<D>>& blocks) {
  ContactProblem p;
  p.dim = D;
  const Eigen::MatrixXd w = d.W();
  const Eigen::MatrixXd even = 0.5 * (w + w.transpose());
  const Eigen::VectorXd q = d.q();
  p.W.rows = p.W.columns = static_cast<std::int32_t>(q.size());
  p.W.offsets.push_back(0);
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    p.q.push_back(q[i]);
    for (Eigen::Index j = 0; j < q.size(); ++j) {
      p.W.indices.push_back(static_cast<std::int32_t>(j));
      p.W.values.push_back(even(i, j));
    }
    p.W.offsets.push_back(static_cast<std::int32_t>(p.W.indices.size()));
  }
  for (const ConstraintBlock<D>& block : blocks) {
    BlockLaw& law = p.laws.emplace_back();
    law.set = block.law.set;
    law.flow = block.law.flow;
    for (int i = 0; i + 1 < D; ++i) law.mu[static_cast<std::size_t>(i)] = block.law.mu[i];
  }
  return p;
}

inline void set_velocities(const DenseRows& d, const Eigen::VectorXd& r, std::vector<RigidOne>& bodies) {
  const Eigen::VectorXd v = d.v + d.inverse * d.H.transpose() * r;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (int i = 0; i < 3; ++i) {
      bodies[b].velocity[i] = v[static_cast<Eigen::Index>(6 * b) + i];
      bodies[b].spin[i] = v[static_cast<Eigen::Index>(6 * b) + 3 + i];
    }
}

/// Gravity and the gyroscopic torque (explicit) over dt, for movable bodies.
inline void push_freely(std::vector<RigidOne>& bodies, double gravity, double dt) {
  for (RigidOne& b : bodies) {
    if (b.mass == 0) continue;
    b.velocity[1] += dt * gravity;
    b.spin -= dt * (b.inertia_world(true) * cross(b.spin, b.inertia_world(false) * b.spin));
  }
}

inline void advance(std::vector<RigidOne>& bodies, double dt) {
  for (RigidOne& b : bodies)
    b.pose = {b.pose.x + dt * b.velocity, normalized(rotation_by(dt * b.spin) * b.pose.q)};
}

/// Solves bilateral blocks by elimination.
template <int D>
void solve_equalities(std::vector<RigidOne>& bodies, const std::vector<ConstraintBlock<D>>& blocks) {
  const DenseRows d = dense_rows(bodies, blocks);
  set_velocities(d, d.W().ldlt().solve(-d.q()), bodies);
}

/// Solves any blocks with the lab. Returns impulses.
template <int D>
Eigen::VectorXd solve_by_lab(ContactLab& lab, std::string_view solver, std::vector<RigidOne>& bodies,
                             const std::vector<ConstraintBlock<D>>& blocks, double tolerance) {
  if (blocks.empty()) return {};
  const DenseRows d = dense_rows(bodies, blocks);
  lab.load(local_problem(d, blocks));
  LabParams params;
  params.tolerance = tolerance;
  const SolveReport report = lab.solve(solver, params);
  EXPECT_TRUE(report.converged) << solver << ": " << report.message;
  const Eigen::VectorXd r =
      Eigen::Map<const Eigen::VectorXd>(report.r.data(), static_cast<Eigen::Index>(report.r.size()));
  set_velocities(d, r, bodies);
  return r;
}

/// Friction of a pair with its grain along the world's x axis; equal coefficients: isotropic.
inline SurfacePair grained_pair(double mu, double across) {
  SurfacePair pair{};
  pair.mu = mu;
  pair.mu_across = across;
  pair.friction_kind = mu == across ? FrictionKind::isotropic : FrictionKind::elliptic;
  pair.grain_a = {1, 0, 0};
  return pair;
}

inline V3d random_vector(std::mt19937& rng, double size) {
  std::uniform_real_distribution<double> uniform(-size, size);
  const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
  return {x, y, z};
}

inline Pose random_pose(std::mt19937& rng, double size) {
  const V3d x = random_vector(rng, size);
  return {x, rotation_by(random_vector(rng, 2.0))};
}

}  // namespace stickslip::fixtures
