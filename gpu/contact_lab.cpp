#include "gpu/contact_lab.h"

#include <stdexcept>

#include "gpu/contact_lab_backend.h"

namespace stickslip {

std::vector<ContactSolverInfo> list_contact_solvers() {
  return {
      {"auto",
       "Gauss-Seidel until the active set settles, then Newton or extrapolated sweeps, whichever pays",
       "exact",
       {"stop", "sweep", "newton", "auto"}},
      {"nsgs",
       "blocked Gauss-Seidel with the exact solution of every contact [Course 3.2.4]",
       "exact",
       {"stop", "sweep"}},
      {"prox_gs",
       "proximal fixed point, Gauss-Seidel, r-factors [Course Alg.12]",
       "exact",
       {"stop", "sweep", "prox"}},
      {"prox_jacobi", "proximal fixed point, Jacobi, r-factors [Course Alg.11]", "exact", {"stop", "prox"}},
      {"staggered",
       "normal and tangential problems in turn [Course 3.2.5]",
       "exact",
       {"stop", "sweep", "subspace"}},
      {"nncg",
       "sweeps accelerated by nonsmooth nonlinear conjugate gradients [Course Alg.10]",
       "exact",
       {"stop", "sweep", "subspace"}},
      {"newton_ac",
       "damped nonsmooth Newton on the Alart-Curnier function [Bertails11]",
       "exact",
       {"stop", "newton"}},
      {"newton_fb",
       "damped nonsmooth Newton on the Fischer-Burmeister function [Course 3.3]",
       "exact",
       {"stop", "newton"}},
      {"newton_minmap",
       "damped nonsmooth Newton on the minimum map [Course 3.3]",
       "exact",
       {"stop", "newton"}},
      {"spg",
       "preconditioned spectral projected gradient with fallback, P-SPG-FB [Tasora13]",
       "associated",
       {"stop", "convex", "spg"}},
      {"apgd", "accelerated projected gradient with restart (Nesterov)", "associated", {"stop", "convex"}},
      {"admm", "alternating directions on the dual problem", "associated", {"stop", "convex", "admm"}},
      {"pgs",
       "projected Gauss-Seidel by scalar rows, box friction (PSOR with omega) [Course Alg.6]",
       "box",
       {"stop", "sweep"}},
      {"pgs_jacobi",
       "projected Jacobi by scalar rows, box friction [Course 3.2.1]",
       "box",
       {"stop", "sweep"}},
      {"pgs_sm",
       "projected Gauss-Seidel with subspace minimisation, box friction [Course Alg.9]",
       "box",
       {"stop", "sweep", "subspace"}},
      {"pivot_incremental",
       "incremental pivoting of a small dense problem, box friction [Course Alg.3]",
       "box",
       {"stop", "pivot"}},
      {"pivot_block",
       "block principal pivoting of a small dense problem, box friction [Course Alg.4]",
       "box",
       {"stop", "pivot"}},
  };
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
