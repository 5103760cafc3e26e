#include "gpu/model/element_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "gpu/model/affine.h"
#include "gpu/model/rod.h"
#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

TEST(ElementGroups, ASolidHasItsTetsAnAffineBodyOneControlTetAColliderNothing) {
  Model model;
  fixtures::add_box(model, "stiff", {0.3, 0.1, 0.2}, {0, 0, 0}, 2, 10, {0, 0, 0}, fixtures::BoxBody::affine);
  fixtures::add_box(model, "soft", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
  add_collider(model, "floor", {{0, -1, 0}, {1, -1, 0}, {0, -1, 1}}, {{0, 1, 2}}, 0, {});
  const Object &stiff = model.objects[0], &soft = model.objects[1], &floor = model.objects[2];
  EXPECT_TRUE(stiff.is_solid() && stiff.is_affine() && !stiff.is_deformable() && !stiff.is_collider());
  EXPECT_TRUE(soft.is_solid() && soft.is_deformable() && !soft.is_affine() && !soft.is_collider());
  EXPECT_TRUE(floor.is_collider() && !floor.is_solid() && !floor.is_deformable());

  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, ElementKind::control_tet);
  ASSERT_EQ(groups[0].stencils.size(), 1U);
  EXPECT_EQ(groups[0].stencils[0], control_tet(stiff));
  EXPECT_NEAR(groups[0].volume, 0.3 * 0.1 * 0.2, 1e-15);
  EXPECT_EQ(groups[1].kind, ElementKind::tet);
  EXPECT_EQ(groups[1].object, 1);
  EXPECT_EQ(groups[1].stencils.size(), tets_of(model, soft).size());
  EXPECT_EQ(groups[1].stencils[0], tets_of(model, soft)[0]);
}

TEST(ElementGroups, NodeVolumesAddUpToTheSolid) {
  Model model;
  fixtures::add_box(model, "a", {0.3, 0.1, 0.2}, {0, 0, 0}, 2);
  fixtures::add_box(model, "b", {0.1, 0.1, 0.1}, {1, 0, 0}, 3);
  const Object& b = model.objects[1];
  const std::vector<double> volumes = node_volumes(model, b);
  ASSERT_EQ(volumes.size(), static_cast<std::size_t>(b.node_end - b.node_begin));
  double sum = 0;
  for (const double v : volumes) {
    EXPECT_GT(v, 0);
    sum += v;
  }
  EXPECT_NEAR(sum, 1e-3, 1e-17);
  EXPECT_NEAR(solid_volume(model, b), 1e-3, 1e-17);
  EXPECT_EQ(triangles_of(model, b).size(), static_cast<std::size_t>(12 * 9));
}

const std::vector<Vec<double, 3>> kSheetNodes{{0, 0, 0}, {0.2, 0, 0}, {0, 0, 0.3}, {0.2, 0, 0.3}};

