#include "gpu/linear/pcg_grid.cuh"

#include "gpu/linear/pcg.cuh"
#include "tests/backend_test.h"
#include "tests/linear/device_system.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// PCG with all memory laid out here, so that the resident kernel runs on each backend.
struct GridSolve {
  GridSolve(Context& ctx, const test::System& system, const std::vector<Vec3>& rhs,
            const std::vector<std::uint8_t>& fixed_nodes)
      : device(ctx, system), fixed(ctx, fixed_nodes) {
    const std::size_t n = system.node_count;
    rows.set_pattern(ctx, make_pattern(n, system.tets.nodes, LowerProduct::chunk_size(n)));
    preconditioner.build(ctx, device.matrix, {}, fixed.data());
    for (Buffer<Vec3>* vector : {&x, &r, &z, &p, &q}) {
      vector->resize(ctx, n);
      fill(ctx, vector->data(), n, Vec3::zero());
    }
    r.upload(ctx, rhs);
    other_p.resize(ctx, n);
    run_of_node.resize(ctx, n);
    history.resize(ctx, 10001);
    state.resize(ctx, 1);
    squares.resize(ctx, 1);
  }

  PcgResult run(Context& ctx, const PcgSettings& settings) {
    const PcgVectors v{x.data(),           r.data(),       z.data(),
                       p.data(),           q.data(),       other_p.data(),
                       run_of_node.data(), fixed.data(),   preconditioner.local(),
                       state.data(),       squares.data(), history.data()};
    start(ctx, v, x.size(), settings);
    const RowView view = rows.view(device.matrix.diagonal(), device.matrix.lower());
    iterate_on_grid(ctx, device.matrix.resident(view), v);
    return Pcg::result_of(read_back(ctx, state.data()));
  }

  static void start(Context& ctx, const PcgVectors& v, std::size_t n, const PcgSettings& settings) {
    launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
      PcgState s{};
      for (std::size_t i = 0; i < n; ++i) {
        if (v.fixed[i] != 0) v.r[i] = Vec3::zero();
        v.z[i] = v.local.apply(i, v.r[i]);
        s.now = s.now + PcgSquares{dot(v.r[i], v.z[i]), norm2(v.r[i]), Real(0)};
      }
      s.best = s.reference = s.now.rz;
      s.last = settings.max_iterations;
      s.set_targets(settings, s.now.rr);
      s.judge();
      *v.state = s;
    });
  }

  DeviceSystem device;
  RowProduct rows;
  Preconditioner preconditioner;
  Buffer<std::uint8_t> fixed;
  Buffer<Vec3> x, r, z, p, q, other_p;
  Buffer<std::int32_t> run_of_node;
  Buffer<Real> history;
  Buffer<PcgState> state;
  Buffer<PcgSquares> squares;
};

}  // namespace stickslip::STICKSLIP_BACKEND

// One resident kernel and a repeated graph give the same iterations, with and without stencils and fixed
// nodes.
BACKEND_TEST(PcgGrid, IteratesAsTheGraphDoes) {
  FRESH_SEED(seed);
  test::Random random(seed);
  const Real tight = sizeof(Real) == 8 ? Real(1e-10) : Real(1e-5);
  for (const std::size_t stencils : {0, 250}) {
    const test::System system = test::make_system(random, 9, 10, 11, stencils);
    const std::size_t n = system.node_count;
    const std::vector<Vec3> b = random.vectors(n);
    std::vector<std::uint8_t> fixed(n, 0);
    for (std::size_t i = 0; i < n; i += 7) fixed[i] = 1;
    PcgSettings settings{tight, 5000};
    settings.most_resident_nodes = 0;

    GridSolve grid(ctx, system, b, fixed);
    const PcgResult resident = grid.run(ctx, settings);
    const Buffer<Vec3> rhs(ctx, b);
    Buffer<Vec3> x(ctx, n);
    Pcg pcg;
    const PcgResult repeated =
        pcg.solve(ctx, grid.device.matrix, rhs.data(), x.data(), settings, grid.fixed.data());
    EXPECT_EQ(resident.stop, PcgStop::converged);
    EXPECT_EQ(repeated.stop, PcgStop::converged);
    EXPECT_NEAR(resident.iterations, repeated.iterations, 2 + repeated.iterations / 20);
    const test::Vector got = test::to_eigen(grid.x.download(ctx)), want = test::to_eigen(x.download(ctx));
    EXPECT_LE((got - want).norm(), 1e4 * tight * want.norm());

    // The first residuals agree up to the order of sums.
    const std::vector<Real> first = pcg.history(ctx);
    std::vector<Real> second(6);
    copy_to_host(ctx, second.data(), grid.history.data(), second.size());
    for (std::size_t k = 1; k < second.size(); ++k)
      EXPECT_NEAR(second[k] / first[k], 1, 1e3 * test::kRounding);
  }
}

BACKEND_TEST(PcgGrid, StopsAtTheCapAndAtNonPositiveCurvature) {
  test::Random random(8);
  test::System system = test::make_system(random, 5, 5, 5, 20);
  const std::vector<Vec3> b = random.vectors(system.node_count);
  const std::vector<std::uint8_t> fixed(system.node_count, 0);
  GridSolve capped(ctx, system, b, fixed);
  const PcgResult result = capped.run(ctx, {Real(1e-30), 3});
  EXPECT_EQ(result.stop, PcgStop::iteration_cap);
  EXPECT_EQ(result.iterations, 3);

  // Diagonal blocks are positive, but a translation of all nodes has negative energy.
  for (Mat3& block : system.tets.blocks) block = Mat3::zero();
  for (std::size_t t = 0; t < system.tets.nodes.size(); ++t)
    system.tets.blocks[kCornerBlocks * t + corner_block(1, 0)] = Mat3::identity() * Real(-50);
  GridSolve indefinite(ctx, system, std::vector<Vec3>(system.node_count, Vec3::filled(1)), fixed);
  EXPECT_EQ(indefinite.run(ctx, {}).stop, PcgStop::indefinite);
  EXPECT_EQ(indefinite.x.download(ctx), std::vector<Vec3>(system.node_count, Vec3::zero()));
}
