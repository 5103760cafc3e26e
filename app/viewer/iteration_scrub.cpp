#include "app/viewer/iteration_scrub.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/io/report/race_rank.h"

namespace stickslip {
namespace {

constexpr std::size_t kMostStops = 300, kFewestStops = 20;
constexpr std::size_t kMostBytes = 64u << 20;  // of the iterates of one run
constexpr std::size_t kKeptRuns = 4;
// Playing takes about `kPlaySeconds`, but no stop is shown for a shorter or longer time than these.
constexpr double kPlaySeconds = 6, kShortestStop = 0.04, kLongestStop = 0.5;  // [s]

/// Iterates with r and u at every stop must fit into the memory.
std::size_t most_stops(const ContactProblem& problem) {
  const std::size_t bytes = 2 * sizeof(double) * std::max<std::size_t>(1, problem.size());
  return std::clamp(kMostBytes / bytes, kFewestStops, kMostStops);
}

/// NaN is never better, and anything is better than NaN.
bool is_better(double residual, double than) {
  return residual < than || (std::isnan(than) && !std::isnan(residual));
}

bool agree(double a, double b) {
  constexpr double kRounding = 1e-9;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

ScrubFigures figures_of(const LabIterate& iterate, const std::vector<ContactRecord>& contacts, int dim,
                        const std::vector<BlockLaw>& laws) {
  ScrubFigures figures;
  figures.residual = iterate.residual;
  for (std::size_t c = 0; c < laws.size(); ++c) {
    if (laws[c].set == FrictionSet::bilateral) continue;
    const double* r = iterate.r.data() + c * static_cast<std::size_t>(dim);
    figures.largest = std::max(figures.largest, std::hypot(r[0], r[1], r[2]));
  }
  for (const ContactRecord& contact : contacts) {
    if (contact.state == ContactState::open) ++figures.open;
    else if (contact.state == ContactState::stick) ++figures.sticks;
    else ++figures.slips;
  }
  return figures;
}

}  // namespace

std::vector<ScrubStop> scrub_stops(const std::vector<HistoryPoint>& history, std::size_t most) {
  std::vector<ScrubStop> all;
  for (const HistoryPoint& point : history) {
    if (!all.empty() && point.iteration <= all.back().iteration) {
      if (is_better(point.residual, all.back().residual)) all.back().residual = point.residual;
      continue;
    }
    all.push_back({point.iteration, point.residual});
  }
  if (all.size() <= most) return all;
  std::vector<ScrubStop> stops;
  std::size_t next = 0;
  for (std::size_t i = 0; i < most && next < all.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(most - 1);
    const auto wanted =
        static_cast<std::size_t>(std::lround(std::pow(static_cast<double>(all.size()), share))) - 1;
    const std::size_t place = std::min(std::max(next, wanted), all.size() - 1);
    stops.push_back(all[place]);
    next = place + 1;
  }
  return stops;
}

double scrub_interval(std::size_t stops) {
  return std::clamp(kPlaySeconds / static_cast<double>(std::max<std::size_t>(1, stops)), kShortestStop,
                    kLongestStop);
}

IterationScrub::IterationScrub(LabFactory make_lab, std::function<void()> on_change)
    : make_lab_(std::move(make_lab)),
      job_(
          "iterations", [this](const Job& job) { solve(job); }, std::move(on_change)) {}

void IterationScrub::solve(const Job& job) {
  const ContactProblem& problem = job.step->problem;
  const std::unique_ptr<ContactLab> lab = make_lab_();
  lab->load(problem);
  const auto records = std::make_shared<const FrozenRecords>(problem, job.step->contacts, job.step->dt);
  job_.publish([&](Status& status) { status.records = records; });
  const auto stop_of = [&](long iteration) {
    return std::ranges::lower_bound(job.stops, iteration, {}, &ScrubStop::iteration);
  };
  std::vector<double> best(job.stops.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<bool> known(job.stops.size());
  const IterateSink sink{[&](long iteration) {
                           const auto stop = stop_of(iteration);
                           return stop != job.stops.end() && stop->iteration == iteration;
                         },
                         [&](LabIterate iterate) {
                           const auto at =
                               static_cast<std::size_t>(stop_of(iterate.iteration) - job.stops.begin());
                           if (known[at] && !is_better(iterate.residual, best[at])) return;
                           known[at] = true;
                           best[at] = iterate.residual;
                           const auto kept = std::make_shared<const LabIterate>(std::move(iterate));
                           job_.publish([&](Status& status) { status.iterates[at] = kept; });
                         }};
  LabParams params = race_params(*job.step, job.settings);
  params.time_budget = 0;
  params.max_iterations = static_cast<int>(std::max(1L, job.stops.back().iteration));
  solve_or_refuse(*lab, problem, job.solver, params,
                  {.cancel = &job_.cancelled(), .history = true, .iterates = &sink});
}

void IterationScrub::choose(const RaceStatus& race, std::string_view solver) {
  const auto found = std::ranges::find(race.runs, solver, &RaceRun::solver);
  const bool has_result = !race.running && race.step && found != race.runs.end() && found->report &&
                          !found->report->history.empty();
  const std::shared_ptr<const SolveReport> run = has_result ? found->report : nullptr;
  if (run == run_) return;
  leave();
  keep();
  job_.cancel();
  run_ = run;
  step_ = run ? race.step : nullptr;
  settings_ = race.settings;
  solver_ = run ? std::string(solver) : "";
  stops_ = run ? scrub_stops(run->history, most_stops(step_->problem)) : std::vector<ScrubStop>();
  stop_ = stops_.empty() ? 0 : stops_.size() - 1;
  status_ = {};
  asked_ = false;
  const auto at_hand = std::ranges::find(kept_, run_, &Kept::run);
  if (run_ && at_hand != kept_.end()) {
    status_ = at_hand->status;
    asked_ = true;
  }
  refresh();
}

/// Keeps the result of the present run, if it is complete.
void IterationScrub::keep() {
  if (!run_ || !asked_ || status_.running || !status_.error.empty() || !status_.records) return;
  if (std::ranges::find(status_.iterates, nullptr) != status_.iterates.end()) return;
  if (std::ranges::find(kept_, run_, &Kept::run) != kept_.end()) return;
  if (kept_.size() >= kKeptRuns) kept_.erase(kept_.begin());
  kept_.push_back({run_, status_});
}

void IterationScrub::follow(const SimulationStatus& simulation) {
  const bool moved = simulation.frame != frame_ || simulation.scenes != scenes_;
  frame_ = simulation.frame;
  scenes_ = simulation.scenes;
  run_plays_ = simulation.playing;
  if (moved || run_plays_) leave();
}

/// Starts the solve, once for a run.
void IterationScrub::ask() {
  if (!run_ || std::exchange(asked_, true)) return;
  Status status;
  status.iterates.resize(stops_.size());
  job_.start({step_, settings_, solver_, stops_}, std::move(status));
  update();
}

void IterationScrub::show(std::size_t stop) {
  if (stops_.empty()) return;
  stop_ = std::min(stop, stops_.size() - 1);
  shown_since_ = Clock::now();
  in_scene_ = !run_plays_;
  ask();
  refresh();
}

void IterationScrub::show_iteration(long iteration) {
  if (stops_.empty()) return;
  const auto nearest = std::ranges::min_element(
      stops_, {}, [&](const ScrubStop& stop) { return std::abs(stop.iteration - iteration); });
  show(static_cast<std::size_t>(nearest - stops_.begin()));
}

void IterationScrub::leave() {
  in_scene_ = false;
  plays_ = false;
}

void IterationScrub::play(bool on) {
  plays_ = on && stops_.size() > 1;
  if (plays_) show(stop_ + 1 < stops_.size() ? stop_ : 0);
}

bool IterationScrub::advance(Clock::time_point now) {
  if (!plays_ || (!is_known() && status_.running)) return false;
  if (std::chrono::duration<double>(now - shown_since_).count() < scrub_interval(stops_.size())) return false;
  show(stop_ + 1);
  if (stop_ + 1 == stops_.size()) plays_ = false;
  return true;
}

bool IterationScrub::update() {
  if (!job_.update()) return false;
  // A solve that was cancelled for another run still publishes its end.
  if (!run_ || !asked_ || job_.status().iterates.size() != stops_.size()) return false;
  if (std::ranges::find(kept_, run_, &Kept::run) != kept_.end()) return false;
  status_ = job_.status();
  refresh();
  return true;
}

bool IterationScrub::is_known() const { return iterate() != nullptr && status_.records; }

const LabIterate* IterationScrub::iterate() const {
  return stop_ < status_.iterates.size() ? status_.iterates[stop_].get() : nullptr;
}

void IterationScrub::measure_last() {
  const std::shared_ptr<const LabIterate> last =
      status_.iterates.empty() || !status_.records ? nullptr : status_.iterates.back();
  if (last == measured_) return;
  measured_ = last;
  largest_force_ = 0;
  if (!last) return;
  for (const ContactRecord& contact : status_.records->at(last->r, last->u))
    largest_force_ = std::max({largest_force_, contact.normal_force, norm(contact.friction)});
}

void IterationScrub::refresh() {
  measure_last();
  const std::shared_ptr<const LabIterate> shown = is_known() ? status_.iterates[stop_] : nullptr;
  if (shown == refreshed_ && (shown == nullptr) == !figures_) return;
  refreshed_ = shown;
  figures_.reset();
  contacts_.clear();
  if (shown == nullptr) return;
  contacts_ = status_.records->at(shown->r, shown->u);
  figures_ = figures_of(*shown, contacts_, step_->problem.dim, step_->problem.laws);
  if (!status_.records->has_points()) contacts_.clear();
}

float IterationScrub::error_limit() const {
  return run_ ? static_cast<float>(settings_.tolerance * run_->judgement.norm_q)
              : std::numeric_limits<float>::infinity();
}

std::string IterationScrub::note() const {
  if (!status_.error.empty()) return status_.error;
  for (std::size_t i = 0; i < status_.iterates.size(); ++i) {
    const LabIterate* again = status_.iterates[i].get();
    char text[160];
    if (again != nullptr && !agree(again->residual, stops_[i].residual))
      std::snprintf(text, sizeof text,
                    "solved again, it differs from the race from iteration %ld on: residual %.3g, not %.3g",
                    stops_[i].iteration, again->residual, stops_[i].residual);
    else if (again == nullptr && !status_.running && asked_)
      std::snprintf(text, sizeof text, "solved again, it does not reach iteration %ld", stops_[i].iteration);
    else continue;
    return text;
  }
  if (status_.records && !status_.records->has_points())
    return "the problem has no positions: its contacts are not drawn";
  return {};
}

}  // namespace stickslip