TEST(ThinObjects, ClothHasTheMassOfItsAreaAndNoTets) {
  Model model;
  fixtures::add_box(model, "box", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
  const Object& cloth = add_cloth(model, "cloth", kSheetNodes, {{0, 2, 1}, {1, 2, 3}}, 0, 1e-3);
  EXPECT_TRUE(cloth.is_thin() && cloth.is_cloth() && cloth.is_deformable() && cloth.is_movable());
  EXPECT_FALSE(cloth.is_solid() || cloth.is_rods() || cloth.is_collider() || cloth.is_affine());
  EXPECT_NEAR(solid_volume(model, cloth), 0.2 * 0.3 * 1e-3, 1e-18);
  const std::vector<double> volumes = node_volumes(model, cloth);
  ASSERT_EQ(volumes.size(), 4U);
  EXPECT_NEAR(volumes[0], 0.2 * 0.3 * 1e-3 / 6, 1e-18);
  EXPECT_NEAR(volumes[1], 0.2 * 0.3 * 1e-3 / 3, 1e-18);
  finalize(model);
  EXPECT_EQ(model.edges.size(), 18U + 5U);
  EXPECT_EQ(model.surface_nodes.size(), 8U + 4U);
}

TEST(ThinObjects, BadClothIsRefused) {
  const auto fault = [](const std::vector<Vec3i>& triangles, double thickness) -> std::string {
    Model model;
    try {
      add_cloth(model, "cloth", kSheetNodes, triangles, 0, thickness);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault({{0, 2, 1}, {1, 2, 3}}, 1e-3), "");
  EXPECT_EQ(fault({{0, 2, 1}, {1, 2, 3}}, 0), "object 'cloth': its thickness must be positive");
  EXPECT_EQ(fault({{0, 2, 1}, {1, 2, 3}}, std::nan("")), "object 'cloth': its thickness must be positive");
  EXPECT_EQ(fault({{0, 2, 1}, {1, 3, 2}}, 1e-3),
            "object 'cloth': triangles 0 and 1 have opposite orientations at the edge between nodes 1 and 2");
  EXPECT_EQ(
      fault({{0, 2, 1}, {1, 2, 3}, {1, 2, 0}}, 1e-3),
      "object 'cloth': the edge between nodes 1 and 2 belongs to triangles 0, 1 and 2: cloth has at most "
      "two at an edge");
  EXPECT_EQ(fault({{0, 2, 1}}, 1e-3), "object 'cloth': node 3 belongs to no triangle");
  EXPECT_EQ(fault({}, 1e-3), "object 'cloth': cloth needs at least one triangle");
}

TEST(ThinObjects, RodsHaveTheMassOfRoundSections) {
  Model model;
  fixtures::add_box(model, "box", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
  const Object& rod =
      add_rods(model, "rod", {{0, 0, 0}, {0.1, 0, 0}, {0.3, 0, 0}}, {{0, 1}, {1, 2}}, 0, 0.01);
  EXPECT_TRUE(rod.is_rods() && rod.is_deformable() && !rod.is_collider() && !rod.is_cloth());
  const double section = std::numbers::pi * 0.005 * 0.005;
  EXPECT_NEAR(solid_volume(model, rod), 0.3 * section, 1e-18);
  // A ghost turns about the rod with the moment of inertia m r^2 / 2 of the segment.
  const std::vector<double> volumes = node_volumes(model, rod);
  ASSERT_EQ(volumes.size(), 5U);
  const double of_ghost[] = {0.1 * section * 0.5 * 0.005 * 0.005 / (0.025 * 0.025),
                             0.2 * section * 0.5 * 0.005 * 0.005 / (0.05 * 0.05)};
  for (int s = 0; s < 2; ++s) EXPECT_NEAR(volumes[static_cast<std::size_t>(s)], of_ghost[s], 1e-18);
  EXPECT_NEAR(volumes[3], 0.15 * section - (of_ghost[0] + of_ghost[1]) / 2, 1e-18);
  finalize(model);
  EXPECT_EQ(model.surface_nodes.size(), 8U + 3U);  // ghosts do not collide
  EXPECT_EQ(model.surface_nodes.back(), rod.node_end - 1);
  EXPECT_EQ(model.surface_nodes[8], rod.node_begin + 2);
}

// What a ghost loses its nodes get. The slowest wave of twist takes kQuasistaticPeriod, whatever the length;
// a wave that is faster anyway stays as it is.
TEST(ThinObjects, QuasistaticTwistLeavesTheInertiaOfAFastWave) {
  const auto volumes = [](double young, bool quasistatic) {
    Model model;
    model.materials.push_back({});
    model.material_names.push_back("default");
    model.materials[0].young = young;
    model.materials[0].poisson = 0.25;
    model.materials[0].density = 1000;
    // Two strands, 0.3 m and 0.2 m long, with elliptic sections.
    Object& rods =
        add_rods(model, "rods", {{0, 0, 0}, {0.1, 0, 0}, {0.3, 0, 0}, {0, 0, 1}, {0.1, 0, 1}, {0.2, 0, 1}},
                 {{0, 1}, {1, 2}, {3, 4}, {4, 5}}, 0, 0.01, 2);
    rods.quasistatic_twist = quasistatic;
    finalize(model);
    return node_volumes(model, rods);
  };
  const std::vector<double> full = volumes(2.5e6, false), left = volumes(2.5e6, true);
  const double whole = 0.5 * std::numbers::pi * 0.005 * 0.005;
  EXPECT_NEAR(std::accumulate(left.begin(), left.end(), 0.0), whole, 1e-12 * whole);
  // G = 1 MPa; of an ellipse with the semi-axes 2 : 1, J / (I_1 + I_2) = 16 / 25.
  const double speed = std::sqrt(1e6 / 1000 * 16 / 25);
  for (std::size_t s = 0; s < 4; ++s) {
    const double length = s < 2 ? 0.3 : 0.2, slower = std::sqrt(full[s] / left[s]);
    EXPECT_NEAR(4 * length / (speed * slower), kQuasistaticPeriod, 1e-9 * kQuasistaticPeriod) << s;
  }
  EXPECT_NEAR(left[4] - full[4], (full[0] - left[0]) / 2, 1e-15);
  EXPECT_EQ(volumes(1e13, true), volumes(1e13, false));
}

TEST(ThinObjects, RodsHaveAnElementPerSegmentAndPerInnerVertex) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  // A rod of two segments, and a triangle of three.
  add_rods(model, "rods", {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {0, 0, 3}, {1, 0, 3}, {0, 1, 3}},
           {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}, 0, 0.01, 2);
  finalize(model);
  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, ElementKind::rod_segment);
  EXPECT_EQ(groups[0].stencils.size(), 5U);
  EXPECT_EQ(groups[0].stencils[1], (Vec4i{6, 7, 1, -1}));
  EXPECT_EQ(groups[1].kind, ElementKind::rod_vertex);
  EXPECT_EQ(groups[1].thickness, 0.01);
  EXPECT_EQ(groups[1].aspect, 2);
  ASSERT_EQ(groups[1].stencils.size(), 4U * 3U);
  EXPECT_EQ(groups[1].stencils[0], (Vec4i{5, 6, 7, 0}));
  EXPECT_EQ(groups[1].stencils[1], (Vec4i{5, 6, 7, 1}));
  EXPECT_EQ(groups[1].stencils[2], (Vec4i{0, 1, -1, -1}));
}

TEST(ThinObjects, BadRodsAreRefused) {
  const auto fault = [](const std::vector<Vec2i>& segments, double diameter, double aspect) -> std::string {
    Model model;
    try {
      add_rods(model, "rod", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0.5, 0, 0}, {1, 0, 0}}, segments, 0, diameter,
               aspect);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  const std::vector<Vec2i> chain{{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  EXPECT_EQ(fault(chain, 0.01, 1), "");
  EXPECT_EQ(fault(chain, 0, 1), "object 'rod': its diameter must be positive");
  EXPECT_EQ(fault(chain, 0.01, -1), "object 'rod': its aspect must be positive");
  EXPECT_EQ(fault({}, 0.01, 1), "object 'rod': rods need at least one segment");
  EXPECT_EQ(
      fault({{0, 1}, {2, 1}, {3, 4}}, 0.01, 1),
      "object 'rod': segments 0 and 1 both end at one node: a rod does not branch, and has one direction");
  EXPECT_EQ(fault({{0, 1}, {1, 3}, {2, 4}}, 0.01, 1), "object 'rod': segment 1 turns back on segment 0");
  EXPECT_EQ(fault({{0, 1}, {1, 4}, {2, 3}}, 0.01, 1), "object 'rod': segment 1 has no length");
}

class TenNodeSolid : public ::testing::Test {
 protected:
  TenNodeSolid() {
    model.materials.push_back({});
    model.material_names.push_back("default");
    lattice = fixtures::box_lattice({0.3, 0.1, 0.2}, {0, 0, 0}, {2, 1, 1});
    add_ten_node_solid(model, "beam", lattice.nodes, lattice.tets, 0);
    fixtures::add_box(model, "cube", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
    finalize(model);
  }
  const Object& beam() const { return model.objects[0]; }
  Vec<double, 3> rest(std::int32_t node) const {
    return model.rest_positions[static_cast<std::size_t>(node)];
  }

  Model model;
  fixtures::BoxMesh lattice;
};

TEST_F(TenNodeSolid, HasANodeInTheMiddleOfEachEdge) {
  const std::vector<Tet10> elements = ten_node_tets_of(model, beam());
  ASSERT_EQ(elements.size(), lattice.tets.size());
  // Euler: edges = nodes + faces - tets - 1 of a ball; faces = (4 tets + boundary) / 2, boundary = 10 x 2.
  const std::size_t faces = (4 * lattice.tets.size() + 20) / 2;
  const std::size_t edges = lattice.nodes.size() + faces - lattice.tets.size() - 1;
  EXPECT_EQ(static_cast<std::size_t>(beam().node_end), lattice.nodes.size() + edges);
  constexpr int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (const Tet10& element : elements)
    for (int k = 0; k < 6; ++k)
      EXPECT_LT(norm(rest(element[4 + k]) - 0.5 * (rest(element[ends[k][0]]) + rest(element[ends[k][1]]))),
                1e-15);
  EXPECT_EQ(count_tets(model).ten_node, elements.size());
  EXPECT_EQ(count_tets(model).linear, 6U);
  EXPECT_TRUE(beam().is_solid() && beam().is_deformable());
}

// Contact has the subdivided surface: closed, outward, four triangles for each face, and no node left out.
TEST_F(TenNodeSolid, HasFourTrianglesForEachFaceOfItsSurface) {
  const std::span<const Vec3i> triangles = triangles_of(model, beam());
  EXPECT_EQ(triangles.size(), 4U * 20);
  double volume = 0, area = 0;
  std::vector<std::pair<int, int>> edges;
  for (const Vec3i& t : triangles) {
    volume += dot(rest(t[0]), cross(rest(t[1]), rest(t[2]))) / 6;
    area += norm(cross(rest(t[1]) - rest(t[0]), rest(t[2]) - rest(t[0]))) / 2;
    for (int c = 0; c < 3; ++c) edges.emplace_back(t[c], t[(c + 1) % 3]);
  }
  EXPECT_NEAR(volume, 0.3 * 0.1 * 0.2, 1e-15);
  EXPECT_NEAR(area, 2 * (0.03 + 0.06 + 0.02), 1e-14);
  for (const auto& [a, b] : edges) EXPECT_EQ(std::ranges::count(edges, std::pair(b, a)), 1);
  for (std::int32_t i = 0; i < beam().node_end; ++i) {
    const Vec<double, 3> p = rest(i);
    const bool on_faces =
        std::max({std::abs(p[0]) / 0.15, std::abs(p[1]) / 0.05, std::abs(p[2]) / 0.1}) > 1 - 1e-9;
    EXPECT_EQ(std::ranges::binary_search(model.surface_nodes, i), on_faces) << i;
  }
}

TEST_F(TenNodeSolid, MassesArePositiveAndAddUp) {
  const std::vector<double> volumes = node_volumes(model, beam());
  double sum = 0;
  Vec<double, 3> centre{0, 0, 0};
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    EXPECT_GT(volumes[i], 0);
    sum += volumes[i];
    centre += volumes[i] * rest(beam().node_begin + static_cast<std::int32_t>(i));
  }
  EXPECT_NEAR(sum, 0.3 * 0.1 * 0.2, 1e-16);
  EXPECT_NEAR(solid_volume(model, beam()), 0.3 * 0.1 * 0.2, 1e-16);
  EXPECT_LT(norm(centre), 1e-16);
}

TEST_F(TenNodeSolid, StencilsHoldEveryPairOfNodesOnce) {
  const std::vector<ElementGroup> groups = element_groups(model);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].kind, ElementKind::tet10);
  EXPECT_EQ(groups[1].kind, ElementKind::tet);
  const std::vector<Tet10> elements = ten_node_tets_of(model, beam());
  ASSERT_EQ(groups[0].stencils.size(), 9 * elements.size());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    std::vector<std::pair<int, int>> pairs;
    for (int s = 0; s < 9; ++s)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b <= a; ++b)
          if (tet10_owns(s, a, b)) {
            const Vec4i& stencil = groups[0].stencils[9 * e + static_cast<std::size_t>(s)];
            pairs.emplace_back(std::minmax(stencil[a], stencil[b]));
          }
    std::vector<std::pair<int, int>> want;
    for (int a = 0; a < 10; ++a)
      for (int b = 0; b <= a; ++b) want.emplace_back(std::minmax({elements[e][a], elements[e][b]}));
    std::ranges::sort(pairs);
    std::ranges::sort(want);
    EXPECT_EQ(pairs, want);
  }
}

