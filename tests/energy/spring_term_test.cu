#include "gpu/energy/spring_term.cuh"

#include "gpu/model/element_group.h"
#include "tests/backend_test.h"
#include "tests/energy/numeric.h"
#include "tests/energy/term_ranges.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;
using Vec3d = Vec<double, 3>;

/// Springs among twelve random nodes and the world, with one to eight nodes each.
struct RandomSprings {
  RandomSprings(Context& context, Random& random, double damping) : ctx(context) {
    for (int i = 0; i < kNodes; ++i) x.push_back(random.vector(Real(1)));
    x_t = x;
    for (Vec3& p : x_t) p += random.vector(Real(0.2));
    for (int i = 0; i < 12; ++i) {
      Spring& spring = model.springs.emplace_back();
      const auto set = [&](ConstraintPoint& point, int count, std::int32_t from) {
        for (int c = 0; c < count; ++c) {
          point.nodes[c] = (from + c) % kNodes;
          point.weights[c] = 1.0 / count + 0.1 * c;
        }
      };
      set(spring.a, 1 + i % 4, i);
      set(spring.b, i / 4 + i % 3, i + 2);  // shares nodes with a at times; 0: the world
      spring.b.fixed = {0.5, 2, 0};
      spring.length = i % 2 == 0 ? 0 : 0.3 + 0.2 * i;
      spring.stiffness = 1 + i;
      spring.damping = damping;
    }
    make_term();
    stencils = element_groups(model).at(0).stencils;
  }

  void make_term() {
    TermElements elements{};
    elements.springs = model.springs;
    term.emplace(ctx, elements);
  }
  SolidMotion motion() {
    at.upload(ctx, x);
    at_t.upload(ctx, x_t);
    return {at.data(), at_t.data(), Real(0.1)};
  }
  double energy() {
    Buffer<double> out(ctx, 1);
    term->energy(ctx, motion(), out.data());
    return read_back(ctx, out.data());
  }
  std::pair<Column, Dense> derivatives(bool with_hessian) {
    Column sum = Column::Zero(3 * kNodes);
    Dense h = Dense::Zero(3 * kNodes, 3 * kNodes);
    Buffer<Vec3> out(ctx, 4 * term->size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * term->size());
    const SolidMotion m = motion();
    if (with_hessian) term->gradient_and_hessian(ctx, m, {0, term->size()}, out.data(), blocks.data());
    else term->gradient(ctx, m, {0, term->size()}, out.data());
    const std::vector<Vec3> corners = out.download(ctx);
    const std::vector<Mat3> host = blocks.download(ctx);
    for (std::size_t s = 0; s < stencils.size(); ++s) {
      for (int c = 0; c < 4; ++c)
        for (int k = 0; k < 3 && stencils[s][c] >= 0; ++k)
          sum[3 * stencils[s][c] + k] += static_cast<double>(corners[4 * s + static_cast<std::size_t>(c)][k]);
      if (!with_hessian) continue;
      CornerBlocks of_stencil;
      std::copy_n(&host[kCornerBlocks * s], kCornerBlocks, of_stencil.b);
      const Dense local = dense(of_stencil);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
          if (stencils[s][i / 3] >= 0 && stencils[s][j / 3] >= 0)
            h(3 * stencils[s][i / 3] + i % 3, 3 * stencils[s][j / 3] + j % 3) += local(i, j);
    }
    return {sum, h};
  }

  static constexpr int kNodes = 12;
  Context& ctx;
  Model model;
  std::vector<Vec3> x, x_t;
  std::optional<SpringTerm> term;
  std::vector<Vec4i> stencils;
  Buffer<Vec3> at, at_t;
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(SpringTerm, GradientMatchesFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const double damping : {0.0, 0.05}) {
    RandomSprings springs(ctx, random, damping);
    EXPECT_GT(springs.energy(), 0.1);
    expect_near(
        springs.derivatives(false).first,
        difference_gradient(springs.x.data(), RandomSprings::kNodes, [&] { return springs.energy(); }),
        500 * kDifferenceError);
  }
}

// Where no spring is compressed the Hessian is exact.
BACKEND_TEST(SpringTerm, HessianMatchesFiniteDifferencesUnderTension) {
  Random random;
  SCOPED_TRACE(random.trace());
  RandomSprings springs(ctx, random, 0);
  for (Spring& spring : springs.model.springs)
    if (spring.length > 0) spring.length = 1e-3;
  springs.make_term();
  const auto [gradient, hessian] = springs.derivatives(true);
  expect_near(gradient, springs.derivatives(false).first, kRounding);
  expect_near(hessian,
              difference_jacobian(springs.x.data(), RandomSprings::kNodes,
                                  [&] { return springs.derivatives(false).first; }),
              500 * kDifferenceError);
}

BACKEND_TEST(SpringTerm, HessianIsPositiveSemidefinite) {
  Random random;
  SCOPED_TRACE(random.trace());
  RandomSprings springs(ctx, random, 0.05);
  expect_spd(springs.derivatives(true).second);
}

BACKEND_TEST(SpringTerm, RangesOfStencilsArePartsOfAll) {
  Random random;
  SCOPED_TRACE(random.trace());
  RandomSprings springs(ctx, random, 0.05);
  const std::size_t n = springs.term->size();
  expect_ranges_are_parts(ctx, *springs.term, [&](bool) { return springs.motion(); },
                          {{0, n}, {1, n / 2}, {n / 2, n}});
}
