#include "app/viewer/scene_layers.h"

#include <algorithm>
#include <utility>

#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// That of the panel's swatches, see theme::wheel.
Vec3f color_of_ghost(int number) {
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(theme::wheel(number));
  return {color.x, color.y, color.z};
}

bool is_of_solids(SurfaceColors what) {
  return what == SurfaceColors::stress || what == SurfaceColors::stretch;
}

SolidMeasure solid_measure(SurfaceColors what) {
  return what == SurfaceColors::stress ? SolidMeasure::stress : SolidMeasure::stretch;
}

/// Empty: cloth and rods do not have it.
std::optional<ThinMeasure> thin_measure(SurfaceColors what) {
  if (what == SurfaceColors::stress) return ThinMeasure::stress;
  if (what == SurfaceColors::stretch) return ThinMeasure::stretch;
  if (what == SurfaceColors::bending) return ThinMeasure::bending;
  if (what == SurfaceColors::twist) return ThinMeasure::twist;
  return std::nullopt;
}

}  // namespace

void SceneLayers::forget() {
  ghost_mesh_.reset();
  dragged_.clear();
  dragged_meshes_.clear();
  stress_.reset();
  thin_.reset();
}

std::span<const GhostLine> SceneLayers::ghosts(const Scene& scene, const SimulationFrame& frame,
                                               const Forks* forks, const GizmoTool& gizmo,
                                               const Snapshot* iterate, const Vec3f& eye) {
  ghosts_.clear();
  if (forks != nullptr && !forks->empty()) add_forks(scene, frame, *forks, eye);
  if (iterate != nullptr) add_iterate(scene, *iterate, eye);
  if (gizmo.dragged() < 0) return ghosts_;
  if (dragged_ != gizmo.dragged_together()) {
    dragged_ = gizmo.dragged_together();
    dragged_meshes_.clear();
    for (const int object : dragged_) dragged_meshes_.emplace_back(scene.model, object);
  }
  const std::vector<Vec3f> positions = gizmo.dragged_positions();
  if (positions.size() != scene.model.node_count()) return ghosts_;
  const Vec3f color{0, 0.45f, 0.7f};
  for (GhostMesh& mesh : dragged_meshes_)
    for (const GhostMesh::Line& line : mesh.lines(positions, {}, eye))
      ghosts_.push_back({line.a, line.b, color, line.sharp ? 0.6f : 0.95f});
  return ghosts_;
}

void SceneLayers::add_forks(const Scene& scene, const SimulationFrame& frame, const Forks& forks,
                            const Vec3f& eye) {
  const std::span<const Vec3f> here = frame.positions();
  for (const Forks::Entry& entry : forks.entries()) {
    const ForkStatus& status = entry.fork->status();
    if (!status.newest()) continue;
    const double shown = std::min(frame.snapshot.time, status.newest()->time);
    const std::vector<Vec3f> positions = status.positions_at(shown);
    if (positions.size() != scene.model.node_count()) continue;
    if (!ghost_mesh_) ghost_mesh_.emplace(scene.model);
    const Vec3f color = color_of_ghost(entry.number);
    for (const GhostMesh::Line& line : ghost_mesh_->lines(positions, here, eye))
      ghosts_.push_back({line.a, line.b, color, line.sharp ? 0.55f : 0.9f});
  }
}

void SceneLayers::add_iterate(const Scene& scene, const Snapshot& iterate, const Vec3f& eye) {
  if (iterate.positions.size() != scene.model.node_count()) return;
  if (!ghost_mesh_) ghost_mesh_.emplace(scene.model);
  const Vec3f color{0.8f, 0.05f, 0.45f};
  for (const GhostMesh::Line& line : ghost_mesh_->lines(iterate.positions, {}, eye))
    ghosts_.push_back({line.a, line.b, color, line.sharp ? 0.7f : 0.95f});
}

std::span<const float> SceneLayers::heat(const Scene& scene, SurfaceColors what, const SimulationFrame& frame,
                                         const std::vector<Material>& materials) {
  if (!surface_colors_table()[static_cast<std::size_t>(what)].is_scale) {
    heated_ = what;
    heat_.clear();
    most_heat_ = -1;
    return heat_;
  }
  least_heat_ = 0;
  if (what == SurfaceColors::stiffness) {
    heated_ = what;
    const std::vector<float>& values = frame.snapshot.stiffness;
    const Decades decades = decades_of(values);
    least_heat_ = decades.low;
    most_heat_ = decades.high > 0 ? decades.high : -1;
    if (decades.high > 0) place_on_decades(values, decades, heat_);
    else heat_.clear();
    return heat_;
  }
  std::vector<double> with;
  for (const Material& m : materials) {
    for (const double number : {m.young, m.poisson, m.young_weft, m.shear, static_cast<double>(m.model)})
      with.push_back(number);
  }
  const std::span<const Vec3f> at = frame.positions();
  if (stress_ && what == heated_ && std::ranges::equal(at, heated_at_) && with == heated_with_) return heat_;
  heated_ = what;
  heated_at_.assign(at.begin(), at.end());
  heated_with_ = std::move(with);
  heat_.clear();
  most_heat_ = -1;
  if (!stress_) {
    stress_.emplace(scene.model);
    thin_.emplace(scene.model);
  }
  const std::vector<float>& found = values(what, at, materials);
  if (std::ranges::none_of(found, [](float value) { return value >= 0; })) return heat_;
  most_heat_ = std::max(0.f, *std::ranges::max_element(found));
  place_on_scale(found, most_heat_, heat_);
  return heat_;
}

const std::vector<float>& SceneLayers::values(SurfaceColors what, std::span<const Vec3f> at,
                                              const std::vector<Material>& materials) {
  values_.clear();
  if (is_of_solids(what) && !stress_->empty())
    values_ = stress_->evaluate(solid_measure(what), at, materials);
  const std::optional<ThinMeasure> thin = thin_measure(what);
  if (!thin || thin_->empty()) return values_;
  const std::vector<float>& of_thin = thin_->evaluate(*thin, at, materials);
  if (values_.empty()) return values_ = of_thin;
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = std::max(values_[i], of_thin[i]);
  return values_;
}

std::vector<float> SceneLayers::heat_of(SurfaceColors what, const Snapshot& snapshot,
                                        const std::vector<Material>& materials) {
  std::vector<float> places;
  if (most_heat_ < 0) return places;
  if (what == SurfaceColors::stiffness)
    place_on_decades(snapshot.stiffness, {least_heat_, most_heat_}, places);
  else if (stress_) place_on_scale(values(what, snapshot.positions, materials), most_heat_, places);
  return places;
}

}  // namespace stickslip
