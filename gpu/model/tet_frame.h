// TetFrame: a frame that follows a tetrahedron of an elastic solid, for a side of a joint.
//
// With the barycentric coordinates w_k of a point p at rest and their gradients g_k, the deformation gradient
// of the tet is F = sum x_k g_k'. The frame has the origin o = sum w_k x_k and turns by R, the rotation of F
// = V R with V symmetric. Its velocity is sum w_k v_k. With h_k = R g_k, R' = [omega] R and F' = sum v_k
// g_k', the skew part of F' R^T = V' + V R' R^T gives
//   omega = K sum h_k x v_k,   K = (tr(V) I - V)^-1.
// The transposed map makes a force f at o and a torque t forces of the nodes, f_k = w_k f + (K t) x h_k.
// Because sum w_k = 1, sum h_k = 0 and sum x_k h_k' = V, their sum is f, and their torque about o is t.
#pragma once

#include <cmath>

#include "gpu/math/quat.h"
#include "gpu/math/svd.h"

namespace stickslip {

/// A point of a tet at rest.
struct TetPoint {
  Vec4i nodes{-1, -1, -1, -1};
  Vec<double, 4> weights{0, 0, 0, 0};  // barycentric; negative where the point lies outside
  Vec<double, 3> gradients[4];         // [1/m] of the weights, with respect to rest positions

  /// Of the point `p`; `rest`: the corners, with positive volume.
  SS_HD static TetPoint at(const Vec4i& nodes, const Vec<double, 3> (&rest)[4], const Vec<double, 3>& p) {
    const Mat<double, 3> edges =
        Mat<double, 3>::from_columns({rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]});
    const Mat<double, 3> rows = inverse(edges);
    TetPoint out;
    out.nodes = nodes;
    out.gradients[0] = {0, 0, 0};
    out.weights[0] = 1;
    for (int k = 1; k < 4; ++k) {
      out.gradients[k] = rows.row(k - 1);
      out.gradients[0] -= out.gradients[k];
      out.weights[k] = dot(out.gradients[k], p - rest[0]);
      out.weights[0] -= out.weights[k];
    }
    return out;
  }
};

struct TetFrame {
  Pose pose = Pose::identity();  // of rest axes at the point, in the world
  Vec<double, 4> weights{0, 0, 0, 0};
  Vec<double, 3> turned[4];                             // h_k [1/m]
  Mat<double, 3> spin_of = Mat<double, 3>::identity();  // K

  /// `x`: the tet's corners now. A tet that is inside out or flat has a frame, too.
  SS_HD static TetFrame at(const TetPoint& point, const Vec<double, 3> (&x)[4]) {
    TetFrame out;
    Mat<double, 3> f = Mat<double, 3>::zero();
    out.pose.x = {0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      out.pose.x += point.weights[k] * x[k];
      f += outer(x[k], point.gradients[k]);
    }
    const Svd3<double> s = svd3(f);
    const Mat<double, 3> rotation = s.u * s.v.transposed();
    Mat<double, 3> scaled = s.u;
    for (int c = 0; c < 3; ++c) {
      constexpr double kLeast = 1e-2;  // of a stretch of 2 at rest: K stays bounded
      const double sum = s.s[(c + 1) % 3] + s.s[(c + 2) % 3];
      for (int r = 0; r < 3; ++r) scaled(r, c) /= sum > kLeast ? sum : kLeast;
    }
    out.spin_of = scaled * s.u.transposed();
    out.pose.q = quaternion_of(rotation);
    out.weights = point.weights;
    for (int k = 0; k < 4; ++k) out.turned[k] = rotation * point.gradients[k];
    return out;
  }

  /// Velocity of the origin and angular velocity, from those of the corners.
  SS_HD Vec<double, 6> twist(const Vec<double, 3> (&v)[4]) const {
    Vec<double, 3> velocity{0, 0, 0}, curl{0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      velocity += weights[k] * v[k];
      curl += cross(turned[k], v[k]);
    }
    const Vec<double, 3> spin = spin_of * curl;
    return {velocity[0], velocity[1], velocity[2], spin[0], spin[1], spin[2]};
  }

  /// The force on corner k of a force at the origin and a torque; likewise impulses.
  SS_HD Vec<double, 3> force_on(int k, const Vec<double, 6>& wrench) const {
    const Vec<double, 3> force{wrench[0], wrench[1], wrench[2]}, torque{wrench[3], wrench[4], wrench[5]};
    return weights[k] * force + cross(spin_of * torque, turned[k]);
  }
};

}  // namespace stickslip
