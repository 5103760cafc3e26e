// An oracle in a separate source, because nvcc takes long to compile Eigen.
#pragma once

#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip::fixtures {

/// All eigenvalues of W, ascending.
std::vector<double> dense_eigenvalues(const ContactProblem& problem);

}  // namespace stickslip::fixtures
