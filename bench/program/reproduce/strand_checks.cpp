#include "bench/program/reproduce/strand_checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/ccd/inclusion.h"
#include "gpu/ccd/swept_pair.h"
#include "gpu/model/element_group.h"
#include "gpu/model/exact_orientation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct NodeBox {
  Vec3d low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  void add(const Vec3d& x) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  }
  bool overlaps(const NodeBox& other) const {
    for (int k = 0; k < 3; ++k)
      if (low[k] > other.high[k] || other.low[k] > high[k]) return false;
    return true;
  }
};

/// Calls `use(i, j)` for each box i of `a` and each j of `b` that overlap, by a sweep along x.
template <class F>
void each_overlap(const std::vector<NodeBox>& a, const std::vector<NodeBox>& b, F&& use) {
  std::vector<std::size_t> order(b.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t j) { return b[j].low[0]; });
  double widest = 0;
  for (const NodeBox& box : b) widest = std::max(widest, box.high[0] - box.low[0]);
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto at =
        std::ranges::lower_bound(order, a[i].low[0] - widest, {}, [&](std::size_t j) { return b[j].low[0]; });
    for (; at != order.end() && b[*at].low[0] <= a[i].high[0]; ++at)
      if (a[i].overlaps(b[*at])) use(i, *at);
  }
}

std::vector<Vec2i> rod_segments(const Model& model) {
  std::vector<Vec2i> segments;
  for (const Object& object : model.objects)
    if (object.is_rods())
      segments.insert(segments.end(), segments_of(model, object).begin(), segments_of(model, object).end());
  return segments;
}

const Vec3d& at(const NodePositions& positions, std::int32_t node) {
  return positions[static_cast<std::size_t>(node)];
}

/// Whether the segment passes through the triangle; not if they have a point of their borders in common.
bool pierces(const Vec3d& p, const Vec3d& q, const Vec3d (&t)[3]) {
  if (orientation(t[0], t[1], t[2], p) * orientation(t[0], t[1], t[2], q) >= 0) return false;
  const int a = orientation(p, q, t[0], t[1]), b = orientation(p, q, t[1], t[2]),
            c = orientation(p, q, t[2], t[0]);
  return a != 0 && a == b && b == c;
}

/// A rod with as many segments as nodes that collide.
bool is_band(const Object& object) {
  return object.is_rods() &&
         object.segment_end - object.segment_begin == object.node_end - object.collides_from;
}

}  // namespace

std::size_t strand_count(const Model& model) {
  std::size_t count = 0;
  for (const Object& object : model.objects)
    if (object.is_rods() && !is_band(object)) count += count_rods(model, object).strands;
  return count;
}

std::size_t crossed_segments(const Model& model, const NodePositions& before, const NodePositions& after) {
  const std::vector<Vec2i> segments = rod_segments(model);
  std::vector<NodeBox> boxes(segments.size());
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (int end = 0; end < 2; ++end) {
      boxes[s].add(at(before, segments[s][end]));
      boxes[s].add(at(after, segments[s][end]));
    }
  std::size_t count = 0;
  each_overlap(boxes, boxes, [&](std::size_t i, std::size_t j) {
    const Vec2i a = segments[i], b = segments[j];
    if (i >= j || a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) return;
    const Vec3d start[4] = {at(before, a[0]), at(before, a[1]), at(before, b[0]), at(before, b[1])};
    const Vec3d end[4] = {at(after, a[0]), at(after, a[1]), at(after, b[0]), at(after, b[1])};
    count += inclusion::may_touch<EdgeEdge<double>>(start, end);
  });
  return count;
}

std::size_t pierced_triangles(const Model& model, const NodePositions& positions) {
  const std::vector<Vec2i> segments = rod_segments(model);
  std::vector<NodeBox> edges(segments.size()), faces(model.triangles.size());
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (int end = 0; end < 2; ++end) edges[s].add(at(positions, segments[s][end]));
  for (std::size_t t = 0; t < faces.size(); ++t)
    for (int corner = 0; corner < 3; ++corner) faces[t].add(at(positions, model.triangles[t][corner]));
  std::size_t count = 0;
  each_overlap(edges, faces, [&](std::size_t s, std::size_t t) {
    const Vec3i corners = model.triangles[t];
    const Vec3d triangle[3] = {at(positions, corners[0]), at(positions, corners[1]),
                               at(positions, corners[2])};
    count += pierces(at(positions, segments[s][0]), at(positions, segments[s][1]), triangle);
  });
  return count;
}

HeldStrands held_strands(const Model& model, const NodePositions& positions) {
  HeldStrands held;
  const auto band = std::ranges::find_if(model.objects, is_band);
  if (band == model.objects.end()) return held;
  held.has_band = true;
  const auto ring = segments_of(model, *band);
  Vec3d centre{0, 0, 0};
  for (const Vec2i& edge : ring) centre += at(positions, edge[0]) * (1.0 / static_cast<double>(ring.size()));
  held.height = centre[1];
  std::vector<Vec3d> places;
  for (const Object& object : model.objects) {
    if (!object.is_rods() || is_band(object)) continue;
    // Strands of one object follow each other; a segment begins where the one before it ends.
    bool inside = false;
    std::int32_t last = -1;
    for (const Vec2i& segment : segments_of(model, object)) {
      if (segment[0] != last) inside = false;
      last = segment[1];
      for (const Vec2i& edge : ring) {
        const Vec3d p = at(positions, segment[0]), q = at(positions, segment[1]);
        if (!pierces(p, q, {centre, at(positions, edge[0]), at(positions, edge[1])})) continue;
        held.strands += inside ? -1 : 1;
        inside = !inside;
        places.push_back(0.5 * (p + q));
      }
    }
  }
  if (places.empty()) return held;
  Vec3d mean{0, 0, 0};
  for (const Vec3d& place : places) mean += place * (1.0 / static_cast<double>(places.size()));
  for (const Vec3d& place : places) held.spread += norm2(place - mean) / static_cast<double>(places.size());
  held.spread = std::sqrt(held.spread);
  return held;
}

}  // namespace stickslip
