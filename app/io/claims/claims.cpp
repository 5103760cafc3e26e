#include "app/io/claims/claims.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "app/io/file/input_error.h"
#include "app/io/scene/scene.h"
#include "app/io/scene/toml_reader.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFrames = 1000000, kMostStarts = 1000;

std::vector<std::string> optional_texts(TableReader& table, const std::string& key,
                                        std::vector<std::string> fallback = {}) {
  return table.has(key) ? table.texts(key) : std::move(fallback);
}

std::vector<double> optional_numbers(TableReader& table, const std::string& key,
                                     std::vector<double> fallback) {
  return table.has(key) ? table.numbers(key) : std::move(fallback);
}

std::optional<double> optional_scale(TableReader& table, std::optional<double> fallback = {}) {
  return table.has("scale") ? table.number("scale", {1, kMaxScale}) : fallback;
}

/// Keys that are absent keep the values of `base`.
ClaimRun read_run(TableReader table, const ClaimRun& base) {
  ClaimRun run;
  run.scenes = optional_texts(table, "scenes", base.scenes);
  run.settings = optional_texts(table, "set", base.settings);
  run.scale = optional_scale(table, base.scale);
  run.frames = table.whole("frames", 0, kMostFrames, base.frames);
  run.from = table.whole("from", 0, kMostFrames, base.from);
  run.stride = table.whole("stride", 0, kMostFrames, base.stride);
  run.starts = table.whole("starts", 1, kMostStarts, base.starts);
  run.problem = table.text("problem", base.problem);
  run.law = table.text("law", base.law);
  run.sizes = optional_numbers(table, "sizes", base.sizes);
  run.values = optional_numbers(table, "values", base.values);
  run.start_per_size = table.flag("start_per_size", base.start_per_size);
  if (run.start_per_size && table.has("starts"))
    table.fail("starts", "start_per_size has one start per size");
  if (run.start_per_size) run.starts = static_cast<int>(run.sizes.size());
  run.tolerance = table.number("tolerance", Range::not_negative(), base.tolerance);
  run.iterations = table.whole("iterations", 0, 2000000000, base.iterations);
  table.finish();
  return run;
}

ClaimMethod read_method(TableReader table) {
  ClaimMethod method;
  method.name = table.text("name");
  method.solver = table.text("solver", "");
  method.settings = optional_texts(table, "set");
  method.scale = optional_scale(table);
  table.finish();
  return method;
}

ClaimCheck read_check(TableReader table) {
  ClaimCheck check;
  check.quantity = table.text("quantity");
  check.meaning = table.text("meaning");
  check.claimed = table.number("claimed", {});
  const std::string sense = table.text("sense", "equal");
  if (sense == "at_least") check.sense = ClaimCheck::Sense::at_least;
  else if (sense == "at_most") check.sense = ClaimCheck::Sense::at_most;
  else if (sense != "equal") table.fail("sense", "'" + sense + "' is none of equal, at_least, at_most");
  check.tolerance = table.number("tolerance", Range::not_negative(), 0);
  table.finish();
  return check;
}

Claim read_claim(TableReader table, const std::string& paper) {
  Claim claim;
  claim.paper = paper;
  claim.name = table.text("name");
  claim.where = table.text("where");
  claim.statement = table.text("claim");
  claim.missing = table.text("missing", "");
  claim.measure = table.text("measure", "");
  claim.hardware = table.text("hardware", "");
  claim.remark = table.text("remark", "");
  if (!claim.name.starts_with(paper + "-")) table.fail("name", "it must begin with " + paper + "-");
  if (claim.missing.empty() == claim.measure.empty())
    table.fail("measure", "a claim has either a measure or the reason why it is missing");
  for (TableReader& method : table.tables("method")) claim.methods.push_back(read_method(method));
  for (TableReader& check : table.tables("check")) claim.checks.push_back(read_check(check));
  if (claim.runs() && claim.checks.empty()) table.fail("check", "a claim that runs has at least one");
  if (const auto run = table.table("run")) claim.full = read_run(*run, {});
  claim.quick = claim.full;
  if (const auto run = table.table("quick")) claim.quick = read_run(*run, claim.full);
  table.finish();
  return claim;
}

