#include "gpu/energy/tet_terms.cuh"

#include <algorithm>

#include "tests/backend_test.h"
#include "tests/energy/elastic_material.h"
#include "tests/energy/numeric.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;
using Position = Vec<double, 3>;

constexpr ElasticModel kModels[] = {ElasticModel::stable_neo_hookean, ElasticModel::fixed_corotated,
                                    ElasticModel::arap};

struct Mesh {
  std::vector<Position> rest;
  std::vector<Vec4i> tets;
};

/// n^3 cubes of edge 1/n, six tets each around a diagonal; interior nodes moved by up to `jitter` edges.
Mesh block(int n, Random& random, double jitter) {
  Mesh mesh;
  const auto node = [n](int i, int j, int k) { return (i * (n + 1) + j) * (n + 1) + k; };
  const auto inside = [n](int i) { return i > 0 && i < n; };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= n; ++k) {
        Position x{i / double(n), j / double(n), k / double(n)};
        if (inside(i) && inside(j) && inside(k)) x += random.vector(Real(jitter / n)).cast<double>();
        mesh.rest.push_back(x);
      }
  constexpr int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int cube = 0; cube < n * n * n; ++cube)
    for (int t = 0; t < 6; ++t) {
      int at[3] = {cube / (n * n), cube / n % n, cube % n};
      Vec4i tet;
      for (int c = 0; c < 4; ++c) {
        tet[c] = node(at[0], at[1], at[2]);
        if (c < 3) ++at[axes[t][c]];
      }
      if (t >= 3) std::swap(tet[2], tet[3]);
      mesh.tets.push_back(tet);
    }
  return mesh;
}

const std::vector<std::int32_t>& filled(std::vector<std::int32_t>& index, const Mesh& mesh) {
  index.resize(mesh.tets.size(), 0);
  return index;
}

/// A mesh on the backend, evaluated at host positions.
struct Solid {
  Context& ctx;
  Mesh mesh;
  TetTerm terms;
  Real dt = Real(0.1);
  std::vector<Vec3> x, x_t;

  Solid(Context& context, Mesh m, const Material& material)
      : Solid(context, std::move(m), std::vector<Material>{material}, {}) {}
  /// Empty `index`: all of the first material.
  Solid(Context& context, Mesh m, const std::vector<Material>& materials, std::vector<std::int32_t> index)
      : ctx(context), mesh(std::move(m)), terms(ctx, {mesh.rest, mesh.tets, filled(index, mesh), {}}) {
    terms.set_materials(ctx, materials);
    for (const Position& p : mesh.rest) x.push_back(p.cast<Real>());
    x_t = x;
  }
  /// x = f X + shift
  void move(const Mat3& f, const Vec3& shift = Vec3::zero()) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = f * mesh.rest[i].cast<Real>() + shift;
  }
  double energy() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    Buffer<double> out(ctx, 1);
    terms.energy(ctx, {a.data(), b.data(), dt}, out.data());
    return read_back(ctx, out.data());
  }
  std::vector<Vec3> corner_gradients() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), out(ctx, 4 * terms.size());
    terms.gradient(ctx, {a.data(), b.data(), dt}, {0, terms.size()}, out.data());
    return out.download(ctx);
  }
  std::pair<std::vector<Vec3>, std::vector<Mat3>> corner_gradients_and_blocks() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), gradients(ctx, 4 * terms.size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * terms.size());
    terms.gradient_and_hessian(ctx, {a.data(), b.data(), dt}, {0, terms.size()}, gradients.data(),
                               blocks.data());
    return {gradients.download(ctx), blocks.download(ctx)};
  }
  std::vector<Vec3> node_gradients() {
    std::vector<Vec3> nodes(x.size(), Vec3::zero());
    const std::vector<Vec3> corners = corner_gradients();
    for (std::size_t i = 0; i < corners.size(); ++i) nodes[mesh.tets[i / 4][i % 4]] += corners[i];
    return nodes;
  }
};

void jiggle(std::vector<Vec3>& x, Random& random, Real size) {
  for (Vec3& p : x) p += random.vector(size);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(TetTerm, GradientMatchesFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kModels)
    for (const double damping : {0.0, 0.05}) {
      SCOPED_TRACE(static_cast<int>(model));
      Solid solid(ctx, block(1, random, 0), elastic_material(model, 5, 0.3, damping));
      jiggle(solid.x, random, Real(0.15));
      jiggle(solid.x_t, random, Real(0.15));
      const std::vector<Vec3> g = solid.node_gradients();
      const int n = static_cast<int>(solid.x.size());
      expect_near(flat(g.data(), n), difference_gradient(solid.x.data(), n, [&] { return solid.energy(); }),
                  20 * kDifferenceError);
    }
}

