// Animations of whole shapes and of meshCO.
#include <cmath>

#include "app/io/ipc/ipc_director.h"

namespace stickslip::ipc {
namespace {

/// Angle [rad] by which a point at `arm` from an axis along z at height `axis_y` turns to reach height `y`;
/// 1e30 when it never does.
double angle_down_to(double y, const Vec3d& arm, double axis_y) {
  const double radius = std::hypot(arm[0], arm[1]), sine = (y - axis_y) / radius;
  if (arm[1] + axis_y <= y) return 0;
  if (!(sine >= -1)) return 1e30;
  return std::fmod(3 * kPi - std::asin(sine) - std::atan2(arm[1], arm[0]), 2 * kPi);
}

}  // namespace

void Director::add_shape_scripts() {
  const auto spin = [this](const std::vector<Vec3d>& rates) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const Nodes nodes = shape(static_cast<int>(i));
      follow(nodes, turning(rates[i], bounds(nodes).center()));
    }
  };
  actions_["DCORotCylinders"] = [=] {
    spin({{kPi / 2, 0, 0}, {-kPi / 2, 0, 0}, {0, 0, -kPi / 2}, {0, 0, kPi / 2}});
  };
  actions_["DCOVerschoorRoller"] = [=] {
    spin({{0, 0, -4}, {0, 0, -2}, {0, 0, 2}, {0, 0, 4}, {2, 0, 0}, {-2, 0, 0}});
  };
  // Pairs of shapes approach along an axis until the first pair's gap along x is `least`, then separate.
  const auto squash = [this](int pairs, double least) {
    const double gap = bounds(shape(1)).low[0] - bounds(shape(0)).high[0];
    for (int pair = 0; pair < pairs; ++pair)
      for (const int side : {0, 1}) {
        Vec3d axis{0, 0, 0};
        axis[pair] = 1;
        follow(shape(2 * pair + side), ruled(
                                           axis,
                                           [=](const Vec3d& moved, Vec3d& velocity) {
                                             if (gap - 2 * moved[pair] < least) velocity = -velocity;
                                           },
                                           side == 0 ? 1 : -1));
      }
  };
  actions_["DCOSquash"] = [=] { squash(1, 0.1); };
  actions_["DCOSquash6"] = [=] { squash(3, 0.1); };
  actions_["DCOSegBedSquash"] = [this] {
    const int count = static_cast<int>(layout_.bodies.size());
    const Vec3d velocity{0, -1, 0};
    IpcBounds top, bottom;
    for (int b = 0; b < count; ++b)
      if (kinematic(b))
        for (const std::int32_t i : shape(b)) (b >= (count + 1) / 2 ? top : bottom).include(nodes_[i]);
    const double gap = top.low[1] - bottom.high[1];
    const double stop = time_of(velocity, [&](const Vec3d& moved) { return !(gap + moved[1] > 0.1); });
    for (int b = (count + 1) / 2; b < count; ++b)
      if (kinematic(b)) follow(shape(b), until(velocity, stop));
  };
  actions_["DCOSqueezeOut"] = [this] {
    const Vec3d velocity{0, -0.3, 0};
    const IpcBounds top = bounds(shape(0)), bottom = bounds(shape(1));
    const double floor = bottom.low[1] + bottom.size()[1] / 3.8 * 0.9;
    if (kinematic(0))
      follow(shape(0), until(velocity, time_of(velocity, [&](const Vec3d& moved) {
                               return !(top.high[1] + moved[1] > floor);
                             })));
  };
  actions_["DCOHammerWalnut"] = [this] {
    const Nodes nodes = shape(1);
    const IpcBounds box = bounds(nodes);
    const double rate = kPi / 6, floor = 0.05;
    Motion motion = turning({0, 0, rate}, {box.high[0], box.low[1], box.center()[2]});
    double angle = 1e30;  // at which the first node reaches the floor
    for (const std::int32_t i : nodes)
      angle = std::min(angle, angle_down_to(floor, nodes_[i] - motion.center, motion.center[1]));
    if (angle < 1e30) motion.end = std::ceil(angle / (rate * script_.dt) - 1e-9) * script_.dt;
    follow(nodes, motion.end > 0 ? motion : Motion());
  };
  actions_["DCOCut"] = [this] {
    const Vec3d velocity{0, -1, -1};
    const double lowest = bounds(shape(1)).low[1];
    follow(
        shape(1),
        until(velocity, time_of(velocity, [&](const Vec3d& moved) { return !(lowest + moved[1] > 0.001); })));
  };
}

void Director::add_mesh_scripts() {
  const auto need = [this](std::size_t count) {
    if (script_.mesh_colliders.size() < count) fail("needs at least " + std::to_string(count) + " meshCO");
  };
  actions_["MCOSquash"] = [=, this] {
    need(2);
    const double gap = script_.mesh_colliders[1].origin[0] - script_.mesh_colliders[0].origin[0];
    const Rule rule = [=](const Vec3d& moved, Vec3d& velocity) {
      if (gap - 2 * moved[0] < 1.5) velocity = -velocity;
    };
    out_.mesh_motions[0] = ruled({1, 0, 0}, rule);
    out_.mesh_motions[1] = ruled({1, 0, 0}, rule, -1);
  };
  actions_["MCORotSquash"] = [=, this] {
    need(2);
    for (const int i : {0, 1}) {
      Vec3d center = script_.mesh_colliders[i].origin;
      center[1] += (i == 0 ? 0.5 : -0.5) * script_.mesh_colliders[i].size;
      out_.mesh_motions[i] = turning({0, 0, kPi}, center);
    }
  };
  actions_["MCORotCylinders"] = [=, this] {
    need(4);
    const Vec3d rates[] = {{kPi / 2, 0, 0}, {-kPi / 2, 0, 0}, {0, 0, -kPi / 2}, {0, 0, kPi / 2}};
    for (int i = 0; i < 4; ++i) out_.mesh_motions[i] = turning(rates[i], script_.mesh_colliders[i].origin);
  };
}

}  // namespace stickslip::ipc
