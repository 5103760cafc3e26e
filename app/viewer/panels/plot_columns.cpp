#include "app/viewer/panels/plot_columns.h"

#include <limits>

#include "app/viewer/expect_curves.h"

namespace stickslip {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// A curve of one of the expected objects.
HistoryColumn column_of(const ExpectCurve& curve, const TrackedProbes& expected, std::size_t item) {
  return {"Expected: " + curve.title + ": " + expected.name(item),
          [&expected, item, quantity = curve.quantity](const StepReport& step) {
            const TrackedProbes::Row* row = expected.at(step.frame);
            return row != nullptr ? row->values[item][quantity] : kNotKnown;
          }};
}

}  // namespace

std::vector<HistoryColumn> plot_columns(const Forks& forks, const Scene& scene,
                                        const TrackedProbes& expected) {
  std::vector<HistoryColumn> columns;
  for (const Forks::Entry& entry : forks.entries())
    columns.push_back({"Distance, m: fork " + std::to_string(entry.number), [&entry](const StepReport& step) {
                         const auto found = entry.distances.find(step.frame);
                         return found != entry.distances.end() ? found->second.mean : kNotKnown;
                       }});
  for (const ExpectCurve& curve : expect_curves(scene.model, scene.expect)) {
    if (curve.of_step) columns.push_back({"Expected: " + curve.title, curve.of_step});
    for (const int object : curve.objects)
      if (const auto item = expected.find_object(object))
        columns.push_back(column_of(curve, expected, *item));
  }
  return columns;
}

}  // namespace stickslip
