#include "bench/box_overlap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace stickslip {
namespace {

using Axes = std::array<Vec<double, 3>, 3>;

Axes axes_of(const SceneBox& box) {
  return {box.pose.q.rotate({1, 0, 0}), box.pose.q.rotate({0, 1, 0}), box.pose.q.rotate({0, 0, 1})};
}

/// Half the length of a box's projection onto a unit axis.
double reach(const SceneBox& box, const Axes& axes, const Vec<double, 3>& along) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += box.half[i] * std::fabs(dot(axes[i], along));
  return sum;
}

/// A box as long as its projections onto the coordinate axes.
struct Span {
  Vec<double, 3> low, high;
};

Span span_of(const SceneBox& box) {
  const Axes axes = axes_of(box);
  Vec<double, 3> r{reach(box, axes, {1, 0, 0}), reach(box, axes, {0, 1, 0}), reach(box, axes, {0, 0, 1})};
  r += Vec<double, 3>::filled(kTouching / 2);
  return {box.pose.x - r, box.pose.x + r};
}

bool overlap(const Span& a, const Span& b) {
  for (int i = 0; i < 3; ++i)
    if (a.low[i] > b.high[i] || b.low[i] > a.high[i]) return false;
  return true;
}

/// The coordinate with the largest spread of the movable boxes.
int widest_axis(const std::vector<SceneBox>& boxes) {
  int widest = 0;
  double most = -1;
  for (int i = 0; i < 3; ++i) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const SceneBox& box : boxes)
      if (box.moves) {
        low = std::min(low, box.pose.x[i]);
        high = std::max(high, box.pose.x[i]);
      }
    if (high - low > most) {
      most = high - low;
      widest = i;
    }
  }
  return widest;
}

void add_separation(double separation, double& sum, OverlapReport& report) {
  if (!(separation < kTouching)) return;
  const double depth = std::max(0.0, -separation);
  ++report.touching;
  report.deepest = std::max(report.deepest, depth);
  sum += depth;
}

bool is_finite(const Pose& pose) {
  return std::isfinite(norm2(pose.x)) && std::isfinite(norm2(pose.q.v)) && std::isfinite(pose.q.w);
}

}  // namespace

double box_separation(const SceneBox& a, const SceneBox& b) {
  const Axes of_a = axes_of(a), of_b = axes_of(b);
  const Vec<double, 3> between = b.pose.x - a.pose.x;
  double largest = -std::numeric_limits<double>::infinity();
  const auto project = [&](const Vec<double, 3>& axis) {
    const double gap = std::fabs(dot(axis, between)) - reach(a, of_a, axis) - reach(b, of_b, axis);
    largest = std::max(largest, gap);
  };
  for (int i = 0; i < 3; ++i) {
    project(of_a[i]);
    project(of_b[i]);
  }
  for (const Vec<double, 3>& u : of_a)
    for (const Vec<double, 3>& v : of_b) {
      const Vec<double, 3> across = cross(u, v);
      const double length = norm(across);
      // For parallel edges the face normals suffice.
      if (length > 1e-8) project(across / length);
    }
  return largest;
}

OverlapReport measure_overlaps(const std::vector<SceneBox>& boxes) {
  OverlapReport report;
  double sum = 0;
  std::vector<Span> spans(boxes.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!is_finite(boxes[i].pose)) {
      report.deepest = sum = std::numeric_limits<double>::infinity();
      continue;
    }
    spans[i] = span_of(boxes[i]);
    order.push_back(i);
    if (boxes[i].moves) add_separation(spans[i].low[1] + kTouching / 2, sum, report);
  }
  // Sweep and prune: boxes in the order of their lower ends, each tested against those
  // whose interval is still open.
  const int axis = widest_axis(boxes);
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return spans[i].low[axis] < spans[j].low[axis]; });
  std::vector<std::size_t> open;
  for (const std::size_t i : order) {
    std::erase_if(open, [&](std::size_t j) { return spans[j].high[axis] < spans[i].low[axis]; });
    for (const std::size_t j : open)
      if ((boxes[i].moves || boxes[j].moves) && overlap(spans[i], spans[j]))
        add_separation(box_separation(boxes[i], boxes[j]), sum, report);
    open.push_back(i);
  }
  if (report.touching > 0) report.mean = sum / static_cast<double>(report.touching);
  return report;
}

DriftReport measure_drift(const std::vector<SceneBox>& start, const std::vector<SceneBox>& end) {
  DriftReport report;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < start.size() && i < end.size(); ++i) {
    if (!start[i].moves) continue;
    ++count;
    const Vec<double, 3> way = end[i].pose.x - start[i].pose.x;
    double aside = std::hypot(way[0], way[2]);
    const bool finite = is_finite(end[i].pose);
    if (!finite) aside = std::numeric_limits<double>::infinity();
    report.largest = std::max(report.largest, aside);
    sum += aside;
    const double half_height = reach(start[i], axes_of(start[i]), {0, 1, 0});
    if (!finite || -way[1] > half_height) ++report.fallen;
  }
  if (count > 0) report.mean = sum / static_cast<double>(count);
  return report;
}

}  // namespace stickslip
