// ContactList: contacts by pairs in backend memory.
#pragma once

#include "gpu/collide/rigid_contact.h"
#include "gpu/core/buffer.h"

namespace stickslip::STICKSLIP_BACKEND {

struct ContactList {
  Buffer<RigidContact> contacts;
  Buffer<std::int32_t> pair_start;
  Buffer<std::uint64_t> keys;
  Buffer<std::int32_t> first;  // see index_pairs
  std::size_t count = 0, pairs = 0;

  ContactListView view() const {
    return {contacts.data(), pair_start.data(), keys.data(), first.data(), static_cast<std::int32_t>(pairs)};
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
