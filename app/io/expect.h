// What a scene says must hold, and its judgement over a run. A scene's [expect] table is a test.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// No edge passes through a triangle, at any step. Needs Params::check_intersections.
struct ExpectIntersections {
  int at_most = 0;
};
/// Every active contact keeps a positive gap.
struct ExpectPositiveGap {};
/// No element is ever smaller than this share of its volume at rest; above 0, none is inverted.
struct ExpectVolume {
  double share = 0;
};
/// At least this share of the steps converged.
struct ExpectConverged {
  double share = 1;
};
/// Kinetic + elastic + gravity energy never rises above its earlier minimum by more than `tolerance` times
/// the range it has covered, from `after` on.
struct ExpectEnergy {
  double after = 0, tolerance = 0.01;
};
/// |momentum - momentum of the first step| stays below `tolerance` [kg m/s].
struct ExpectMomentum {
  double tolerance = 1e-6;
};
/// The centre of mass of `object` lies at a height within [low, high] at time `at`.
struct ExpectHeight {
  std::string object;
  double at = 0, low = 0, high = 0;
};
/// The centre of mass of `object` moves along `direction` between two times by at least `low` and at most
/// `high` [m].
struct ExpectDisplacement {
  std::string object;
  Vec<double, 3> direction{1, 0, 0};
  double from = 0, to = 0, low = 0, high = 0;
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
                 ExpectMomentum, ExpectHeight, ExpectDisplacement, ExpectAcceleration>;

struct Verdict {
  enum class Outcome { passed, failed, skipped };  // skipped: the run ended before the time it speaks of
  Outcome outcome = Outcome::passed;
  std::string expected, seen;
};

/// Follows a run step by step and judges it at its end.
class ExpectationJudge {
 public:
  /// Throws InputError when an expectation names an object that is not a solid of the model.
  ExpectationJudge(const Model& model, std::vector<Expectation> expectations);

  /// True when `observe` needs the state, not only the report.
  bool needs_state() const;
  /// One finished step. `state` may be empty when needs_state() is false.
  void observe(const StepReport& report, const State& state);
  std::vector<Verdict> verdicts() const;

 private:
  struct Track {  // one object's centre of mass through the run
    std::string name;
    std::int32_t node_begin = 0;
    std::vector<double> weights;  // per node of the object, sum 1
    std::vector<Vec<double, 3>> positions, velocities;
  };
  void follow(const State& state);
  /// The first sample at `time` or later.
  std::optional<std::size_t> sample_at(double time) const;
  std::vector<const Track*> tracks_of(const std::string& object) const;
  Verdict judge(const ExpectIntersections&) const;
  Verdict judge(const ExpectPositiveGap&) const;
  Verdict judge(const ExpectVolume&) const;
  Verdict judge(const ExpectConverged&) const;
  Verdict judge(const ExpectEnergy&) const;
  Verdict judge(const ExpectMomentum&) const;
  Verdict judge(const ExpectHeight&) const;
  Verdict judge(const ExpectDisplacement&) const;
  Verdict judge(const ExpectAcceleration&) const;

  std::vector<Expectation> expectations_;
  std::vector<Track> tracks_;
  std::vector<double> times_;  // of the samples in tracks_; entry 0 is the start
  std::vector<StepReport> reports_;
};

}  // namespace stickslip
