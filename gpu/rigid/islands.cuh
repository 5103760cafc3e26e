// Islands: groups of movable bodies connected by contacts and joints; they sleep as a whole.
#pragma once

#include <vector>

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/core/buffer.h"
#include "gpu/rigid/joint_rows.h"

namespace stickslip {

/// Backend memory, one entry per body, joint or contact.
struct IslandInput {
  std::size_t bodies = 0;
  const std::uint8_t* moves = nullptr;                 // 0: immovable or scripted
  const double* reach = nullptr;                       // [m] distance of the farthest point from the centre
  Vec<double, 3>*velocity = nullptr, *spin = nullptr;  // zeroed where a body falls asleep
  const RigidContact* contacts = nullptr;
  std::size_t contact_count = 0;
  const DeviceJoint* joints = nullptr;
  std::size_t joint_count = 0;
  std::int32_t disturbed = -1;  // a pulled body: it and its island are awake
};

struct SleepOptions {
  bool sleeping = false;  // false: all are awake, islands are only counted
  double speed = 0.02;    // [m/s] a body rests while its fastest point is below this
  double time = 0.5;      // [s] that all bodies of an island have to rest
  double dt = 0;          // [s] since the last update
};

inline SleepOptions sleep_options(const Params& params) {
  return {params.sleeping, params.sleep_speed, params.sleep_time, params.dt};
}

struct IslandCounts {
  std::int32_t islands = 0;  // of movable bodies; one without contact is an island of its own
  std::int32_t asleep = 0;   // number of bodies
};

/// `IslandInput::reach` of all bodies of a model, from their shapes.
std::vector<double> body_reaches(const Model& model);

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Call `update` once per step, after contacts were found and before velocities are predicted, so that an
/// island is awake before an awake body hits it. An island sleeps when each of its bodies has rested for
/// SleepOptions::time. It wakes as a whole, with rest times reset, when a body that has not rested joins it,
/// when a moving scripted body touches it, or when one of its bodies is `disturbed`.
class Islands {
 public:
  /// Wakes all `bodies`. To be called also after edits and after the state is set from outside.
  void reset(Context& ctx, std::size_t bodies);

  /// No host reads.
  void update(Context& ctx, const IslandInput& input, const SleepOptions& options);

  /// One per body: 1 asleep. Backend memory.
  const std::uint8_t* asleep() const { return asleep_.data(); }
  /// One per body: the smallest index of a body of its island, -1 for immovable bodies. Backend memory.
  const std::int32_t* label() const { return label_.data(); }
  /// One host read.
  IslandCounts counts(Context& ctx);
  /// Writes to backend memory.
  void launch_counts(Context& ctx, IslandCounts* out) const;

 private:
  Buffer<std::int32_t> label_;
  Buffer<std::uint8_t> asleep_;
  Buffer<double> rested_, island_rested_;  // [s] per body; minimum over the island, per label
  Buffer<IslandCounts> counts_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
