// What the window draws of a scene besides its bodies: outlines of forks and of what is dragged, and colours
// of surfaces.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/render/frame_view.h"
#include "app/viewer/fork.h"
#include "app/viewer/gizmo_tool.h"
#include "app/viewer/surface_colors.h"
#include "gpu/energy/solid_stress.h"
#include "gpu/energy/thin_strain.h"

namespace stickslip {

class SceneLayers {
 public:
  /// Another scene comes.
  void forget();

  /// Lines of the forks at the time that is shown, or where they are until they have reached it; null: none.
  /// And of the object that is dragged, and of all at an iterate of a step; null: none is shown. `eye` [m]:
  /// of the camera.
  std::span<const GhostLine> ghosts(const Scene& scene, const SimulationFrame& frame, const Forks* forks,
                                    const GizmoTool& gizmo, const Snapshot* iterate, const Vec3f& eye);
  /// Per node the place of its colour; empty: surfaces have the colours of their objects.
  std::span<const float> heat(const Scene& scene, SurfaceColors what, const SimulationFrame& frame,
                              const std::vector<Material>& materials);
  /// The same for another run of the scene, on the scale of the last `heat`. `snapshot`: with positions, and
  /// with stiffness where that is shown.
  std::vector<float> heat_of(SurfaceColors what, const Snapshot& snapshot,
                             const std::vector<Material>& materials);
  /// That of the last picture.
  std::span<const float> shown_heat() const { return heat_; }
  /// The values at the ends of the scale of `heat`; `most_heat` < 0: there is none.
  float least_heat() const { return least_heat_; }
  float most_heat() const { return most_heat_; }

 private:
  /// Per node of the scene of stress_ and thin_, -1 where nothing has the quantity; empty: nothing has.
  const std::vector<float>& values(SurfaceColors what, std::span<const Vec3f> at,
                                   const std::vector<Material>& materials);
  void add_iterate(const Scene& scene, const Snapshot& iterate, const Vec3f& eye);
  void add_forks(const Scene& scene, const SimulationFrame& frame, const Forks& forks, const Vec3f& eye);

  std::optional<GhostMesh> ghost_mesh_;  // once it is needed, as is stress_
  std::optional<SolidStress> stress_;
  std::optional<ThinStrain> thin_;  // with stress_
  std::vector<float> values_;
  std::vector<GhostMesh> dragged_meshes_;  // of the objects with these numbers
  std::vector<int> dragged_;
  std::vector<GhostLine> ghosts_;
  std::vector<float> heat_;
  float least_heat_ = 0, most_heat_ = -1;
  // What heat_ was found for.
  SurfaceColors heated_ = SurfaceColors::objects;
  std::vector<Vec3f> heated_at_;  // positions
  std::vector<double> heated_with_;
};

}  // namespace stickslip
