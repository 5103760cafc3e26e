#include "gpu/contact_lab.h"

#include <stdexcept>

#include "gpu/contact_lab_backend.h"

namespace stickslip {

std::unique_ptr<ContactLab> make_contact_lab(Backend backend, int threads) {
  if (const BackendInfo info = backend_info(backend); !info.available)
    throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::make_backend_contact_lab(threads);
#endif
  return cpu::make_backend_contact_lab(threads);
}

}  // namespace stickslip
