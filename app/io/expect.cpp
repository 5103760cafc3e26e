#include "app/io/expect.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "app/io/input_error.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Outcome = Verdict::Outcome;

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return buffer;
}

std::string band_text(double low, double high) {
  const double most = std::numeric_limits<double>::max();
  if (low <= -most) return format("at most %g", high);
  if (high >= most) return format("at least %g", low);
  return format("in [%g, %g]", low, high);
}

Outcome outcome_of(bool good) { return good ? Outcome::passed : Outcome::failed; }

/// Times are sums of steps: a bound is met when it is met up to rounding.
constexpr double time_slack = 1e-9;

std::string direction_text(const Vec3d& d) { return format("(%.3g, %.3g, %.3g)", d[0], d[1], d[2]); }

}  // namespace

ExpectationJudge::ExpectationJudge(const Model& model, std::vector<Expectation> expectations)
    : expectations_(std::move(expectations)) {
  for (const Object& object : model.objects) {
    if (object.tet_begin == object.tet_end) continue;
    Track track;
    track.name = object.name;
    std::vector<double> weights(object.node_end - object.node_begin, 0.0);
    double total = 0;
    for (std::int32_t t = object.tet_begin; t < object.tet_end; ++t) {
      const Vec4i& tet = model.tets[t];
      const auto& x = model.rest_positions;
      const double volume = dot(x[tet[1]] - x[tet[0]], cross(x[tet[2]] - x[tet[0]], x[tet[3]] - x[tet[0]]));
      for (int c = 0; c < 4; ++c) weights[tet[c] - object.node_begin] += volume;
      total += 4 * volume;
    }
    for (double& w : weights) w /= total;
    track.node_begin = object.node_begin;
    track.weights = std::move(weights);
    tracks_.push_back(std::move(track));
  }
  for (const Expectation& expectation : expectations_)
    std::visit(
        [&](const auto& e) {
          if constexpr (requires { e.object; })
            if (tracks_of(e.object).empty())
              throw InputError("[expect]: there is no object '" + e.object + "'");
        },
        expectation);
  State start;
  start.positions = model.positions;
  start.velocities = model.velocities;
  follow(start);
}

bool ExpectationJudge::needs_state() const {
  return std::any_of(expectations_.begin(), expectations_.end(), [](const Expectation& expectation) {
    return std::visit(
        [](const auto& e) {
          return requires { e.object; };
        },
        expectation);
  });
}

void ExpectationJudge::follow(const State& state) {
  times_.push_back(state.time);
  for (Track& track : tracks_) {
    Vec3d x{0, 0, 0}, v{0, 0, 0};
    for (std::size_t i = 0; i < track.weights.size(); ++i) {
      x += track.weights[i] * state.positions[track.node_begin + i];
      v += track.weights[i] * state.velocities[track.node_begin + i];
    }
    track.positions.push_back(x);
    track.velocities.push_back(v);
  }
}

void ExpectationJudge::observe(const StepReport& report, const State& state) {
  reports_.push_back(report);
  if (needs_state()) follow(state);
}

