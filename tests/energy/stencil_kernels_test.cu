// Stencil functions give the same results in kernels and on the host.
#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "gpu/energy/friction.h"
#include "tests/backend_test.h"
#include "tests/energy/random_stencils.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;

struct StencilResult {
  Real value;
  CornerVectors gradient, friction_gradient;
  CornerBlocks hessian, friction_hessian;
};

SS_HD StencilResult evaluate(const ContactStencil& s) {
  const Real d_hat = Real(1), eps = Real(0.3);
  const FrictionStencil f = make_friction_stencil(s, {d_hat, Real(2), Real(0)}, Real(0.5));
  const CornerVectors dx{{s.x[1], s.x[2], s.x[3], s.x[0]}};
  return {barrier_value(s, d_hat), barrier_gradient(s, d_hat), friction_gradient(f, dx, eps),
          barrier_hessian_spd(s, d_hat), friction_hessian(f, dx, eps)};
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Stencils, KernelsAgreeWithTheHost) {
  Random random;
  SCOPED_TRACE(random.trace());
  std::vector<ContactStencil> stencils;
  for (int i = 0; i < 600; ++i) stencils.push_back(random_stencil(random, kStencilTypes[i % 6]));
  Buffer<ContactStencil> in(ctx, stencils);
  Buffer<StencilResult> out(ctx, stencils.size());
  const ContactStencil* s = in.data();
  StencilResult* result = out.data();
  launch(
      ctx, stencils.size(), [=] SS_LAMBDA(std::size_t i) { result[i] = evaluate(s[i]); }, kHeavy);
  const std::vector<StencilResult> got = out.download(ctx);
  for (std::size_t i = 0; i < stencils.size(); ++i) {
    SCOPED_TRACE(static_cast<int>(stencils[i].type));
    const StencilResult want = evaluate(stencils[i]);
    // The stiffness of a mollified pair is a thousand times its size; rounding errors grow accordingly.
    const double tolerance =
        stencils[i].type == ContactType::edge_edge_mollified ? 1e3 * kRounding : kRounding;
    EXPECT_NEAR(got[i].value, want.value, kRounding);
    expect_near(flat(got[i].gradient.v), flat(want.gradient.v), tolerance);
    expect_near(flat(got[i].friction_gradient.v), flat(want.friction_gradient.v), tolerance);
    expect_near(dense(got[i].hessian), dense(want.hessian), tolerance);
    expect_near(dense(got[i].friction_hessian), dense(want.friction_hessian), tolerance);
  }
}