// What depends on x_t alone is kept while x_t is; at x = x_t one decomposition serves elasticity and damping.
BACKEND_TEST(TetTerm, AStepKeepsWhatDependsOnItsStartAndNothingElse) {
  Random random;
  SCOPED_TRACE(random.trace());
  // Damped elements among undamped ones.
  const std::vector<Material> materials{elastic_material(kModels[0], 5, 0.3, 0.05),
                                        elastic_material(kModels[1], 3, 0.2)};
  const Mesh mesh = block(2, random, 0.1);
  std::vector<std::int32_t> index(mesh.tets.size());
  for (std::size_t t = 0; t < index.size(); ++t) index[t] = static_cast<std::int32_t>(t % 2);
  Solid solid(ctx, mesh, materials, index);
  Buffer<Vec3> at, start, start_again, gradients(ctx, 4 * solid.terms.size());
  Buffer<Mat3> blocks(ctx, kCornerBlocks * solid.terms.size());
  Buffer<double> energy(ctx, 1);
  struct Values {
    double energy;
    std::vector<Vec3> bare, gradients;
    std::vector<Mat3> blocks;
  };
  const auto values = [&](const SolidMotion& motion) {
    Values out;
    solid.terms.energy(ctx, motion, energy.data());
    out.energy = read_back(ctx, energy.data());
    solid.terms.gradient(ctx, motion, {0, solid.terms.size()}, gradients.data());
    out.bare = gradients.download(ctx);
    solid.terms.gradient_and_hessian(ctx, motion, {0, solid.terms.size()}, gradients.data(), blocks.data());
    out.gradients = gradients.download(ctx);
    out.blocks = blocks.download(ctx);
    return out;
  };
  const auto expect_same = [&](const Values& a, const Values& b) {
    EXPECT_NEAR(a.energy, b.energy, kRounding * (1 + std::abs(b.energy)));
    for (std::size_t i = 0; i < a.bare.size(); ++i) {
      EXPECT_LE(norm(a.bare[i] - b.bare[i]), 20 * kRounding) << i;
      EXPECT_LE(norm(a.gradients[i] - b.gradients[i]), 20 * kRounding) << i;
    }
    for (std::size_t i = 0; i < a.blocks.size(); ++i) {
      const Mat3 difference = a.blocks[i] - b.blocks[i];
      EXPECT_LE(dot(difference, difference), 400 * kRounding * kRounding) << i;
    }
  };
  for (int step = 0; step < 2; ++step) {  // in the second one x_t has other contents at the same address
    jiggle(solid.x_t, random, Real(0.1));
    start.upload(ctx, solid.x_t);
    start_again.upload(ctx, solid.x_t);
    solid.terms.begin_step();
    for (int iterate = 0; iterate < 2; ++iterate) {
      jiggle(solid.x, random, Real(0.2));
      at.upload(ctx, solid.x);
      const Values kept = values({at.data(), start.data(), solid.dt, nullptr, true});
      expect_same(kept, values({at.data(), start.data(), solid.dt}));
      expect_same(kept, values({at.data(), start.data(), solid.dt, start_again.data(), true}));
    }
    expect_same(values({start.data(), start.data(), solid.dt}),
                values({start_again.data(), start.data(), solid.dt}));
  }
  // Other materials take effect at once.
  solid.terms.set_materials(ctx,
                            std::vector<Material>{elastic_material(kModels[0], 5, 0.3, 0.5), materials[1]});
  const Values kept = values({at.data(), start.data(), solid.dt, nullptr, true});
  expect_same(kept, values({at.data(), start.data(), solid.dt}));
}

