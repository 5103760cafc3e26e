// Frictional contact problems in FCLIB's HDF5 format (fclib 1.0 and Siconos):
//
//   /fclib_local   W, q, mu            u = W r + q
//                  V, R, s (optional)  u = W r + V l + q,  V' r + R l + s = 0
//   /fclib_global  M, H, f, w, mu      M v = H r + f,  u = H' v + w
//                  G, b (optional)     M v = H r + G l + f,  G' v + b = 0
//   /fclib_local_rolling, /fclib_global_rolling: the same with mu_r beside mu and five rows for each contact,
//   the
//                  normal, two tangents and two rolling rows (spacedim 5): |r_T| <= mu r_N, |r_R| <= mu_r r_N
//   /solution, /guesses/1 ...          v, u, r, l
//
// FCLIB's H is dofs x 3 (or 5) contacts, the transpose of ours. Equalities become bilateral blocks behind the
// contacts; where their number is no multiple of 3 (5), the last block ends in empty rows. Planar problems
// (spacedim 2, with rolling 3) are refused. Siconos writes global rolling problems; the group of local ones
// is named in the same way here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/io/fclib/fclib_matrix.h"
#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Vectors in the file's layout: v of the dofs, u and r of the contacts, l of the equalities. Empty: not
/// stored.
struct FclibSolution {
  std::vector<double> v, u, r, l;

  bool empty() const { return v.empty() && u.empty() && r.empty() && l.empty(); }
};

struct FclibFile {
  ContactProblem problem;  // its `solution` and the first guess are impulses of all blocks
  std::string math_info;
  FclibSolution solution;
  std::vector<FclibSolution> guesses;
};

/// Throws InputError with file and dataset for every fault: not HDF5, damaged, a dataset missing or of a
/// wrong type, shape or size, indices out of range, duplicate entries, numbers that are not finite, mu < 0, a
/// W that is not symmetric (M need not be, and is kept unchanged), an empty problem. Sizes in headers are
/// checked against the data before memory is allocated.
FclibFile read_fclib(const std::filesystem::path& file);

/// Writes local problems as local, others as global (for bodies without the immovable dofs, also in v). Empty
/// rows of joints are left out. `solution` and `guesses` of the FclibFile are written unchanged; those inside
/// `problem` are not. Throws InputError when the path cannot be written, or when FCLIB cannot represent the
/// problem: dim 4, boxes, ellipses, associated flow, cohesion, and compliance in a global problem. Default
/// `storage`: rows (local), triplets (global).
void write_fclib(const std::filesystem::path& file, const FclibFile& content,
                 std::optional<FclibStorage> storage = {});

/// Throws InputError as `write_fclib` does when FCLIB cannot represent the problem; `name` is the file's name
/// in messages.
void check_expressible(const ContactProblem& problem, const std::string& name);

/// Converts impulses r and velocities u (or none) of all blocks, dim each, to the file's layout. v is
/// included if the problem has it.
FclibSolution to_fclib(const ContactProblem& problem, const std::vector<double>& r,
                       const std::vector<double>& u);

/// Rows of a problem that are FCLIB's contacts, and rows that are its equalities (the non-empty rows of
/// bilateral blocks).
struct FclibRows {
  std::vector<std::int32_t> contacts, equalities;
};
FclibRows fclib_rows(const ContactProblem& problem);

/// The global form of a problem of bodies without the immovable dofs; `dofs` receives the movable ones.
/// Throws InputError when an inverse mass is not positive semidefinite.
ContactProblem global_of_bodies(const ContactProblem& problem, std::vector<std::int32_t>& dofs);

}  // namespace stickslip
