#include "app/cli/position_feed.h"

#include <utility>

namespace stickslip {

PositionFeed::PositionFeed(Renderer& renderer, Engine& engine) : renderer_(renderer), engine_(engine) {
  const Sharing best = renderer.negotiate(engine.device_uuid());
  offer(best);
  if (const std::optional<Sharing> next = second_best(best.kind, sharing_)) offer(*next);
}

void PositionFeed::offer(const Sharing& how) {
  PositionOffer offer = renderer_.offer_positions(how);
  sharing_ = how;
  if (!offer.slots) return;
  sharing_ = engine_.share(std::move(offer.target));
  if (sharing_.note.empty()) sharing_.note = how.note;
  if (sharing_.kind != ShareKind::staged) slots_ = std::move(offer.slots);
}

void PositionFeed::update() {
  SlotHold published;
  if (slots_)
    published =
        slots_->write([this](std::size_t slot, std::uint64_t value) { return engine_.publish(slot, value); });
  if (published) return renderer_.set_positions(published);
  engine_.snapshot(snapshot_);
  snapshot_bytes_ += snapshot_.positions.size() * sizeof(Vec3f);
  renderer_.set_positions(snapshot_.positions);
}

}  // namespace stickslip
