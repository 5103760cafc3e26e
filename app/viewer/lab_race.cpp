#include "app/viewer/lab_race.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/io/fclib/frozen_problem.h"
#include "app/io/report/race_rank.h"
#include "app/viewer/video.h"

namespace stickslip {
namespace {

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

}  // namespace

LabParams race_params(const FrozenStep& step, const RaceSettings& settings) {
  LabParams params = step.params;
  params.tolerance = settings.tolerance;
  params.time_budget = settings.time_budget;
  params.max_iterations = LabParams{}.max_iterations;
  params.check_interval = 0;
  params.warm_start = settings.warm;
  return params;
}

LabRace::LabRace(LabFactory make_lab, std::function<void()> on_change)
    : make_lab_(std::move(make_lab)),
      job_(
          "lab",
          [this](const Job& job) {
            write(job);
            race(job);
          },
          std::move(on_change)) {}

void LabRace::start(std::shared_ptr<const FrozenStep> step, const RaceSettings& settings,
                    std::filesystem::path file) {
  RaceStatus status;
  status.step = step;
  status.runs = all_solvers();
  status.settings = settings;
  job_.start({std::move(step), settings, std::move(file)}, std::move(status));
}

void LabRace::write(const Job& job) {
  if (job.file.empty()) return;
  try {
    make_output_folder(job.file.parent_path());
    write_frozen(job.file, job.step->problem);
    spdlog::info("wrote {}; to race on it again: stickslip race {}", job.file.string(), job.file.string());
    job_.publish([&](RaceStatus& status) { status.file = job.file; });
  } catch (const std::exception& error) {
    spdlog::warn("no file was written: {}", error.what());
    job_.publish([&](RaceStatus& status) { status.note = error.what(); });
  }
}

void LabRace::race(const Job& job) {
  const std::unique_ptr<ContactLab> lab = make_lab_();
  lab->load(job.step->problem);
  const LabParams params = race_params(*job.step, job.settings);
  for (const ContactSolverInfo& solver : list_lab_solvers()) {
    if (job_.cancelled()) return;
    const auto change_run = [&](const std::function<void(RaceRun&)>& change) {
      job_.publish([&](RaceStatus& status) {
        const auto found = std::ranges::find(status.runs, solver.name, &RaceRun::solver);
        if (found != status.runs.end()) change(*found);
        std::ranges::stable_sort(status.runs, stands_before);
      });
    };
    change_run([](RaceRun& run) { run.state = RaceRun::State::running; });
    SolveReport report = solve_or_refuse(*lab, job.step->problem, solver.name, params,
                                         {.cancel = &job_.cancelled(), .history = true});
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
