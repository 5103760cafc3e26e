// Timeline: the states of a run that are kept, so that it can be rewound and continued from any of them.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "gpu/model/compact_state.h"
#include "gpu/model/interaction.h"
#include "gpu/model/state.h"

namespace stickslip {

/// The end of a step, or the start of the run.
struct Moment {
  State state;                          // compact, see StateCompactor
  std::vector<ContactRecord> contacts;  // as they were shown; empty if they were not
};

/// What a Timeline holds.
struct TimelineExtent {
  int first = 0, last = -1;          // frames, without gaps; last < first: none
  std::size_t bytes = 0, limit = 0;  // in use; allowed
  double seconds = 0;                // from the first to the last
  bool empty() const { return last < first; }
};

/// Moments of consecutive frames, up to a limit of memory: the oldest go first. Not thread safe.
class Timeline {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{256} << 20;

  /// [byte] At least the newest moment stays, unless the limit is 0, which keeps none.
  void set_limit(std::size_t bytes);
  std::size_t limit() const { return limit_; }

  void clear();
  /// Clears; states that follow are of this model.
  void begin(const Model& model);
  /// Appends a state. Kept moments of its frame and later ones are dropped: they are of a future that the run
  /// has left. All are dropped if it does not follow the last one.
  void add(State state);
  /// Of the moment of this frame, if it is kept.
  void set_contacts(int frame, const std::vector<ContactRecord>& contacts);

  /// The state with all its nodes.
  State whole(const Moment& moment) const { return compactor_.expand(moment.state); }
  /// As `add` keeps it.
  State compact(State state) const { return compactor_.compact(std::move(state)); }
  /// Null if the frame is not kept. Valid until the next change.
  const Moment* at(int frame) const;
  TimelineExtent extent() const;

 private:
  void drop_oldest();

  std::deque<Moment> moments_;
  StateCompactor compactor_;
  std::size_t bytes_ = 0, limit_ = kDefaultLimit;
};

}  // namespace stickslip
