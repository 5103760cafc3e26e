// The verdicts on each kind of expectation.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <numbers>
#include <utility>

#include "app/io/scene/expect.h"

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

/// The same tolerance as for the lookup of samples.
constexpr double kTimeSlack = 1e-9;

std::string direction_text(const Vec3d& d) { return format("(%.3g, %.3g, %.3g)", d[0], d[1], d[2]); }

/// Measured values of each object of an array; of a long array, those of the two extremes.
class Sightings {
 public:
  Sightings(double low, double high, const char* unit) : low_(low), high_(high), unit_(unit) {}
  void add(const std::string& name, double value) {
    good_ = good_ && value >= low_ && value <= high_;  // false for NaN
    seen_.emplace_back(value, name);
  }
  bool good() const { return good_; }
  std::string text() const {
    std::string all;
    const auto one = [this](const std::pair<double, std::string>& s) {
      return format("%s %.4g%s%s", s.second.c_str(), s.first, *unit_ ? " " : "", unit_);
    };
    if (seen_.size() <= 8) {
      for (const auto& s : seen_) all += (all.empty() ? "" : ", ") + one(s);
      return all;
    }
    const auto [least, most] = std::minmax_element(seen_.begin(), seen_.end());
    return format("%zu objects, from ", seen_.size()) + one(*least) + " to " + one(*most);
  }

 private:
  double low_, high_;
  const char* unit_;
  bool good_ = true;
  std::vector<std::pair<double, std::string>> seen_;
};

constexpr double kDegrees = 180 / std::numbers::pi;

}  // namespace

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
    if (r.contact_solve)
      return {Outcome::skipped, "every active contact keeps a positive gap",
              "velocity-level steps may overlap: see penetration"};
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
    if (r.time < e.after - kTimeSlack) continue;
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

Verdict ExpectationJudge::judge(const ExpectEnergyKept& e) const {
  double start = 0, worst = 0, worst_time = 0;
  bool reached = false;
  for (const StepReport& r : reports_) {
    if (r.time < e.after - kTimeSlack) continue;
    const double energy = r.kinetic_energy + r.elastic_energy + r.gravity_energy;
    if (!std::exchange(reached, true)) start = energy;
    if (!(std::abs(energy - start) <= worst)) worst = std::abs(energy - start), worst_time = r.time;
  }
  return {reached ? outcome_of(worst <= e.tolerance * std::abs(start)) : Outcome::skipped,
          format("energy stays within %g of its value at %g s", e.tolerance, e.after),
          format("change of %.3g J at %.3g s from %.4g J", worst, worst_time, start)};
}

Verdict ExpectationJudge::judge(const ExpectAngularMomentum& e) const {
  double worst = 0;
  for (const StepReport& r : reports_)
    worst = std::max(worst, norm(r.angular_momentum - reports_.front().angular_momentum));
  return {outcome_of(worst <= e.tolerance),
          format("angular momentum changes by at most %g kg m^2/s", e.tolerance),
          format("%.3g kg m^2/s", worst)};
}

Verdict ExpectationJudge::judge(const ExpectPenetration& e) const {
  double worst = 0, time = 0;
  bool looked = false;
  for (const StepReport& r : reports_) {
    if (!r.contact_solve || r.time < e.after - kTimeSlack) continue;
    looked = true;
    if (!(r.contact_solve->penetration <= worst)) worst = r.contact_solve->penetration, time = r.time;
    // The check of the meshes finds overlaps that collision detection misses.
    if (!(r.overlap <= worst)) worst = r.overlap, time = r.time;
  }
  return {looked ? outcome_of(worst <= e.at_most) : Outcome::skipped,
          format("bodies overlap by at most %g m after %g s", e.at_most, e.after),
          format("%.3g m at %.3g s", worst, time)};
}

