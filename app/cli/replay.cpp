#include "app/cli/replay.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/first_scene.h"
#include "app/cli/interrupt.h"
#include "app/cli/log_level.h"
#include "app/viewer/replay.h"

namespace stickslip {
namespace {

/// `origin`: of the bundle; null: it was a journal alone.
nlohmann::json to_json(const ReplayCommand& command, const ReplayReport& report, const BundleOrigin* origin) {
  nlohmann::json out{{"journal", command.journal},
                     {"scene", report.scene},
                     {"steps", report.steps},
                     {"commands", report.commands},
                     {"equal", report.equal},
                     {"differing", report.differing},
                     {"interrupted", report.interrupted},
                     {"written_by", report.start.version},
                     {"backend_then", report.start.backend}};
  if (report.first_difference >= 0)
    out["first_difference"] = {{"frame", report.first_difference}, {"line", report.first_difference_line}};
  if (!report.error.empty()) out["error"] = report.error;
  if (origin != nullptr) out["device_then"] = origin->device;
  return out;
}

}  // namespace

CLI::App* add_replay(CLI::App& app, ReplayCommand& options) {
  CLI::App* replay =
      app.add_subcommand("replay",
                         "do again what a journal of view or run says (--journal), or a bundle "
                         "of a session; the last line of stdout is one JSON object");
  replay
      ->add_option("journal", options.journal,
                   "file of view --journal or run --journal, or a bundle (.stickslip)")
      ->required();
  add_backend(*replay, options.backend, options.threads);
  replay->add_flag("--verify", options.verify, "fail unless every state has the bits that it had then");
  replay->add_flag("--quiet", options.quiet, "no progress");
  return replay;
}

int command_replay(const ReplayCommand& options, const EngineFactory& factory) {
  const Backend backend = prepare_backend(options.backend);
  ReplayOptions how;
  std::optional<UnpackedBundle> bundle;
  if (is_bundle_name(options.journal)) bundle.emplace(options.journal);
  how.journal = bundle ? bundle->journal() : std::filesystem::path(options.journal);
  how.journal_name = options.journal;
  how.make_engine = [&] { return factory(backend, options.threads); };
  std::optional<FirstSceneLoader> loader;
  how.load_scene = [&](const std::string& name, const std::string& variant, const JournalStart& start) {
    // The scenes of a bundle, in the order of its journal, in place of those that the journal names.
    if (bundle) return load_bundled(bundle->next_load(), variant, start);
    if (!loader) loader.emplace(options_of(start));
    return (*loader)(name, variant);
  };
  if (!options.quiet)
    how.progress = [](int frame) {
      if (frame % 60 == 0) std::fprintf(stderr, "frame %d\n", frame);
    };
  const InterruptGuard interrupt;
  how.cancel = &interrupt.flag();
  const LogLevel errors_alone(spdlog::level::err);
  const ReplayReport report = replay(how);
  if (report.differing > 0)
    std::cerr << "stickslip: " << verdict_text(report, options.journal, backend_name(backend)) << std::endl;
  if (!report.error.empty()) std::cerr << "stickslip: " << report.error << std::endl;
  std::cout << to_json(options, report, bundle ? &bundle->origin() : nullptr).dump() << std::endl;
  const bool verified = report.differing == 0 && report.steps == report.equal && !report.interrupted;
  return report.error.empty() && (verified || !options.verify) ? exit_good : exit_failed;
}

}  // namespace stickslip
