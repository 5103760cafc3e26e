// Blocks that stay while an element hardly changes: which ones do, and that gradients are exact nonetheless.
#include "gpu/energy/tet_terms.cuh"
#include "tests/backend_test.h"
#include "tests/energy/elastic_material.h"
#include "tests/energy/numeric.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Tets that share no node, of edges of about 1.
struct LooseTets {
  static constexpr std::size_t kCount = 48;

  LooseTets(Context& context, test::Random& random, const Material& material) : ctx(context) {
    for (std::size_t t = 0; t < kCount; ++t) {
      Vec4i tet;
      for (int c = 0; c < 4; ++c) {
        Vec<double, 3> p{2.0 * double(t), 0, 0};
        if (c > 0) p[c - 1] += 1;
        tet[c] = static_cast<std::int32_t>(rest.size());
        rest.push_back(p);
        x.push_back(p.cast<Real>() + random.vector(Real(0.1)));
        x_t.push_back(p.cast<Real>() + random.vector(Real(0.1)));
      }
      stencils.push_back(tet);
    }
    const std::vector<std::int32_t> index(kCount, 0);
    term.emplace(ctx, TermElements{rest, stencils, index, {}});
    term->set_materials(ctx, std::vector<Material>{material});
    device_x_t.upload(ctx, x_t);
    corners.resize(ctx, 4 * kCount);
    kept.resize(ctx, kCornerBlocks * kCount);
    fresh.resize(ctx, kCornerBlocks * kCount);
    renewed.resize(ctx, kCount);
  }

  /// Linearises at x, once with kept blocks and once without; returns the flags.
  std::vector<std::uint8_t> relinearise(bool known) {
    device_x.upload(ctx, x);
    const SolidMotion motion{device_x.data(), device_x_t.data(), Real(0.1)};
    renewed.upload(ctx, std::vector<std::uint8_t>(kCount, 1));
    term->relinearise(ctx, motion, {0, kCount}, corners.data(), {kept.data(), renewed.data(), known});
    gradients = corners.download(ctx);
    term->gradient_and_hessian(ctx, motion, {0, kCount}, corners.data(), fresh.data());
    exact = corners.download(ctx);
    return renewed.download(ctx);
  }
  /// The largest difference of tet t's blocks from those at the current x.
  double block_error(std::size_t t) {
    const std::vector<Mat3> a = kept.download(ctx), b = fresh.download(ctx);
    double most = 0;
    for (std::size_t k = t * kCornerBlocks; k < (t + 1) * kCornerBlocks; ++k)
      for (int c = 0; c < 9; ++c) most = std::max(most, std::abs(double(a[k].m[c] - b[k].m[c])));
    return most;
  }

  Context& ctx;
  std::vector<Vec<double, 3>> rest;
  std::vector<Vec4i> stencils;
  std::vector<Vec3> x, x_t;
  std::optional<TetTerm> term;
  Buffer<Vec3> device_x, device_x_t, corners;
  Buffer<Mat3> kept, fresh;
  Buffer<std::uint8_t> renewed;
  std::vector<Vec3> gradients, exact;
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(KeptBlocks, StayWhereATetHasHardlyChanged) {
  test::Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : {ElasticModel::stable_neo_hookean, ElasticModel::fixed_corotated}) {
    LooseTets tets(ctx, random, elastic_material(model, 5, 0.3, 0.02));
    for (const std::uint8_t flag : tets.relinearise(false)) EXPECT_EQ(flag, 1);
    for (std::size_t t = 0; t < LooseTets::kCount; ++t) EXPECT_EQ(tets.block_error(t), 0) << t;

    // All tets shift, turn by a milliradian and stretch a little; those of the last half stretch much.
    for (std::size_t t = 0; t < LooseTets::kCount; ++t)
      for (int c = 0; c < 4; ++c) {
        Vec3& p = tets.x[4 * t + c];
        p += Vec3{Real(3), Real(1e-3) * (p[0] - Real(2.0 * double(t))), Real(1e-3) * p[2]};
        if (t >= LooseTets::kCount / 2) p[1] *= Real(1.2);
      }
    const std::vector<std::uint8_t> flags = tets.relinearise(true);
    for (std::size_t t = 0; t < LooseTets::kCount; ++t) {
      SCOPED_TRACE(t);
      EXPECT_EQ(flags[t], t >= LooseTets::kCount / 2 ? 1 : 0);
      const double error = tets.block_error(t);
      if (flags[t] != 0) EXPECT_EQ(error, 0);
      else EXPECT_TRUE(error > 0 && error < 0.1) << error;
      for (int c = 0; c < 4; ++c)
        EXPECT_LE(norm(tets.gradients[4 * t + c] - tets.exact[4 * t + c]), 100 * test::kRounding);
    }
  }
}

// Small changes add up: blocks are kept from where they were computed, not from the last linearisation.
BACKEND_TEST(KeptBlocks, AreRenewedAfterManySmallChanges) {
  test::Random random;
  SCOPED_TRACE(random.trace());
  LooseTets tets(ctx, random, elastic_material(ElasticModel::stable_neo_hookean, 5, 0.3));
  tets.relinearise(false);
  std::size_t renewals = 0;
  for (int k = 0; k < 20; ++k) {
    for (Vec3& p : tets.x) p[1] *= Real(1.005);
    renewals += tets.relinearise(true)[0];
    EXPECT_LT(tets.block_error(0), 0.5) << k;
  }
  EXPECT_GE(renewals, 2u);
  EXPECT_LE(renewals, 10u);
}
