// How the positions of nodes get from an engine to whoever draws them, without a copy: the engine writes into
// the other side's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/core/device.h"
#include "gpu/core/unique_fd.h"
#include "gpu/geometry/aabb.h"

namespace stickslip {

enum class ShareKind {
  staged,  // not at all: snapshots are copied by the host
  mapped,  // the engine writes into memory that the host sees and the drawing device reads
  cuda,    // one device simulates and draws: its memory and a timeline semaphore have two names
};

struct Sharing {
  ShareKind kind = ShareKind::staged;
  std::string note;  // for the user: why not a better kind; empty when there is nothing to say
};

/// `slots` arrays of `nodes` Vec<float, 3>, one every `stride` bytes. Either `host` or `exported` is there.
struct PositionTarget {
  /// Opaque descriptors, of the allocation that begins with the first slot and of a timeline semaphore.
  struct Exported {
    UniqueFd memory, timeline;
    std::size_t bytes = 0;   // of the allocation
    bool dedicated = false;  // it was made for one buffer alone
  };

  std::size_t nodes = 0, slots = 0, stride = 0;
  std::vector<std::int32_t> framed;  // each publication returns the box of these nodes
  std::byte* host = nullptr;         // the first slot
  std::optional<Exported> exported = std::nullopt;
};

/// Of the framed nodes, without those that are not finite.
using PublishedBox = AabbT<float>;

}  // namespace stickslip
