// Which machine code belongs to a kernel of this program: names of nvcc's kernels matched with those of
// clang.
//
// Both are demangled and shortened by the same function. What remains different are the numbers of lambdas:
// nvcc counts within a function, clang within a source. Only their order within a function is the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/device/cost_model.h"

namespace stickslip::emulation {

/// A kernel without what compilers write differently.
struct KernelKey {
  std::string name;        // "launch_kernel<Lbvh::refit::lambda>"; empty: not a kernel of the project
  std::vector<int> order;  // the numbers of its lambdas, from left to right
};
/// `demangled`: the function, with its parameters.
KernelKey kernel_key(const std::string& demangled);

struct NamedResources {
  std::string name;  // demangled
  KernelResources resources;
};
struct ProgramKernel {
  std::string name;  // demangled
  const void* function;
};
/// All kernels of the project in the running program.
std::vector<ProgramKernel> kernels_of_program();

/// What each kernel takes. Kernels of one key are matched in the order of their lambdas; where `table` has
/// another number of them, each gets the largest figures. Kernels without an entry are left out.
std::map<const void*, KernelResources> match_resources(const std::vector<ProgramKernel>& kernels,
                                                       const std::vector<NamedResources>& table);

}  // namespace stickslip::emulation
