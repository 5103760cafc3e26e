#include "gpu/contact_lab.h"

#include <array>
#include <stdexcept>

#include "gpu/contact_lab_backend.h"

namespace stickslip {

namespace {

struct Row {
  std::string_view name, meaning, law;
  std::array<std::string_view, 8> groups;  // beside `stop`, which all read; then empty ones
};

constexpr Row kSolvers[] = {
    {"auto",
     "Gauss-Seidel until the active set settles, then extrapolated sweeps, nonsmooth Newton or interior "
     "points, whichever pays",
     "exact",
     {"sweep", "relaxation", "newton", "alart_curnier", "auto"}},
    {"nsgs",
     "blocked Gauss-Seidel with the exact solution of every contact [Course 3.2.4]",
     "exact",
     {"sweep", "relaxation"}},
    {"prox_gs",
     "proximal fixed point, Gauss-Seidel, r-factors [Course Alg.12]",
     "exact",
     {"sweep", "relaxation", "prox", "prox_local", "adaptive"}},
    {"prox_jacobi", "proximal fixed point, Jacobi, r-factors [Course Alg.11]", "exact", {"prox", "adaptive"}},
    {"staggered",
     "normal and tangential problems in turn [Course 3.2.5]",
     "exact",
     {"sweep", "relaxation", "staggered"}},
    {"nncg",
     "sweeps accelerated by nonsmooth nonlinear conjugate gradients [Course Alg.10]; nncg_sweep = prox reads "
     "prox and prox_local",
     "exact",
     {"sweep", "relaxation", "nncg", "prox", "prox_local"}},
    {"newton_ac",
     "damped nonsmooth Newton on the Alart-Curnier function [Bertails11]",
     "exact",
     {"newton", "damping", "alart_curnier"}},
    {"newton_fb",
     "damped nonsmooth Newton on the Fischer-Burmeister function [Course 3.3]",
     "exact",
     {"newton", "damping"}},
    {"newton_minmap",
     "damped nonsmooth Newton on the minimum map [Course 3.3]",
     "exact",
     {"newton", "damping"}},
    {"spg",
     "preconditioned spectral projected gradient with fallback, P-SPG-FB [Tasora13]",
     "associated",
     {"convex", "shifts", "spg"}},
    {"apgd",
     "accelerated projected gradient with restart (Nesterov)",
     "associated",
     {"convex", "shifts", "acceleration"}},
    {"admm", "alternating directions on the dual problem", "associated", {"convex", "admm"}},
    {"pgs",
     "projected Gauss-Seidel by scalar rows, box friction (PSOR with omega) [Course Alg.6]",
     "box",
     {"sweep", "relaxation"}},
    {"pgs_jacobi", "projected Jacobi by scalar rows, box friction [Course 3.2.1]", "box", {"relaxation"}},
    {"pgs_sm",
     "projected Gauss-Seidel with subspace minimisation, box friction [Course Alg.9]",
     "box",
     {"sweep", "relaxation", "subspace"}},
    {"pivot_incremental",
     "incremental pivoting of a small dense problem, box friction [Course Alg.3]",
     "box",
     {"pivot"}},
    {"pivot_block",
     "block principal pivoting of a small dense problem, box friction [Course Alg.4]",
     "box",
     {"pivot"}},
};

}  // namespace

std::vector<ContactSolverInfo> list_contact_solvers() {
  std::vector<ContactSolverInfo> solvers;
  for (const Row& row : kSolvers) {
    solvers.push_back({row.name, row.meaning, row.law, {"stop"}});
    for (const std::string_view group : row.groups)
      if (!group.empty()) solvers.back().groups.push_back(group);
  }
  return solvers;
}

std::vector<ContactSolverInfo> list_stepping_solvers() {
  std::vector<ContactSolverInfo> solvers = list_contact_solvers();
  solvers.push_back({"manifold_gs",
                     "Gauss-Seidel by manifolds that are swept side by side, carried further by conjugate "
                     "gradients; isotropic friction, no joints",
                     "coulomb",
                     {"stop", "relaxation", "prox_local", "manifold"}});
  return solvers;
}

std::unique_ptr<ContactLab> make_contact_lab(Backend backend, int threads) {
  for (const BackendInfo& info : list_backends())
    if (info.backend == backend && !info.available)
      throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::make_backend_contact_lab(threads);
#endif
  return cpu::make_backend_contact_lab(threads);
}

}  // namespace stickslip
