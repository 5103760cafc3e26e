// The pair tests in a kernel give the host's results, for every pair of kinds.
#include <memory>

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"
#include "tests/backend_test.h"
#include "tests/geometry/collide_oracle.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// A prism, and a cube with its distance field, in backend memory.
struct LibraryArrays {
  stickslip::testing::TestHull hull = stickslip::testing::prism(6, 0.4, 0.3),
                               cube = stickslip::testing::box_hull({0.3, 0.3, 0.3});
  std::vector<Vec<std::int32_t, 3>> triangles =
      stickslip::testing::solid_of(cube, Pose::identity()).triangles;
  DistanceGridView grid{{-0.5, -0.5, -0.5}, 0.1, {11, 11, 11}, nullptr};
  std::vector<float> values;

  LibraryArrays() {
    for (int i = 0; i < 11 * 11 * 11; ++i) {
      const stickslip::testing::Point p =
          grid.origin + 0.1 * stickslip::testing::Point{i % 11 * 1.0, i / 11 % 11 * 1.0, i / 121 * 1.0};
      values.push_back(static_cast<float>(narrow::box_distance(p, {0.3, 0.3, 0.3}).distance));
    }
  }
};

/// `copy` returns the address of a host array on the reading side.
template <class Copy>
HullView hull_view(const stickslip::testing::TestHull& h, const Copy& copy) {
  HullView v = h.view();
  v.vertices = copy(h.vertices), v.normals = copy(h.normals), v.offsets = copy(h.offsets);
  v.face_start = copy(h.face_start), v.face_vertices = copy(h.face_vertices), v.edges = copy(h.edges);
  return v;
}
template <class Copy>
MeshShapeView mesh_view(const LibraryArrays& l, const Copy& copy) {
  MeshShapeView v{copy(l.cube.vertices), copy(l.triangles), 8, static_cast<std::int32_t>(l.triangles.size()),
                  l.grid};
  v.field.values = copy(l.values);
  return v;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(CollideBackend, IsWhatTheHostFinds) {
  using namespace stickslip;
  using namespace stickslip::STICKSLIP_BACKEND;
  const LibraryArrays arrays;
  const auto stay = [](const auto& v) { return v.data(); };
  const HullView host_hull = hull_view(arrays.hull, stay);
  const MeshShapeView host_mesh = mesh_view(arrays, stay);
  const ShapeLibrary host{&host_hull, &host_mesh};
  std::vector<std::shared_ptr<void>> keep;
  const auto upload = [&](const auto& v) {
    using T = std::decay_t<decltype(v[0])>;
    auto buffer = std::make_shared<Buffer<T>>();
    buffer->upload(ctx, v);
    keep.push_back(buffer);
    return static_cast<const T*>(buffer->data());
  };
  const ShapeLibrary there{upload(std::vector<HullView>{hull_view(arrays.hull, upload)}),
                           upload(std::vector<MeshShapeView>{mesh_view(arrays, upload)})};
  stickslip::testing::Random random;
  SCOPED_TRACE(random.trace());
  std::vector<Shape> shapes;
  std::vector<Pose> poses;
  for (int n = 0; n < 36 * 20; ++n)
    for (const int kind : {n % 6, n / 6 % 6}) {
      Shape s{static_cast<ShapeKind>(kind), {0.3, 0.3, 0.3}, 0, Pose::identity()};
      if (s.kind == ShapeKind::hull) s = arrays.hull.shape(0);
      shapes.push_back(s);
      poses.push_back(stickslip::testing::random_pose(random, 0.35));
    }
  const std::size_t pairs = shapes.size() / 2;
  Buffer<Manifold> out;
  out.resize(ctx, 2 * pairs);
  const Shape* s = upload(shapes);
  const Pose* p = upload(poses);
  Manifold* m = out.data();
  launch(ctx, pairs, [=] SS_LAMBDA(std::size_t i) {
    m[2 * i] = collide(s[2 * i], p[2 * i], s[2 * i + 1], p[2 * i + 1], there, 0.05);
    m[2 * i + 1] = collide_half_space(s[2 * i], p[2 * i], {0, 1, 0}, 0.1, there, 0.05);
  });
  const std::vector<Manifold> found = out.download(ctx);
  int same = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const Manifold expected[2] = {
        collide(shapes[2 * i], poses[2 * i], shapes[2 * i + 1], poses[2 * i + 1], host, 0.05),
        collide_half_space(shapes[2 * i], poses[2 * i], {0, 1, 0}, 0.1, host, 0.05)};
    for (int k = 0; k < 2; ++k) {
      const Manifold& got = found[2 * i + static_cast<std::size_t>(k)];
      ASSERT_TRUE(stickslip::testing::sound(got));
      bool equal = got.count == expected[k].count && norm(got.normal - expected[k].normal) < 1e-4;
      for (int j = 0; equal && j < got.count; ++j)
        equal = norm(got.points[j].point - expected[k].points[j].point) < 1e-4 &&
                got.points[j].feature == expected[k].points[j].feature;
      same += equal;
    }
  }
  // If two exits are equally short, rounding on another machine may select the other one.
  EXPECT_GE(same, static_cast<int>(0.98 * 2 * static_cast<double>(pairs)));
#if !STICKSLIP_ON_CUDA
  EXPECT_EQ(same, static_cast<int>(2 * pairs));
#endif
}
