// RigidPrediction compared with rigid motions.
#include "gpu/elastic/rigid_prediction.cuh"

#include "gpu/math/quat.h"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(RigidPrediction, MovesObjectsAsTheirMomentaSay) {
  Model model;
  fixtures::add_box(model, "solid", {0.3, 0.1, 0.2}, {4, 0.2, -1}, 3);  // several chunks of nodes
  fixtures::add_box(model, "affine", {0.1, 0.2, 0.1}, {0, 1, 0}, 1, 10, {0, 0, 0}, fixtures::BoxBody::affine);
  fixtures::add_box(model, "held", {0.1, 0.1, 0.1}, {-2, 0, 0}, 1);
  ScriptedNodes script;
  script.nodes = {model.objects[2].node_begin};
  model.scripted.push_back(script);
  finalize(model);
  DeviceModel device;
  device.upload(ctx, model);
  device.select_acting(ctx, model, 0, 0.01, device.start.data());
  RigidPrediction prediction;
  prediction.load(ctx, device);

  // Every object turns about its centre and moves; a part of the solid's velocities is strain without
  // momenta.
  const double dt = 0.05;
  const Vec3d spin[3] = {{3, -8, 5}, {-4, 2, 11}, {1, 1, 1}}, shift[3] = {{1, 2, -3}, {0.5, 0, 7}, {1, 0, 0}};
  const std::vector<Real> mass = device.mass.download(ctx);
  Vec3d centre[3];
  for (int o = 0; o < 3; ++o) {
    double all = 0;
    centre[o] = {0, 0, 0};
    for (std::size_t i = 0; i < mass.size(); ++i) {
      if (model.node_object[i] != o) continue;
      centre[o] += double(mass[i]) * model.positions[i];
      all += mass[i];
    }
    centre[o] = (1 / all) * centre[o];
  }
  std::vector<Vec3> x, v;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const int o = model.node_object[i];
    const Vec3d arm = model.positions[i] - centre[o];
    x.push_back(model.positions[i].cast<Real>());
    v.push_back((shift[o] + cross(spin[o], arm)).cast<Real>());
  }
  Buffer<Vec3> at(ctx, x), velocity(ctx, v), ahead(ctx, x.size()), speed(ctx, x.size());
  prediction.predict(ctx, device, at.data(), velocity.data(), dt, ahead.data(), speed.data());
  const std::vector<Vec3> to = ahead.download(ctx), with = speed.download(ctx);
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-4;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int o = model.node_object[i];
    const Vec3d from = model.positions[i];
    const Vec3d want =
        o == 2 ? from : centre[o] + dt * shift[o] + rotation_by(dt * spin[o]).rotate(from - centre[o]);
    EXPECT_LE(norm(to[i].cast<double>() - want), tolerance) << i;
    EXPECT_LE(norm(with[i].cast<double>() - (1 / dt) * (want - from)), 100 * tolerance) << i;
  }
}