/// A claim before a paper: the key of its paper is a part of every misspelt claim.
std::string near_text(const std::vector<ClaimedPaper>& papers, const std::string& name) {
  std::vector<std::string_view> claims, keys;
  for (const ClaimedPaper& paper : papers) {
    keys.push_back(paper.key);
    for (const Claim& claim : paper.claims) claims.push_back(claim.name);
  }
  std::string nearest = nearest_name(claims, name);
  if (nearest.empty()) nearest = nearest_name(keys, name);
  return nearest.empty() ? " (stickslip reproduce --list shows all)" : "; did you mean '" + nearest + "'?";
}

}  // namespace

bool ClaimCheck::holds(double seen) const {
  const double slack = claimed == 0 ? tolerance : std::abs(claimed) * tolerance;
  switch (sense) {
    case Sense::at_least:
      return seen >= claimed - slack;
    case Sense::at_most:
      return seen <= claimed + slack;
    case Sense::equal:
      break;
  }
  return std::abs(seen - claimed) <= slack;
}

ClaimedPaper parse_claims(const std::string& text, const fs::path& file) {
  TableReader root(text, file);
  ClaimedPaper paper;
  paper.key = file.stem().string();
  paper.reference = root.text("reference");
  paper.title = root.text("title");
  paper.figures = root.whole("figures", 0, 1000, 0);
  paper.tables = root.whole("tables", 0, 1000, 0);
  paper.left_out = optional_texts(root, "left_out");
  std::set<std::string> names;
  for (TableReader& table : root.tables("claim")) {
    paper.claims.push_back(read_claim(table, paper.key));
    if (!names.insert(paper.claims.back().name).second) table.fail("name", "another claim has this name");
  }
  root.finish();
  return paper;
}

std::vector<ClaimedPaper> load_claims(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  if (error || files.empty()) throw InputError(folder.string() + ": there are no claims here (*.toml)");
  std::sort(files.begin(), files.end());
  std::vector<ClaimedPaper> papers;
  for (const fs::path& file : files) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw InputError("cannot read " + file.string());
    papers.push_back(parse_claims(text.str(), file));
  }
  return papers;
}

std::vector<ClaimedPaper> load_claims() { return load_claims(assets_folder() / "claims"); }

std::vector<const Claim*> choose_claims(const std::vector<ClaimedPaper>& papers,
                                        const std::vector<std::string>& names) {
  std::vector<const Claim*> chosen;
  const auto add_paper = [&](const ClaimedPaper& paper) {
    for (const Claim& claim : paper.claims)
      if (claim.runs()) chosen.push_back(&claim);
  };
  if (names.empty()) std::for_each(papers.begin(), papers.end(), add_paper);
  for (const std::string& name : names) {
    bool found = false;
    for (const ClaimedPaper& paper : papers) {
      if (paper.key == name) {
        add_paper(paper);
        found = true;
      }
      for (const Claim& claim : paper.claims) {
        if (claim.name != name) continue;
        if (!claim.runs()) throw InputError("claim " + name + " has no run yet: " + claim.missing);
        chosen.push_back(&claim);
        found = true;
      }
    }
    if (!found) throw InputError("there is no claim '" + name + "'" + near_text(papers, name));
  }
  // Once each, in the order in which they are asked for.
  std::set<const Claim*> seen;
  std::erase_if(chosen, [&](const Claim* claim) { return !seen.insert(claim).second; });
  return chosen;
}

std::vector<std::string> claim_names(const std::vector<ClaimedPaper>& papers) {
  std::vector<std::string> names;
  names.reserve(papers.size());
  for (const ClaimedPaper& paper : papers) names.push_back(paper.key);
  for (const ClaimedPaper& paper : papers)
    for (const Claim& claim : paper.claims)
      if (claim.runs()) names.push_back(claim.name);
  return names;
}

}  // namespace stickslip
