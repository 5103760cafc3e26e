#include "app/io/scene/expect.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "app/io/file/input_error.h"
#include "app/io/scene/clumping.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Times are sums of steps: time bounds are compared up to rounding.
constexpr double time_slack = 1e-9;

bool is_track_of(const std::string& track, const std::string& object) {
  return track == object || track.substr(0, track.find('.')) == object;
}

const BodyState* state_of(std::int32_t body, const State& state) {
  return body >= 0 && static_cast<std::size_t>(body) < state.bodies.size() ? &state.bodies[body] : nullptr;
}

/// [m] Between the surfaces of each end and of the nearest other one.
std::vector<double> gaps_of(std::span<const std::int32_t> ends, double diameter,
                            std::span<const Vec3d> positions) {
  std::vector<Vec3d> points;
  for (const std::int32_t end : ends) points.push_back(positions[static_cast<std::size_t>(end)]);
  std::vector<double> gaps = nearest_distances(points);
  for (double& gap : gaps) gap = std::max(gap - diameter, 0.0);
  return gaps;
}

/// Poses of the bodies at the start, in the form of a state.
std::vector<BodyState> start_of(const Model& model) {
  std::vector<BodyState> bodies;
  for (const Body& body : model.bodies) bodies.push_back({body.pose, body.velocity, body.spin});
  return bodies;
}

/// [m] drift of a joint. `bodies`: poses of the state's bodies.
double gap_of(const JointSides& sides, std::span<const Pose> bodies, const State& state) {
  const Joint& joint = sides.joint;
  const std::span<const Vec3d> positions = state.positions;
  const Pose a = sides.frame(0, bodies, positions), b = sides.frame(1, bodies, positions);
  const Vec3d apart = a.x - b.x;
  switch (joint.kind) {
    case JointKind::gear:
      return 0;
    case JointKind::distance:
      return std::max({0.0, joint.low - norm(apart), norm(apart) - joint.high});
    case JointKind::slider: {
      const Vec3d axis = b.q.rotate({1, 0, 0});
      return norm(apart - dot(axis, apart) * axis);
    }
    default:
      return norm(apart);
  }
}

}  // namespace

ExpectationJudge::ExpectationJudge(const Model& model, std::vector<Expectation> expectations)
    : expectations_(std::move(expectations)) {
  std::vector<std::string> wanted;
  for (const Expectation& expectation : expectations_)
    std::visit(
        [&](const auto& e) {
          if constexpr (requires { e.object; }) wanted.push_back(e.object);
          if constexpr (std::is_same_v<std::decay_t<decltype(e)>, ExpectJoints>) {
            joints_.clear();
            for (const Joint& joint : model.joints) joints_.emplace_back(model, joint);
          }
        },
        expectation);
  for (const Object& object : model.objects)
    if (std::any_of(wanted.begin(), wanted.end(),
                    [&](const std::string& name) { return is_track_of(object.name, name); }))
      add_track(model, object);
  for (const Expectation& expectation : expectations_)
    if (const auto* e = std::get_if<ExpectDisplacement>(&expectation); e && !e->nodes.empty())
      for (const Object& object : model.objects)
        if (is_track_of(object.name, e->object) && tracks_of(object.name, e->nodes).empty())
          add_track(object, e->nodes);
  for (const Expectation& expectation : expectations_)
    if (const auto* e = std::get_if<ExpectClumping>(&expectation)) add_strands(model, *e);
  for (const std::string& name : wanted)
    if (tracks_of(name).empty()) throw InputError("[expect]: there is no object '" + name + "'");
  State start;
  start.positions = model.positions;
  start.velocities = model.velocities;
  start.bodies = start_of(model);
  follow(start);
}

void ExpectationJudge::add_track(const Model& model, const Object& object) {
  if (object.is_collider()) return;
  Track track;
  track.name = object.name;
  track.node_begin = object.node_begin;
  track.body = object.body;
  if (object.is_movable()) {
    track.weights = node_volumes(model, object);
    const double total = solid_volume(model, object);
    for (double& w : track.weights) w /= total;
  }
  tracks_.push_back(std::move(track));
}

