// NewtonSystem: the linear systems of methods that linearise each block's law: (B (W + E) + A) x = b with
// block-diagonal A, B and a regularising diagonal E.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/dfcp/solvers/block_lu.h"
#include "gpu/dfcp/solvers/gmres.cuh"
#include "gpu/params/lab_params.h"

namespace stickslip::STICKSLIP_BACKEND {

struct NewtonLinearOptions {
  NewtonLinear method = NewtonLinear::automatic;
  double tolerance = 1e-10;         // relative residual of a Krylov solve
  int iterations = 1000;            // of a Krylov solve
  std::function<bool()> stop = {};  // checked periodically by a Krylov solve
  bool symmetric = false;           // B is the identity, A symmetric: the Krylov method is CG, else GMRES
};

/// E = absolute I + relative diag(s_c).
struct Shift {
  double absolute = 0;  // [1/kg]
  double relative = 0;  // in units of each block's scale
};

template <int D>
class NewtonSystem {
 public:
  NewtonSystem(Context& ctx, const Delassus<D>& W, const NewtonLinearOptions& options);

  /// Why this system cannot be built; empty: it can. A direct solve needs the entries of W.
  static std::string refusal(const Delassus<D>& W, NewtonLinear method);
  bool direct() const { return direct_; }
  /// Cost of one direct solution in block products; 0 for a Krylov method, whose cost is unknown.
  double work() const { return direct_ ? lu_.work() : 0; }

  /// The diagonals A and B, to be filled before `solve`. Backend memory.
  Mat<double, D>* impulse_blocks() { return a_.data(); }
  Mat<double, D>* velocity_blocks() { return b_.data(); }

  /// False when the factorisation failed or x is not finite. A Krylov method that ran out of iterations
  /// counts as solved: its x is the best in its space. b and x must not alias. `tolerance`: replaces that of
  /// the options if it is larger.
  bool solve(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x, double tolerance = 0);

  /// The same system with another right side.
  bool solve_again(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x, double tolerance = 0);

  /// y = (B (W + E) + A) x. x and y must not alias.
  void apply(const Shift& shift, const Vec<double, D>* x, Vec<double, D>* y);

 private:
  bool factorise(const Shift& shift);
  void solve_direct(const Vec<double, D>* b, Vec<double, D>* x);
  void solve_krylov(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x, double tolerance);
  void solve_symmetric(const Shift& shift, const Vec<double, D>* b, Vec<double, D>* x, double tolerance);

  Context& ctx_;
  const Delassus<D>& W_;
  NewtonLinearOptions options_;
  bool direct_;
  Buffer<Mat<double, D>> a_, b_, matrix_, inverse_;
  Buffer<Vec<double, D>> product_, solution_, direction_;
  Buffer<double> size_;
  BlockLu<D> lu_;
  Gmres<D> gmres_;
  std::vector<Mat<double, D>> host_matrix_;
  std::vector<Vec<double, D>> host_vector_;
};

extern template class NewtonSystem<3>;
extern template class NewtonSystem<4>;
extern template class NewtonSystem<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
