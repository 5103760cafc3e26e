#include "app/viewer/timeline.h"

namespace stickslip {
namespace {

std::size_t size_of(const Moment& moment) {
  const State& s = moment.state;
  return sizeof(Moment) + (s.positions.size() + s.velocities.size()) * sizeof(Vec<double, 3>) +
         s.bodies.size() * sizeof(BodyState) + s.thickness.size() * sizeof(double) +
         s.anchors.size() * sizeof(ContactAnchor) + moment.contacts.size() * sizeof(ContactRecord);
}

}  // namespace

void Timeline::set_limit(std::size_t bytes) {
  limit_ = bytes;
  drop_oldest();
}

void Timeline::clear() {
  moments_.clear();
  bytes_ = 0;
}

void Timeline::begin(const Model& model) {
  clear();
  compactor_ = StateCompactor(model);
}

void Timeline::add(State state) {
  while (!moments_.empty() && moments_.back().state.frame >= state.frame) {
    bytes_ -= size_of(moments_.back());
    moments_.pop_back();
  }
  if (!moments_.empty() && moments_.back().state.frame + 1 != state.frame) clear();
  moments_.push_back({compact(std::move(state)), {}});
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
  const TimelineExtent kept = extent();
  if (frame < kept.first || frame > kept.last) return nullptr;
  return &moments_[static_cast<std::size_t>(frame - kept.first)];
}

TimelineExtent Timeline::extent() const {
  if (moments_.empty()) return {0, -1, 0, limit_, 0};
  const State &first = moments_.front().state, &last = moments_.back().state;
  return {first.frame, last.frame, bytes_, limit_, last.time - first.time};
}

void Timeline::drop_oldest() {
  if (limit_ == 0) return clear();
  while (bytes_ > limit_ && moments_.size() > 1) {
    bytes_ -= size_of(moments_.front());
    moments_.pop_front();
  }
}

}  // namespace stickslip
