#include "gpu/engine.h"

#include "gpu/engine_backend.h"

namespace stickslip {

std::vector<BackendInfo> list_backends() {
  std::vector<BackendInfo> all{cpu::backend_info()};
#ifdef STICKSLIP_HAS_CUDA
  all.push_back(cuda::backend_info());
#else
  all.push_back({Backend::cuda, "cuda", "none", false, "this build has no CUDA backend"});
#endif
  return all;
}

Backend choose_backend(std::string_view name) {
  const std::vector<BackendInfo> all = list_backends();
  if (name == "auto") return all[1].available ? Backend::cuda : Backend::cpu;
  for (const BackendInfo& info : all)
    if (info.name == name) return info.backend;
  throw std::invalid_argument("unknown backend '" + std::string(name) + "': use auto, cpu or cuda");
}

std::unique_ptr<Engine> make_engine(Backend backend, int threads) {
  for (const BackendInfo& info : list_backends())
    if (info.backend == backend && !info.available)
      throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::make_backend_engine(threads);
#endif
  return cpu::make_backend_engine(threads);
}

std::vector<SolverInfo> list_solvers() {
  const std::vector<std::string_view> groups{"solver", "time", "integration", "barrier",  "friction",
                                             "newton", "pcg",  "ccd",         "boundary", "interaction"};
  std::vector<std::string_view> with_multipliers = groups;
  with_multipliers.emplace_back("augmented");
  return {{"ipc",
           "incremental potential contact: barrier, smoothed friction, projected Newton with PCG [Guo24 "
           "baseline]",
           groups},
          {"barrier_al",
           "barrier-augmented Lagrangian: multipliers carry the tightest contacts, one inexact Newton step "
           "each [Guo24 Alg.1]",
           with_multipliers},
          {"velocity",
           "velocity-level contact of rigid bodies, and of elastic solids among them: a linear step with "
           "impulses, found by contact_solver [Course 1.2, 3, 4.3]",
           {"solver", "time", "velocity", "stabilisation", "sleep", "penalty", "interaction", "pcg"}}};
}

}  // namespace stickslip
