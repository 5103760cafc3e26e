#include "gpu/model/lattice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "gpu/math/mat.h"
#include "gpu/model/barrier_model.h"
#include "gpu/model/element_group.h"
#include "gpu/model/steppers.h"
#include "gpu/model/tet_volume.h"
#include "tests/fixtures/embedded_model.h"

namespace stickslip {
namespace {

using fixtures::Vec3d;
using Mat3d = Mat<double, 3>;

const Vec3d kBoxSize{0.3, 0.2, 0.25};

Model turned_box(double cell) {
  Model model;
  fixtures::add_embedded_box(model, "box", kBoxSize, {0.1, 0.5, -0.2}, 4, cell);
  finalize(model);
  return model;
}

TEST(LatticeModel, SurfaceNodesFollowAffineMapsOfTheirLattice) {
  const Model model = turned_box(0.06);
  const Object& box = model.objects[0];
  ASSERT_TRUE(box.is_embedded() && box.is_solid() && box.is_deformable() && !box.is_affine());
  const std::vector<LatticeFollower> all = followers(model, box);
  ASSERT_EQ(all.size(), 98u);  // of a surface of 4 x 4 x 4 cells
  ASSERT_EQ(static_cast<std::size_t>(box.node_end - box.collides_from), all.size());
  const Mat3d map{{1.2, 0.1, -0.3, 0, 0.8, 0.2, 0.4, 0, 1.1}};
  for (const LatticeFollower& f : all) {
    Vec3d x{0, 0, 0}, mapped{0, 0, 0};
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      EXPECT_GE(f.weights[k], -1e-9);
      EXPECT_LT(f.controls[k], box.collides_from);
      sum += f.weights[k];
      x += f.weights[k] * model.rest_positions[f.controls[k]];
      mapped += f.weights[k] * (map * model.rest_positions[f.controls[k]] + Vec3d{1, 2, 3});
    }
    EXPECT_NEAR(sum, 1, 1e-13);
    EXPECT_NEAR(norm(x - model.rest_positions[f.node]), 0, 1e-13);
    EXPECT_NEAR(norm(mapped - (map * model.rest_positions[f.node] + Vec3d{1, 2, 3})), 0, 1e-12);
  }
  // The surface is that of the box, not of the lattice.
  for (const std::int32_t node : model.surface_nodes) EXPECT_GE(node, box.collides_from);
  Vec3d low = model.positions[box.collides_from], high = low;
  for (const std::int32_t node : model.surface_nodes) {
    low = min(low, model.positions[node]);
    high = max(high, model.positions[node]);
  }
  EXPECT_NEAR(norm(high - low - kBoxSize), 0, 1e-12);
}

TEST(LatticeModel, MassAndCentreAreExactAndInertiaConverges) {
  const double volume = kBoxSize[0] * kBoxSize[1] * kBoxSize[2];
  double before = 0;
  for (const double cell : {0.08, 0.04, 0.02}) {
    const Model model = turned_box(cell);
    const Object& box = model.objects[0];
    EXPECT_NEAR(solid_volume(model, box), volume, 1e-12 * volume);
    const std::vector<double> volumes = node_volumes(model, box);
    Vec3d center{0, 0, 0}, second{0, 0, 0};
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      const Vec3d r = model.rest_positions[box.node_begin + i] - Vec3d{0.1, 0.5, -0.2};
      center += (volumes[i] / volume) * r;
      for (int c = 0; c < 3; ++c) second[c] += volumes[i] / volume * r[c] * r[c];
    }
    EXPECT_NEAR(norm(center), 0, 1e-12);
    double error = 0;
    for (int c = 0; c < 3; ++c) {
      const double want = kBoxSize[c] * kBoxSize[c] / 12;
      EXPECT_GT(second[c], want);  // as of any lumped mass
      EXPECT_LT(second[c] - want, 0.5 * cell * cell);
      error = std::max(error, second[c] - want);
    }
    if (before > 0) {
      EXPECT_LT(error, 0.4 * before);
    }
    before = error;
    double elastic = 0;
    const std::vector<double> shares = tet_shares(model, box);
    for (std::size_t t = 0; t < shares.size(); ++t) {
      EXPECT_GE(shares[t], kLeastShare);
      EXPECT_LE(shares[t], 1 + 1e-12);
      elastic += shares[t] * tet_volume(model.rest_positions, model.tets[box.tet_begin + t]);
    }
    EXPECT_NEAR(elastic, volume, 0.03 * volume) << cell;
  }
}

