// Contacts of a model whose bodies are moved by the test.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/collide/rigid_contacts.cuh"
#include "tests/collide/moving_bodies.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The model in backend memory, with bodies at the poses of `motion`.
class ContactScene {
 public:
  ContactScene(Context& ctx, Model made) : model(std::move(made)), motion(model) { search.load(ctx, model); }

  const std::vector<RigidContact>& find(Context& ctx, const RigidContacts::Options& options) {
    pose_.upload(ctx, motion.pose);
    velocity_.upload(ctx, motion.velocity);
    spin_.upload(ctx, motion.spin);
    moves_.upload(ctx, motion.moves);
    asleep_.upload(ctx, motion.asleep);
    search.find(ctx, view(), options);
    return download(ctx);
  }
  BodyMotionView view() const {
    return {pose_.data(), velocity_.data(), spin_.data(), moves_.data(), asleep_.data()};
  }
  const std::vector<RigidContact>& download(Context& ctx) {
    contacts.resize(search.count());
    copy_to_host(ctx, contacts.data(), search.contacts(), contacts.size());
    pair_start.resize(search.pairs() + 1);
    copy_to_host(ctx, pair_start.data(), search.pair_start(), pair_start.size());
    return contacts;
  }

  Model model;
  stickslip::testing::HostMotion motion;
  RigidContacts search;
  std::vector<RigidContact> contacts;
  std::vector<std::int32_t> pair_start;

 private:
  Buffer<Pose> pose_;
  Buffer<Vec<double, 3>> velocity_, spin_;
  Buffer<std::uint8_t> moves_, asleep_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
