#include "gpu/model/frames.h"

#include <gtest/gtest.h>

#include <tuple>

#include "gpu/model/element_group.h"
#include "gpu/model/frame_path.h"
#include "gpu/model/mass_properties.h"
#include "tests/fixtures/frame_model.h"

namespace stickslip {
namespace {

using fixtures::add_frame_bar;
using fixtures::arc_mesh;
using fixtures::arc_of_frames;
using fixtures::Vec3d;
using Mat3d = Mat<double, 3>;
using Paths = std::vector<std::vector<Vec3d>>;

Model arc_model(int bones) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  const fixtures::BoxMesh mesh = arc_mesh(1.5, 0.3, 12);
  add_frames(model, "arc", mesh.nodes, mesh.tets, {arc_of_frames(1.5, bones)}, 0);
  return model;
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}
void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Frames, SurfaceNodesFollowOneOrTwoFramesAndEveryAffineMotionOfThem) {
  Model model = arc_model(5);
  const std::vector<Vec3d> placed = model.rest_positions;
  finalize(model);
  const Object& arc = model.objects[0];
  EXPECT_EQ(arc.collides_from - arc.node_begin, 24);
  const Mat3d map = Mat3d::from_columns({{1.2, 0.3, -0.1}, {-0.2, 0.7, 0.4}, {0.1, 0.5, 1.4}});
  int of_two = 0;
  for (const LatticeFollower& f : followers(model, arc)) {
    double sum = 0;
    Vec3d moved{0, 0, 0};
    const int count = leader_count(f.controls);
    ASSERT_TRUE(count == 4 || count == 8);
    of_two += count == 8;
    for (int k = 0; k < count; ++k) {
      sum += f.weights[k];
      moved += f.weights[k] * (map * model.rest_positions[f.controls[k]] + Vec3d{1, 2, 3});
      EXPECT_EQ(f.controls[k] % 4, k % 4);
      EXPECT_EQ(f.controls[k] / 4, f.controls[0] / 4 + k / 4);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    const auto node = static_cast<std::size_t>(f.node);
    EXPECT_LT(norm(model.rest_positions[node] - placed[node]), 1e-12);
    EXPECT_LT(norm(moved - (map * placed[node] + Vec3d{1, 2, 3})), 1e-12);
  }
  EXPECT_GT(of_two, 20);
}

TEST(Frames, CoordinatesAlongAPathAreContinuousAndHaveTheirSlopes) {
  const FramePath path(arc_of_frames(1.5, 4));
  for (const double radius : {0.85, 1.0, 1.15}) {
    double before = -1;
    for (int i = 0; i <= 300; ++i) {
      const double angle = 1.5 * i / 300;
      const Vec3d p{radius * std::sin(angle), radius * std::cos(angle), 0.1};
      const FramePath::Place place = path.at(p);
      const double along = double(place.bone) + place.s;
      // The planes of the ends are those of the first and the last bone, not those of the arc.
      EXPECT_NEAR(along, angle / 1.5 * 4, along > 1 && along < 3 ? 0.01 : 0.1);
      EXPECT_GE(along, before);
      EXPECT_LT(along, before < 0 ? 1 : before + 0.03) << "it jumps at " << angle;
      before = along;
      if (place.s < 1e-3 || place.s > 1 - 1e-3) continue;
      for (int c = 0; c < 3; ++c) {
        constexpr double h = 1e-6;
        Vec3d up = p, down = p;
        up[c] += h;
        down[c] -= h;
        const double slope = (path.on(place.bone, up).s - path.on(place.bone, down).s) / (2 * h);
        EXPECT_NEAR(place.slope[c], slope, 1e-7);
      }
    }
  }
  EXPECT_EQ(path.at({-0.5, 1, 0}).s, 0);
  EXPECT_EQ(path.at({-0.5, 1, 0}).slope, (Vec3d{0, 0, 0}));
}

/// The lumped masses of a body of frames have the momentum, the spin and the energy of the body.
TEST(Frames, PointsHaveTheMomentsOfTheBody) {
  Model model = arc_model(3);
  finalize(model);
  const Object& arc = model.objects[0];
  const MassProperties body =
      mass_of_surface({model.rest_positions.begin() + arc.collides_from, model.rest_positions.end()}, [&] {
        std::vector<Vec3i> triangles;
        for (const Vec3i& t : model.triangles) triangles.push_back(t - Vec3i::filled(arc.collides_from));
        return triangles;
      }());
  const std::vector<double> volumes = node_volumes(model, arc);
  double total = 0;
  Vec3d first{0, 0, 0};
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    total += volumes[i];
    first += volumes[i] * model.rest_positions[i];
  }
  EXPECT_NEAR(total, body.volume, 1e-12);
  EXPECT_LT(norm(first / total - body.center), 1e-12);
  EXPECT_NEAR(solid_volume(model, arc), body.volume, 1e-12);
  // Second moments of the samples and of the points of frames.
  Mat3d of_points = Mat3d::zero(), of_tets = Mat3d::zero();
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Vec3d r = model.rest_positions[i] - body.center;
    of_points += volumes[i] * outer(r, r);
  }
  const fixtures::BoxMesh mesh = arc_mesh(1.5, 0.3, 12);
  for (const Vec4i& tet : mesh.tets) {
    // Integral of r r' over a tet: V/20 (sum r_k r_k' + sum r_k sum r_l').
    Vec3d sum{0, 0, 0}, r[4];
    Mat3d squares = Mat3d::zero();
    for (int k = 0; k < 4; ++k) {
      r[k] = mesh.nodes[tet[k]] - body.center;
      sum += r[k];
      squares += outer(r[k], r[k]);
    }
    const double volume = std::abs(dot(r[1] - r[0], cross(r[2] - r[0], r[3] - r[0]))) / 6;
    of_tets += (volume / 20) * (squares + outer(sum, sum));
  }
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(of_points.m[k], of_tets.m[k], 1e-12 * body.volume);
}