TEST_F(TenNodeSolid, FaultyElementsAreRefused) {
  const auto error = [](Model faulty) {
    try {
      finalize(faulty);
    } catch (const std::invalid_argument& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(model), "");
  Model curved = model;
  curved.rest_positions[static_cast<std::size_t>(ten_node_tets_of(model, beam())[3][5])] +=
      Vec<double, 3>{1e-4, 0, 0};
  EXPECT_NE(error(curved).find("'beam': ten-node tet 3 has a curved edge"), std::string::npos)
      << error(curved);
  Model shuffled = model;
  std::swap(shuffled.tets[8], shuffled.tets[9]);
  EXPECT_NE(error(shuffled).find("parts of ten-node tet 1 do not fit"), std::string::npos) << error(shuffled);
  Model cut = model;
  ++cut.objects[0].tet_begin;
  EXPECT_NE(error(cut).find("ten-node tets have eight parts each"), std::string::npos) << error(cut);
  // Three tets at one face: the number is that of the ten-node tet.
  Model open;
  try {
    add_ten_node_solid(open, "fan", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, -1}},
                       {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}}, 0);
    FAIL() << "three tets share a face";
  } catch (const std::invalid_argument& fault) {
    EXPECT_STREQ(fault.what(), "object 'fan': tet 2 shares a face with two other tets");
  }
}

}  // namespace
}  // namespace stickslip
