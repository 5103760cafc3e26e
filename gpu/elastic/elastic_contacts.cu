#include "gpu/elastic/elastic_contacts.cuh"

#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/core/trace.h"
#include "gpu/elastic/mesh_topology.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace elastic_detail {

using namespace stickslip::elastic_detail;
using Vec3d = Vec<double, 3>;

/// The data for testing a sample.
struct SampleView {
  const std::int32_t* node;   // of the samples at nodes, which come first
  const Vec3i* triangles;     // of the samples in triangles; {a, b, b}: in a segment
  const std::uint8_t* owned;  // per triangle, see reported_edges
  std::size_t nodes;
  const Vec3 *x, *v;
  const std::uint8_t* of_collider;
  ShapeView shapes;
  BodyMotionView motion;
  LbvhView tree;
  double margin, dt;
  const std::int32_t* object;  // of each node
  ExemptBodies exempt;
  const std::uint8_t* scripted;  // per node, in this step
  const Real* radius;            // [m] per node, from the midsurface of a thin object to its surface; null: 0

  SS_HD SurfacePoint point_of(std::size_t s) const {
    if (s < nodes) return {{node[s], -1, -1}, 0, {1, 0, 0}};
    const Vec3i t = triangles[s - nodes];
    if (t[1] == t[2]) return {{t[0], t[1], -1}, 0, {0.5, 0.5, 0}};
    return {t, 0, {1.0 / 3, 1.0 / 3, 1.0 / 3}};
  }
  SS_HD double radius_of(const SurfacePoint& p) const {
    return radius != nullptr ? double(radius[p.nodes[0]]) : 0.0;
  }
  SS_HD Vec3d sum(const SurfacePoint& p, const Vec3* of) const {
    Vec3d total{0, 0, 0};
    for (int c = 0; c < 3; ++c)
      if (p.nodes[c] >= 0) total += p.weights[c] * of[p.nodes[c]].template cast<double>();
    return total;
  }
  /// Box of its corners now and after dt, grown by the margin.
  SS_HD FloatBox box_of(const SurfacePoint& p) const {
    Aabb box = Aabb::empty();
    for (int c = 0; c < 3; ++c) {
      if (p.nodes[c] < 0) continue;
      const Vec3 at = x[p.nodes[c]], next = at + static_cast<Real>(dt) * v[p.nodes[c]];
      box = merge(merge(box, at), next);
    }
    const Vec3 grow = Vec3::filled(static_cast<Real>(margin + radius_of(p)));
    return round_outward({box.lo - grow, box.hi + grow});
  }
};

/// True if the gap may close within the step. `closing` [m/s] > 0: the gap closes.
SS_HD bool is_near(const SampleView& view, double gap, double closing) {
  return gap <= view.margin + (closing > 0 ? view.dt * closing : 0.0);
}

/// True if a point of a triangle is on an edge that another triangle reports.
SS_HD bool is_other_ones(std::uint8_t owned, const Vec3d& weights, double on_edge) {
  for (int c = 0; c < 3; ++c)
    if (weights[c] < on_edge && (owned >> c & 1) == 0) return true;
  return false;
}

/// Calls touch(sample point, position on its surface, outward normal of the other surface, gap, body or -1 -
/// half-space, name) for each contact of sample s.
template <class Touch>
SS_HD void for_touches(const SampleView& view, std::size_t s, Touch&& touch) {
  SurfacePoint point = view.point_of(s);
  const Vec3d velocity = view.sum(point, view.v);
  const bool is_node = s < view.nodes;
  const Vec3d place = view.sum(point, view.x);
  const double radius = view.radius_of(point);
  const bool is_free = is_node && view.of_collider[point.nodes[0]] == 0;
  for (std::int32_t h = 0; is_free && h < view.shapes.half_space_count; ++h) {
    const HalfSpaceView& plane = view.shapes.half_spaces[h];
    const double gap = dot(plane.normal, place) - plane.offset - radius;
    if (is_near(view, gap, -dot(plane.normal, velocity)))
      touch(point, place - radius * plane.normal, plane.normal, gap, -1 - h, -1 - h);
  }
  Vec3d corner[3];
  for (int c = 0; c < 3; ++c)
    corner[c] = point.nodes[c] >= 0 ? view.x[point.nodes[c]].template cast<double>() : place;
  const bool in_segment = !is_node && point.nodes[2] < 0;
  if (in_segment) corner[2] = corner[1];
  traverse(view.tree, view.box_of(point), [&](std::int32_t b) {
    if (view.exempt.contains(view.object[point.nodes[0]], b)) return;
    for (std::int32_t k = view.shapes.range[b][0]; k < view.shapes.range[b][1]; ++k) {
      const PlacedShape shape = placed_shape(view.shapes.shapes[k], view.motion.pose[b], view.shapes.library);
      SurfaceTouch t{{1, 0, 0}, place, {0, {0, 1, 0}}};
      const Vec3d drift = view.motion.velocity[b] + cross(view.motion.spin[b], place - view.motion.pose[b].x);
      const double speed = norm(velocity - drift);
      if (is_node) t.at = shape.distance(place);
      else if (!nearest_in_triangle(shape, corner, view.margin + radius + view.dt * speed, t) ||
               (!in_segment && is_other_ones(view.owned[s - view.nodes], t.weights, shape.limits().on_edge)))
        continue;
      const double gap = t.at.distance - radius;
      if (!is_near(view, gap, -dot(t.at.normal, velocity - drift))) continue;
      SurfacePoint touched = point;
      touched.weights = t.weights;
      if (in_segment) touched.weights = {t.weights[0], t.weights[1] + t.weights[2], 0};
      touch(touched, t.point - radius * t.at.normal, t.at.normal, gap, b, k);
    }
  });
}

