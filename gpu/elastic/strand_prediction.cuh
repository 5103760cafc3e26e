// StrandPrediction: how strands of rods would move in a step if they were rigid.
#pragma once

#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// A free strand moves with the momenta of its nodes. One that is held at one end turns about the last held
/// node of its centreline, with the angular momentum of its free nodes about that node, and held nodes go on
/// by dt v. So a strand that swings is not strained by the way that it goes in a step. On straight lines its
/// nodes would stretch it by (dt omega)^2 / 2, and standing still they are dt v away from where it will be;
/// elastic forces that are linearised there brake it. Strands that are held otherwise, closed strands and
/// other objects are left out.
class StrandPrediction {
 public:
  void load(Context& ctx, const Model& model);
  bool empty() const { return count_ == 0; }
  /// Sets ahead [m] and speed = (ahead - x) / dt [m/s] of the nodes of strands; no host read.
  void predict(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v, double dt, Vec3* ahead,
               Vec3* speed) const;

 private:
  std::size_t count_ = 0;
  Buffer<std::int32_t> start_, node_;  // per strand: its nodes, x0, ghost, x1, ghost, ...
};

}  // namespace stickslip::STICKSLIP_BACKEND
