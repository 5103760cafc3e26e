// The loaded scene: topology on the device, current positions and appearance on the host.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/render/camera.h"
#include "app/render/resources.h"
#include "gpu/model/model.h"
#include "gpu/sharing.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

/// A half-space for drawing.
struct PlaneShape {
  Vec3f point{0, 0, 0};  // the plane's point nearest to the scene's centre
  Vec3f u{1, 0, 0}, v{0, 0, 1};
  bool ground = false;
};

/// A segment or, with one node twice, a point of a collider without a surface.
struct WireShape {
  Vec2i nodes;
  Vec3f color;
};

class SceneBuffers {
 public:
  SceneBuffers(const Device& device, const Model& model);

  void set_positions(std::span<const Vec3f> positions);
  /// Sets the box of the drawn nodes when their positions are in other memory.
  void set_box(const PublishedBox& box);
  void set_color(std::size_t object, const Vec3f& srgb) { paint(looks_, object, srgb); }
  /// Gives an object this colour in `looks`, a copy of the scene's.
  void paint(std::span<shared::ObjectLook> looks, std::size_t object, const Vec3f& srgb) const;

  /// Throws std::invalid_argument for another count than the scene's.
  void check_count(std::span<const Vec3f> positions) const;

  GpuBuffer vertices, fans, triangles, indices, edges, rods;
  std::uint32_t vertex_count = 0, index_count = 0, edge_index_count = 0;
  /// `rods` has the segments of tubes, those of hair, and then the ends of tubes.
  std::uint32_t rod_count = 0, hair_count = 0, rod_end_count = 0;
  std::uint32_t tube_count() const { return rod_count - hair_count; }

  /// The positions that were set last.
  const std::vector<Vec3f>& positions() const { return positions_; }
  const std::vector<std::int32_t>& drawn_nodes() const { return drawn_nodes_; }
  /// Changes with every set_positions and is not 0, so that a frame can detect an outdated copy.
  std::uint64_t version() const { return version_; }
  const std::vector<shared::ObjectLook>& looks() const { return looks_; }
  /// Looks of an object are those at its number plus multiples of this.
  std::size_t objects() const { return objects_; }
  const std::vector<PlaneShape>& planes() const { return planes_; }
  const std::vector<WireShape>& wires() const { return wires_; }
  /// True if all surfaces belong to solids and rigid bodies.
  bool closed() const { return closed_; }
  std::optional<float> ground_height() const { return ground_height_; }
  const Bounds& bounds() const { return bounds_; }
  /// With the nodes at other positions.
  Bounds bounds_of(std::span<const Vec3f> positions) const;
  const Bounds& start_bounds() const { return start_bounds_; }

 private:
  void set_pattern(std::size_t object, const Model& model);
  void add_wires(const Model& model);
  void add_planes(const std::vector<HalfSpace>& half_spaces);

  std::vector<std::int32_t> drawn_nodes_;
  std::vector<Vec3f> positions_;
  std::vector<shared::ObjectLook> looks_;
  std::size_t objects_ = 0;
  std::vector<PlaneShape> planes_;
  std::vector<WireShape> wires_;
  std::optional<float> ground_height_;
  Bounds bounds_, start_bounds_;
  std::uint64_t version_ = 0;
  bool closed_ = false;
};

}  // namespace stickslip