Verdict ExpectationJudge::judge(const ExpectResidual& e) const {
  std::size_t steps = 0, good = 0;
  double worst = 0;
  for (const StepReport& r : reports_) {
    if (!r.contact_solve) continue;
    ++steps;
    good += r.contact_solve->residual <= e.at_most;
    worst = std::max(worst, r.contact_solve->residual);
  }
  const double share = steps > 0 ? double(good) / double(steps) : 1;
  return {
      steps > 0 ? outcome_of(share >= e.share) : Outcome::skipped,
      format("the residual of at least %g%% of the contact problems is at most %g", 100 * e.share, e.at_most),
      format("%.4g%% of %zu, the largest %.3g", 100 * share, steps, worst)};
}

Verdict ExpectationJudge::judge(const ExpectJoints& e) const {
  return {
      joints_.empty() ? Outcome::skipped : outcome_of(joint_gap_ <= e.at_most),
      format("joints hold within %g m", e.at_most),
      format("%.3g m", joint_gap_) +
          (joint_gap_name_.empty() ? ""
                                   : format(", '%s' at %.3g s", joint_gap_name_.c_str(), joint_gap_time_))};
}

template <class F>
Verdict ExpectationJudge::judge_each(const std::vector<const Track*>& tracks, double time, double low,
                                     double high, std::string expected, const char* unit, F&& value) const {
  const auto sample = sample_at(time);
  if (!sample) return {Outcome::skipped, std::move(expected), "the run ended earlier"};
  Sightings seen(low, high, unit);
  for (const Track* track : tracks) seen.add(track->name, value(*track, *sample));
  return {outcome_of(seen.good()), std::move(expected), seen.text()};
}

Verdict ExpectationJudge::judge(const ExpectHeight& e) const {
  static constexpr const char* whose[] = {"the centre of", "the mean centre of", "the highest centre of"};
  std::string expected =
      format("%s '%s' at %g s at a height ", whose[static_cast<int>(e.of)], e.object.c_str(), e.at) +
      band_text(e.low, e.high);
  if (e.of == ExpectHeight::Of::each)
    return judge_each(tracks_of(e.object), e.at, e.low, e.high, std::move(expected), "m",
                      [](const Track& track, std::size_t i) { return track.positions[i][1]; });
  const auto sample = sample_at(e.at);
  if (!sample) return {Outcome::skipped, std::move(expected), "the run ended earlier"};
  double sum = 0, highest = -std::numeric_limits<double>::infinity();
  const std::vector<const Track*> tracks = tracks_of(e.object);
  for (const Track* track : tracks) {
    sum += track->positions[*sample][1];
    highest = std::max(highest, track->positions[*sample][1]);
  }
  Sightings seen(e.low, e.high, "m");
  seen.add(e.of == ExpectHeight::Of::mean ? "mean" : "highest",
           e.of == ExpectHeight::Of::mean ? sum / static_cast<double>(tracks.size()) : highest);
  return {outcome_of(seen.good()), std::move(expected), seen.text()};
}

Verdict ExpectationJudge::judge(const ExpectRest& e) const {
  const auto first = sample_at(e.from);
  return judge_each(
      tracks_of(e.object), e.to, 0, e.at_most,
      format("'%s' moves by at most %g m from %g s to %g s", e.object.c_str(), e.at_most, e.from, e.to), "m",
      [&](const Track& track, std::size_t last) {
        double furthest = 0;
        for (std::size_t i = *first; i <= last; ++i)
          furthest = std::max(furthest, norm(track.positions[i] - track.positions[*first]));
        return furthest;
      });
}

Verdict ExpectationJudge::judge(const ExpectSpeed& e) const {
  return judge_each(
      tracks_of(e.object), e.at, e.low, e.high,
      format("the speed of '%s' at %g s ", e.object.c_str(), e.at) + band_text(e.low, e.high) + " m/s", "m/s",
      [](const Track& track, std::size_t i) { return norm(track.velocities[i]); });
}

Verdict ExpectationJudge::judge(const ExpectSpin& e) const {
  return judge_each(tracks_of(e.object), e.at, e.low, e.high,
                    format("the spin of '%s' about %s at %g s ", e.object.c_str(),
                           direction_text(e.direction).c_str(), e.at) +
                        band_text(e.low, e.high) + " rad/s",
                    "rad/s",
                    [&](const Track& track, std::size_t i) { return dot(e.direction, track.spins.at(i)); });
}

