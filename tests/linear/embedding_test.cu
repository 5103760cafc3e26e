#include "gpu/linear/embedding.cuh"

#include "gpu/linear/linear_solver.cuh"
#include "gpu/linear/sparse_cholesky.h"
#include "gpu/model/element_group.h"
#include "tests/backend_test.h"
#include "tests/fixtures/embedded_model.h"
#include "tests/fixtures/frame_model.h"
#include "tests/linear/systems.h"

#include <Eigen/Cholesky>

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::add_box;
using fixtures::BoxBody;

using Dense = Eigen::MatrixXd;

/// Affine boxes, a deformable box between them, a box in a lattice, and a bar of frames: tets of the
/// deformable boxes, stencils of bones, then the control tets, with random blocks; masses; and contact
/// stencils with up to four nodes of any bodies.
struct EmbeddedSystem {
  Model model;
  test::Elements tets, stencils;
  std::vector<Real> diagonal;
  Dense j;  // 3n x 3n: zero columns for embedded nodes
  Embedding embedding;
  SplitMatrix matrix;
  std::vector<bool> is_free;

  EmbeddedSystem(Context& ctx, test::Random& random) {
    add_box(model, "a", {0.2, 0.1, 0.1}, {0, 0, 0}, 5, 10, {0, 0, 0},
            BoxBody::affine);  // 216 nodes: several chunks
    add_box(model, "soft", {0.1, 0.1, 0.1}, {1, 0, 0}, 1);
    add_box(model, "b", {0.1, 0.3, 0.1}, {2, 0, 0}, 1, 30, {0, 0, 0}, BoxBody::affine);
    fixtures::add_embedded_box(model, "lattice", {0.2, 0.1, 0.1}, {3, 0, 0}, 3, 0.07);
    fixtures::add_frame_bar(model, "bar", {0.4, 0.1, 0.1}, {4, 0, 0}, 3);
    const std::size_t n = model.node_count();
    for (const int body : {1, 3})
      for (const Vec4i& tet : tets_of(model, model.objects[body]))
        test::add_element(tets, random, tet, 3, Real(1), Real(0));
    for (const Vec4i& stencil : bone_stencils(model, model.objects[4]))
      test::add_element(tets, random, stencil, 3, Real(1), Real(0));
    for (const int body : {0, 2})
      test::add_element(tets, random, control_tet(model.objects[body]), 3, Real(1), Real(0));
    diagonal.assign(n, 0);
    std::vector<std::int32_t> mesh_nodes;
    for (const Object& object : model.objects)
      for (int i = object.node_begin; i < object.node_end; ++i) {
        diagonal[i] = random.uniform(Real(0.5), Real(2));
        mesh_nodes.push_back(i);
      }
    for (int k = 0; k < 60; ++k) {
      Vec4i nodes = random.stencil(mesh_nodes.size(), 1 + k % 4);
      for (int a = 0; a < 4; ++a)
        if (nodes[a] >= 0) nodes[a] = mesh_nodes[nodes[a]];
      test::add_element(stencils, random, nodes, 1, Real(5), Real(0));
    }

    embedding.load(ctx, model);
    matrix.set_pattern(ctx, n, tets.nodes, &embedding);
    matrix.keep_stiffness(true);
    const Buffer<Mat3> blocks(ctx, tets.blocks), stencil_blocks(ctx, stencils.blocks);
    const Buffer<Real> masses(ctx, diagonal);
    const Buffer<Vec4i> stencil_nodes(ctx, stencils.nodes);
    matrix.assemble(ctx, blocks.data());
    matrix.add_diagonal(ctx, masses.data());
    matrix.set_stencils(ctx, stencil_nodes.data(), stencil_nodes.size(), stencil_blocks.data());
    ctx.synchronize();

    j = Dense::Identity(3 * n, 3 * n);
    is_free.assign(n, true);
    for (const Object& body : model.objects) {
      if (body.is_embedded())
        for (const LatticeFollower& f : followers(model, body)) {
          is_free[f.node] = false;
          j.middleRows(3 * f.node, 3).setZero();
          for (int k = 0; k < leader_count(f.controls); ++k)
            for (int r = 0; r < 3; ++r) j(3 * f.node + r, 3 * f.controls[k] + r) = f.weights[k];
        }
      if (!body.is_affine()) continue;
      const auto weights = control_weights(model, body);
      for (int i = body.node_begin; i < body.node_end; ++i) {
        is_free[i] = false;
        j.middleRows(3 * i, 3).setZero();
        for (int k = 0; k < 4; ++k)
          for (int r = 0; r < 3; ++r)
            j(3 * i + r, 3 * (body.control_begin + k) + r) = weights[i - body.node_begin][k];
      }
    }
  }