void ExpectationJudge::add_track(const Object& object, const std::vector<std::int32_t>& nodes) {
  Track track;
  track.name = object.name;
  track.nodes = nodes;
  track.node_begin = std::max(object.node_begin, object.collides_from);  // after the ghosts of rods
  for (const std::int32_t node : nodes) {
    if (node < 0 || node >= object.node_end - track.node_begin || object.body >= 0)
      throw InputError("[expect]: '" + object.name + "' has no node " + std::to_string(node));
    track.weights.resize(std::max(track.weights.size(), static_cast<std::size_t>(node) + 1), 0.0);
    track.weights[static_cast<std::size_t>(node)] += 1.0 / static_cast<double>(nodes.size());
  }
  tracks_.push_back(std::move(track));
}

void ExpectationJudge::add_strands(const Model& model, const ExpectClumping& expectation) {
  Strands strands;
  strands.name = expectation.object;
  strands.at = expectation.at;
  for (const Object& object : model.objects)
    if (is_track_of(object.name, expectation.object) && object.is_rods()) {
      const std::vector<std::int32_t> ends = free_ends(model, object);
      strands.ends.insert(strands.ends.end(), ends.begin(), ends.end());
      strands.diameter = object.thickness;
    }
  if (strands.ends.size() < 2)
    throw InputError("[expect]: '" + expectation.object +
                     "' has no two free ends of rods, which could clump");
  strands.gaps = gaps_of(strands.ends, strands.diameter, model.positions);
  strands_.push_back(std::move(strands));
}

bool ExpectationJudge::needs_state() const { return !tracks_.empty() || !joints_.empty(); }

void ExpectationJudge::follow(const State& state) {
  times_.push_back(state.time);
  for (Track& track : tracks_) {
    Vec3d x{0, 0, 0}, v{0, 0, 0};
    if (const BodyState* body = state_of(track.body, state)) {
      x = body->pose.x;
      v = body->velocity;
      track.spins.push_back(body->spin);
      track.turns.push_back(body->pose.q);
    } else if (track.body >= 0) {  // state without bodies: the body has not moved
      x = track.positions.back();
      track.spins.push_back(track.spins.back());
      track.turns.push_back(track.turns.back());
    }
    for (std::size_t i = 0; i < track.weights.size(); ++i) {
      x += track.weights[i] * state.positions[track.node_begin + i];
      v += track.weights[i] * state.velocities[track.node_begin + i];
    }
    track.positions.push_back(x);
    track.velocities.push_back(v);
  }
  for (Strands& strands : strands_) {
    if (strands.share_closer || state.time < strands.at - time_slack) continue;
    const std::vector<double> gaps = gaps_of(strands.ends, strands.diameter, state.positions);
    std::size_t closer = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) closer += gaps[i] < 0.5 * strands.gaps[i];
    strands.share_closer = static_cast<double>(closer) / static_cast<double>(gaps.size());
  }
  std::vector<Pose> bodies;
  for (const BodyState& body : state.bodies) bodies.push_back(body.pose);
  for (const JointSides& sides : joints_)
    if (const double gap = gap_of(sides, bodies, state); gap > joint_gap_) {
      joint_gap_ = gap;
      joint_gap_time_ = state.time;
      joint_gap_name_ = sides.joint.name;
    }
}

void ExpectationJudge::observe(const StepReport& report, const State& state) {
  reports_.push_back(report);
  if (needs_state()) follow(state);
}

std::vector<const ExpectationJudge::Track*> ExpectationJudge::tracks_of(
    const std::string& object, const std::vector<std::int32_t>& nodes) const {
  std::vector<const Track*> found;
  for (const Track& track : tracks_)
    if (is_track_of(track.name, object) && track.nodes == nodes) found.push_back(&track);
  return found;
}

std::vector<Verdict> ExpectationJudge::verdicts() const {
  std::vector<Verdict> all;
  for (const Expectation& expectation : expectations_)
    all.push_back(std::visit([this](const auto& e) { return judge(e); }, expectation));
  return all;
}

std::optional<std::size_t> ExpectationJudge::sample_at(double time) const {
  const auto at = std::lower_bound(times_.begin(), times_.end(), time - time_slack);
  if (at == times_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - times_.begin());
}

}  // namespace stickslip
