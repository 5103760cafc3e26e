#include "gpu/energy/energy_terms.cuh"

#include "gpu/energy/tet_terms.cuh"
#include "gpu/model/element_group.h"
#include "gpu/model/tet_volume.h"
#include "tests/backend_test.h"
#include "tests/energy/numeric.h"
#include "tests/fixtures/embedded_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;
using namespace stickslip::fixtures;

/// Two deformable boxes with an affine box between them, compressed.
struct Mixed {
  Model model;
  EnergyTerms terms;
  std::vector<Vec3> x;
  Buffer<Vec3> at;

  explicit Mixed(Context& ctx, bool deformable = true, bool affine = true) {
    if (deformable) add_box(model, "a", {0.1, 0.1, 0.1}, {0, 0, 0}, 2);
    if (affine) add_box(model, "b", {0.2, 0.1, 0.1}, {1, 0, 0}, 2, 10, {0, 0, 0}, fixtures::BoxBody::affine);
    if (deformable) add_box(model, "c", {0.1, 0.3, 0.1}, {2, 0, 0}, 1);
    finalize(model);
    terms.load(ctx, model);
    for (const auto& p : model.rest_positions) {
      Vec3 q = p.template cast<Real>();
      q[1] *= Real(0.9) + Real(0.05) * q[0];
      x.push_back(q);
    }
    at.upload(ctx, x);
  }
  SolidMotion motion() const { return {at.data(), at.data(), Real(0.01)}; }
  template <class F>
  double number(Context& ctx, F write) {
    Buffer<double> out(ctx, 1);
    write(out.data());
    return read_back(ctx, out.data());
  }
  double energy(Context& ctx) {
    return number(ctx, [&](double* out) { terms.energy(ctx, motion(), out); });
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(EnergyTerms, AddUp) {
  Mixed both(ctx), deformable(ctx, true, false), affine(ctx, false, true);
  EXPECT_EQ(both.terms.size(), deformable.terms.size() + 1);
  EXPECT_EQ(affine.terms.size(), 1U);
  EXPECT_GT(affine.energy(ctx), 0);
  EXPECT_GT(deformable.energy(ctx), 0);
  EXPECT_NEAR(both.energy(ctx), deformable.energy(ctx) + affine.energy(ctx),
              1e4 * kRounding * both.energy(ctx));
  const auto least = [&](Mixed& m, bool only_forbidden) {
    return m.number(ctx,
                    [&](double* out) { m.terms.min_determinant(ctx, m.at.data(), only_forbidden, out); });
  };
  EXPECT_EQ(least(both, false), std::min(least(deformable, false), least(affine, false)));
  EXPECT_EQ(least(both, true), least(affine, true));
  EXPECT_TRUE(both.terms.forbids_inversion());
  EXPECT_FALSE(deformable.terms.forbids_inversion());
}

/// Under one F everywhere the energy of a lattice is that of the elastic part of its volume.
BACKEND_TEST(EnergyTerms, TetsOfALatticeCountByTheirShares) {
  double density[2];  // [J/m^3]
  for (int k = 0; k < 2; ++k) {
    Model model;
    if (k == 0) add_box(model, "plain", {0.2, 0.1, 0.15}, {0, 0, 0}, 1);
    else add_embedded_box(model, "lattice", {0.2, 0.1, 0.15}, {0, 0, 0}, 2, 0.06);
    finalize(model);
    EnergyTerms terms;
    terms.load(ctx, model);
    std::vector<Vec3> x;
    for (const auto& p : model.rest_positions) {
      const Vec3 q = p.template cast<Real>();
      x.push_back({Real(1.1) * q[0], q[1] + Real(0.2) * q[0], Real(0.9) * q[2]});
    }
    const Buffer<Vec3> at(ctx, x);
    Buffer<double> out(ctx, 1);
    terms.energy(ctx, {at.data(), at.data(), Real(0.01)}, out.data());
    const std::vector<double> shares = tet_shares(model, model.objects[0]);
    double volume = 0;
    for (std::size_t t = 0; t < shares.size(); ++t)
      volume += shares[t] * tet_volume(model.rest_positions, model.tets[t]);
    density[k] = read_back(ctx, out.data()) / volume;
  }
  EXPECT_GT(density[0], 0);
  EXPECT_NEAR(density[1], density[0], 1e4 * kRounding * density[0]);
}

BACKEND_TEST(EnergyTerms, CountsInvertedElementsOfAllTerms) {
  Mixed mixed(ctx);
  for (Vec3& p : mixed.x) p[2] = -p[2];
  mixed.at.upload(ctx, mixed.x);
  EXPECT_EQ(mixed.number(ctx, [&](double* out) { mixed.terms.count_inverted(ctx, mixed.at.data(), out); }),
            static_cast<double>(mixed.terms.size()));
}

BACKEND_TEST(EnergyTerms, RangesAcrossTermsArePartsOfTheWhole) {
  Mixed mixed(ctx);
  const std::size_t n = mixed.terms.size();
  const auto derivatives = [&](IndexRange range) {
    Buffer<Vec3> corners(ctx, 4 * range.size()), bare(ctx, 4 * range.size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * range.size());
    mixed.terms.gradient_and_hessian(ctx, mixed.motion(), range, corners.data(), blocks.data());
    mixed.terms.gradient(ctx, mixed.motion(), range, bare.data());
    const auto with_blocks = corners.download(ctx), alone = bare.download(ctx);
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_NEAR(norm(alone[i] - with_blocks[i]), 0, 1e4 * kRounding * (1 + norm(alone[i])));
    return std::pair(with_blocks, blocks.download(ctx));
  };
  const auto [whole, whole_blocks] = derivatives({0, n});
  for (const IndexRange range : {IndexRange{0, n - 1}, IndexRange{n - 3, n}, IndexRange{n - 1, n}}) {
    const auto [part, part_blocks] = derivatives(range);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[4 * range.begin + i]);
    for (std::size_t i = 0; i < part_blocks.size(); ++i)
      for (int k = 0; k < 9; ++k)
        EXPECT_EQ(part_blocks[i].m[k], whole_blocks[kCornerBlocks * range.begin + i].m[k]);
  }
}

BACKEND_TEST(EnergyTerms, NoElementsNoEnergy) {
  Mixed none(ctx, false, false);
  EXPECT_EQ(none.terms.size(), 0U);
  EXPECT_EQ(none.energy(ctx), 0);
}
