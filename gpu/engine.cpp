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

}  // namespace stickslip
