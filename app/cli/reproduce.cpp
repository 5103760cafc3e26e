#include "app/cli/reproduce.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/io/report/solve_json.h"

namespace stickslip {
namespace {

nlohmann::json claim_json(const Claim& claim) {
  nlohmann::json checks = nlohmann::json::array();
  for (const ClaimCheck& check : claim.checks)
    checks.push_back({{"quantity", check.quantity}, {"meaning", check.meaning}, {"claimed", check.claimed}});
  return {{"name", claim.name},
          {"where", claim.where},
          {"claim", claim.statement},
          {"missing", claim.runs() ? nlohmann::json() : nlohmann::json(claim.missing)},
          {"remark", claim.remark},
          {"hardware", claim.hardware},
          {"checks", std::move(checks)}};
}

}  // namespace

CLI::App* add_reproduce(CLI::App& app, ReproduceOptions& options) {
  CLI::App* reproduce =
      app.add_subcommand("reproduce",
                         "measure what papers claim of their figures and tables; each claim ends with one "
                         "line, its verdict, and writes NAME.json and NAME.svg");
  reproduce->add_option("name", options.names,
                        "claims or papers, as --list shows them; default: every claim that has a run");
  reproduce->add_flag("--list", options.list, "list all claims, those without a run with the reason");
  reproduce->add_flag("--json", options.json, "with --list: one JSON document");
  reproduce->add_flag("--quick", options.quick, "smaller runs, of seconds: they try the claim out");
  reproduce->add_option("--out", options.out, "folder of the files")->capture_default_str();
  add_backend(*reproduce, options.backend, options.threads);
  return reproduce;
}

void list_claims(const std::vector<ClaimedPaper>& papers, bool json) {
  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const ClaimedPaper& paper : papers) {
      nlohmann::json claims = nlohmann::json::array();
      for (const Claim& claim : paper.claims) claims.push_back(claim_json(claim));
      all.push_back({{"paper", paper.key},
                     {"reference", paper.reference},
                     {"title", paper.title},
                     {"left_out", paper.left_out},
                     {"claims", std::move(claims)}});
    }
    std::cout << json_line(all) << std::endl;
    return;
  }
  for (const ClaimedPaper& paper : papers) {
    std::printf("%s  %s [%s]\n", paper.key.c_str(), paper.title.c_str(), paper.reference.c_str());
    for (const Claim& claim : paper.claims) {
      std::printf("  %-32s %s\n      %s\n", claim.name.c_str(), claim.where.c_str(), claim.statement.c_str());
      if (!claim.runs()) std::printf("      no run yet: %s\n", claim.missing.c_str());
    }
    for (const std::string& text : paper.left_out) std::printf("  left out: %s\n", text.c_str());
    std::printf("\n");
  }
}

bool listed_claims(const std::vector<ClaimedPaper>& papers, const ReproduceOptions& options) {
  if (options.json && !options.list) throw InputError("--json needs --list; runs write their JSON to --out");
  if (!options.list) return false;
  if (!options.names.empty()) throw InputError("--list takes no names");
  list_claims(papers, options.json);
  return true;
}

int command_reproduce(const ReproduceOptions& options, const std::vector<std::string>& arguments) {
  const std::vector<ClaimedPaper> papers = load_claims();
  if (listed_claims(papers, options)) return exit_good;
  choose_claims(papers, options.names);
  command_bench(arguments);
}

}  // namespace stickslip
