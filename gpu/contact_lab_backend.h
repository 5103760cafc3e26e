// The functions that contact_lab.cpp calls on each backend; both are compiled from contact_lab_backend.cu.
#pragma once

#include <memory>

#include "gpu/contact_lab.h"

namespace stickslip::cpu {
std::unique_ptr<ContactLab> make_backend_contact_lab(int threads);
}  // namespace stickslip::cpu

namespace stickslip::cuda {
std::unique_ptr<ContactLab> make_backend_contact_lab(int threads);
}  // namespace stickslip::cuda