BACKEND_TEST(TetTerm, BlocksAreThoseOfTheProjectedHessian) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double damping = 0.03;
  for (const ElasticModel model : kModels) {
    Solid solid(ctx, block(2, random, 0.1), elastic_material(model, 5, 0.3, damping));
    jiggle(solid.x, random, Real(0.3));
    jiggle(solid.x_t, random, Real(0.1));
    const auto [gradients, blocks] = solid.corner_gradients_and_blocks();
    const std::vector<Vec3> bare = solid.corner_gradients();
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    for (std::size_t t = 0; t < solid.mesh.tets.size(); ++t) {
      expect_near(flat(&gradients[4 * t]), flat(&bare[4 * t]), kRounding);
      const Vec4i& tet = solid.mesh.tets[t];
      const auto edges = [&](const auto& x) {
        return edge_matrix(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
      };
      const auto& r = solid.mesh.rest;
      const Mat3 rest =
          Mat3::from_columns({(r[tet[1]] - r[tet[0]]).cast<Real>(), (r[tet[2]] - r[tet[0]]).cast<Real>(),
                              (r[tet[3]] - r[tet[0]]).cast<Real>()});
      const Mat3 inverse_rest = inverse(rest);
      const ShapeGradients shape(inverse_rest);
      // dF/dx, vec by rows.
      Dense b = Dense::Zero(9, 12);
      for (int corner = 0; corner < 4; ++corner)
        for (int row = 0; row < 3; ++row)
          for (int c = 0; c < 3; ++c) b(3 * row + c, 3 * corner + row) = shape.g[corner][c];
      // Damping resists only motion orthogonal to the rotations W F_t, W antisymmetric.
      const Mat3 f_t = edges(solid.x_t) * inverse_rest;
      Dense turns = Dense::Zero(9, 3);
      for (int axis = 0; axis < 3; ++axis) {
        Mat3 w = Mat3::zero();
        w((axis + 1) % 3, (axis + 2) % 3) = -1;
        w((axis + 2) % 3, (axis + 1) % 3) = 1;
        const Mat3 turn = w * f_t;
        for (int row = 0; row < 3; ++row)
          for (int c = 0; c < 3; ++c) turns(3 * row + c, axis) = turn(row, c);
      }
      const Dense rest_of =
          Dense::Identity(9, 9) - turns * (turns.transpose() * turns).inverse() * turns.transpose();
      const Dense h = dense(hessian_spd(model, edges(solid.x) * inverse_rest, lame)) +
                      damping / solid.dt * rest_of * dense(hessian_spd(model, f_t, lame)) * rest_of;
      CornerBlocks corner_blocks;
      std::copy_n(&blocks[kCornerBlocks * t], kCornerBlocks, corner_blocks.b);
      expect_near(dense(corner_blocks), double(determinant(rest)) / 6 * b.transpose() * h * b,
                  20 * kRounding);
      expect_spd(dense(corner_blocks));
    }
  }
}

BACKEND_TEST(TetTerm, RigidMotionHasNoEnergyAndNoForce) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kModels) {
    Solid solid(ctx, block(2, random, 0.2), elastic_material(model, 5, 0.4));
    EXPECT_NEAR(solid.energy(), 0, kRounding);
    solid.move(random.rotation(), random.vector());
    EXPECT_NEAR(solid.energy(), 0, kRounding);
    for (const Vec3& g : solid.corner_gradients()) EXPECT_NEAR(norm(g), 0, kRounding);
  }
}

BACKEND_TEST(TetTerm, PassesThePatchTest) {
  Random random;
  SCOPED_TRACE(random.trace());
  const int n = 3;
  for (const ElasticModel model : kModels) {
    Solid solid(ctx, block(n, random, 0.2), elastic_material(model, 5, 0.3));
    const Mat3 f = Mat3::identity() + random.matrix(Real(0.3));
    solid.move(f, random.vector());
    // The block has volume one.
    EXPECT_NEAR(solid.energy(), energy_density(model, f, lame_parameters(model, Real(5), Real(0.3))),
                10 * kRounding);
    const std::vector<Vec3> g = solid.node_gradients();
    double largest = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      bool interior = true;
      for (int c = 0; c < 3; ++c)
        interior = interior && solid.mesh.rest[i][c] > 0.01 && solid.mesh.rest[i][c] < 0.99;
      if (interior) {
        EXPECT_NEAR(norm(g[i]), 0, 10 * kRounding);
      } else {
        largest = std::max(largest, double(norm(g[i])));
      }
    }
    EXPECT_GT(largest, 0.01);
  }
}