TEST(Frames, SamplesHaveTheVolumeAndTheCovarianceOfTheirBones) {
  Model model;
  add_frame_bar(model, "bar", {1, 0.2, 0.1}, {0, 0, 0}, 4);
  finalize(model);
  const Lattice& lattice = model.lattices[0];
  ASSERT_EQ(lattice.points.size(), 32U);
  double volume = 0;
  for (const FramePoint& point : lattice.points) {
    EXPECT_NEAR(point.volume, 0.02 / 32, 1e-14);
    volume += point.volume;
    // The map of a displacement field that is linear: F = I + gradient.
    Mat3d f = Mat3d::zero();
    const Vec2i& bone = lattice.bones[static_cast<std::size_t>(point.bone)];
    for (int a = 0; a < 8; ++a)
      f += outer(model.rest_positions[static_cast<std::size_t>(4 * bone[a / 4] + a % 4)], point.gradients[a]);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(f.m[k], k % 4 == 0 ? 1 : 0, 1e-12);
  }
  EXPECT_NEAR(volume, 0.02, 1e-14);
}

TEST(Frames, PathsShareFramesThatCoincide) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  fixtures::BoxMesh mesh = fixtures::box_lattice({0.1, 1, 0.1}, {0, 0.5, 0}, {1, 4, 1});
  const auto trunk = static_cast<std::int32_t>(mesh.nodes.size());
  const fixtures::BoxMesh leaf = fixtures::box_lattice({0.8, 0.02, 0.1}, {0.5, 1.1, 0}, {4, 1, 1});
  mesh.nodes.insert(mesh.nodes.end(), leaf.nodes.begin(), leaf.nodes.end());
  for (const Vec4i& tet : leaf.tets) mesh.tets.push_back(tet + Vec4i::filled(trunk));
  const Paths paths{{{0, 0, 0}, {0, 0.5, 0}, {0, 1, 0}}, {{0, 1, 0}, {0.5, 1.1, 0}, {0.9, 1.1, 0}}};
  add_frames(model, "tree", mesh.nodes, mesh.tets, paths, 0);
  finalize(model);
  const Lattice& lattice = model.lattices[0];
  EXPECT_EQ(lattice.frames.size(), 5U);
  ASSERT_EQ(lattice.bones.size(), 4U);
  EXPECT_EQ(lattice.bones[2], (Vec2i{2, 3}));
  // Parts of the mesh follow their own path.
  for (const LatticeFollower& f : followers(model, model.objects[0])) {
    const bool of_leaf = model.rest_positions[static_cast<std::size_t>(f.node)][0] > 0.09;
    EXPECT_EQ(f.controls[0] / 4 >= 2,
              of_leaf || model.rest_positions[static_cast<std::size_t>(f.node)][1] > 0.999);
  }
}