/// What a pass writes: the number of contacts of each sample, or, if `count` is null, the contacts.
/// `other_before`: the contacts of the last step by sample.
struct TouchOutput {
  std::int32_t* count = nullptr;
  // Per sample and one more; start_before null: no last step.
  const std::int32_t *start = nullptr, *start_before = nullptr;
  const std::int32_t* other_before = nullptr;
  std::int32_t* other = nullptr;
  RigidContact* contact = nullptr;
  SurfacePoint* point = nullptr;
  std::int32_t first = 0, previous = 0;
};

/// Counts or writes the contacts of sample s.
SS_HD void pass_touches(const SampleView& view, std::size_t s, const TouchOutput& out) {
  const bool counts = out.count != nullptr;
  std::int32_t k = counts ? 0 : out.start[s];
  if (!counts && out.start[s + 1] == k) return;
  for_touches(
      view, s,
      [&](const SurfacePoint& point, const Vec3d& place, const Vec3d& normal, double gap, std::int32_t b,
          std::int32_t other) {
        if (counts) {
          ++k;
          return;
        }
        if (k == out.start[s + 1]) return;
        RigidContact& c = out.contact[k];
        SurfacePoint touched = point;
        follow_scripts(view.scripted, touched);
        c = {out.first + k, b, place - (0.5 * gap) * normal, normal, gap, static_cast<std::uint32_t>(s), -1};
        const std::int32_t *begin = out.start_before, *names = out.other_before;
        for (std::int32_t p = begin != nullptr ? begin[s] : 0; begin != nullptr && p < begin[s + 1]; ++p)
          if (names[p] == other) c.previous = out.previous + p;
        out.other[k] = other;
        out.point[k++] = touched;
      });
  if (counts) {
    out.count[s] = k;
    return;
  }
  // Never seen: the second pass would have to find fewer contacts than the first one. Repeats the last one.
  for (; k < out.start[s + 1] && k > out.start[s]; ++k) {
    out.contact[k] = out.contact[k - 1];
    out.other[k] = out.other[k - 1];
    out.point[k] = out.point[k - 1];
  }
}

SampleView sample_view(const ElasticContacts::Input& in, const ElasticContacts::Options& options,
                       const std::uint8_t* of_collider, const std::uint8_t* owned, const BodyTree& tree) {
  return {in.solids->surface_nodes.data(),
          in.solids->contact_faces().data(),
          owned,
          in.solids->surface_nodes.size(),
          in.x,
          in.v,
          of_collider,
          in.shapes,
          in.motion,
          tree.view(),
          options.margin,
          options.dt,
          in.solids->node_object.data(),
          tree.exempt(),
          in.solids->scripted.data(),
          in.solids->radius.data()};
}

/// One kernel for both passes: compiled apart, rounding could let the second pass find other contacts than
/// the first one counted.
void pass_contacts(Context& ctx, const SampleView& view, std::size_t samples, const TouchOutput& out) {
  launch(
      ctx, samples, [=] SS_LAMBDA(std::size_t s) { pass_touches(view, s, out); }, kHeavy);
}

}  // namespace elastic_detail

void ElasticContacts::load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt) {
  nodes_ = solids.surface_nodes.size();
  const bool rods = std::ranges::any_of(solids.objects, &Object::is_rods);
  triangles_ = solids.triangles.size() + (rods ? solids.segments.size() : 0);
  start_.resize(ctx, nodes_ + triangles_ + 1);
  start_before_.resize(ctx, nodes_ + triangles_ + 1);
  std::vector<std::uint8_t> of_collider;
  for (const std::int32_t object : solids.node_object)
    of_collider.push_back(solids.objects[static_cast<std::size_t>(object)].is_collider());
  of_collider_.upload(ctx, of_collider);
  owned_.upload(ctx, reported_edges(solids));
  tree_.load(ctx, solids.objects.size(), exempt);
  known_ = false;
  count_ = 0;
}

void ElasticContacts::find(Context& ctx, const Input& in, const Options& options) {
  const Span span(ctx, "elastic contacts");
  start_.swap(start_before_);
  others_.swap(others_before_);
  tree_.build(ctx, in.shapes, in.motion, options.dt);
  const elastic_detail::SampleView view =
      elastic_detail::sample_view(in, options, of_collider_.data(), owned_.data(), tree_);
  // Half-spaces touch nodes alone.
  const std::size_t samples = nodes_ + (in.shapes.bodies > 0 ? triangles_ : 0);
  elastic_detail::pass_contacts(ctx, view, samples, {.count = start_.data()});
  exclusive_scan(ctx, samples, start_.data(), start_.data());
  count_ = static_cast<std::size_t>(read_back(ctx, start_.data() + samples));
  others_.resize(ctx, count_);
  contacts_.resize(ctx, count_);
  points_.resize(ctx, count_);
  elastic_detail::pass_contacts(
      ctx, view, samples,
      {nullptr, start_.data(), known_ ? start_before_.data() : nullptr, others_before_.data(), others_.data(),
       contacts_.data(), points_.data(), in.first, in.previous});
  known_ = true;
}

}  // namespace stickslip::STICKSLIP_BACKEND
