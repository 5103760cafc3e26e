// Claims of published papers: assets/claims/*.toml, one file per paper. A claim names the figure or table,
// states the result, and has what a run needs: the measuring function, its scenes and settings, and what is
// checked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stickslip {

/// A measured quantity beside the printed one. `seen` is the median over the starts.
struct ClaimCheck {
  enum class Sense { equal, at_least, at_most };

  std::string quantity;  // of the measuring function, such as "barrier_al.newton_ratio"
  std::string meaning;   // in words
  double claimed = 0;
  Sense sense = Sense::equal;
  double tolerance = 0;  // relative; of a claimed 0 absolute

  bool holds(double seen) const;
};

/// One of the methods or settings that a measuring function compares.
struct ClaimMethod {
  std::string name;                   // of its quantities, such as "barrier_al"
  std::string solver;                 // empty: the scene's, or of a contact problem the first listed
  std::vector<std::string> settings;  // "key=value" each, as --set takes them
  std::optional<double> scale;        // replaces the run's
};

/// What a measuring function runs. Each reads some of the fields.
struct ClaimRun {
  std::vector<std::string> scenes;    // "NAME" or "NAME:VARIANT"
  std::vector<std::string> settings;  // of all methods
  std::optional<double> scale;        // of the scenes
  int frames = 0;                     // measured steps; 0: as long as the scene
  int from = 0, stride = 0;           // start k begins at frame from + k stride
  int starts = 1;                     // runs that differ in their start or seed
  std::string problem;                // generator of contact problems
  std::string law = "exact";          // of their contacts, see apply_law
  std::vector<double> sizes, values;  // of the generator or scene; of what is swept
  bool start_per_size = false;        // start k has size k, where a generator has no seed; else all have all
  double tolerance = 0;               // of a solve; 0: the default
  int iterations = 0;                 // at most; 0: the default
};

struct Claim {
  std::string paper;      // key of the paper, "guo2024"
  std::string name;       // "guo2024-fig25-rods"
  std::string where;      // "Fig. 25b, §6.3"
  std::string statement;  // the result, in one sentence
  std::string missing;    // why there is no run yet; empty: there is one
  std::string measure;    // the measuring function
  std::string hardware;   // of a published time
  std::string remark;     // what differs from the paper
  std::vector<ClaimMethod> methods;
  std::vector<ClaimCheck> checks;
  ClaimRun full, quick;

  bool runs() const { return missing.empty(); }
};

struct ClaimedPaper {
  std::string key, reference, title;  // "guo2024", "Guo24" of docs/references.md, the title
  int figures = 0, tables = 0;        // of the paper
  std::vector<std::string> left_out;  // "Fig. 3: why": those that state no result of a program
  std::vector<Claim> claims;
};

/// The papers by key. Throws InputError with file, line, the fault, and the nearest key.
std::vector<ClaimedPaper> load_claims();
std::vector<ClaimedPaper> load_claims(const std::filesystem::path& folder);
/// One file. `file` is used for messages, and its name is the key.
ClaimedPaper parse_claims(const std::string& text, const std::filesystem::path& file);

/// The claims of these names; the key of a paper stands for all its claims that have a run, no name for those
/// of all papers. Throws InputError with the nearest name, or with the reason why a claim has no run.
std::vector<const Claim*> choose_claims(const std::vector<ClaimedPaper>& papers,
                                        const std::vector<std::string>& names);

/// Names of claims that have a run, and keys of papers.
std::vector<std::string> claim_names(const std::vector<ClaimedPaper>& papers);

}  // namespace stickslip
