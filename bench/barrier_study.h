// The measurements of `bench barrier`: several methods for the same steps, with time and memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// One method to solve a step.
struct BarrierMethod {
  SolverKind solver = SolverKind::ipc;
  PreconditionerKind preconditioner = PreconditionerKind::block_jacobi;
  bool warm_start = false;

  void apply(Params& params) const;
  /// "ipc, block_jacobi", "barrier_al, additive, warm"
  std::string name() const;
};

/// {ipc, barrier_al} x {warm start off, on} x {block_jacobi, additive, multilevel}; the first is the
/// reference for the others.
std::vector<BarrierMethod> barrier_methods();

/// The result of a few steps solved with one method.
struct BarrierMeasure {
  BarrierMethod method;
  int frames = 0, converged = 0;
  long newton_iterations = 0, pcg_iterations = 0;
  double seconds = 0;               // of the solver, without prediction, diagnostics and intersection checks
  double processor_seconds = 0;     // of all threads for the same, from their share of the steps
  int contacts = 0, augmented = 0;  // maxima over the ends of steps
  int intersections = 0;
  double gap_min = -1;           // [m]; -1: no contact
  std::size_t memory_bytes = 0;  // maximum of backend memory
  std::string error;             // why it ended early, or empty
};

/// Steps a fresh `engine`, loaded with the scene, `frames` times from `start`.
BarrierMeasure measure_method(Engine& engine, const State& start, Params params, const BarrierMethod& method,
                              int frames);

/// The same with every setting in `params`; `method` of the result is left at its default. The first `lead`
/// steps are made before and do not count: they forget that a state has no barrier stiffness of steps before.
BarrierMeasure measure_settings(Engine& engine, const State& start, Params params, int frames, int lead = 0);

/// Backend memory as a linear function of a scene's size.
struct MemoryModel {
  BarrierMethod method;
  double bytes_per_tet = 0, bytes_per_contact = 0, bytes_fixed = 0;
  std::size_t tets = 0, contacts = 0;  // of the largest pile measured
  double projected(double tets_wanted, double contacts_wanted) const {
    return bytes_fixed + bytes_per_tet * tets_wanted + bytes_per_contact * contacts_wanted;
  }
};

/// For a step just long enough to allocate all buffers.
Params memory_params();

/// Both piles have more tets than keep their Hessians within a step (IncrementalPotential::load), as large
/// scenes do.
inline constexpr int kMemoryColumns = 44;

/// One model per method, from steps of three piles (cube_stacks.h): `columns` and twice as many without
/// contact, and the larger one with contact. Each step has its own engine.
std::vector<MemoryModel> measure_memory(const std::function<std::unique_ptr<Engine>()>& make_engine,
                                        const std::vector<BarrierMethod>& methods,
                                        int columns = kMemoryColumns);

}  // namespace stickslip
