#include "tests/dfcp/dense_eigenvalues.h"

#include <Eigen/Eigenvalues>

namespace stickslip::fixtures {

std::vector<double> dense_eigenvalues(const ContactProblem& problem) {
  const ContactProblem local = to_local(problem);
  const auto n = static_cast<Eigen::Index>(local.size());
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (std::int32_t k = local.W.offsets[i]; k < local.W.offsets[i + 1]; ++k)
      w(i, local.W.indices[k]) = local.W.values[k];
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(w, Eigen::EigenvaluesOnly).eigenvalues();
  return {values.begin(), values.end()};
}

}  // namespace stickslip::fixtures
