#include "gpu/bench/barrier_study.h"

#include <algorithm>

#include "gpu/bench/lattice.h"

namespace stickslip {
namespace {

std::string choice_text(const Params& params, const char* name) {
  return param_text(&params, *find_param(param_table(), name));
}

/// `columns` stacks of two cubes each; `gap` is between the two, in units of d_hat.
Model stacks_of_cubes(int columns, double gap, double d_hat) {
  constexpr std::int32_t kSide = 9;  // nodes along a cube's edge
  constexpr double kSize = 0.1, kPitch = 0.15;
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("soft");
  const std::vector<Vec4i> tets = lattice_tets(kSide);
  const double cell = kSize / (kSide - 1);
  for (int c = 0; c < 2 * columns; ++c) {
    const bool upper = c % 2 != 0;
    const int column = c / 2;
    // Shifted by parts of a cell, so that the meshes do not match.
    const Vec<double, 3> corner{kPitch * column + (upper ? 0.37 * cell : 0), upper ? kSize + gap * d_hat : 0,
                                upper ? 0.29 * cell : 0};
    std::vector<Vec<double, 3>> nodes;
    for (int z = 0; z < kSide; ++z)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          nodes.push_back(corner + Vec<double, 3>{double(x), double(y), double(z)} * cell);
    add_solid(model, "cube " + std::to_string(c), nodes, tets, 0);
  }
  finalize(model);
  return model;
}

}  // namespace

void BarrierMethod::apply(Params& params) const {
  params.solver = solver;
  params.preconditioner = preconditioner;
  params.warm_start = warm_start;
}

std::string BarrierMethod::name() const {
  Params params;
  apply(params);
  return choice_text(params, "solver") + ", " + choice_text(params, "preconditioner") +
         (warm_start ? ", warm" : "");
}

std::vector<BarrierMethod> barrier_methods() {
  std::vector<BarrierMethod> methods;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const PreconditionerKind preconditioner :
         {PreconditionerKind::block_jacobi, PreconditionerKind::additive, PreconditionerKind::multilevel})
      for (const bool warm_start : {false, true}) methods.push_back({solver, preconditioner, warm_start});
  return methods;
}

BarrierMeasure measure_method(Engine& engine, const State& start, Params params, const BarrierMethod& method,
                              int frames) {
  BarrierMeasure measure;
  measure.method = method;
  method.apply(params);
  params.check_intersections = true;
  engine.set_params(params);
  engine.set_state(start);
  for (int i = 0; i < frames; ++i) {
    StepReport report;
    try {
      report = engine.step();
    } catch (const SimulationError& error) {
      measure.error = error.what();
      return measure;
    }
    ++measure.frames;
    measure.converged += report.converged;
    measure.newton_iterations += report.newton_iterations;
    measure.pcg_iterations += report.pcg_iterations;
    measure.seconds += report.seconds.total() - report.seconds.other;
    measure.contacts = std::max(measure.contacts, report.contacts);
    measure.augmented = std::max(measure.augmented, report.augmented);
    measure.intersections += report.intersections;
    if (report.contacts > 0)
      measure.gap_min = measure.gap_min < 0 ? report.gap_min : std::min(measure.gap_min, report.gap_min);
    measure.memory_bytes = std::max(measure.memory_bytes, report.memory_bytes);
  }
  return measure;
}

std::vector<MemoryModel> measure_memory(const std::function<std::unique_ptr<Engine>()>& make_engine,
                                        const std::vector<BarrierMethod>& methods) {
  constexpr int kColumns = 24;
  constexpr double kApart = 10, kClose = 0.5;  // gaps in units of d_hat
  Params params;
  // All buffers stand after the first iterations.
  params.newton_iterations = 2;
  params.pcg_iterations = params.warm_start_iterations = 5;
  const Model piles[] = {stacks_of_cubes(kColumns, kApart, params.d_hat),
                         stacks_of_cubes(2 * kColumns, kApart, params.d_hat),
                         stacks_of_cubes(2 * kColumns, kClose, params.d_hat)};
  std::vector<MemoryModel> memory;
  for (const BarrierMethod& method : methods) {
    method.apply(params);
    double tets[3], contacts[3], bytes[3];
    for (int i = 0; i < 3; ++i) {
      const std::unique_ptr<Engine> engine = make_engine();
      engine->set_params(params);
      engine->load(piles[i]);
      const StepReport report = engine->step();
      tets[i] = static_cast<double>(piles[i].tets.size());
      contacts[i] = report.contacts;
      bytes[i] = static_cast<double>(report.memory_bytes);
    }
    MemoryModel model{method};
    model.bytes_per_tet = (bytes[1] - bytes[0]) / (tets[1] - tets[0]);
    model.bytes_fixed = bytes[0] - model.bytes_per_tet * tets[0];
    if (contacts[2] > 0) model.bytes_per_contact = (bytes[2] - bytes[1]) / contacts[2];
    model.tets = piles[2].tets.size();
    model.contacts = static_cast<std::size_t>(contacts[2]);
    memory.push_back(model);
  }
  return memory;
}

}  // namespace stickslip