  Dense reduced() const {
    const test::Sparse sparse = j.sparseView();
    return Dense(sparse.transpose() * test::to_eigen(model.node_count(), tets, stencils, diagonal) * sparse);
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Embedding, ExpandAndReduceAreTransposes) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const std::vector<Vec3> host = random.vectors(system.model.node_count());
  Buffer<Vec3> x(ctx, host), g(ctx, host);
  system.embedding.expand(ctx, x.data());
  system.embedding.reduce(ctx, g.data());
  const test::Vector v = test::to_eigen(host);
  EXPECT_LE((test::to_eigen(x.download(ctx)) - system.j * v).norm(), test::kRounding * v.norm());
  EXPECT_LE((test::to_eigen(g.download(ctx)) - system.j.transpose() * v).norm(),
            10 * test::kRounding * v.norm());
}

/// A way that turns and moves every node as (W + t) of a rigid motion keeps all distances within a body, and
/// is changed by O(|A|^2) only. Nodes of other solids keep their way.
BACKEND_TEST(Embedding, TurnedWaysStrainNoBody) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const auto n = system.model.node_count();
  std::vector<Vec3> x(n), p(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = system.model.rest_positions[i].template cast<Real>();
  const auto changed_by = [&](Real size, Real* strain) {
    const std::vector<Vec3> random_ways = random.vectors(2);
    const Vec3 w = size * normalized(random_ways[0]), t = random_ways[1];
    for (std::size_t i = 0; i < n; ++i) p[i] = cross(w, x[i]) + t;
    const Buffer<Vec3> at(ctx, x), way(ctx, p);
    Buffer<Vec3> out(ctx, n);
    system.embedding.turn(ctx, at.data(), way.data(), out.data());
    const std::vector<Vec3> turned = out.download(ctx);
    Real change = 0;
    for (std::size_t i = 0; i < n; ++i) change = std::max(change, norm(turned[i] - p[i]));
    *strain = 0;
    for (const int body : {0, 2}) {
      const Object& object = system.model.objects[body];
      for (int i = object.node_begin; i < object.control_begin + 4; ++i)
        for (int k = 0; k < 4; ++k) {
          const int c = object.control_begin + k;
          const Real before = norm(x[i] - x[c]), after = norm(x[i] + turned[i] - x[c] - turned[c]);
          *strain = std::max(*strain, std::abs(after - before));
        }
    }
    const Object& soft = system.model.objects[1];
    for (int i = soft.node_begin; i < soft.node_end; ++i) EXPECT_EQ(norm(turned[i] - p[i]), 0);
    return change;
  };
  Real strain;
  const Real large = changed_by(Real(0.4), &strain);
  EXPECT_LT(strain, test::kRounding);
  const Real small = changed_by(Real(0.04), &strain);
  EXPECT_LT(strain, test::kRounding);
  EXPECT_GT(large, Real(0.01) * Real(0.4));
  EXPECT_LT(small, Real(0.04) * large);
}

BACKEND_TEST(Embedding, TheMatrixActsAsTheDenseProduct) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const std::vector<Vec3> host = random.vectors(system.model.node_count());
  const Buffer<Vec3> x(ctx, host);
  Buffer<Vec3> y(ctx, host.size());
  Buffer<Real> dot(ctx, 1);
  system.matrix.multiply(ctx, x.data(), y.data(), dot.data());
  const Dense a = system.reduced();
  const test::Vector v = test::to_eigen(host), want = a * v;
  EXPECT_LE((test::to_eigen(y.download(ctx)) - want).norm(), 10 * test::kRounding * a.norm() * v.norm());
  EXPECT_NEAR(read_back(ctx, dot.data()), v.dot(want), 10 * test::kRounding * a.norm() * v.squaredNorm());
}

