#include "bench/program/reproduce/reproduce.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/cli/examples.h"
#include "app/cli/interrupt.h"
#include "app/cli/version.h"
#include "app/io/file/output_file.h"
#include "bench/program/reproduce/picture.h"
#include "gpu/model/step_interrupted.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

json run_json(const ClaimRun& run) {
  return {{"scenes", run.scenes},
          {"set", run.settings},
          {"scale", run.scale ? json(*run.scale) : json()},
          {"frames", run.frames},
          {"from", run.from},
          {"stride", run.stride},
          {"starts", run.starts},
          {"problem", run.problem},
          {"law", run.law},
          {"sizes", run.sizes},
          {"values", run.values},
          {"start_per_size", run.start_per_size},
          {"tolerance", run.tolerance},
          {"iterations", run.iterations}};
}

void write_text(const fs::path& path, const std::string& text) {
  OutputFile file(path);
  file.stream() << text;
  file.commit();
}

fs::path prepare_folder(const std::string& out) {
  std::error_code error;
  fs::create_directories(out, error);
  if (error || !fs::is_directory(out)) throw InputError("--out " + out + ": no folder can be made there");
  check_writable(fs::path(out) / "claim.json");
  return out;
}

/// The verdict's line, and below it what a reader has to know.
void print_verdict(const Claim& claim, const ClaimVerdict& verdict, const Measurement& measured,
                   double seconds) {
  std::printf("%s: %s (%.0f s)\n", claim.name.c_str(), verdict.line().c_str(), seconds);
  std::fflush(stdout);
  for (const std::string& note : measured.notes) std::fprintf(stderr, "  %s\n", note.c_str());
}

}  // namespace

json claim_document(const Claim& claim, bool quick, const Measurement& measured, const ClaimVerdict& verdict,
                    double seconds, const MeasureContext& context) {
  json methods = json::array(), curves = json::array();
  for (const ClaimMethod& method : claim.methods)
    methods.push_back({{"name", method.name}, {"solver", method.solver}, {"set", method.settings}});
  for (const Curve& curve : measured.curves) {
    curves.push_back({{"name", curve.name}, {"points", curve.points}});
    if (!curve.band.empty()) curves.back()["band"] = curve.band;
  }
  const BackendInfo backend = backend_info(context.backend);
  return {{"name", claim.name},
          {"paper", claim.paper},
          {"where", claim.where},
          {"claim", claim.statement},
          {"remark", claim.remark},
          {"hardware", claim.hardware},
          {"measure", claim.measure},
          {"quick", quick},
          {"run", run_json(quick ? claim.quick : claim.full)},
          {"methods", std::move(methods)},
          {"samples", measured.samples},
          {"curves", std::move(curves)},
          {"notes", measured.notes},
          {"verdict", to_json(verdict)},
          {"seconds", seconds},
          {"machine", backend.backend == Backend::cpu ? processor_name() : backend.device},
          {"backend", backend.name},
          {"threads", context.threads},
          {"date", today()}};
}

int reproduce_claims(const std::vector<ClaimedPaper>& papers, const ReproduceOptions& options,
                     const EngineFactory& engines, const LabFactory& labs) {
  const std::vector<const Claim*> claims = choose_claims(papers, options.names);
  for (const Claim* claim : claims) find_measure(claim->measure);
  const InterruptGuard interrupt;
  const MeasureContext context{prepare_backend(options.backend), options.threads, &engines, &labs,
                               &interrupt.flag()};
  const fs::path folder = prepare_folder(options.out);
  std::size_t done = 0, measured_claims = 0;
  for (const Claim* claim : claims) {
    const auto begin = std::chrono::steady_clock::now();
    Measurement measured;
    try {
      context.check();
      measured = find_measure(claim->measure)(*claim, options.quick ? claim->quick : claim->full, context);
    } catch (const StepInterrupted&) {
      std::fprintf(stderr, "stickslip: interrupted after %zu of %zu claims\n", done, claims.size());
      return exit_failed;
    } catch (const SimulationError& error) {
      measured.notes.emplace_back(error.what());
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const ClaimVerdict verdict = judge_claim(*claim, measured);
    const json document = claim_document(*claim, options.quick, measured, verdict, taken.count(), context);
    write_text(folder / (claim->name + ".json"),
               document.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
    write_text(folder / (claim->name + ".svg"), picture_of(*claim, measured, verdict));
    print_verdict(*claim, verdict, measured, taken.count());
    ++done;
    measured_claims += verdict.outcome != Outcome::not_measured;
  }
  return measured_claims == claims.size() ? exit_good : exit_failed;
}

int run_reproduce_cli(int argc, const char* const* argv, const EngineFactory& engines,
                      const LabFactory& labs) {
  return reported([&]() -> int {
    CLI::App app{"stickslip: a sandbox for frictional contact", "stickslip"};
    app.require_subcommand(1);
    ReproduceOptions options;
    add_reproduce(app, options);
    add_examples(app);
    refuse_empty_values(app);
    if (!parse_arguments(app, argc, argv)) return exit_good;
    const std::vector<ClaimedPaper> papers = load_claims();
    return listed_claims(papers, options) ? exit_good : reproduce_claims(papers, options, engines, labs);
  });
}

}  // namespace stickslip
