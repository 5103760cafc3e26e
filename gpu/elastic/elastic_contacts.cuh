// ElasticContacts: contacts and near contacts of elastic surfaces with rigid shapes and half-spaces.
#pragma once

#include "gpu/elastic/body_tree.cuh"
#include "gpu/elastic/surface_point.h"
#include "gpu/model/device_model.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The samples of the surface are its nodes, and for each triangle the point nearest to a shape if it
/// is inside the triangle [Course Eq.110]. Nodes are tested against half-spaces, and all samples
/// against the shapes of nearby bodies, found by an LBVH of the bodies. MeshContacts has the contacts of
/// solids with each other, themselves and colliders.
///
/// Contacts are ordered by sample. Side a is contact k's own point: body `first + k` of the contact problem.
class ElasticContacts {
 public:
  struct Options {
    double margin = 0.01;  // [m] surfaces within this distance form a contact
    double dt = 0;         // [s] > 0: the margin grows by the distance that the two close within a step
  };
  struct Input {
    const DeviceModel* solids;
    const Vec3 *x, *v;  // per node of the solids
    ShapeView shapes;
    BodyMotionView motion;
    std::int32_t first;     // number of bodies
    std::int32_t previous;  // index of the first contact of solids in the last step's list
  };

  /// `exempt`: pairs of objects and bodies that never touch, ascending.
  void load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt);
  /// One host read.
  void find(Context& ctx, const Input& in, const Options& options);
  void forget() { known_ = false; }

  // Results of the last find(), backend memory; `previous` counts from input.previous.
  std::size_t count() const { return count_; }
  const RigidContact* contacts() const { return contacts_.data(); }
  const SurfacePoint* points() const { return points_.data(); }

 private:
  bool known_ = false;
  std::size_t nodes_ = 0, triangles_ = 0, count_ = 0;
  Buffer<std::uint8_t> of_collider_;  // per node: 1 for colliders, which no half-space touches
  Buffer<std::uint8_t> owned_;        // per triangle, see reported_edges
  BodyTree tree_;
  Buffer<std::int32_t> start_, start_before_;    // per sample and one more
  Buffer<std::int32_t> others_, others_before_;  // per contact: a shape, or -1 - k for half-space k
  Buffer<RigidContact> contacts_;
  Buffer<SurfacePoint> points_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
