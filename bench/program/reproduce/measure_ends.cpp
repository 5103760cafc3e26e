// Where runs of a scene by several methods end. Quantities of `ends` for a method M, per start:
//   M.height [m]: mean height of the elastic solids, by volume;
//   M.speed [m/s]: root mean square speed of their nodes;
//   M.energy_lost [J]: kinetic, elastic and gravity energy at the start less that at the end;
//   M.friction_error [m/s]: the judge's largest error of a contact, the median over the steps with contacts;
//   M.converged: share of the steps;
// and for all but the first method, as means over the solids and in units of their size (the root mean square
// distance of their volume from their centre):
//   M.centre_distance: between the centres of a solid in this run and in that of the first method;
//   M.shape_distance: between the tensors of second moments of its volume, in Frobenius' norm, over the
//   trace;
//   M.height_ratio, M.energy_ratio, M.error_ratio: height, energy_lost and friction_error over those of the
//   first method; M.newton_ratio: how many times as many Newton iterations the first needs.
// All methods run for the same time, so their steps may differ, and so may their meshes.
#include <algorithm>
#include <cmath>

#include "bench/program/reproduce/measure.h"
#include "gpu/model/element_group.h"
#include "gpu/model/perturbed.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

struct SolidShape {
  Vec3d centre{0, 0, 0};
  double moments[3][3] = {};  // of volume about the centre, over the volume [m^2]
  double size() const { return std::sqrt(moments[0][0] + moments[1][1] + moments[2][2]); }
};

struct RunEnd {
  std::vector<SolidShape> solids;
  double height = 0, speed = 0, energy_lost = 0, friction_error = 0, converged = 0;
  long newton = 0;
};

/// Of tets with the volumes of their rest shapes, each at its centroid.
SolidShape shape_of(const Model& model, const Object& object, const State& state, double& volume) {
  SolidShape shape;
  volume = 0;
  const auto centroid = [&](const Vec4i& tet) {
    Vec3d sum{0, 0, 0};
    for (int c = 0; c < 4; ++c) sum += 0.25 * state.positions[static_cast<std::size_t>(tet[c])];
    return sum;
  };
  for (const Vec4i& tet : tets_of(model, object)) {
    const double v = std::abs(tet_volume(model.rest_positions, tet));
    shape.centre += v * centroid(tet);
    volume += v;
  }
  shape.centre *= 1 / volume;
  for (const Vec4i& tet : tets_of(model, object)) {
    const double share = std::abs(tet_volume(model.rest_positions, tet)) / volume;
    const Vec3d r = centroid(tet) - shape.centre;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) shape.moments[a][b] += share * r[a] * r[b];
  }
  return shape;
}

void add_shapes(const Model& model, const State& state, RunEnd& end) {
  double all = 0, speed2 = 0;
  std::size_t nodes = 0;
  for (const Object& object : model.objects) {
    if (!object.is_solid() || tets_of(model, object).empty()) continue;
    double volume = 0;
    end.solids.push_back(shape_of(model, object, state, volume));
    end.height += volume * end.solids.back().centre[1];
    all += volume;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i, ++nodes)
      speed2 += norm2(state.velocities[static_cast<std::size_t>(i)]);
  }
  if (all > 0) end.height /= all;
  if (nodes > 0) end.speed = std::sqrt(speed2 / static_cast<double>(nodes));
}

double energy_of(const StepReport& report) {
  return report.kinetic_energy + report.elastic_energy + report.gravity_energy;
}

/// Runs the scene for `seconds`. The energy before the first step is that after it less its change.
RunEnd run_to_end(const Scene& scene, double seconds, std::uint64_t seed, const MeasureContext& context) {
  const std::unique_ptr<Engine> engine = context.engine();
  load_into(*engine, scene);
  engine->set_state(perturbed(engine->state(), seed));
  RunEnd end;
  std::vector<double> errors;
  double first = 0, last = 0;
  int steps = 0;
  while (engine->state().time < seconds - scene.params.dt / 2) {
    context.check();
    const StepReport report = engine->step();
    last = energy_of(report);
    if (steps++ == 0) first = last - (report.judgement ? report.judgement->energy_change : 0);
    end.converged += report.converged;
    end.newton += report.newton_iterations;
    if (report.judgement && report.judgement->contacts > 0) errors.push_back(report.judgement->error);
  }
  if (steps > 0) end.converged /= steps;
  end.energy_lost = first - last;
  end.friction_error = median(std::move(errors));
  add_shapes(scene.model, engine->state(), end);
  return end;
}

void add_distances(Measurement& out, const std::string& name, const RunEnd& first, const RunEnd& end) {
  double centres = 0, shapes = 0;
  for (std::size_t s = 0; s < end.solids.size(); ++s) {
    const SolidShape &a = first.solids[s], &b = end.solids[s];
    centres += norm(a.centre - b.centre) / a.size();
    double difference = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) difference += std::pow(a.moments[i][j] - b.moments[i][j], 2);
    shapes += std::sqrt(difference) / (a.size() * a.size());
  }
  const double count = std::max<double>(1, static_cast<double>(end.solids.size()));
  if (first.height > 0) out.add(name + ".height_ratio", end.height / first.height);
  out.add(name + ".centre_distance", centres / count);
  out.add(name + ".shape_distance", shapes / count);
  if (first.friction_error > 0) out.add(name + ".error_ratio", end.friction_error / first.friction_error);
  if (first.energy_lost != 0) out.add(name + ".energy_ratio", end.energy_lost / first.energy_lost);
  if (end.newton > 0)
    out.add(name + ".newton_ratio", static_cast<double>(first.newton) / static_cast<double>(end.newton));
}

}  // namespace

Measurement measure_ends(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  const std::vector<ClaimMethod> methods = methods_of(claim);
  if (run.scenes.size() != 1) throw InputError("claim " + claim.name + ": measure ends takes one scene");
  Measurement out;
  double seconds = 0;
  for (int k = 0; k < run.starts; ++k) {
    RunEnd first;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Scene scene = claim_scene(run.scenes[0], run, methods[m]);
      if (m == 0) seconds = scene.params.dt * (run.frames > 0 ? run.frames : scene.frames);
      RunEnd end = run_to_end(scene, seconds, static_cast<std::uint64_t>(k), context);
      const std::string& name = methods[m].name;
      out.add(name + ".height", end.height);
      out.add(name + ".speed", end.speed);
      out.add(name + ".energy_lost", end.energy_lost);
      out.add(name + ".friction_error", end.friction_error);
      out.add(name + ".converged", end.converged);
      if (m == 0) first = std::move(end);
      else if (end.solids.size() != first.solids.size())
        throw InputError("claim " + claim.name + ": the methods' scenes have other solids");
      else add_distances(out, name, first, end);
    }
  }
  return out;
}

}  // namespace stickslip
