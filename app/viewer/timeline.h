// Timeline: the states of a run that are kept, so that it can be rewound and continued from any of them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
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
  int content = 0;                      // number of the scene's content, see GoToContent
  std::shared_ptr<const StateCompactor> compactor = nullptr;  // of that content's model

  /// The state with all its nodes.
  State whole() const { return compactor->expand(state); }
};

/// What a Timeline holds.
struct TimelineExtent {
  int first = 0, last = -1;          // frames, without gaps; last < first: none
  std::size_t bytes = 0, limit = 0;  // in use; allowed
  double seconds = 0;                // from the first to the last
  std::vector<int> edits = {};       // frames whose content is not that of the frame before, ascending
  bool empty() const { return last < first; }
};

/// Moments of consecutive frames, up to a limit of memory: the oldest go first. The scene's objects may
/// change on the way. Not thread safe.
class Timeline {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{256} << 20;

  /// [byte] At least the newest moment stays, unless the limit is 0, which keeps none.
  void set_limit(std::size_t bytes);
  std::size_t limit() const { return limit_; }

  void clear();
  /// Clears; states that follow are of this model, the content of this number.
  void begin(const Model& model, int content = 0);
  /// The same without clearing.
  void go_on(const Model& model, int content);
  /// Appends a state. Kept moments of its frame and later ones are dropped: they are of a future that the run
  /// has left. All are dropped if it does not follow the last one.
  void add(State state);
  /// Of the moment of this frame, if it is kept.
  void set_contacts(int frame, const std::vector<ContactRecord>& contacts);

  /// As `add` keeps it.
  State compact(State state) const { return compactor_->compact(std::move(state)); }
  /// Null if the frame is not kept. Valid until the next change.
  const Moment* at(int frame) const;
  TimelineExtent extent() const;

 private:
  void drop_oldest();
  void drop_last();

  std::deque<Moment> moments_;
  std::deque<int> edits_;  // TimelineExtent::edits
  int content_ = 0;
  std::shared_ptr<const StateCompactor> compactor_ = std::make_shared<const StateCompactor>();
  std::size_t bytes_ = 0, limit_ = kDefaultLimit;
};

}  // namespace stickslip
