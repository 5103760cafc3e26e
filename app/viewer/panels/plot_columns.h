// Columns of the file of plots besides those of every step: the distances of forks, and what is expected.
#pragma once

#include <vector>

#include "app/io/scene/scene.h"
#include "app/viewer/fork.h"
#include "app/viewer/panels/history_plots.h"
#include "app/viewer/tracked_probes.h"

namespace stickslip {

/// For the frames at hand, while these live. `expected`: the objects of the curves of `scene`; those of
/// frames in which their plots were not drawn are not known.
std::vector<HistoryColumn> plot_columns(const Forks& forks, const Scene& scene,
                                        const TrackedProbes& expected);

}  // namespace stickslip