std::vector<const ExpectationJudge::Track*> ExpectationJudge::tracks_of(const std::string& object) const {
  std::vector<const Track*> found;
  for (const Track& track : tracks_)
    if (track.name == object || track.name.substr(0, track.name.find('.')) == object) found.push_back(&track);
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

Verdict ExpectationJudge::judge(const ExpectIntersections& e) const {
  int worst = 0, frame = 0, checked = 0;
  for (const StepReport& r : reports_) {
    if (r.intersections >= 0) ++checked;
    if (r.intersections > worst) worst = r.intersections, frame = r.frame;
  }
  Verdict verdict{outcome_of(worst <= e.at_most),
                  format("at most %d intersections after every step", e.at_most),
                  format("at most %d in %d checked steps", worst, checked)};
  if (worst > 0) verdict.seen += format(", the most at frame %d", frame);
  if (checked == 0) verdict.outcome = Outcome::skipped;
  return verdict;
}

Verdict ExpectationJudge::judge(const ExpectPositiveGap&) const {
  double smallest = std::numeric_limits<double>::infinity();
  bool positive = true;
  for (const StepReport& r : reports_) {
    if (r.contacts == 0) continue;
    smallest = std::min(smallest, r.gap_min);
    positive = positive && r.gap_min > 0;  // false for NaN
  }
  return {outcome_of(positive), "every active contact keeps a positive gap",
          std::isinf(smallest) ? "no contact" : format("smallest gap %g m", smallest)};
}

Verdict ExpectationJudge::judge(const ExpectVolume& e) const {
  double smallest = 1, time = 0;
  bool kept = true;
  for (const StepReport& r : reports_) {
    kept = kept && r.volume_ratio_min >= e.share;  // false for NaN
    if (r.volume_ratio_min < smallest) smallest = r.volume_ratio_min, time = r.time;
  }
  return {outcome_of(kept), format("every element keeps %g of its volume", e.share),
          format("at least %.4g, at %.3g s", smallest, time)};
}

Verdict ExpectationJudge::judge(const ExpectConverged& e) const {
  const auto converged =
      std::count_if(reports_.begin(), reports_.end(), [](const StepReport& r) { return r.converged; });
  const double share = reports_.empty() ? 1 : double(converged) / double(reports_.size());
  return {outcome_of(share >= e.share), format("at least %g%% of the steps converge", 100 * e.share),
          format("%.4g%% of %zu steps", 100 * share, reports_.size())};
}

Verdict ExpectationJudge::judge(const ExpectEnergy& e) const {
  double low = std::numeric_limits<double>::infinity(), high = -low, minimum = low, rise = 0, rise_time = 0;
  bool reached = false;
  for (const StepReport& r : reports_) {
    const double energy = r.kinetic_energy + r.elastic_energy + r.gravity_energy;
    low = std::min(low, energy);
    high = std::max(high, energy);
    if (r.time < e.after - time_slack) continue;
    reached = true;
    minimum = std::min(minimum, energy);
    if (energy - minimum > rise) rise = energy - minimum, rise_time = r.time;
  }
  const double range = high - low;
  Verdict verdict{outcome_of(rise <= e.tolerance * range),
                  format("energy rises by at most %g of its range after %g s", e.tolerance, e.after),
                  format("rise of %.3g J at %.3g s in a range of %.3g J", rise, rise_time, range)};
  if (!reached) verdict.outcome = Outcome::skipped;
  return verdict;
}

Verdict ExpectationJudge::judge(const ExpectMomentum& e) const {
  double worst = 0;
  for (const StepReport& r : reports_) worst = std::max(worst, norm(r.momentum - reports_.front().momentum));
  return {outcome_of(worst <= e.tolerance), format("momentum changes by at most %g kg m/s", e.tolerance),
          format("%.3g kg m/s", worst)};
}

Verdict ExpectationJudge::judge(const ExpectHeight& e) const {
  Verdict verdict{
      Outcome::passed,
      format("the centre of '%s' at %g s at a height ", e.object.c_str(), e.at) + band_text(e.low, e.high),
      ""};
  const auto sample = sample_at(e.at);
  if (!sample) return {Outcome::skipped, verdict.expected, "the run ended earlier"};
  for (const Track* track : tracks_of(e.object)) {
    const double y = track->positions[*sample][1];
    if (!(y >= e.low && y <= e.high)) verdict.outcome = Outcome::failed;
    verdict.seen += format("%s%s at %.4g m", verdict.seen.empty() ? "" : ", ", track->name.c_str(), y);
  }
  return verdict;
}

Verdict ExpectationJudge::judge(const ExpectDisplacement& e) const {
  Verdict verdict{Outcome::passed,
                  format("'%s' moves along %s from %g s to %g s by ", e.object.c_str(),
                         direction_text(e.direction).c_str(), e.from, e.to) +
                      band_text(e.low, e.high) + " m",
                  ""};
  const auto first = sample_at(e.from), last = sample_at(e.to);
  if (!last) return {Outcome::skipped, verdict.expected, "the run ended earlier"};
  for (const Track* track : tracks_of(e.object)) {
    const double moved = dot(e.direction, track->positions[*last] - track->positions[*first]);
    if (!(moved >= e.low && moved <= e.high)) verdict.outcome = Outcome::failed;
    verdict.seen += format("%s%s by %.4g m", verdict.seen.empty() ? "" : ", ", track->name.c_str(), moved);
  }
  return verdict;
}

Verdict ExpectationJudge::judge(const ExpectAcceleration& e) const {
  Verdict verdict{
      Outcome::passed,
      format("'%s' accelerates along %s by %g m/s^2 within %g%% from %g s to %g s", e.object.c_str(),
             direction_text(e.direction).c_str(), e.value, e.percent, e.from, e.to),
      ""};
  const auto first = sample_at(e.from), last = sample_at(e.to);
  if (!last || *last - *first < 2) return {Outcome::skipped, verdict.expected, "the run ended earlier"};
  for (const Track* track : tracks_of(e.object)) {
    double mean_t = 0, mean_v = 0, tv = 0, tt = 0;
    const auto n = static_cast<double>(*last - *first + 1);
    for (std::size_t i = *first; i <= *last; ++i) {
      mean_t += times_[i] / n;
      mean_v += dot(e.direction, track->velocities[i]) / n;
    }
    for (std::size_t i = *first; i <= *last; ++i) {
      tv += (times_[i] - mean_t) * (dot(e.direction, track->velocities[i]) - mean_v);
      tt += (times_[i] - mean_t) * (times_[i] - mean_t);
    }
    const double slope = tv / tt;
    if (!(std::abs(slope - e.value) <= e.percent / 100 * std::abs(e.value)))
      verdict.outcome = Outcome::failed;
    verdict.seen +=
        format("%s%s by %.5g m/s^2", verdict.seen.empty() ? "" : ", ", track->name.c_str(), slope);
  }
  return verdict;
}

}  // namespace stickslip
