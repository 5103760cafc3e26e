// Expectations of a scene and their check over a run. A scene's [expect] table is a test.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gpu/engine.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {

/// No edge passes through a triangle, at any step. Needs Params::check_intersections.
struct ExpectIntersections {
  int at_most = 0;
};
/// Every active contact of a barrier step keeps a positive gap.
struct ExpectPositiveGap {};
/// No element's volume falls below this share of its rest volume; above 0, no element is inverted.
struct ExpectVolume {
  double share = 0;
};
/// At least this share of the steps converged.
struct ExpectConverged {
  double share = 1;
};
/// From `after` on, kinetic + elastic + gravity energy never rises above its earlier minimum by more than
/// `tolerance` times the range covered so far.
struct ExpectEnergy {
  double after = 0, tolerance = 0.01;
};
/// |momentum - momentum of the first step| stays below `tolerance` [kg m/s].
struct ExpectMomentum {
  double tolerance = 1e-6;
};
/// Kinetic + elastic + gravity energy stays within `tolerance` times |its value at `after`|, from then on.
struct ExpectEnergyKept {
  double after = 0, tolerance = 0.01;
};
/// |angular momentum about the origin - that of the first step| stays below `tolerance` [kg m^2/s].
struct ExpectAngularMomentum {
  double tolerance = 1e-6;
};
/// From `after` on, no overlap of rigid bodies is deeper than `at_most` [m] at the start of a step. With
/// Params::check_intersections this also holds for the overlap of the meshes at its end.
struct ExpectPenetration {
  double at_most = 1e-3, after = 0;
};
/// In at least `share` of the steps the judge's residual of the contact problem is at most `at_most`.
struct ExpectResidual {
  double at_most = 1e-3, share = 1;
};
/// The error of every joint stays within `at_most` [m] at every step: anchor distance, distance from a
/// slider's axis, length error of a distance joint.
struct ExpectJoints {
  double at_most = 1e-3;
};
/// The centre of mass of `object` lies at a height within [low, high] at time `at`. For an array: of each
/// instance, or their mean, or the highest.
struct ExpectHeight {
  enum class Of { each, mean, highest };
  std::string object;
  double at = 0, low = 0, high = 0;
  Of of = Of::each;
};
/// From `from` until `to`, the centre of mass of `object` stays within `at_most` [m] of its place at `from`.
struct ExpectRest {
  std::string object;
  double from = 0, to = 0, at_most = 0;
};
/// The centre's speed [m/s] at time `at`.
struct ExpectSpeed {
  std::string object;
  double at = 0, low = 0, high = 0;
};
/// A rigid body's spin about `direction` [rad/s] at time `at`.
struct ExpectSpin {
  std::string object;
  Vec<double, 3> direction{0, 1, 0};
  double at = 0, low = 0, high = 0;
};
/// The body axis that points along `axis` at the start has turned by an angle [degrees] at time `at`.
struct ExpectTilt {
  std::string object;
  Vec<double, 3> axis{0, 1, 0};
  double at = 0, low = 0, high = 0;
};
/// Slope [degrees] of a heap at time `at`: that of a cone with the same mean height over `ground` and the
/// same mean square distance from its axis. The heap is the instances of an array.
struct ExpectRepose {
  std::string object;
  double ground = 0, at = 0, low = 0, high = 0;
};
/// The centre of mass of `object` moves along `direction` between two times by at least `low` and at most
/// `high` [m]. With `nodes` their mean, counted as those of a pin.
struct ExpectDisplacement {
  std::string object;
  Vec<double, 3> direction{1, 0, 0};
  double from = 0, to = 0, low = 0, high = 0;
  std::vector<std::int32_t> nodes = {};
};
/// Clumps of rods: at time `at`, at least `low` and at most `high` of the free ends of strands have come
/// within half the gap to the nearest other one that they had at the start. The gap is that of the surfaces,
/// so the share does not depend on how dense the strands are.
struct ExpectClumping {
  std::string object;
  double at = 0, low = 0, high = 1;
};
/// A straight line fitted to the centre's velocity along `direction` between two times has slope `value`
/// [m/s^2] within `percent`.
struct ExpectAcceleration {
  std::string object;
  Vec<double, 3> direction{1, 0, 0};
  double from = 0, to = 0, value = 0, percent = 2;
};

