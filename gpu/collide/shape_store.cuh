// ShapeStore: shapes, hulls, meshes and half-spaces of a model in backend memory.
#pragma once

#include <vector>

#include "gpu/collide/shape_view.h"
#include "gpu/core/buffer.h"
#include "gpu/model/model.h"

namespace stickslip::STICKSLIP_BACKEND {

class ShapeStore {
 public:
  /// Loads the shapes of `model`. Throws std::invalid_argument for a shape range or a
  /// data index out of range.
  void load(Context& ctx, const Model& model);
  ShapeView view() const;

  bool has_many_parts() const { return has_many_parts_; }  // a body with kManyParts
  bool has_search() const { return has_search_; }          // convex shapes without a closed formula
  bool has_meshes() const { return !meshes_.empty(); }

 private:
  void classify(Context& ctx, const Model& model);
  void load_hulls(Context& ctx, const Model& model);
  void load_meshes(Context& ctx, const Model& model);

  bool has_many_parts_ = false, has_search_ = false;
  Buffer<Shape> shapes_;
  Buffer<std::uint8_t> kind_;
  Buffer<double> shape_radius_, radius_;
  Buffer<Vec2i> range_;
  Buffer<HalfSpaceView> half_spaces_;

  // All hulls concatenated; face_start_ has one extra entry per hull.
  Buffer<Vec<double, 3>> hull_vertices_, hull_normals_;
  Buffer<double> hull_offsets_;
  Buffer<std::int32_t> face_start_, face_vertices_;
  Buffer<Vec2i> hull_edges_;
  Buffer<HullView> hulls_;

  Buffer<Vec<double, 3>> mesh_vertices_;
  Buffer<Vec3i> mesh_triangles_;
  Buffer<float> distances_;
  Buffer<std::int32_t> trees_;
  Buffer<MeshShapeView> meshes_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
