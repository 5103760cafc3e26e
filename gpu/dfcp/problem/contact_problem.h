// The discrete Coulomb friction problem of one time step, on the host, independent of any solver:
//
//   A v = f + H' r,   u = H v + w + E r,   (u_c, r_c) in the law of block c     (global form)
//   u = W r + q,      W = H A^-1 H' + E,   q = w + H A^-1 f                     (local form)
//
// A of the global form need not be symmetric; W is not symmetric where A is not. Both are used as given.
//
// Rows come in blocks of `dim` (3; 4 with torsion; 5 with rolling resistance), normal first: contacts, and
// joints as blocks of law `bilateral` (a joint with fewer rows has empty rows, kept regular by a compliance
// of 1). With dim 5 every contact is of law `rolling`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/law/contact_law.h"

namespace stickslip {

/// Compressed rows. Columns ascend within a row; no entry occurs twice.
struct SparseRows {
  std::int32_t rows = 0, columns = 0;
  std::vector<std::int32_t> offsets;  // rows + 1
  std::vector<std::int32_t> indices;  // column of each entry
  std::vector<double> values;
};

/// The law of one block, for any dim; see `ContactLaw`.
struct BlockLaw {
  std::array<double, 4> mu{};  // along each tangential row, dim - 1 of them
  FrictionSet set = FrictionSet::ellipsoid;
  FlowRule flow = FlowRule::exact;
  double cohesion = 0;    // [N s]: the cone's apex lies at -cohesion along the normal [Daviet20 §6.3]
  double compliance = 0;  // [m/s per N s], added to W's diagonal [Daviet20 §6.3; Tasora13 E]
};

/// The Jacobian of block c with respect to body b: dim x 6 (or dim x 3 for nodes) rows of H.
struct JacobianBlock {
  std::int32_t body = 0;
  std::array<double, 30> rows{};  // row-major, dim x body_dofs
};

struct ContactProblem {
  std::string title, description;
  int dim = 3;
  std::vector<BlockLaw> laws;  // one per block

  /// The form in which the fields below are given. `bodies` is the global form with block-diagonal A.
  enum class Form { local, global, bodies } form = Form::local;

  SparseRows W;           // local
  std::vector<double> q;  // local, dim * blocks [m/s]

  SparseRows A, H;        // global: v' A v > 0 (A need not be symmetric), H (dim * blocks) x dofs
  std::vector<double> f;  // global and bodies, dofs [N s]
  std::vector<double> w;  // global and bodies, dim * blocks [m/s]

  int body_dofs = 6;                 // bodies: 6 (rigid) or 3 (nodes)
  std::vector<double> inverse_mass;  // bodies: body_dofs^2 per body, row-major, symmetric; zero: immovable
  std::vector<std::int32_t> block_start;  // bodies: blocks + 1, into `jacobian`
  std::vector<JacobianBlock> jacobian;    // bodies: a block names each body at most once

  /// Diagonal of E of single rows, dim * blocks, besides the blocks' compliance; empty: none [m/s per N s].
  std::vector<double> softness;

  std::vector<double> guess;     // initial r; empty: zero
  std::vector<double> solution;  // r as stored with the problem, not necessarily a solution; empty: none

  std::size_t blocks() const { return laws.size(); }
  std::size_t size() const { return laws.size() * static_cast<std::size_t>(dim); }
  std::size_t bodies() const { return inverse_mass.size() / static_cast<std::size_t>(body_dofs * body_dofs); }
  /// Degrees of freedom of v; zero for a local problem, where they are unknown.
  std::size_t dofs() const;
  /// Movable degrees of freedom: the ones that nu counts.
  std::size_t moving_dofs() const;
  std::size_t contacts() const;  // blocks that are not bilateral
};

/// Asymmetry of a square matrix: the largest |M_ij - M_ji| / sqrt(|M_ii M_jj|), and its position. An entry
/// that is not stored counts as zero.
struct Asymmetry {
  double relative = 0;
  std::int32_t row = 0, column = 0;  // row > column
  double lower = 0, upper = 0;       // M_(row, column) and M_(column, row)
  bool one_sided = false;            // all off-diagonal entries are on one side of the diagonal
};
Asymmetry asymmetry_of(const SparseRows& m);

/// Checks sizes, index ranges, order, finite values, mu >= 0, symmetry of W (`asymmetry_of` 1e-2 at most:
/// published sets are off by up to 3e-3), no negative diagonal entry (of A: all positive), inverse masses
/// positive semidefinite, and W positive semidefinite as far as a few Lanczos steps can tell. Throws
/// std::invalid_argument naming the array, the row and the valid values. The factorisation checks whether A
/// is definite: see `to_local`.
void check(const ContactProblem& problem);

/// E of each row: its block's compliance plus its softness. Without softness, rows on which no impulse acts
/// (no entry in H except of immovable bodies, or W_ii = 0) get 1: this keeps them regular and changes nothing
/// else, since u = 0 and r = 0 there. Shape: size().
std::vector<double> row_compliance(const ContactProblem& problem);

/// Refuses a row of q [m/s] on which no impulse acts, unless it is at rest, opens or is soft. `compliance`:
/// of the row, as row_compliance has it. Throws std::invalid_argument.
void check_immovable_row(const ContactProblem& problem, std::size_t row, double compliance, double q);

/// The same problem with W and q formed, from blocks of bodies or from a factorisation of A's connected
/// parts. All dim x dim blocks are complete and every diagonal entry is positive. W is exactly symmetric
/// unless it was given (a local W keeps its values) or A is not symmetric. Compliance moves into W and
/// cohesion xi into q: for a unilateral block
///   s = r + xi n in K,   u = W s + (q - W xi n).
/// So the result is to be solved for s; its `guess` and `solution` are s too, and its laws have no
/// compliance or cohesion. `without_cohesion` converts back. Throws std::invalid_argument when A (its
/// symmetric part) is not positive definite, or when a row on which no impulse acts has a velocity that
/// only an impulse could stop.
ContactProblem to_local(const ContactProblem& problem);

/// The physical impulses r = s - xi n of a solution s of to_local(problem). Inverse: `with_cohesion`.
std::vector<double> without_cohesion(const ContactProblem& problem, std::vector<double> s);
std::vector<double> with_cohesion(const ContactProblem& problem, std::vector<double> r);

/// f + H' r of a global or bodies problem [N s]. Shape: dofs.
std::vector<double> momenta(const ContactProblem& problem, const std::vector<double>& r);

/// v = A^-1 (f + H' r) of a global or bodies problem and physical impulses r. Shape: dofs. Throws
/// std::invalid_argument for a local problem, which has no v, and for r of a wrong size.
std::vector<double> velocities(const ContactProblem& problem, const std::vector<double>& r);

/// |A v - H' r - f|_2 / |f|_2 of a global problem, with A as given and physical impulses r; relative to |H'
/// r|_2 where f is zero. Throws std::invalid_argument for other forms and wrong sizes.
double equation_residual(const ContactProblem& problem, const std::vector<double>& v,
                         const std::vector<double>& r);

}  // namespace stickslip
