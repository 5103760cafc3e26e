#include "bench/barrier_study.h"

#include <algorithm>
#include <ctime>

#include "bench/cube_stacks.h"
#include "gpu/core/timer.h"

namespace stickslip {
namespace {

std::string choice_text(const Params& params, const char* name) {
  return param_text(&params, *find_param(param_table(), name));
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
  method.apply(params);
  BarrierMeasure measure = measure_settings(engine, start, params, frames);
  measure.method = method;
  return measure;
}

BarrierMeasure measure_settings(Engine& engine, const State& start, Params params, int frames, int lead) {
  BarrierMeasure measure;
  params.check_intersections = true;
  engine.set_params(params);
  engine.set_state(start);
  for (int i = -lead; i < frames; ++i) {
    StepReport report;
    const Timer timer;
    const std::clock_t begin = std::clock();
    try {
      report = engine.step();
    } catch (const SimulationError& error) {
      measure.error = error.what();
      return measure;
    }
    if (i < 0) continue;
    ++measure.frames;
    measure.converged += report.converged;
    measure.newton_iterations += report.newton_iterations;
    measure.pcg_iterations += report.pcg_iterations;
    const double solver = report.seconds.total() - report.seconds.other - report.seconds.check;
    const double processors = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / timer.seconds();
    measure.seconds += solver;
    measure.processor_seconds += solver * processors;
    measure.contacts = std::max(measure.contacts, report.contacts);
    measure.augmented = std::max(measure.augmented, report.augmented);
    measure.intersections += report.intersections;
    if (report.contacts > 0)
      measure.gap_min = measure.gap_min < 0 ? report.gap_min : std::min(measure.gap_min, report.gap_min);
    measure.memory_bytes = std::max(measure.memory_bytes, report.memory_bytes);
  }
  return measure;
}

Params memory_params() {
  Params params;
  // All buffers are allocated after the first iterations.
  params.newton_iterations = 2;
  params.pcg_iterations = params.warm_start_iterations = 5;
  return params;
}

std::vector<MemoryModel> measure_memory(const std::function<std::unique_ptr<Engine>()>& make_engine,
                                        const std::vector<BarrierMethod>& methods, int columns) {
  Params params = memory_params();
  const Model piles[] = {cube_stacks(columns, 0, params.d_hat), cube_stacks(2 * columns, 0, params.d_hat),
                         cube_stacks(2 * columns, 2 * columns, params.d_hat)};
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
