// ObjectBalance compared with sums on the host.
#include "gpu/barrier/object_balance.cuh"

#include <random>

#include "gpu/core/cleared.h"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

TEST(ObjectBalance, IsTheLargestSumOfAnObjectOverItsFreeMass) {
  Context ctx;
  Model model;
  fixtures::add_box(model, "small", {0.1, 0.1, 0.1}, {0, 0.2, 0}, 1);
  fixtures::add_box(model, "large", {0.3, 0.1, 0.1}, {0, 0.4, 0}, 5);  // several chunks
  fixtures::add_box(model, "held", {0.1, 0.1, 0.1}, {0, 0.6, 0}, 1);
  ScriptedNodes script;
  const Object held = model.objects[2], large = model.objects[1];
  for (int i = held.node_begin; i < held.node_end; ++i) script.nodes.push_back(i);
  script.nodes.push_back(large.node_begin);
  model.scripted.push_back(script);
  finalize(model);
  DeviceModel device;
  device.upload(ctx, model);
  device.select_acting(ctx, model, 0, 0.01, device.start.data());
  ObjectBalance balance;
  balance.load(ctx, device);

  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const std::vector<Real> mass = device.mass.download(ctx);
  const std::vector<std::uint8_t> scripted = device.scripted.download(ctx);
  Buffer<Vec3> gradient;
  Buffer<double> out;
  resize_cleared(ctx, out, 1);
  for (const int pushed : {0, 1, 2}) {  // the object with the largest forces, of which the last is held
    std::vector<Vec3> g(model.positions.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      for (int c = 0; c < 3; ++c)
        g[i][c] = static_cast<Real>(uniform(random) + (model.node_object[i] == pushed ? 50 : 0));
    double want = 0;
    for (const Object& object : model.objects) {
      Vec<double, 3> sum{0, 0, 0};
      double free = 0;
      for (int i = object.node_begin; i < object.node_end; ++i) {
        if (scripted[i]) continue;
        sum += g[i].template cast<double>();
        free += mass[i];
      }
      if (free > 0) want = std::max(want, norm(sum) / free);
    }
    gradient.upload(ctx, g);
    balance.launch_measure(ctx, device, gradient.data(), 0.02, out.data());
    EXPECT_NEAR(read_back(ctx, out.data()), 0.02 * want, 1e-12 * want) << pushed;
  }
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND
