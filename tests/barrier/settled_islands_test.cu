// SettledIslands: which objects settle and which move again, told by hand.
#include "gpu/barrier/settled_islands.cuh"

#include <algorithm>
#include <array>

#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Boxes in a row that do not touch, each of its own nodes.
struct Row {
  Row(Context& ctx, int count, std::span<const Vec4i> bridges = {}) : ctx(ctx) {
    for (int i = 0; i < count; ++i)
      fixtures::add_box(model, "box " + std::to_string(i), {0.1, 0.1, 0.1}, {0.3 * i, 0.2, 0}, 1);
    finalize(model);
    device.upload(ctx, model);
    device.select_acting(ctx, model, 0, 0.01, device.start.data());
    n = model.positions.size();
    islands.load(ctx, device, bridges);
    balance.load(ctx, device);
    fixed.assign(n, 0);
    p.assign(n, Vec3::zero());
    r.assign(n, Vec3::zero());
    g.assign(n, Vec3::zero());
  }

  void begin() {
    Buffer<std::uint8_t> flags;
    flags.upload(ctx, fixed);
    islands.begin(ctx, flags.data());
  }
  int node(int object, int k = 0) const { return model.objects[object].node_begin + k; }
  Vec4i between(int a, int b) const { return {node(a), node(b), -1, -1}; }

  /// Measures p, r and g, and updates with these contacts.
  bool update(const std::vector<Vec4i>& contacts = {}, bool walked = true) {
    Buffer<Vec3> direction, residual, gradient;
    Buffer<double> largest;
    Buffer<Vec4i> nodes;
    direction.upload(ctx, p);
    residual.upload(ctx, r);
    gradient.upload(ctx, g);
    largest.resize(ctx, 1);
    nodes.upload(ctx, contacts);
    balance.launch_measure(ctx, device, gradient.data(), 1, largest.data());
    islands.measure(ctx, direction.data(), residual.data(), balance, limits);
    islands.connect(ctx, nodes.data(), contacts.size());
    return islands.update(ctx, walked);
  }

  /// By object: 1 settled, 0 not; the flags have to agree on all its nodes that are not fixed.
  std::vector<int> settled() const {
    std::vector<std::uint8_t> flags(n);
    if (islands.flags() != nullptr) copy_to_host(ctx, flags.data(), islands.flags(), n);
    std::vector<int> out;
    for (const Object& object : model.objects) {
      int most = 0, least = 1;
      for (int i = object.node_begin; i < object.node_end; ++i) {
        if (fixed[i] != 0) continue;
        most = std::max<int>(most, flags[i]);
        least = std::min<int>(least, flags[i]);
      }
      const bool all_fixed = least > most;
      EXPECT_TRUE(most == least || all_fixed) << object.name;
      out.push_back(most);
    }
    return out;
  }

  Context& ctx;
  Model model;
  DeviceModel device;
  SettledIslands islands;
  ObjectBalance balance;
  std::size_t n = 0;
  std::vector<std::uint8_t> fixed;
  std::vector<Vec3> p, r, g;
  SettledIslands::Limits limits{0.01, 0.01, 1e-3, 1e-3};
};

using Flags = std::vector<int>;

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(SettledIslands, SettleWhereTheNewtonStepIsShort) {
  Row row(ctx, 3);
  row.begin();
  EXPECT_TRUE(row.islands.has_several());
  EXPECT_EQ(row.islands.flags(), nullptr);
  row.p[row.node(1, 3)] = {0, Real(2e-5), 0};  // twice the limit
  EXPECT_FALSE(row.update({}, false)) << "the step was cut";
  EXPECT_TRUE(row.update());
  EXPECT_EQ(row.settled(), (Flags{1, 0, 1}));
  EXPECT_EQ(row.islands.settled_nodes(), 16U);
  EXPECT_FALSE(row.update()) << "nothing is new";
  row.p[row.node(1, 3)] = {0, Real(0.9e-5), 0};
  EXPECT_TRUE(row.update());
  EXPECT_EQ(row.settled(), (Flags{1, 1, 1}));
  EXPECT_TRUE(row.islands.release());
  EXPECT_EQ(row.settled(), (Flags{0, 0, 0}));
  EXPECT_FALSE(row.islands.release());
}

