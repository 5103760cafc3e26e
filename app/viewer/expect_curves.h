// What a scene expects, as curves over time with their bounds.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/io/scene/expect.h"
#include "app/viewer/tracked_probes.h"

namespace stickslip {

/// A number of each step, or of objects, and the range in which it is expected.
struct ExpectCurve {
  std::string title;  // quantity, unit, and when it is judged
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  std::function<double(const StepReport&)> of_step = {};  // NaN: the step has none, or does not count
  std::vector<int> objects = {};                          // without of_step: at most TrackedProbes::kMost
  std::size_t quantity = 0;                               // of these, in TrackedProbes::kQuantities
};

/// Of the expectations about a number that each step has, or about heights and speeds of objects. Others
/// compare two times, or count steps: they have no curve.
std::vector<ExpectCurve> expect_curves(const Model& model, std::span<const Expectation> expectations);

}  // namespace stickslip
