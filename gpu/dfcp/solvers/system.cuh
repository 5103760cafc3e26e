// The input of every solver of the lab.
#pragma once

#include "gpu/dfcp/judge/monitor.cuh"
#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/law/contact_law.h"
#include "gpu/params/lab_params.h"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
struct System {
  Context& ctx;
  const Delassus<D>& W;
  const ContactLaw<D>* law;  // per block, backend memory
  const LabParams& params;
  Monitor<D>& monitor;
  Colouring& colouring;  // built when a sweep first requests it
  Vec<double, D>* r;     // in: the start. Out: unspecified, the monitor keeps the best

  std::size_t blocks() const { return W.blocks(); }
};

}  // namespace stickslip::STICKSLIP_BACKEND