BACKEND_TEST(TetTerm, AStretchedBarHasYoungsModulusAndPoissonsRatio) {
  Random random;
  const double young = 5, nu = 0.3, strain = sizeof(Real) == 8 ? 1e-6 : 1e-3;
  for (const ElasticModel model : kModels) {
    Solid solid(ctx, block(2, random, 0.2), elastic_material(model, young, nu));
    const double contraction = model == ElasticModel::arap ? 0 : nu * strain;
    Mat3 f = Mat3::identity();
    f(0, 0) += Real(strain);
    f(1, 1) = f(2, 2) = Real(1 - contraction);
    solid.move(f);
    const std::vector<Vec3> g = solid.node_gradients();
    Vec3 pull = Vec3::zero(), side = Vec3::zero();  // forces on the unit faces x = 1 and y = 1
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (solid.mesh.rest[i][0] > 0.99) pull += g[i];
      if (solid.mesh.rest[i][1] > 0.99) side += g[i];
    }
    const double tolerance = 20 * strain * strain * young + 20 * kRounding;
    EXPECT_NEAR(pull[0], young * strain, tolerance);
    EXPECT_NEAR(side[1], 0, tolerance);
  }
}

BACKEND_TEST(TetTerm, DampingResistsVelocityWithTheStiffness) {
  Random random;
  SCOPED_TRACE(random.trace());
  const double damping = 0.02;
  for (const ElasticModel model : kModels) {
    Solid damped(ctx, block(2, random, 0.1), elastic_material(model, 5, 0.3, damping));
    Solid elastic(ctx, damped.mesh, elastic_material(model, 5, 0.3));
    // At rest K_t is the undamped stiffness, so the damping force is damping/dt times the linearised elastic
    // force.
    const Real size = sizeof(Real) == 8 ? Real(1e-6) : Real(1e-3);
    jiggle(damped.x, random, size);
    elastic.x = damped.x;
    const std::vector<Vec3> with = damped.node_gradients(), without = elastic.node_gradients();
    double work = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
      const Vec3 force = with[i] - without[i];
      EXPECT_NEAR(norm(force - Real(damping) / damped.dt * without[i]), 0,
                  100 * double(size) * size + kRounding);
      work += dot(force, damped.x[i] - damped.x_t[i]);
    }
    EXPECT_GT(work, 0);
    EXPECT_GT(damped.energy(), elastic.energy());
  }
}

/// A rotating body under stress is not damped: its spin is not a strain.
BACKEND_TEST(TetTerm, DampingLeavesTheSpinOfStressedBodiesAlone) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kModels) {
    Solid damped(ctx, block(2, random, 0.1), elastic_material(model, 5, 0.3, 0.5));
    jiggle(damped.x_t, random, Real(0.05));
    damped.x = damped.x_t;
    Solid elastic(ctx, damped.mesh, elastic_material(model, 5, 0.3));
    const Vec3 spin = Real(1e-2) * random.vector();
    for (Vec3& p : damped.x) p += cross(spin, p);
    elastic.x = damped.x;
    const std::vector<Vec3> with = damped.node_gradients(), without = elastic.node_gradients();
    for (std::size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(norm(with[i] - without[i]), 0, 100 * kRounding);
    EXPECT_NEAR(damped.energy(), elastic.energy(), 100 * kRounding);
  }
}

// To the last bit: tets that are computed together do not touch each other.
BACKEND_TEST(TetTerm, EachTetHasItsOwnMaterial) {
  Random random;
  const std::vector<Material> materials = {elastic_material(ElasticModel::arap, 1, 0.3, 0.02),
                                           elastic_material(ElasticModel::fixed_corotated, 9, 0.3),
                                           elastic_material(ElasticModel::neo_hookean, 4, 0.2, 0.05)};
  const Mesh mesh = block(2, random, 0);
  std::vector<std::int32_t> index(mesh.tets.size());
  for (std::size_t t = 0; t < index.size(); ++t) index[t] = static_cast<std::int32_t>(t % materials.size());
  Solid mixed(ctx, mesh, materials, index);
  jiggle(mixed.x, random, Real(0.05));
  jiggle(mixed.x_t, random, Real(0.05));
  const auto gradients = mixed.corner_gradients();
  const auto [same_gradients, blocks] = mixed.corner_gradients_and_blocks();
  for (std::size_t m = 0; m < materials.size(); ++m) {
    Solid one(ctx, mesh, materials[m]);
    one.x = mixed.x;
    one.x_t = mixed.x_t;
    const auto own_gradients = one.corner_gradients();
    const auto [own_same, own_blocks] = one.corner_gradients_and_blocks();
    for (std::size_t t = m; t < index.size(); t += materials.size()) {
      SCOPED_TRACE("material " + std::to_string(m) + ", tet " + std::to_string(t));
      for (std::size_t k = 4 * t; k < 4 * t + 4; ++k) {
        EXPECT_TRUE(gradients[k] == own_gradients[k]);
        EXPECT_TRUE(same_gradients[k] == own_same[k]);
      }
      for (std::size_t k = kCornerBlocks * t; k < kCornerBlocks * (t + 1); ++k)
        EXPECT_TRUE(std::ranges::equal(blocks[k].m, own_blocks[k].m));
    }
  }
}

