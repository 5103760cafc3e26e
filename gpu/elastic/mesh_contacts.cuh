// MeshContacts: contacts and near contacts between the surfaces of solids, thin objects and colliders.
#pragma once

#include "gpu/broadphase/broadphase.cuh"
#include "gpu/broadphase/model_filter.cuh"
#include "gpu/collide/rigid_contact.h"
#include "gpu/elastic/mesh_touch.h"
#include "gpu/elastic/reach_node.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Pairs of points and triangles and pairs of edges, of any two surfaces and of one with itself, from the
/// broad phase; see touch_point_triangle and touch_edges. The margin is at most half the mean edge of the
/// solids, and so is the depth of an overlap, but at least the thickness of thin objects: deeper ones are not
/// found.
///
/// A contact has two points, which are bodies of the contact problem: `first + 2 k` on side a and the next
/// one on side b. Contacts are in the order of the candidates.
class MeshContacts {
 public:
  struct Options {
    double margin = 0.01;  // [m]
    double dt = 0;         // [s] > 0: the margin grows by the distance that the two close within a step
  };
  struct Input {
    const DeviceModel* solids;
    const Vec3 *x, *v;  // per node
    std::int32_t first;
    std::int32_t previous;  // index of the first contact of meshes in the last step's list
  };

  void load(Context& ctx, const Model& solids);
  /// `solids` must outlive this object. Two host reads.
  void find(Context& ctx, const Input& in, const Options& options);
  void forget() { known_ = false; }
  /// [m] the margin that `find` takes where `asked` is contact_margin.
  double margin(double asked) const { return asked < 0.5 * mean_edge_ ? asked : 0.5 * mean_edge_; }

  /// See BroadPhase.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const { broad_phase_.append_trees(ctx, out); }

  // Results of the last find(), backend memory.
  std::size_t count() const { return contacts_.size(); }
  const RigidContact* contacts() const { return contacts_.data(); }
  const SurfacePoint* points() const { return points_.data(); }  // two per contact
  const Vec4i* pairs() const { return quads_.data(); }           // the nodes: {p, t0, t1, t2} or two edges
  std::size_t candidates() const { return candidates_; }
  double search_seconds() const { return search_seconds_; }  // see RigidContacts

 private:
  MeshSurfaceView view(Context& ctx, const Input& in, const Options& options);
  void match(Context& ctx, const Input& in);

  bool known_ = false;
  std::size_t triangles_ = 0, candidates_ = 0;
  double mean_edge_ = 0;  // [m]
  double search_seconds_ = 0;
  BroadPhase broad_phase_;
  Buffer<std::int32_t> triangle_start_, triangle_of_, edge_start_;
  Buffer<Vec2i> opposite_;
  Buffer<std::uint8_t> sheet_;
  Buffer<Vec2i> wires_;
  Buffer<std::int32_t> strand_;
  Buffer<Vec<double, 3>> normal_;
  Buffer<Vec3> motion_;
  Buffer<Vec<double, 3>> velocity_sum_;  // [m/s] of all nodes
  Buffer<ReachNode> reach_;
  Buffer<std::int32_t> start_;  // per candidate and one more
  Buffer<RigidContact> contacts_;
  Buffer<SurfacePoint> points_;
  Buffer<Vec4i> quads_, quads_before_;
  Buffer<std::uint32_t> keys_, keys_before_;  // those of the last step are sorted
  Buffer<std::int32_t> order_;                // of the last step's contacts by key
};

}  // namespace stickslip::STICKSLIP_BACKEND