TEST(Frames, AFaultAtANodeOfTheSurfaceNamesTheBody) {
  // A U with one bone per leg: planes cross at surface nodes, not at the points of integration inside.
  fixtures::BoxMesh u = fixtures::box_lattice({0.5, 0.02, 0.02}, {-0.24, 0, 0}, {10, 2, 2});
  for (const auto& [size, center, cells] :
       {std::tuple{Vec3d{0.5, 0.02, 0.02}, Vec3d{-0.24, 0.5, 0}, Vec3i{10, 2, 2}},
        std::tuple{Vec3d{0.02, 0.48, 0.02}, Vec3d{0, 0.25, 0}, Vec3i{2, 8, 2}}}) {
    const auto first = static_cast<std::int32_t>(u.nodes.size());
    const fixtures::BoxMesh part = fixtures::box_lattice(size, center, cells);
    u.nodes.insert(u.nodes.end(), part.nodes.begin(), part.nodes.end());
    for (const Vec4i& tet : part.tets) u.tets.push_back(tet + Vec4i::filled(first));
  }
  Model model;
  expect_in(refusal([&] {
              add_frames(model, "staple", u.nodes, u.tets,
                         {{{-0.5, 0, 0}, {0, 0, 0}, {0, 0.5, 0}, {-0.5, 0.5, 0}}}, 0);
            }),
            "object 'staple': it is too thick for the bend of its path at bone 2");
}

TEST(Frames, FaultyBodiesAreRefused) {
  const fixtures::BoxMesh mesh = fixtures::box_lattice({1, 0.1, 0.1}, {0, 0, 0}, {4, 1, 1});
  const auto added = [&](const Paths& paths) {
    return refusal([&] {
      Model model;
      add_frames(model, "bar", mesh.nodes, mesh.tets, paths, 0);
    });
  };
  expect_in(added({}), "object 'bar': it has no frames");
  expect_in(added({{{0, 0, 0}}}), "needs two at least");
  expect_in(added({{{-0.5, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0.5, 0, 0}}}), "frames 1 and 2 of a path coincide");
  expect_in(added({{{-0.5, 0, 0}, {0.5, 0, 0}, {0, 0, 0}}}), "turns back at its frame 1");
  expect_in(added({{{-0.5, 0, 0}, {0.5, 0, 0}, {1, 0, 0}}}), "is between the frames 1 and 2");
  // All samples of a bone in one plane.
  const fixtures::BoxMesh coarse = fixtures::box_lattice({1, 0.1, 0.1}, {0, 0, 0}, {1, 1, 1});
  expect_in(
      refusal([&] {
        Model model;
        add_frames(model, "bar", coarse.nodes, coarse.tets, {{{-0.5, 0, 0}, {-0.3, 0, 0}, {0.5, 0, 0}}}, 0);
      }),
      "its mesh is too coarse between the frames 0 and 1");
  // Near the centre of the arc.
  expect_in(refusal([] {
              FramePath(arc_of_frames(1.5, 4)).at({0.02 * std::sin(0.7), 0.02 * std::cos(0.7), 0});
            }),
            "too thick for the bend of its path at bone 1");
  expect_in(refusal([&] {
              Model model;
              add_frames(model, "bar", mesh.nodes, {}, {{{-0.5, 0, 0}, {0.5, 0, 0}}}, 0);
            }),
            "needs at least one tet");
  Model model;
  add_frame_bar(model, "bar", {1, 0.1, 0.1}, {0, 0, 0}, 2);
  const auto finalized = [&](const std::function<void(Lattice&)>& spoil) {
    Model spoilt = model;
    spoil(spoilt.lattices[0]);
    return refusal([&] { finalize(spoilt); });
  };
  expect_in(finalized([](Lattice& l) { l.weights[5][0] += 0.01; }),
            "weights of node 5 of its surface do not sum to one");
  expect_in(finalized([](Lattice& l) { l.points[3].gradients[2][0] += 1; }), "sample 3 do not sum to one");
  expect_in(finalized([](Lattice& l) { l.points.pop_back(); }), "a bone needs 8 samples");
  expect_in(finalized([](Lattice& l) { l.points[2].volume = 0; }), "no positive volume");
  expect_in(finalized([](Lattice& l) { l.bones[1] = {1, 9}; }), "two of its frames");
  expect_in(finalized([](Lattice& l) { l.controls[0][3] = -1; }), "follows no four lattice nodes");
  EXPECT_EQ(finalized([](Lattice&) {}), "");
}

}  // namespace
}  // namespace stickslip
