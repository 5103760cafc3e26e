// RigidPrediction: how elastic objects would move in a step if they were rigid.
#pragma once

#include "gpu/linear/object_sums.cuh"
#include "gpu/model/device_model.cuh"

namespace stickslip {

/// Sums over the nodes of an object.
struct MotionSums {
  double mass = 0;                                   // [kg]
  Vec<double, 3> first{0, 0, 0}, momentum{0, 0, 0};  // sum m x, sum m v
  Vec<double, 3> angular{0, 0, 0};                   // sum m x x v
  Vec<double, 6> second = Vec<double, 6>::zero();    // sum m x x': xx, yy, zz, xy, xz, yz
  double held = 0, nodes = 0;                        // scripted nodes, and all

  SS_HD MotionSums& operator+=(const MotionSums& b) {
    mass += b.mass;
    first += b.first;
    momentum += b.momentum;
    angular += b.angular;
    second += b.second;
    held += b.held;
    nodes += b.nodes;
    return *this;
  }
};

/// x -> centre + shift + turn (x - centre).
struct RigidStep {
  Vec<double, 3> centre{0, 0, 0}, shift{0, 0, 0};
  Mat<double, 3> turn = Mat<double, 3>::identity();

  SS_HD Vec<double, 3> operator()(const Vec<double, 3>& x) const {
    return centre + shift + turn * (x - centre);
  }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// An object turns with the angular velocity I^-1 L of its nodes, about its centre of mass. One with
/// some scripted nodes stays where it is; a collider, all of whose nodes are scripted, goes on as in the step
/// before.
class RigidPrediction {
 public:
  void load(Context& ctx, const DeviceModel& device);
  /// ahead = positions after the time dt [m], speed = (ahead - x) / dt [m/s]; no host read.
  void predict(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v, double dt, Vec3* ahead,
               Vec3* speed);

 private:
  ObjectSums sums_;
  Buffer<MotionSums> partial_, of_object_;
  Buffer<RigidStep> step_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