Verdict ExpectationJudge::judge(const ExpectTilt& e) const {
  return judge_each(tracks_of(e.object), e.at, e.low, e.high,
                    format("what of '%s' points along %s at the start has turned at %g s by ",
                           e.object.c_str(), direction_text(e.axis).c_str(), e.at) +
                        band_text(e.low, e.high) + " degrees",
                    "degrees", [&](const Track& track, std::size_t i) {
                      const Vec3d now = track.turns.at(i).rotate(track.turns.at(0).rotate_back(e.axis));
                      return kDegrees * std::atan2(norm(cross(now, e.axis)), dot(now, e.axis));
                    });
}

Verdict ExpectationJudge::judge(const ExpectRepose& e) const {
  std::string expected = format("'%s' is a heap of a slope ", e.object.c_str()) + band_text(e.low, e.high) +
                         format(" degrees at %g s", e.at);
  const auto sample = sample_at(e.at);
  if (!sample) return {Outcome::skipped, std::move(expected), "the run ended earlier"};
  const std::vector<const Track*> tracks = tracks_of(e.object);
  Vec3d mean{0, 0, 0};
  for (const Track* track : tracks) mean += track->positions[*sample] / static_cast<double>(tracks.size());
  double spread2 = 0;
  for (const Track* track : tracks) {
    const Vec3d d = track->positions[*sample] - mean;
    spread2 += (d[0] * d[0] + d[2] * d[2]) / static_cast<double>(tracks.size());
  }
  // A cone of height h and radius r has its centre at h / 4 and a mean square distance of 3/10 r^2.
  const double slope = kDegrees * std::atan2(4 * (mean[1] - e.ground), std::sqrt(10.0 / 3 * spread2));
  Sightings seen(e.low, e.high, "degrees");
  seen.add("slope", slope);
  return {outcome_of(seen.good()), std::move(expected), seen.text()};
}

Verdict ExpectationJudge::judge(const ExpectDisplacement& e) const {
  const auto first = sample_at(e.from);
  return judge_each(
      tracks_of(e.object, e.nodes), e.to, e.low, e.high,
      format("%s'%s' moves along %s from %g s to %g s by ", e.nodes.empty() ? "" : "the mean of nodes of ",
             e.object.c_str(), direction_text(e.direction).c_str(), e.from, e.to) +
          band_text(e.low, e.high) + " m",
      "m", [&](const Track& track, std::size_t last) {
        return dot(e.direction, track.positions[last] - track.positions[*first]);
      });
}

Verdict ExpectationJudge::judge(const ExpectClumping& e) const {
  std::string expected = format(
                             "share of the free ends of '%s' that at %g s are closer than half their gap "
                             "of the start to the nearest other one: ",
                             e.object.c_str(), e.at) +
                         band_text(e.low, e.high);
  for (const Strands& strands : strands_) {
    if (strands.name != e.object || strands.at != e.at || !strands.share_closer) continue;
    Sightings seen(e.low, e.high, "");
    seen.add(format("of %zu", strands.ends.size()), *strands.share_closer);
    return {outcome_of(seen.good()), std::move(expected), seen.text()};
  }
  return {Outcome::skipped, std::move(expected), "the run ended earlier"};
}

Verdict ExpectationJudge::judge(const ExpectAcceleration& e) const {
  Verdict verdict{
      Outcome::passed,
      format("'%s' accelerates along %s by %g m/s^2 within %g%% from %g s to %g s", e.object.c_str(),
             direction_text(e.direction).c_str(), e.value, e.percent, e.from, e.to),
      ""};
  const auto first = sample_at(e.from), last = sample_at(e.to);
  if (!last || *last - *first < 2) return {Outcome::skipped, verdict.expected, "the run ended earlier"};
  const double margin = e.percent / 100 * std::abs(e.value);
  Sightings seen(e.value - margin, e.value + margin, "m/s^2");
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
    seen.add(track->name, tv / tt);
  }
  verdict.outcome = outcome_of(seen.good());
  verdict.seen = seen.text();
  return verdict;
}

}  // namespace stickslip
