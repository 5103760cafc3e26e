#include "app/io/ipc/ipc_animation.h"

#include <cmath>

#include "app/io/ipc/ipc_director.h"

namespace stickslip {
namespace ipc {

Motion Director::ruled(Vec3d velocity, const Rule& rule, double sign) const {
  Motion motion;
  Vec3d moved{0, 0, 0}, last{0, 0, 0};
  bool constant = true;
  const int frames = ipc_frames(script_);
  motion.keys.push_back({});
  for (int k = 0; k < frames; ++k) {
    const Vec3d before = velocity;
    rule(moved, velocity);
    if (!(velocity == before) || k == 0) last = velocity;
    if (!(velocity == before) && k > 0) {
      constant = false;
      motion.keys.push_back({k * script_.dt, sign * moved, {0, 0, 0}});
    }
    moved += script_.dt * velocity;
  }
  if (constant) return moving(sign * last);
  motion.keys.push_back({frames * script_.dt, sign * moved, {0, 0, 0}});
  return motion;
}

void Director::add_holds() {
  const auto nothing = [] {};
  for (const char* name : {"fall", "fallNoShift", "DCOFix", "meshSeqFromFile"}) actions_[name] = nothing;
  actions_["null"] = [this] { add_shape_motions(script_, layout_, out_); };
  actions_["hang"] = [this] {
    for (const int side : {0, 1}) hold({end(side).back()});
  };
  actions_["hang2"] = [this] { hold(high(1, 0.01)); };
  actions_["hangTopLeft"] = [this] {
    Nodes nodes = end(0);
    std::erase_if(nodes, [&](std::int32_t i) {
      const Vec3d& p = nodes_[i];
      return !(above(p, 1, 0.01) && (above(p, 2, 0.01) || below(p, 2, 0.01)));
    });
    hold(nodes);
  };
  actions_["hangLeft"] = actions_["stamp"] = [this] { hold(end(0)); };
  actions_["stampTopLeft"] = [this] {
    Nodes nodes = end(0);
    std::erase_if(nodes, [&](std::int32_t i) { return !above(nodes_[i], 1, 0.01); });
    hold(nodes);
  };
  actions_["stampBoth"] = [this] {
    for (const int side : {0, 1}) hold(end(side));
  };
  actions_["swing"] = [this] { hold(low(0, 0.05)); };
  actions_["stand"] = [this] { hold(low(1, 0.01)); };
  actions_["fixLowerHalf"] = [this] { hold(low(1, 0.5)); };
  actions_["topbottomfix"] = [this] {
    hold(low(1, 0.02));
    hold(high(1, 0.02));
  };
  actions_["corner"] = [this] {
    hold(where([&](const Vec3d& p) { return below(p, 0, 0.01) || below(p, 1, 0.01) || below(p, 2, 0.01); }));
  };
  actions_["fixRightMost1"] = [this] {
    Nodes nodes = high(0, 1e-3);
    nodes.resize(1);
    hold(nodes);
  };
}

void Director::add_moves() {
  // The two ends move in opposite directions along x; `velocity` is that of the end at low x.
  const auto ends = [this](const Vec3d& velocity, const Rule& rule, double spin) {
    const Vec3d center = unturned_bounds().center();
    for (const int side : {0, 1}) {
      const double sign = side == 0 ? 1 : -1;
      Motion motion = ruled(velocity, rule, sign);
      motion.angular_velocity[0] = sign * spin;
      motion.center = center;
      follow(end(side), motion);
    }
  };
  const Rule steady = [](const Vec3d&, Vec3d&) {};
  const auto between = [](int axis, double least, double most) -> Rule {
    return [=](const Vec3d& moved, Vec3d& velocity) {
      if (moved[axis] <= least || moved[axis] >= most) velocity[axis] = -velocity[axis];
    };
  };
  actions_["stretch"] = [=] { ends({-0.1, 0, 0}, steady, 0); };
  actions_["squash"] = [=] { ends({0.03, 0, 0}, steady, 0); };
  actions_["stretchnsquash"] = [=] { ends({-0.9, 0, 0}, between(0, -0.8, 0.4), 0); };
  actions_["twist"] = [=] { ends({0, 0, 0}, steady, -0.4 * kPi); };
  actions_["twistnstretch"] = [=] { ends({-0.1, 0, 0}, steady, -0.1 * kPi); };
  actions_["twistnsns"] = [=] { ends({-1.2, 0, 0}, between(0, -1.2, 0.4), -0.4 * kPi); };
  actions_["twistnsns_old"] = [=] { ends({-0.9, 0, 0}, between(0, -0.8, 0.4), -0.4 * kPi); };
  actions_["upndown"] = [=] { ends({0, 1.8, 0}, between(1, -0.6, 0.6), 0); };
  actions_["undstamp"] = [this, between] { follow(end(0), ruled({0, 1.8, 0}, between(1, -0.6, 0.6))); };
  actions_["bend"] = [this] {
    for (const int side : {0, 1}) {
      Nodes nodes = end(side);
      const std::int32_t pivot = nodes.back();
      nodes.pop_back();
      hold({pivot});
      follow(nodes, turning({0, 0, (side == 0 ? -0.05 : 0.05) * kPi}, nodes_[pivot]));
    }
  };
  actions_["stretchAndPause"] = [this] {
    const Nodes left = low(0, 0.01);
    const double start = nodes_[left.back()][0];
    const Vec3d velocity{-1, 0, 0};
    const double stop = time_of(velocity, [&](const Vec3d& moved) { return start + moved[0] < -0.28; });
    follow(left, until(velocity, stop));
    follow(high(0, 0.01), until(-velocity, stop));
  };
  actions_["dragdown"] = [this] {
    move(where([&](const Vec3d& p) {
           return below(p, 1, 0.1) && below(p, 0, 0.52) && p[0] > box_.low[0] + 0.42 * box_.size()[0];
         }),
         {0, -1.5, 0});
  };
  actions_["dragright"] = [this] { move(high(0, 0.04), {0.5, 0, 0}); };
  actions_["pushRightMost1"] = [this] {
    Nodes nodes = high(0, 1e-3);
    nodes.resize(1);
    move(nodes, {-0.15, 0, 0});
  };
  actions_["curtain"] = [this] {
    for (int pin = 0; pin < 8; ++pin) {
      const double x = box_.low[0] + box_.size()[0] * pin / 7, half = 0.0025 * box_.size()[0];
      move(where([&](const Vec3d& p) { return std::abs(p[0] - x) < half && above(p, 1, 0.005); }),
           {0.04 * (7 - pin) / 7, 0, 0});
    }
  };
}

void Director::add_pulls() {
  actions_["push"] = [this] {
    hold(low(1, 0.01));
    const Vec3d velocity{0, -1, 0};
    follow(high(1, 0.01),
           until(velocity, time_of(velocity, [](const Vec3d& moved) { return moved[1] <= -0.5; })));
  };
  actions_["tear"] = [this] {
    hold(low(1, 0.01));
    follow(high(1, 0.01), ruled({-5, 0, 0}, [](const Vec3d& moved, Vec3d& velocity) {
             if (moved[0] <= -4) velocity = -velocity;
           }));
  };
  actions_["rubberBandPull"] = [this] {
    const Vec3d pull{-2.5, 0, 0};
    const double stop = time_of(pull, [](const Vec3d& moved) { return moved[0] <= -5; });
    follow(low(1, 0.02), until({0, -0.2, 0}, stop));
    follow(high(1, 0.02), until({0, 0.2, 0}, stop));
    follow(where([&](const Vec3d& p) {
             return p[1] < box_.high[1] - 0.48 * box_.size()[1] && p[1] > box_.low[1] + 0.48 * box_.size()[1];
           }),
           moving(pull), 0, stop);
  };
  actions_["fourLegPull"] = [this] {
    const double stop = time_of({0, -3.5, 0}, [](const Vec3d& moved) { return moved[1] <= -5; });
    const auto left_top = [&](const Vec3d& p) { return above(p, 1, 0.129) && below(p, 0, 0.16); };
    const auto right_top = [&](const Vec3d& p) { return above(p, 1, 0.16) && above(p, 0, 0.16); };
    const auto right_bottom = [&](const Vec3d& p) { return below(p, 1, 0.02) && above(p, 0, 0.25); };
    const auto left_bottom = [&](const Vec3d& p) { return below(p, 1, 0.02) && below(p, 0, 0.25); };
    hold(where(left_top));
    follow(where([&](const Vec3d& p) { return right_top(p) && !left_top(p); }), moving({2.5, 0, 0}), 0, stop);
    follow(where(right_bottom), moving({2.5, -3.5, 0}), 0, stop);
    follow(where([&](const Vec3d& p) { return left_bottom(p) && !right_bottom(p); }), moving({0, -3.5, 0}), 0,
           stop);
  };
  actions_["headTailPull"] = [this] {
    const Vec3d pull{3.5, 0, 0};
    const double stop = time_of(pull, [](const Vec3d& moved) { return moved[0] >= 4.5; });
    follow(low(2, 0.02), moving(pull), 0, stop);
    follow(high(2, 0.02), moving(pull), 0, stop);
    hold(where(
        [&](const Vec3d& p) { return below(p, 2, 0.54) && p[2] > box_.low[2] + 0.46 * box_.size()[2]; }));
  };
  actions_["toggleTop"] = [this] {
    const Vec3d pull{-0.5, 0, 0};
    follow(high(1, 0.02), moving(pull), 0,
           time_of(pull, [](const Vec3d& moved) { return moved[0] <= -0.1; }));
  };
}

void Director::add_starts_and_forces() {
  const auto start = [this](Nodes nodes, const Vec3d& velocity) {
    if (!nodes.empty()) out_.starts.push_back({std::move(nodes), velocity});
  };
  actions_["leftHitRight"] = [=, this] { start(low(0, 0.5), {1, 0, 0}); };
  actions_["drop"] = [=, this] {
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) start(shape(static_cast<int>(b)), {0, -1, 0});
  };
  actions_["XYRotate"] = [=, this] {
    start(low(1, 0.01), {1, 0, 0});
    start(high(1, 0.01), {-1, 0, 0});
  };
  actions_["DCOBallHitWall"] = [=, this] {
    const double speed = script_.animation_params.empty() ? 1000 : script_.animation_params[0];
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) start(shape(static_cast<int>(b)), {speed, 0, 0});
  };
  actions_["NMFixBottomDragLeft"] = [this] {
    hold(low(1, 0.05));
    push(high(1, 0.05), {-600, 0, 0});
  };
  actions_["NMFixBottomDragForward"] = [this] {
    hold(low(1, 0.05));
    push(high(1, 0.05), {0, 0, 600});
  };
  actions_["utopiaComparison"] = [this] {
    const double margin = 1e-4 * box_.size()[0];  // of the extent along x, as in the reference
    push(where([&](const Vec3d& p) { return p[1] > box_.high[1] - margin; }), {0, -1.5, 0});
    hold(where([&](const Vec3d& p) { return p[1] < box_.low[1] + margin && p[1] <= box_.high[1] - margin; }));
  };
}

}  // namespace ipc

int ipc_frames(const IpcScript& script) {
  return static_cast<int>(std::clamp(std::ceil(script.duration / script.dt - 1e-9), 1.0, 1e6));
}

std::vector<std::string> ipc_animation_names() { return ipc::Director(IpcScript{}, IpcLayout{}).names(); }

IpcAnimation animate(const IpcScript& script, const IpcLayout& layout) {
  return ipc::Director(script, layout).direct(script.animation);
}

}  // namespace stickslip
