#include "app/viewer/timeline.h"

namespace stickslip {
namespace {

std::size_t size_of(const Moment& moment) {
  const State& s = moment.state;
  return sizeof(Moment) + (s.positions.size() + s.velocities.size()) * sizeof(Vec<double, 3>) +
         s.bodies.size() * sizeof(BodyState) + s.thickness.size() * sizeof(double) +
         s.anchors.size() * sizeof(ContactAnchor) + s.barrier.bodies.size() * sizeof(StandIn) +
         (2 * s.barrier.colliders.size() + s.barrier.multipliers.size()) * sizeof(Vec<double, 3>) +
         moment.contacts.size() * sizeof(ContactRecord);
}

}  // namespace

void Timeline::set_limit(std::size_t bytes) {
  limit_ = bytes;
  drop_oldest();
}

void Timeline::clear() {
  moments_.clear();
  edits_.clear();
  bytes_ = 0;
}

void Timeline::begin(const Model& model, int content) {
  clear();
  go_on(model, content);
}

void Timeline::go_on(const Model& model, int content) {
  compactor_ = std::make_shared<const StateCompactor>(model);
  content_ = content;
}

void Timeline::add(State state) {
  while (!moments_.empty() && moments_.back().state.frame >= state.frame) drop_last();
  if (!moments_.empty() && moments_.back().state.frame + 1 != state.frame) clear();
  if (!moments_.empty() && moments_.back().content != content_) edits_.push_back(state.frame);
  moments_.push_back({compact(std::move(state)), {}, content_, compactor_});
  bytes_ += size_of(moments_.back());
  drop_oldest();
}

void Timeline::set_contacts(int frame, const std::vector<ContactRecord>& contacts) {
  if (at(frame) == nullptr) return;
  Moment& moment = moments_[static_cast<std::size_t>(frame - moments_.front().state.frame)];
  bytes_ -= size_of(moment);
  moment.contacts = contacts;
  bytes_ += size_of(moment);
  drop_oldest();
}

const Moment* Timeline::at(int frame) const {
  if (moments_.empty() || frame < moments_.front().state.frame || frame > moments_.back().state.frame)
    return nullptr;
  return &moments_[static_cast<std::size_t>(frame - moments_.front().state.frame)];
}

TimelineExtent Timeline::extent() const {
  if (moments_.empty()) return {0, -1, 0, limit_, 0, {}};
  const State &first = moments_.front().state, &last = moments_.back().state;
  return {first.frame, last.frame, bytes_, limit_, last.time - first.time, {edits_.begin(), edits_.end()}};
}

void Timeline::drop_oldest() {
  if (limit_ == 0) return clear();
  while (bytes_ > limit_ && moments_.size() > 1) {
    bytes_ -= size_of(moments_.front());
    moments_.pop_front();
  }
  while (!edits_.empty() && edits_.front() <= moments_.front().state.frame) edits_.pop_front();
}

void Timeline::drop_last() {
  bytes_ -= size_of(moments_.back());
  if (!edits_.empty() && edits_.back() == moments_.back().state.frame) edits_.pop_back();
  moments_.pop_back();
}

}  // namespace stickslip
