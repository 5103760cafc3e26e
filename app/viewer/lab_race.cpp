#include "app/viewer/lab_race.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/io/fclib/frozen_problem.h"
#include "app/io/report/race_rank.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace stickslip {
namespace {

/// Lowest priority, below the window and the simulation. Threads of the lab inherit it.
void yield_to_all() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 15);
#endif
}

std::vector<RaceRun> all_solvers() {
  std::vector<RaceRun> runs;
  for (const ContactSolverInfo& solver : list_lab_solvers())
    runs.push_back({std::string(solver.name), runs.size(), RaceRun::State::waiting, nullptr});
  return runs;
}

bool stands_before(const RaceRun& a, const RaceRun& b) {
  if (a.state != b.state) return a.state > b.state;
  return a.state == RaceRun::State::done && ranks_before(*a.report, *b.report);
}

LabParams params_of(const FrozenStep& step, const RaceSettings& settings) {
  LabParams params = step.params;
  params.tolerance = settings.tolerance;
  params.time_budget = settings.time_budget;
  params.max_iterations = LabParams{}.max_iterations;
  params.check_interval = 0;
  params.warm_start = settings.warm;
  return params;
}

}  // namespace

LabRace::LabRace(LabFactory make_lab, std::function<void()> on_change)
    : make_lab_(std::move(make_lab)), on_change_(std::move(on_change)), thread_([this] { run(); }) {}

LabRace::~LabRace() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    cancel_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LabRace::start(std::shared_ptr<const FrozenStep> step, const RaceSettings& settings,
                    std::filesystem::path file) {
  {
    const std::lock_guard lock(mutex_);
    cancel_ = true;
    status_ = {};
    status_.step = step;
    status_.runs = all_solvers();
    status_.running = true;
    status_.tolerance = settings.tolerance;
    news_ = true;
    next_ = Job{std::move(step), settings, std::move(file)};
  }
  wake_.notify_one();
}

void LabRace::cancel() {
  const std::lock_guard lock(mutex_);
  cancel_ = true;
  if (!std::exchange(next_, std::nullopt)) return;
  status_.running = false;
  news_ = true;
}

bool LabRace::update() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(news_, false)) return false;
  seen_ = status_;
  return true;
}

void LabRace::publish(const std::function<void(RaceStatus&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    if (next_ || quit_) return;  // the status already belongs to the next race
    change(status_);
    news_ = true;
  }
  if (on_change_) on_change_();
}

void LabRace::run() {
  yield_to_all();
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return quit_ || next_; });
      if (quit_) return;
      job = std::move(*next_);
      next_.reset();
      cancel_ = false;
    }
    try {
      write(job);
      race(job);
    } catch (const std::exception& error) {
      spdlog::error("lab: {}", error.what());
      publish([&](RaceStatus& status) { status.error = error.what(); });
    }
    publish([](RaceStatus& status) { status.running = false; });
  }
}

void LabRace::write(const Job& job) {
  if (job.file.empty()) return;
  try {
    write_frozen(job.file, job.step->problem);
    spdlog::info("wrote {}; to race on it again: stickslip race {}", job.file.string(), job.file.string());
    publish([&](RaceStatus& status) { status.file = job.file; });
  } catch (const std::exception& error) {
    spdlog::warn("no file was written: {}", error.what());
    publish([&](RaceStatus& status) { status.note = error.what(); });
  }
}

void LabRace::race(const Job& job) {
  const std::unique_ptr<ContactLab> lab = make_lab_();
  lab->load(job.step->problem);
  const LabParams params = params_of(*job.step, job.settings);
  for (const ContactSolverInfo& solver : list_lab_solvers()) {
    if (cancel_) return;
    const auto change_run = [&](const std::function<void(RaceRun&)>& change) {
      publish([&](RaceStatus& status) {
        const auto found = std::ranges::find(status.runs, solver.name, &RaceRun::solver);
        if (found != status.runs.end()) change(*found);
        std::ranges::stable_sort(status.runs, stands_before);
      });
    };
    change_run([](RaceRun& run) { run.state = RaceRun::State::running; });
    SolveReport report =
        solve_or_refuse(*lab, job.step->problem, solver.name, params, {.cancel = &cancel_, .history = true});
    report.r.clear();
    report.u.clear();
    report.errors.clear();
    const auto kept = std::make_shared<const SolveReport>(std::move(report));
    change_run([&](RaceRun& run) {
      run.report = kept;
      run.state = RaceRun::State::done;
    });
  }
}

}  // namespace stickslip