BACKEND_TEST(TetTerm, ControlTetsHaveTheVolumeAndTheEnergyOfTheirBody) {
  Random random;
  const Mesh mesh = block(1, random, 0);
  const std::vector<Vec4i> tet{mesh.tets.back()};
  const std::vector<std::int32_t> index{1};
  const std::vector<double> volume{7.0};
  ControlTetTerm body(ctx, {mesh.rest, tet, index, volume});
  body.set_materials(ctx, std::vector<Material>{elastic_material(ElasticModel::arap, 1, 0.3),
                                                elastic_material(ElasticModel::arap, 8, 0.3, 0.1)});
  Mat3 f = Mat3::identity();
  f(0, 0) = 2;  // F'F - I = diag(3, 0, 0), and E/8 of its square is 9 per m^3
  std::vector<Vec3> x;
  for (const Position& p : mesh.rest) x.push_back(f * p.cast<Real>());
  const auto energy = [&] {
    Buffer<Vec3> at(ctx, x);
    Buffer<double> out(ctx, 1);
    body.energy(ctx, {at.data(), at.data(), Real(0.1)}, out.data());
    return read_back(ctx, out.data());
  };
  EXPECT_NEAR(energy(), 7 * 9, 1e3 * kRounding);
  Buffer<Vec3> at(ctx, x), out(ctx, 4);
  body.gradient(ctx, {at.data(), at.data(), Real(0.1)}, {0, 1}, out.data());
  std::vector<Vec3> g(x.size(), Vec3::zero());
  const std::vector<Vec3> corners = out.download(ctx);
  for (int c = 0; c < 4; ++c) g[static_cast<std::size_t>(tet[0][c])] = corners[static_cast<std::size_t>(c)];
  const int n = static_cast<int>(x.size());
  expect_near(flat(g.data(), n), difference_gradient(x.data(), n, energy), 1000 * kDifferenceError);
  EXPECT_TRUE(body.forbids_inversion());
}

BACKEND_TEST(TetTerm, SmallestDeterminantIsThatOfTheDeformation) {
  Random random;
  Solid solid(ctx, block(4, random, 0.1), elastic_material(ElasticModel::arap, 1, 0.3));
  Mat3 f = Mat3::identity();
  f(1, 1) = Real(0.25);
  solid.move(random.rotation() * f);
  Buffer<Vec3> x(ctx, solid.x);
  Buffer<double> out(ctx, 1);
  solid.terms.min_determinant(ctx, x.data(), false, out.data());
  EXPECT_NEAR(read_back(ctx, out.data()), 0.25, kRounding);
  solid.terms.min_determinant(ctx, x.data(), true, out.data());  // ARAP may invert
  EXPECT_EQ(read_back(ctx, out.data()), std::numeric_limits<double>::infinity());
  TetTerm none(ctx, {});
  none.min_determinant(ctx, x.data(), false, out.data());
  EXPECT_EQ(read_back(ctx, out.data()), std::numeric_limits<double>::infinity());
}

BACKEND_TEST(TetTerm, EnergyDoesNotDependOnTheNumberOfThreads) {
  Random random;
  const Mesh mesh = block(12, random, 0.1);
  Context one(1), many(4);
  Solid a(one, mesh, elastic_material(ElasticModel::fixed_corotated, 3, 0.3, 0.01));
  jiggle(a.x, random, Real(0.02));
  Solid b(many, mesh, elastic_material(ElasticModel::fixed_corotated, 3, 0.3, 0.01));
  b.x = a.x;
  EXPECT_GT(a.energy(), 0);
  EXPECT_EQ(a.energy(), b.energy());
}

// Near rest terms of the size of the moduli cancel: moving a body as a whole shows what rounding leaves.
BACKEND_TEST(TetTerm, EnergyRoundingIsBounded) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kModels) {
    Solid solid(ctx, block(4, random, 0.1), elastic_material(model, 1e5, 0.4));
    EXPECT_GT(solid.terms.energy_rounding(), 0);
    for (int trial = 0; trial < 20; ++trial) {
      solid.move(Mat3::identity(), random.vector(Real(0.1)));
      EXPECT_LE(std::abs(solid.energy()), solid.terms.energy_rounding());
    }
  }
}