TEST(LatticeModel, ALatticeThatConformsIsAPlainMesh) {
  Model model, plain;
  fixtures::add_conforming_box(model, "box", kBoxSize, {0, 0, 0}, 3);
  fixtures::add_box(plain, "box", kBoxSize, {0, 0, 0}, 3);
  finalize(model);
  finalize(plain);
  const Object &box = model.objects[0], &other = plain.objects[0];
  ASSERT_EQ(model.tets.size(), plain.tets.size());
  ASSERT_EQ(model.triangles.size(), plain.triangles.size());
  for (const double share : tet_shares(model, box)) EXPECT_NEAR(share, 1, 1e-12);
  const std::vector<double> volumes = node_volumes(model, box), want = node_volumes(plain, other);
  const double whole = kBoxSize[0] * kBoxSize[1] * kBoxSize[2];
  for (std::size_t i = 0; i < want.size(); ++i)
    for (std::size_t k = 0; k < volumes.size(); ++k)
      if (static_cast<std::int32_t>(k) < box.collides_from &&
          norm(model.positions[k] - plain.positions[i]) < 1e-9) {
        EXPECT_NEAR(volumes[k], want[i], 1e-12 * whole);
      }
  for (const LatticeFollower& f : followers(model, box)) {
    double most = 0;
    for (int k = 0; k < 4; ++k) most = std::max(most, f.weights[k]);
    EXPECT_NEAR(most, 1, 1e-12);
  }
}

TEST(LatticeModel, AffineMapsScaleItsVolumesAndMayMirrorIt) {
  const EmbeddedSolid solid = fixtures::embedded_box({0.1, 0.1, 0.1}, 2, 25, 0.04);
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  std::vector<Vec3d> nodes;
  for (const Vec3d& p : solid.nodes) nodes.push_back({-2 * p[0], p[1], p[2]});
  add_embedded(model, "box", solid, nodes, 0);
  finalize(model);
  const Object& box = model.objects[0];
  EXPECT_NEAR(solid_volume(model, box), 2e-3, 1e-15);
  double enclosed = 0;
  for (const Vec3i& t : triangles_of(model, box))
    enclosed += dot(model.positions[t[0]], cross(model.positions[t[1]], model.positions[t[2]])) / 6;
  EXPECT_NEAR(enclosed, 2e-3, 1e-15);
  for (const LatticeFollower& f : followers(model, box)) {
    const Vec3d& was = solid.nodes[static_cast<std::size_t>(f.node - box.node_begin)];
    EXPECT_NEAR(norm(model.positions[f.node] - Vec3d{-2 * was[0], was[1], was[2]}), 0, 1e-14);
  }
}

std::string fault_of(const auto& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(LatticeModel, FaultsAreNamed) {
  fixtures::BoxSurface surface = fixtures::box_surface({0.1, 0.1, 0.1}, 2, 0);
  const fixtures::BoxMesh small = fixtures::box_lattice({0.08, 0.2, 0.2}, {0, 0, 0}, {2, 2, 2});
  EXPECT_NE(fault_of([&] {
              embed(surface.nodes, surface.triangles, small.nodes, small.tets);
            }).find("is in no tet of its lattice"),
            std::string::npos);
  surface.triangles.pop_back();
  EXPECT_NE(fault_of([&] {
              embed(surface.nodes, surface.triangles, small.nodes, small.tets);
            }).find("needs a closed surface"),
            std::string::npos);

  Model model = turned_box(0.08);
  const Object box = model.objects[0];
  model.scripted.push_back({{box.node_begin}, {}});
  EXPECT_EQ(fault_of([&] { finalize(model); }), "");
  model.scripted[0].nodes = {box.collides_from};
  EXPECT_NE(fault_of([&] { finalize(model); }).find("nodes of its surface cannot be held or moved"),
            std::string::npos);
  model.scripted.clear();
  model.lattices[0].weights.pop_back();
  EXPECT_NE(fault_of([&] { finalize(model); }).find("its lattice does not have the sizes"),
            std::string::npos);
}

TEST(LatticeModel, EveryStepperAcceptsIt) {
  const Model model = turned_box(0.08);
  for (const SolverKind solver :
       {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al, SolverKind::velocity})
    EXPECT_FALSE(stepper_refusal(model, solver));
}

}  // namespace
}  // namespace stickslip
