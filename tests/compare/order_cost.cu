#include "tests/compare/order_cost.h"

#include <algorithm>
#include <cmath>

#include "gpu/core/atomics.h"
#include "gpu/core/timer.h"
#include "gpu/linear/node_gather.cuh"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Seconds of one call: the minimum of a few rounds.
template <class Work>
double seconds_of(Context& ctx, Work work) {
  constexpr int kRounds = 5, kCalls = 10;
  double best = 1e300;
  for (int round = 0; round <= kRounds; ++round) {
    DeviceTimer timer(ctx);
    for (int i = 0; i < kCalls; ++i) work();
    const double seconds = timer.seconds() / kCalls;
    if (round > 0) best = std::min(best, seconds);  // the first round is a warm-up
  }
  return best;
}

inline void add_by_atomics(Context& ctx, const Vec4i* stencil, std::size_t corners, const Vec3* value,
                           Vec3* sum) {
  launch(ctx, corners, [=] SS_LAMBDA(std::size_t c) {
    Vec3& target = sum[stencil[c / 4][static_cast<int>(c % 4)]];
    for (int i = 0; i < 3; ++i) atomic_add(&target[i], value[c][i]);
  });
}

compare::OrderCost order_cost(int cells, int threads) {
  const fixtures::BoxMesh lattice = fixtures::box_lattice({1, 1, 1}, {0, 0, 0}, {cells, cells, cells});
  Context ctx(threads);
  compare::OrderCost cost;
  cost.corners = 4 * lattice.tets.size();
  cost.nodes = lattice.nodes.size();
  Buffer<Vec4i> stencils(ctx, lattice.tets);
  Buffer<Vec3> values(ctx, cost.corners), in_order(ctx, cost.nodes), as_they_come(ctx, cost.nodes);
  Vec3* value = values.data();
  launch(ctx, cost.corners, [=] SS_LAMBDA(std::size_t c) {
    value[c] = {Real(1) / Real(c + 1), Real(c % 17) - Real(8), Real(0.1)};
  });
  NodeGather gather;
  cost.order = seconds_of(ctx, [&] { gather.build(ctx, stencils.data(), lattice.tets.size(), cost.nodes); });
  const auto sum_in_order = [&] {
    fill(ctx, in_order.data(), cost.nodes, Vec3::zero());
    gather.sum(
        ctx, [=] SS_LAMBDA(std::int32_t corner) { return value[corner]; }, in_order.data());
  };
  const auto sum_as_they_come = [&] {
    fill(ctx, as_they_come.data(), cost.nodes, Vec3::zero());
    add_by_atomics(ctx, stencils.data(), cost.corners, value, as_they_come.data());
  };
  cost.gather = seconds_of(ctx, sum_in_order);
  cost.atomics = seconds_of(ctx, sum_as_they_come);
  const std::vector<Vec3> a = in_order.download(ctx), b = as_they_come.download(ctx);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    cost.apart = std::max(cost.apart, static_cast<double>(norm(a[i] - b[i])));
    most = std::max(most, static_cast<double>(norm(a[i])));
  }
  cost.apart /= most;
  return cost;
}

}  // namespace stickslip::STICKSLIP_BACKEND
