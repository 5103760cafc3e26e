#include "gpu/engine.h"

#include "gpu/engine_backend.h"

namespace stickslip {

BackendInfo backend_info(Backend backend) {
  if (backend == Backend::cpu) return cpu::backend_info();
#ifdef STICKSLIP_HAS_CUDA
  return cuda::backend_info();
#else
  return {Backend::cuda, "cuda", "none", false, "this build has no CUDA backend"};
#endif
}

std::vector<BackendInfo> list_backends() { return {backend_info(Backend::cpu), backend_info(Backend::cuda)}; }

Backend choose_backend(std::string_view name) {
  if (name == "cpu") return Backend::cpu;
  if (name == "cuda") return Backend::cuda;
  if (name == "auto") return backend_info(Backend::cuda).available ? Backend::cuda : Backend::cpu;
  throw std::invalid_argument("unknown backend '" + std::string(name) + "': use auto, cpu or cuda");
}

std::unique_ptr<Engine> make_engine(Backend backend, int threads) {
  if (const BackendInfo info = backend_info(backend); !info.available)
    throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::make_backend_engine(threads);
#endif
  return cpu::make_backend_engine(threads);
}

}  // namespace stickslip
