// TouchedSurfaces: all contacts of the elastic part, and the points of its surfaces that they touch.
#pragma once

#include "gpu/elastic/elastic_contacts.cuh"
#include "gpu/elastic/mesh_contacts.cuh"
#include "gpu/linear/node_gather.cuh"

namespace stickslip {

/// Whose impulse acts on a touched point, and with which sign.
struct PointSide {
  std::int32_t contact;
  float sign;  // 1 on side a, -1 on side b
};

/// Of all points. Backend memory.
struct PointSides {
  const PointSide* of = nullptr;

  SS_HD std::size_t contact(std::size_t point) const { return static_cast<std::size_t>(of[point].contact); }
  SS_HD double sign(std::size_t point) const { return static_cast<double>(of[point].sign); }
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Contacts with shapes and half-spaces, then those between meshes. Each touched point is a body of the
/// contact problem: point p is body `first + p`.
class TouchedSurfaces {
 public:
  using Options = ElasticContacts::Options;
  using Input = ElasticContacts::Input;

  /// `exempt`: see ElasticSolids::exempt_bodies.
  void load(Context& ctx, const Model& solids, const std::vector<Vec2i>& exempt);
  void find(Context& ctx, const Input& in, const Options& options);
  void forget();
  /// Appends contacts between meshes, two points each, or with bodies, one point each, for this step alone;
  /// see Input::first.
  void add(Context& ctx, std::size_t count, const RigidContact* contacts, const SurfacePoint* points,
           int points_each, std::int32_t first, const DeviceModel& solids);

  /// No contacts and points until bring_back(): for a problem in which their impulses are loads.
  void set_aside(Context& ctx, std::size_t nodes);
  void bring_back(Context& ctx, std::size_t nodes);

  // Of the last find(), backend memory.
  std::size_t count() const { return contacts_.size(); }
  std::size_t point_count() const { return points_.size(); }
  const RigidContact* contacts() const { return contacts_.data(); }
  const SurfacePoint* points() const { return points_.data(); }
  PointSides sides() const { return {sides_.data()}; }
  const NodeGather& gather() const { return gather_; }  // corners of the points, four per point
  const MeshContacts& meshes() const { return meshes_; }

 private:
  void gather_points(Context& ctx, std::size_t nodes);
  void swap_aside();

  ElasticContacts shapes_;
  MeshContacts meshes_;
  std::size_t single_before_ = 0;  // contacts with shapes in the last step
  Buffer<RigidContact> contacts_;
  Buffer<SurfacePoint> points_;
  Buffer<PointSide> sides_;
  Buffer<RigidContact> contacts_aside_;
  Buffer<SurfacePoint> points_aside_;
  Buffer<PointSide> sides_aside_;
  Buffer<Vec4i> stencils_;
  NodeGather gather_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
