// SS_HD_LARGE: SS_HD of functions that a kernel calls instead of taking them in, copy by copy, which nvcc
// does until the kernel needs 20 kB of stack and minutes to compile.
#pragma once

#include "gpu/core/backend.h"

#if defined(__CUDACC__)
#define SS_HD_LARGE __host__ __device__ __noinline__
#else
#define SS_HD_LARGE
#endif
