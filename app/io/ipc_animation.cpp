#include "app/io/ipc_animation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "app/io/ipc_boundary.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Nodes = std::vector<std::int32_t>;

constexpr double kPi = std::numbers::pi;

/// Changes a velocity before a step; `moved` is the way so far.
using Rule = std::function<void(const Vec3d& moved, Vec3d& velocity)>;

Motion moving(const Vec3d& velocity) {
  Motion motion;
  motion.velocity = velocity;
  return motion;
}

Motion turning(const Vec3d& angular_velocity, const Vec3d& center) {
  Motion motion;
  motion.angular_velocity = angular_velocity;
  motion.center = center;
  return motion;
}

/// By how much a point at `arm` from an axis along z at height `axis_y` turns until it is down at `y` [rad];
/// 1e30 when it never is.
double angle_down_to(double y, const Vec3d& arm, double axis_y) {
  const double radius = std::hypot(arm[0], arm[1]), sine = (y - axis_y) / radius;
  if (arm[1] + axis_y <= y) return 0;
  if (!(sine >= -1)) return 1e30;
  return std::fmod(3 * kPi - std::asin(sine) - std::atan2(arm[1], arm[0]), 2 * kPi);
}

/// The names and what they do. Every function fills `out_` from the nodes where the shapes lie (after the
/// shift); thresholds are shares of the bounding box of all shapes.
class Director {
 public:
  Director(const IpcScript& script, const IpcLayout& layout) : script_(script), layout_(layout) {
    out_.mesh_motions.resize(layout.mesh_colliders.size());
    add_holds();
    add_moves();
    add_pulls();
    add_starts_and_forces();
    add_shape_scripts();
    add_mesh_scripts();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, action] : actions_) all.push_back(name);
    return all;
  }
  IpcAnimation direct(const std::string& name) {
    if (name == "fall" || name == "dragdown" || name == "dragright") {
      out_.shift[1] = 0.5 * norm(layout_.bounds().size());
    } else if (name == "swing") {
      out_.shift[1] = 1.3 * layout_.bounds().size()[1];
    }
    nodes_ = layout_.nodes;
    for (Vec3d& p : nodes_) p += out_.shift;
    for (const Vec3d& p : nodes_) box_.include(p);
    actions_.at(name)();
    add_forces(script_, layout_, out_);
    return std::move(out_);
  }

 private:
  void add_holds();
  void add_moves();
  void add_pulls();
  void add_starts_and_forces();
  void add_shape_scripts();
  void add_mesh_scripts();

  // Which nodes.
  Nodes where(const std::function<bool(const Vec3d&)>& inside) const {
    Nodes found;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (inside(nodes_[i])) found.push_back(static_cast<std::int32_t>(i));
    return found;
  }
  bool below(const Vec3d& p, int axis, double share) const {
    return p[axis] < box_.low[axis] + share * box_.size()[axis];
  }
  bool above(const Vec3d& p, int axis, double share) const {
    return p[axis] > box_.high[axis] - share * box_.size()[axis];
  }
  Nodes low(int axis, double share) const {
    return where([&](const Vec3d& p) { return below(p, axis, share); });
  }
  Nodes high(int axis, double share) const {
    return where([&](const Vec3d& p) { return above(p, axis, share) && !below(p, axis, share); });
  }
  IpcBounds unturned_bounds() const {
    IpcBounds all;
    for (const Vec3d& p : layout_.unturned) all.include(p);
    return all;
  }
  /// 0: the end at low x, 1: the one at high x, before rotateModel.
  Nodes end(int side) const {
    const IpcBounds all = unturned_bounds();
    const double reach = script_.handle_ratio * all.size()[0];
    Nodes found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const double x = layout_.unturned[i][0];
      const bool at_low = x < all.low[0] + reach;
      if (side == 0 ? at_low : !at_low && x > all.high[0] - reach)
        found.push_back(static_cast<std::int32_t>(i));
    }
    if (found.empty()) fail("finds no node at an end: raise handleRatio");
    return found;
  }
  /// All nodes of a shape.
  Nodes shape(int index) const {
    if (index >= static_cast<int>(layout_.bodies.size()))
      fail("needs at least " + std::to_string(index + 1) + " shapes");
    Nodes all;
    for (int i = layout_.bodies[index].begin; i < layout_.bodies[index].end; ++i) all.push_back(i);
    return all;
  }
  IpcBounds bounds(const Nodes& nodes) const {
    IpcBounds box;
    for (const std::int32_t i : nodes) box.include(nodes_[i]);
    return box;
  }
  bool kinematic(int index) const { return layout_.bodies[index].kind != IpcKind::solid; }

  // What they do.
  void follow(const Nodes& nodes, const Motion& motion, double begin = 0, double end = 1e30) {
    if (!nodes.empty() && end > begin) out_.scripted.push_back({nodes, motion, begin, end});
  }
  void hold(const Nodes& nodes, double begin = 0, double end = 1e30) { follow(nodes, {}, begin, end); }
  void move(const Nodes& nodes, const Vec3d& velocity) { follow(nodes, moving(velocity)); }
  void push(const Nodes& nodes, const Vec3d& acceleration, double begin = 0, double end = 1e30) {
    if (!nodes.empty() && end > begin) out_.forces.push_back({nodes, acceleration, begin, end});
  }
  [[noreturn]] void fail(const std::string& what) const {
    script_.fail(script_.animation_line, "script " + script_.animation + ": " + what);
  }

  /// The motion of a leader whose velocity a rule changes between steps; `sign` times it for the others.
  Motion ruled(Vec3d velocity, const Rule& rule, double sign = 1) const;
  /// Before the first step at which `stop` holds for the way moved at `velocity`: that step's time, or 1e30.
  double time_of(const Vec3d& velocity, const std::function<bool(const Vec3d&)>& stop) const {
    Vec3d moved{0, 0, 0};
    for (int k = 0; k < ipc_frames(script_); ++k) {
      if (stop(moved)) return k * script_.dt;
      moved += script_.dt * velocity;
    }
    return 1e30;
  }
  Motion until(const Vec3d& velocity, double end) const {
    Motion motion = end > 0 ? moving(velocity) : Motion();
    if (end < 1e30) motion.end = end;
    return motion;
  }

  const IpcScript& script_;
  const IpcLayout& layout_;
  std::vector<Vec3d> nodes_;
  IpcBounds box_;
  IpcAnimation out_;
  std::map<std::string, std::function<void()>, std::less<>> actions_;
};

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
  for (const char* name : {"fall", "fallNoShift", "DCOFix"}) actions_[name] = nothing;
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
  // Both ends in opposite directions along x: `velocity` is that of the end at low x.
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
    const double margin = 1e-4 * box_.size()[0];  // of x, as the reference has it
    push(where([&](const Vec3d& p) { return p[1] > box_.high[1] - margin; }), {0, -1.5, 0});
    hold(where([&](const Vec3d& p) { return p[1] < box_.low[1] + margin && p[1] <= box_.high[1] - margin; }));
  };
}

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
  // Pairs of shapes close in along an axis until the first pair's gap along x is `least`, then part.
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

}  // namespace

int ipc_frames(const IpcScript& script) {
  return static_cast<int>(std::clamp(std::ceil(script.duration / script.dt - 1e-9), 1.0, 1e6));
}

std::vector<std::string> ipc_animation_names() { return Director(IpcScript{}, IpcLayout{}).names(); }

IpcAnimation animate(const IpcScript& script, const IpcLayout& layout) {
  return Director(script, layout).direct(script.animation);
}

}  // namespace stickslip
