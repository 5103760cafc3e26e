// The contact solver of docs/extending.md: its row expands as those of contact_solvers.h do, and its function
// solves.
#include <gtest/gtest.h>

// [function]
// gpu/dfcp/solvers/prox_plain.cu
#include "gpu/core/launch.h"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/law/projection.h"

namespace stickslip::STICKSLIP_BACKEND {

/// r_c <- P_K(r_c - omega (u_c + sigma(u_T) n) / s_c), all blocks at once [Course Alg.11 without r-factors].
template <int D>
void solve_prox_plain(System<D>& s) {
  Buffer<Vec<double, D>> velocity(s.ctx, s.blocks());
  const ContactLaw<D>* law = s.law;
  const Vec<double, D>* u = velocity.data();
  const double *scale = s.W.scale(), omega = s.params.omega;
  Vec<double, D>* r = s.r;
  do {
    s.W.apply(s.ctx, r, velocity.data(), true);
    launch(s.ctx, s.blocks(), [=] SS_LAMBDA(std::size_t c) {
      r[c] = project(law[c], r[c] - (omega / scale[c]) * shifted(law[c], u[c]));
    });
  } while (!s.monitor.done(r));
}
STICKSLIP_SOLVER(solve_prox_plain)

}  // namespace stickslip::STICKSLIP_BACKEND
// [/function]

#include "gpu/dfcp/solvers/solvers.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/contact_problems.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// clang-format off
#define EXAMPLE_SOLVERS(PROBLEM, STEP) \
  /* [row] */ \
  PROBLEM(prox_plain, prox_plain, exact, none, "relaxation", \
          "proximal fixed point, Jacobi, without r-factors [Course Alg.11]") \
  /* [/row] */
// clang-format on

struct ExampleRow {
  std::string_view name, law, groups;
  unsigned traits;
  void (*solve)(System<3>&);
};

ExampleRow example_row() {
  using namespace SolverTrait;
#define EXAMPLE_PROBLEM(kind, name, law, traits, groups, meaning) \
  { #name, #law, groups, traits, solve_##name < 3> }
#define EXAMPLE_NONE(...)
  return EXAMPLE_SOLVERS(EXAMPLE_PROBLEM, EXAMPLE_NONE);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Extending, TheExampleSolverSolves) {
  const ExampleRow row = example_row();
  EXPECT_EQ(row.name, "prox_plain");
  EXPECT_EQ(row.law, "exact");
  EXPECT_EQ(find_contact_solver(row.name), nullptr) << "the page's example is taken: choose another";
  for (const char* name : {"stick", "slide"}) {
    const fixtures::KnownContact known = fixtures::known_contact(name);
    Delassus<3> W;
    W.build(ctx, known.problem, false);
    Buffer<ContactLaw<3>> law;
    law.upload(ctx, std::vector<ContactLaw<3>>{{{known.problem.laws[0].mu[0], known.problem.laws[0].mu[1]},
                                                known.problem.laws[0].set,
                                                known.problem.laws[0].flow}});
    Buffer<Vec<double, 3>> r;
    r.upload(ctx, std::vector<Vec<double, 3>>{{0, 0, 0}});
    Monitor<3> monitor(ctx, W, law.data(), {.tolerance = 1e-10, .max_iterations = 1000});
    Colouring colouring;
    const LabParams params;
    System<3> system{ctx, W, law.data(), params, monitor, colouring, r.data()};
    row.solve(system);
    EXPECT_TRUE(monitor.converged()) << name << " " << monitor.best_residual();
  }
}
