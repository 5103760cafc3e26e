#include "app/viewer/position_link.h"

#include <utility>

namespace stickslip {

void PositionLink::set_scene(std::shared_ptr<const Scene> scene) {
  scene_ = std::move(scene);
  renderer_.set_scene(scene_->model);
  offer(renderer_.negotiate(simulation_.engine_device()));
}

void PositionLink::offer(const Sharing& how) {
  offered_ = how.kind;
  simulation_.share(scene_, renderer_.offer_positions(how));
}

void PositionLink::take(const SimulationFrame& frame) {
  if (frame.shared) return renderer_.set_positions(frame.shared);
  snapshot_bytes_ += frame.snapshot.positions.size() * sizeof(Vec3f);
  renderer_.set_positions(frame.snapshot.positions);
  // Not earlier: another offer closes the previous slots, which readers of this frame's nodes need.
  if (const std::optional<Sharing> next = second_best(offered_, simulation_.status().sharing)) offer(*next);
}

void PositionLink::drawn() {
  const PositionTraffic traffic = renderer_.position_traffic();
  const std::uint64_t bytes = snapshot_bytes_ + traffic.copied + traffic.read;
  picture_bytes_ = bytes - bytes_before_;
  bytes_before_ = bytes;
}

}  // namespace stickslip
