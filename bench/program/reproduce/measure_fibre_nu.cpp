// Contact solvers on steps of fibres over nu = 3 contacts / dofs [Bertails11]. The scene is `hair-band`, of
// each size (strands along a side of the bundle) and each value (segments of a strand); so long as the band
// draws the strands together, contacts become more. Steps are made by nsgs in rounds; the contact problem of
// each start is solved from zero by all methods. Quantities of a method M: M.failed_below and
// M.failed_beyond, the shares of unsolved problems for nu <= 1 and above; M.slowdown and M.more_iterations,
// median seconds and iterations in the third of the problems with the largest nu over those in the third with
// the smallest. Curves: the share of unsolved problems with Wilson's 95% interval, in bins of nu.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>

#include "app/io/scene/settings.h"
#include "bench/program/reproduce/fibre_bundle.h"
#include "bench/program/reproduce/fibre_problems.h"
#include "bench/program/reproduce/measure.h"
#include "bench/program/reproduce/nu_shares.h"

namespace stickslip {
namespace {

constexpr double kBin = 0.25;  // of nu

std::string with_row(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw InputError("the scene hair-band has no row '" + from + "'");
  return text.substr(0, at) + to + text.substr(at + from.size());
}

/// One method on one problem.
struct FibreSolve {
  double nu = 0, seconds = 0, iterations = 0;
  bool solved = false;
};

void add_bundle_problems(const ClaimRun& run, int side, int segments, const MeasureContext& context,
                         std::vector<FibreProblem>& out) {
  const std::unique_ptr<Engine> engine = context.engine();
  Scene scene = load_with_bundle(side, segments);
  set_solver(scene.params, "nsgs");
  load_into(*engine, scene);
  for (int k = 0; k < run.starts; ++k) {
    int contacts = 0;
    while (engine->state().frame < run.from + k * run.stride) {
      context.check();
      contacts = engine->step().contacts;
    }
    if (contacts == 0) continue;
    out.emplace_back(engine->freeze());
  }
}

/// Medians of the last third over those of the first; `solves` ascends by nu.
double growth(const std::vector<FibreSolve>& solves, double FibreSolve::*of) {
  const std::size_t third = std::max<std::size_t>(solves.size() / 3, 1);
  std::vector<double> low, high;
  for (std::size_t i = 0; i < third; ++i) {
    low.push_back(solves[i].*of);
    high.push_back(solves[solves.size() - 1 - i].*of);
  }
  return median(high) / std::max(median(low), 1e-12);
}

void add_shares(const std::string& name, const std::vector<FibreSolve>& solves, Measurement& out) {
  double failed[2] = {0, 0}, count[2] = {0, 0};
  for (const FibreSolve& solve : solves) {
    failed[solve.nu > 1] += solve.solved ? 0 : 1;
    ++count[solve.nu > 1];
  }
  const char* where[2] = {"nu <= 1", "nu > 1"};
  const char* quantity[2] = {".failed_below", ".failed_beyond"};
  for (int side = 0; side < 2; ++side)
    if (count[side] > 0) {
      out.add(name + quantity[side], failed[side] / count[side]);
      out.notes.push_back(share_note(name, where[side], failed[side], count[side]));
    }
}

/// A point and a note for each bin that has problems.
void add_bins(const std::string& name, const std::vector<FibreSolve>& solves, Measurement& out) {
  Curve curve{name, {}, {}};
  for (std::size_t begin = 0; begin < solves.size();) {
    const double bin = std::floor(solves[begin].nu / kBin);
    double nu = 0, unsolved = 0;
    std::vector<double> seconds, iterations;
    std::size_t end = begin;
    for (; end < solves.size() && std::floor(solves[end].nu / kBin) == bin; ++end) {
      nu += solves[end].nu;
      unsolved += solves[end].solved ? 0 : 1;
      seconds.push_back(solves[end].seconds);
      iterations.push_back(solves[end].iterations);
    }
    const double n = static_cast<double>(end - begin);
    curve.points.emplace_back(nu / n, unsolved / n);
    curve.band.push_back(wilson(unsolved / n, n));
    char text[200];
    std::snprintf(
        text, sizeof text, "%s, nu %.2f to %.2f: %.0f of %.0f unsolved, medians %.0f iterations and %.3g s",
        name.c_str(), bin * kBin, (bin + 1) * kBin, unsolved, n, median(iterations), median(seconds));
    out.notes.emplace_back(text);
    begin = end;
  }
  out.curves.push_back(std::move(curve));
}

}  // namespace

FibreProblem::FibreProblem(ContactProblem of)
    : nu(3.0 * static_cast<double>(of.contacts()) / static_cast<double>(of.moving_dofs())),
      problem(std::move(of)) {}

void measure_fibres(const Claim& claim, const ClaimRun& run, const MeasureContext& context,
                    const std::string& prefix, std::vector<FibreProblem> problems, Measurement& out) {
  std::ranges::stable_sort(problems, {}, &FibreProblem::nu);
  out.x_name = "nu = 3 contacts / dofs";
  out.y_name = "share of unsolved problems, with 95% intervals";
  const std::unique_ptr<ContactLab> lab = (*context.labs)(context.backend, context.threads);
  for (const ClaimMethod& method : methods_of(claim)) {
    const std::string name = prefix + method.name;
    std::vector<FibreSolve> solves;
    for (const FibreProblem& of : problems) {
      lab->load(of.problem);
      const SolveReport report = solve_claim(*lab, of.problem, run, method, context, false);
      solves.push_back({of.nu, report.seconds, static_cast<double>(report.iterations), report.converged});
    }
    add_shares(name, solves, out);
    out.add(name + ".slowdown", growth(solves, &FibreSolve::seconds));
    out.add(name + ".more_iterations", growth(solves, &FibreSolve::iterations));
    add_bins(name, solves, out);
  }
}

std::string with_bundle(const std::string& text, int side, int segments) {
  // The strands' distance is that of the scene; the band shrinks with the bundle.
  constexpr double spacing = 0.0054, radius = 0.004;
  const double corner = -0.5 * spacing * (side - 1);
  const auto number = [](double value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  std::string with = with_row(text, "count = [6, 1, 6]",
                              "count = [" + std::to_string(side) + ", 1, " + std::to_string(side) + "]");
  with = with_row(with, "segments = 26", "segments = " + std::to_string(segments));
  with = with_row(with, "position = [-0.0135, 0, -0.0135]",
                  "position = [" + number(corner) + ", 0, " + number(corner) + "]");
  return with_row(with, "radius = 0.024", "radius = " + number(radius * side));
}

Scene load_with_bundle(int side, int segments) {
  const std::filesystem::path file = load_scene("hair-band").file;
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError("cannot read " + file.string());
  // Expectations and variants name nodes of the scene's own size.
  return parse_scene(with_bundle(text.str().substr(0, text.str().find("\n[expect]")), side, segments), file);
}

Measurement measure_fibre_nu(const Claim& claim, const ClaimRun& run, const MeasureContext& context) {
  if (run.scenes != std::vector<std::string>{"hair-band"} || run.sizes.empty() || run.values.empty())
    throw InputError("claim " + claim.name +
                     ": this measure takes the scene hair-band, sizes (strands along a side) and values "
                     "(segments of a strand)");
  std::vector<FibreProblem> problems;
  for (const double side : run.sizes)
    for (const double segments : run.values)
      add_bundle_problems(run, static_cast<int>(side), static_cast<int>(segments), context, problems);
  if (problems.empty()) throw InputError("claim " + claim.name + ": no step has a contact");
  Measurement out;
  measure_fibres(claim, run, context, "", std::move(problems), out);
  return out;
}

}  // namespace stickslip