/// `object` names one object, or all instances of an array ("ball" stands for "ball.0", "ball.1", ...).
using Expectation =
    std::variant<ExpectIntersections, ExpectPositiveGap, ExpectVolume, ExpectConverged, ExpectEnergy,
                 ExpectEnergyKept, ExpectMomentum, ExpectAngularMomentum, ExpectPenetration, ExpectResidual,
                 ExpectJoints, ExpectHeight, ExpectRest, ExpectSpeed, ExpectSpin, ExpectTilt, ExpectRepose,
                 ExpectDisplacement, ExpectClumping, ExpectAcceleration>;

struct Verdict {
  /// skipped: the run ended before the expectation's time, the solver has no such quantity, or the scene says
  /// that the expectation does not hold with this family of steppers.
  enum class Outcome { passed, failed, skipped };
  Outcome outcome = Outcome::passed;
  std::string expected, seen;
};

/// Records a run step by step and judges it at the end.
class ExpectationJudge {
 public:
  /// Throws InputError when an expectation names an object that is neither a solid nor a rigid body.
  ExpectationJudge(const Model& model, std::vector<Expectation> expectations);

  /// True when `observe` needs the state in addition to the report.
  bool needs_state() const;
  /// One finished step. `state` may be empty when needs_state() is false.
  void observe(const StepReport& report, const State& state);
  std::vector<Verdict> verdicts() const;

 private:
  struct Track {  // one object's centre of mass through the run
    std::string name;
    std::vector<std::int32_t> nodes;  // empty: the whole object
    std::int32_t node_begin = 0;
    std::vector<double> weights;  // per node of a solid from node_begin on, sum 1
    std::int32_t body = -1;       // a rigid body, which also has poses and spins
    std::vector<Vec<double, 3>> positions, velocities, spins;
    std::vector<Quat> turns;
  };
  struct Strands {  // the free ends of rods
    std::string name;
    double at = 0;  // [s]
    std::vector<std::int32_t> ends;
    double diameter = 0;                 // [m]
    std::vector<double> gaps;            // [m] to the nearest other end, at the start
    std::optional<double> share_closer;  // from `at` on
  };
  void add_strands(const Model& model, const ExpectClumping& expectation);
  void add_track(const Model& model, const Object& object);
  void add_track(const Object& object, const std::vector<std::int32_t>& nodes);
  void follow(const State& state);
  /// The first sample at `time` or later.
  std::optional<std::size_t> sample_at(double time) const;
  std::vector<const Track*> tracks_of(const std::string& object,
                                      const std::vector<std::int32_t>& nodes = {}) const;
  Verdict judge(const ExpectIntersections&) const;
  Verdict judge(const ExpectPositiveGap&) const;
  Verdict judge(const ExpectVolume&) const;
  Verdict judge(const ExpectConverged&) const;
  Verdict judge(const ExpectEnergy&) const;
  Verdict judge(const ExpectEnergyKept&) const;
  Verdict judge(const ExpectMomentum&) const;
  Verdict judge(const ExpectAngularMomentum&) const;
  Verdict judge(const ExpectPenetration&) const;
  Verdict judge(const ExpectResidual&) const;
  Verdict judge(const ExpectJoints&) const;
  Verdict judge(const ExpectHeight&) const;
  Verdict judge(const ExpectRest&) const;
  Verdict judge(const ExpectSpeed&) const;
  Verdict judge(const ExpectSpin&) const;
  Verdict judge(const ExpectTilt&) const;
  Verdict judge(const ExpectRepose&) const;
  Verdict judge(const ExpectDisplacement&) const;
  Verdict judge(const ExpectClumping&) const;
  Verdict judge(const ExpectAcceleration&) const;
  /// Whether `value` of each track lies in [low, high] at `time`.
  template <class F>
  Verdict judge_each(const std::vector<const Track*>& tracks, double time, double low, double high,
                     std::string expected, const char* unit, F&& value) const;

  std::vector<Expectation> expectations_;
  std::vector<Track> tracks_;
  std::vector<Strands> strands_;
  std::vector<double> times_;  // of the samples in tracks_; entry 0 is the start
  std::vector<StepReport> reports_;
  std::vector<JointSides> joints_;
  double joint_gap_ = 0, joint_gap_time_ = 0;  // the largest so far
  std::string joint_gap_name_;
};

}  // namespace stickslip