BACKEND_TEST(SettledIslands, NeedTheBalanceOfMomentumAndAPreciseSolve) {
  Row row(ctx, 3);
  row.begin();
  double mass = 0;
  for (int i = row.node(0); i < row.node(1); ++i)
    mass += static_cast<double>(row.device.mass.download(ctx)[i]);
  // A force that changes the speed by 1.1 times the limit in a step.
  row.g[row.node(0, 2)] = {static_cast<Real>(1.1 * mass * 1e-3 / 0.01), 0, 0};
  // A residual whose root mean square over the object is that of a speed of 1.1 times the limit.
  for (int i = row.node(1); i < row.node(2); ++i)
    row.r[i] = {0, 0, static_cast<Real>(1.1 * row.device.mass.download(ctx)[i] * 1e-3 / 0.01)};
  EXPECT_TRUE(row.update());
  EXPECT_EQ(row.settled(), (Flags{0, 0, 1}));
  EXPECT_TRUE(row.islands.asks_for_balance()) << "of box 0, whose step was short";
  for (Vec3& f : row.g) f *= Real(0.9 / 1.1);
  for (Vec3& f : row.r) f *= Real(0.9 / 1.1);
  EXPECT_TRUE(row.update());
  EXPECT_FALSE(row.islands.asks_for_balance());
  EXPECT_EQ(row.settled(), (Flags{1, 1, 1}));
}

BACKEND_TEST(SettledIslands, ContactsConnectAndWake) {
  Row row(ctx, 4);
  row.begin();
  row.p[row.node(3)] = {1, 0, 0};
  // 2 touches 3, which moves.
  EXPECT_TRUE(row.update({row.between(0, 1), row.between(2, 3)}));
  EXPECT_EQ(row.settled(), (Flags{1, 1, 0, 0}));
  // 2 comes to 1: its island moves again, and all of it, although pairs inside it are left out.
  EXPECT_TRUE(row.update({row.between(2, 1), row.between(2, 3)}));
  EXPECT_EQ(row.settled(), (Flags{0, 0, 0, 0}));
  // What has only just come into contact has not been computed with it, however short its step was.
  row.p[row.node(3)] = Vec3::zero();
  EXPECT_TRUE(row.update({row.between(0, 1), row.between(2, 3)}));
  EXPECT_EQ(row.settled(), (Flags{1, 1, 1, 1}));
}

BACKEND_TEST(SettledIslands, NewContactsWakeEvenWhatHasConverged) {
  Row row(ctx, 3);
  row.begin();
  row.p[row.node(2)] = {1, 0, 0};
  EXPECT_TRUE(row.update());
  EXPECT_EQ(row.settled(), (Flags{1, 1, 0}));
  row.p[row.node(2)] = Vec3::zero();
  EXPECT_TRUE(row.update({row.between(1, 2)}));
  EXPECT_EQ(row.settled(), (Flags{1, 0, 0}));
}

BACKEND_TEST(SettledIslands, FixedNodesConnectNothing) {
  Row row(ctx, 3);
  for (int i = row.node(1); i < row.node(2); ++i) row.fixed[i] = 1;
  row.begin();
  row.p[row.node(2)] = {1, 0, 0};
  EXPECT_TRUE(row.update({row.between(0, 1), row.between(1, 2)}));
  const Flags settled = row.settled();
  EXPECT_EQ(settled[0], 1);
  EXPECT_EQ(settled[2], 0);
  // One object that moves: there is nothing to gain.
  for (int i = row.node(0); i < row.node(1); ++i) row.fixed[i] = 1;
  row.begin();
  EXPECT_FALSE(row.islands.has_several());
}

BACKEND_TEST(SettledIslands, ElementsBetweenObjectsConnectThem) {
  const std::array<Vec4i, 2> bridges{Vec4i{0, 8, -1, -1}, Vec4i{0, 1, 2, 3}};  // box 0 and 1; box 0 alone
  Row row(ctx, 3, bridges);
  row.begin();
  row.p[row.node(1)] = {1, 0, 0};
  EXPECT_TRUE(row.update());
  EXPECT_EQ(row.settled(), (Flags{0, 0, 1}));
}