BACKEND_TEST(Embedding, BodyBlocksAreThoseOfTheDenseProduct) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const Dense a = system.reduced();
  std::vector<BodyBlock> blocks(2);
  copy_to_host(ctx, blocks.data(), system.matrix.body_blocks().data(), 2);
  std::vector<Real> stiffness(system.model.node_count());
  copy_to_host(ctx, stiffness.data(), system.matrix.stiffness(), stiffness.size());
  for (int b = 0; b < 2; ++b) {
    const Object& body = system.model.objects[2 * b];
    const Dense want = a.block(3 * body.control_begin, 3 * body.control_begin, 12, 12);
    const auto have = blocks[b].dense();
    for (int r = 0; r < 12; ++r)
      for (int c = 0; c < 12; ++c) EXPECT_NEAR(have(r, c), want(r, c), 10 * test::kRounding * want.norm());
    for (const int node : {body.node_begin, body.node_end - 1, body.control_begin, body.control_begin + 3})
      EXPECT_NEAR(stiffness[node], want.trace() / 4, 10 * test::kRounding * want.norm());
  }
}

/// At lattice nodes the block for preconditioners is that of J'A J without the couplings of embedded nodes.
BACKEND_TEST(Embedding, TheReducedDiagonalHasTheShareOfEachFollower) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const std::size_t n = system.model.node_count();
  const Dense a = test::to_eigen(n, system.tets, system.stencils, system.diagonal);
  const Dense reduced = system.reduced();
  std::vector<Mat3> have(n);
  copy_to_host(ctx, have.data(), system.matrix.reduced_diagonal(), n);
  std::vector<Real> stiffness(n);
  copy_to_host(ctx, stiffness.data(), system.matrix.stiffness(), n);
  for (const int body : {3, 4}) {
    const Object& box = system.model.objects[body];
    for (int c = box.node_begin; c < box.collides_from; ++c) {
      Dense want = a.block(3 * c, 3 * c, 3, 3);
      for (const LatticeFollower& f : followers(system.model, box))
        for (int k = 0; k < leader_count(f.controls); ++k)
          if (f.controls[k] == c) want += f.weights[k] * f.weights[k] * a.block(3 * f.node, 3 * f.node, 3, 3);
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s)
          EXPECT_NEAR(have[c](r, s), want(r, s), 10 * test::kRounding * reduced.norm()) << c;
    }
    for (const LatticeFollower& f : followers(system.model, box)) {
      EXPECT_EQ(stiffness[f.node], stiffness[f.controls[0]]);
      EXPECT_GT(stiffness[f.node], 0);
    }
  }
}

BACKEND_TEST(Embedding, EverySolveIsThatOfTheReducedSystem) {
  FRESH_SEED(seed);
  test::Random random(seed);
  EmbeddedSystem system(ctx, random);
  const std::size_t n = system.model.node_count();
  std::vector<Vec3> b = random.vectors(n), positions;
  for (const auto& p : system.model.positions) positions.push_back(p.cast<Real>());
  std::vector<std::uint8_t> fixed(n, 0);
  fixed[system.model.objects[1].node_begin] = 1;  // of the deformable body
  Dense a = system.reduced();
  for (std::size_t i = 0; i < n; ++i) {
    if (system.is_free[i] && fixed[i] == 0) continue;
    b[i] = Vec3::zero();
    a.middleRows(3 * i, 3).setZero();
    a.middleCols(3 * i, 3).setZero();
    a.diagonal().segment(3 * i, 3).setOnes();
  }
  const test::Vector want = system.j * a.ldlt().solve(test::to_eigen(b));

  const Buffer<Vec3> rhs(ctx, b);
  const Buffer<std::uint8_t> flags(ctx, fixed);
  const auto expect_solved = [&](const Params& params) {
    LinearSolver solver;
    solver.set_positions(positions);
    Buffer<Vec3> x(ctx, n);
    EXPECT_EQ(solver.solve(ctx, system.matrix, rhs.data(), x.data(), params, flags.data()).stop,
              PcgStop::converged);
    EXPECT_LE((test::to_eigen(x.download(ctx)) - want).norm(), 1000 * params.pcg_tolerance * want.norm());
  };
  Params params;
  params.pcg_tolerance = sizeof(Real) == 8 ? 1e-11 : 1e-6;
  for (const PreconditionerKind kind :
       {PreconditionerKind::none, PreconditionerKind::block_jacobi, PreconditionerKind::additive,
        PreconditionerKind::multilevel, PreconditionerKind::factors})
    for (const bool warm : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + (warm ? ", warm" : ""));
      params.preconditioner = kind;
      params.warm_start = warm;
      expect_solved(params);
    }
  if (!has_cholesky()) return;
  params.linear_solver = LinearSolverKind::cholesky;
  expect_solved(params);
}
