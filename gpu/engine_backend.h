// The functions that engine.cpp calls on each backend; both are compiled from engine_backend.cu.
#pragma once

#include <memory>

#include "gpu/engine.h"

namespace stickslip::cpu {
std::unique_ptr<Engine> make_backend_engine(int threads);
BackendInfo backend_info();
}  // namespace stickslip::cpu

namespace stickslip::cuda {
std::unique_ptr<Engine> make_backend_engine(int threads);
BackendInfo backend_info();
}  // namespace stickslip::cuda
