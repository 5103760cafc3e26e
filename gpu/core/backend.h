// Which of the two backends this translation unit is compiled for, and the few macros that kernels need.
//
// A kernel source (.cu) is compiled twice: by nvcc into stickslip::cuda, and through a generated one-line
// wrapper by the host compiler into stickslip::cpu. Code that owns memory or launches work is in `namespace
// stickslip::STICKSLIP_BACKEND`; pure functions are in `namespace stickslip`.
#pragma once

#if defined(__CUDACC__)
#define STICKSLIP_BACKEND cuda
#define STICKSLIP_ON_CUDA 1
#define SS_HD __host__ __device__
#define SS_LAMBDA __device__
#elif defined(STICKSLIP_EMULATED_DEVICE)
// The CUDA half, compiled by the host compiler for the device in tests/device.
#define STICKSLIP_BACKEND cuda
#define STICKSLIP_ON_CUDA 1
#define SS_HD
#define SS_LAMBDA
#else
#define STICKSLIP_BACKEND cpu
#define STICKSLIP_ON_CUDA 0
#define SS_HD
#define SS_LAMBDA
#endif

#include <cstddef>
#include <cstdint>

#include "gpu/core/real.h"
