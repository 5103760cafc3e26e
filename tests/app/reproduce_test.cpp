// stickslip reproduce: the claims' files, verdicts, and the command with small claims.
#include "bench/program/reproduce/reproduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <regex>
#include <set>

#include "app/io/file/input_error.h"
#include "app/io/scene/scene.h"
#include "bench/program/reproduce/fibre_bundle.h"
#include "bench/program/reproduce/fibre_models.h"
#include "bench/program/reproduce/picture.h"
#include "tests/app/shipped_text.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kHead = "reference = 'Guo24'\ntitle = 't'\n";
// Two random stacks of four boxes, in milliseconds.
const std::string kSmallClaim =
    "[[claim]]\nname = 'test-stacks'\nwhere = 'Fig. 1'\nclaim = 'c'\nmeasure = 'solvers'\n"
    "[[claim.method]]\nname = 'nsgs'\n"
    "[[claim.check]]\nquantity = 'nsgs.solved'\nmeaning = 'solved'\nclaimed = 1\n"
    "[claim.run]\nproblem = 'random_stacks'\nsizes = [4]\nstarts = 2\ntolerance = 1e-4\n";

std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

ClaimedPaper parse_test(const std::string& claims) { return parse_claims(kHead + claims, "test.toml"); }

/// Runs the claims of a file and reads what was written for the one of this name.
struct ReproducedClaim {
  fs::path folder = fs::temp_directory_path() / ("reproduce_test." + std::to_string(getpid()));
  int code = 0;
  json document;
  std::string picture, line;

  explicit ReproducedClaim(const std::string& claims, const std::string& name = "test-stacks") {
    ReproduceOptions options;
    options.out = folder.string();
    options.threads = 1;
    ::testing::internal::CaptureStdout();
    code = reproduce_claims({parse_test(claims)}, options, make_engine, make_contact_lab);
    line = ::testing::internal::GetCapturedStdout();
    std::ifstream(folder / (name + ".json")) >> document;
    std::ifstream stream(folder / (name + ".svg"));
    picture.assign(std::istreambuf_iterator<char>(stream), {});
  }
  ~ReproducedClaim() { fs::remove_all(folder); }
};

TEST(Claims, TheShippedOnesNameEveryFigureAndTable) {
  for (const ClaimedPaper& paper : load_claims()) {
    std::set<std::string> named;
    const auto note = [&](const std::string& text) {
      const std::regex form("(Fig\\.|Table) ([0-9]+)");
      for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at)
        named.insert(at->str());
    };
    for (const Claim& claim : paper.claims) note(claim.where);
    for (const std::string& text : paper.left_out) note(text.substr(0, text.find(':')));
    for (int i = 1; i <= paper.figures; ++i)
      EXPECT_TRUE(named.contains("Fig. " + std::to_string(i))) << paper.key << ": Fig. " << i;
    for (int i = 1; i <= paper.tables; ++i)
      EXPECT_TRUE(named.contains("Table " + std::to_string(i))) << paper.key << ": Table " << i;
  }
}

TEST(Claims, TheShippedOnesHaveMeasuresAndScenes) {
  std::set<std::string> scenes;
  for (const SceneInfo& scene : list_scenes()) {
    scenes.insert(scene.name);
    for (const auto& [variant, description] : scene.variants) scenes.insert(scene.name + ":" + variant);
  }
  for (const ClaimedPaper& paper : load_claims())
    for (const Claim& claim : paper.claims) {
      if (!claim.runs()) continue;
      EXPECT_NE(find_measure(claim.measure), nullptr) << claim.name;
      if (claim.measure == "thin") continue;  // scenes of the bench
      for (const ClaimRun* run : {&claim.full, &claim.quick})
        for (const std::string& scene : run->scenes)
          EXPECT_TRUE(scenes.contains(scene)) << claim.name << ": " << scene;
    }
}

TEST(Claims, UnknownNamesAreRefusedWithTheNearest) {
  const std::vector<ClaimedPaper> papers = load_claims();
  EXPECT_NE(refusal_of([&] { choose_claims(papers, {"guo2024-fig25-rod"}); }).find("'guo2024-fig25-rods'"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { choose_claims(papers, {"xyz"}); }).find("--list"), std::string::npos);
  EXPECT_NE(
      refusal_of([&] { choose_claims(papers, {"andrews2022-fig37-structure"}); }).find("has no run yet"),
      std::string::npos);
  EXPECT_NE(refusal_of([] { find_measure("step"); }).find("'steps'"), std::string::npos);
  const std::string far = refusal_of([] { find_measure("xyzxyzxyz"); });
  EXPECT_EQ(far.find("''"), std::string::npos) << far;
  EXPECT_NE(far.find("stickslip-bench is older"), std::string::npos) << far;
}

TEST(Claims, AKeyOfAPaperStandsForItsRuns) {
  const std::vector<ClaimedPaper> papers = load_claims();
  const std::vector<const Claim*> chosen = choose_claims(papers, {"guo2024", "guo2024-fig25-rods"});
  EXPECT_GT(chosen.size(), 5u);
  EXPECT_EQ(std::set<const Claim*>(chosen.begin(), chosen.end()).size(), chosen.size());
  for (const Claim* claim : chosen) EXPECT_EQ(claim->paper, "guo2024");
}

TEST(Claims, FaultsOfAFileAreNamed) {
  EXPECT_NE(refusal_of([] { parse_test(replaced(kSmallClaim, "where", "were")); }).find("where"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parse_test(replaced(kSmallClaim, "test-stacks", "other")); }).find("test-"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parse_test(kSmallClaim + kSmallClaim); }).find("another claim"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parse_test(replaced(kSmallClaim, "measure = 'solvers'", "")); }).find("reason"),
            std::string::npos);
}

TEST(Claims, AQuickRunKeepsWhatItDoesNotState) {
  const Claim claim = parse_test(kSmallClaim + "[claim.quick]\nsizes = [2]\n").claims[0];
  EXPECT_EQ(claim.full.sizes, std::vector<double>{4});
  EXPECT_EQ(claim.quick.sizes, std::vector<double>{2});
  EXPECT_EQ(claim.quick.problem, "random_stacks");
}

TEST(ClaimVerdict, ComparesTheMedianWithinTheTolerance) {
  const ClaimCheck equal{"q", "m", 2, ClaimCheck::Sense::equal, 0.1};
  EXPECT_TRUE(equal.holds(1.81) && equal.holds(2.19));
  EXPECT_FALSE(equal.holds(1.79) || equal.holds(2.21));
  const ClaimCheck least{"q", "m", 2, ClaimCheck::Sense::at_least, 0.1};
  EXPECT_TRUE(least.holds(1.81) && least.holds(100));
  EXPECT_FALSE(least.holds(1.79));
  const ClaimCheck most{"q", "m", 0, ClaimCheck::Sense::at_most, 0.1};
  EXPECT_TRUE(most.holds(-5) && most.holds(0.1));
  EXPECT_FALSE(most.holds(0.11));
  const Seen seen = seen_of({5, 1, 3, 2});
  EXPECT_EQ(seen.median, 2.5);
  EXPECT_EQ(seen.low, 1);
  EXPECT_EQ(seen.high, 5);
}

TEST(ClaimVerdict, EveryOutcomeIsReached) {
  Claim claim;
  claim.checks = {{"a", "m", 1, ClaimCheck::Sense::at_least, 0},
                  {"b", "n", 1, ClaimCheck::Sense::at_least, 0}};
  const auto outcome = [&](double a, double b) {
    Measurement measured;
    measured.add("a", a);
    measured.add("b", b);
    return judge_claim(claim, measured).outcome;
  };
  EXPECT_EQ(outcome(1, 2), Outcome::reproduced);
  EXPECT_EQ(outcome(0, 2), Outcome::partly);
  EXPECT_EQ(outcome(0, 0), Outcome::not_reproduced);
  Measurement half;
  half.add("a", 1);
  EXPECT_EQ(judge_claim(claim, half).outcome, Outcome::not_measured);
}

TEST(Reproduce, WritesAResultAndOneVerdict) {
  const ReproducedClaim run(kSmallClaim);
  EXPECT_EQ(run.code, exit_good);
  EXPECT_EQ(run.line.find("test-stacks: reproduced: seen 1, claimed 1: solved"), 0u) << run.line;
  EXPECT_EQ(std::count(run.line.begin(), run.line.end(), '\n'), 1);
  EXPECT_EQ(run.document["verdict"]["outcome"], "reproduced");
  EXPECT_EQ(run.document["samples"]["nsgs.solved"].size(), 2u);
  for (const char* key :
       {"paper", "where", "claim", "run", "methods", "machine", "date", "seconds", "threads"})
    EXPECT_TRUE(run.document.contains(key)) << key;
  EXPECT_EQ(run.picture.find("<svg"), 0u);
  EXPECT_NE(run.picture.find("</svg>"), std::string::npos);
}

// The program that runs the claims lists them as well, and runs none.
TEST(Reproduce, TheBenchProgramListsToo) {
  const auto call = [](std::vector<const char*> line, std::string& out) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_reproduce_cli(
        static_cast<int>(line.size()), line.data(),
        [](Backend, int) -> std::unique_ptr<Engine> { throw std::runtime_error("a claim was run"); },
        [](Backend, int) -> std::unique_ptr<ContactLab> { throw std::runtime_error("a claim was run"); });
    out = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
    return code;
  };
  std::string out;
  EXPECT_EQ(call({"stickslip", "reproduce", "--list"}, out), exit_good) << out;
  EXPECT_NE(out.find("guo2024-fig25-rods"), std::string::npos) << out;
  EXPECT_EQ(call({"stickslip", "reproduce", "--list", "--json"}, out), exit_good) << out;
  EXPECT_EQ(json::parse(out).size(), load_claims().size());
  EXPECT_EQ(call({"stickslip", "reproduce", "--json"}, out), exit_bad_input);
  EXPECT_NE(out.find("--json needs --list"), std::string::npos) << out;
}

TEST(Reproduce, AnImpossibleClaimIsNotReproduced) {
  const ReproducedClaim run(replaced(kSmallClaim, "claimed = 1", "claimed = 2"));
  EXPECT_EQ(run.code, exit_good);  // it was measured
  EXPECT_EQ(run.line.find("test-stacks: not reproduced: seen 1, claimed 2"), 0u) << run.line;
}

TEST(Reproduce, AQuantityThatIsMissingIsNotMeasured) {
  const ReproducedClaim run(replaced(kSmallClaim, "nsgs.solved", "nsgs.warmth"));
  EXPECT_EQ(run.code, exit_failed);
  EXPECT_EQ(run.line.find("test-stacks: not measured"), 0u) << run.line;
}

TEST(Reproduce, AnInterruptKeepsWhatIsDoneAndNothingElse) {
  const fs::path folder = fs::temp_directory_path() / ("reproduce_stopped." + std::to_string(getpid()));
  const std::string second = replaced(kSmallClaim, "test-stacks", "test-more");
  ReproduceOptions options;
  options.out = folder.string();
  int labs = 0;
  const LabFactory stop_at_second = [&](Backend backend, int threads) {
    if (++labs == 3) std::raise(SIGINT);  // each claim has two starts
    return make_contact_lab(backend, threads);
  };
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = reproduce_claims({parse_test(kSmallClaim + second)}, options, make_engine, stop_at_second);
  ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, exit_failed);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("interrupted after 1 of 2 claims"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "test-stacks.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  fs::remove_all(folder);
}

TEST(Reproduce, ComparesStepsFromTheSameStates) {
  const std::string claim =
      replaced(replaced(replaced(kSmallClaim, "'solvers'", "'steps'"),
                        "problem = 'random_stacks'\nsizes = [4]", "scenes = ['slope']\nframes = 2"),
               "[[claim.method]]\nname = 'nsgs'\n",
               "[[claim.method]]\nname = 'ipc'\n[[claim.method]]\nname = 'again'\n[[claim.method]]\nname = "
               "'rough'\nset = ['newton_tolerance=1e-1']\n");
  const ReproducedClaim run(replaced(replaced(claim, "nsgs.solved", "again.newton_ratio"),
                                     "tolerance = 1e-4\n", "from = 2\nstride = 1\n"));
  EXPECT_EQ(run.line.find("test-stacks: reproduced"), 0u) << run.line;
  EXPECT_EQ(run.document["samples"]["again.newton"], run.document["samples"]["ipc.newton"]);
  EXPECT_GE(run.document["samples"]["rough.newton_ratio"][0], 1);
}

TEST(Reproduce, PicturesHaveCurvesOrRows) {
  Claim claim;
  claim.name = "a<b";
  claim.checks = {{"q", "meaning & more", 1, ClaimCheck::Sense::equal, 0}};
  Measurement measured;
  measured.add("q", 1);
  const std::string rows = picture_of(claim, measured, judge_claim(claim, measured));
  EXPECT_NE(rows.find("a&lt;b"), std::string::npos);
  EXPECT_NE(rows.find("meaning &amp; more"), std::string::npos);
  measured.curves = {{"one", {{1, 1e-3}, {10, 1e-6}, {100, 0}}}};
  measured.y_log = true;
  const std::string curves = picture_of(claim, measured, judge_claim(claim, measured));
  EXPECT_NE(curves.find("stroke-width=\"2\""), std::string::npos);
  EXPECT_EQ(curves.find("nan"), std::string::npos);
  EXPECT_EQ(curves.find("fill-opacity"), std::string::npos);
  measured.curves[0].band = {{5e-4, 2e-3}, {5e-7, 2e-6}, {0, 0}};
  EXPECT_NE(picture_of(claim, measured, judge_claim(claim, measured)).find("fill-opacity"),
            std::string::npos);
  measured.curves.resize(5, measured.curves[0]);  // bands of many would hide each other
  EXPECT_EQ(picture_of(claim, measured, judge_claim(claim, measured)).find("fill-opacity"),
            std::string::npos);
}

TEST(Reproduce, TimesOverNuHaveQuartiles) {
  const ReproducedClaim run(
      "[[claim]]\nname = 'test-stacks'\nwhere = 'Fig. 1'\nclaim = 'c'\nmeasure = 'nu_times'\n"
      "[[claim.method]]\nname = 'newton_ac'\n"
      "[[claim.check]]\nquantity = 'newton_ac.slowdown'\nmeaning = 'm'\nclaimed = 0\nsense = 'at_least'\n"
      "[claim.run]\nsizes = [3]\nvalues = [0.5, 1]\nstarts = 4\ntolerance = 1e-6\n");
  ASSERT_EQ(run.code, 0);
  const json& curve = run.document["curves"][0];
  ASSERT_EQ(curve["points"].size(), 2U);
  ASSERT_EQ(curve["band"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(curve["band"][i][0].get<double>(), 0);
    EXPECT_LE(curve["band"][i][0], curve["points"][i][1]);
    EXPECT_GE(curve["band"][i][1], curve["points"][i][1]);
  }
  EXPECT_GT(run.document["samples"]["newton_ac.slowdown"][0], 0);
}

/// Fewer segments have fewer degrees of freedom, and the band presses them together at as many places.
TEST(Reproduce, FibresHaveSharesAndMediansOverNu) {
  const ReproducedClaim run(
      "[[claim]]\nname = 'test-stacks'\nwhere = 'Fig. 1'\nclaim = 'c'\nmeasure = 'fibre_nu'\n"
      "[[claim.method]]\nname = 'newton_fb'\n[[claim.method]]\nname = 'none'\nsolver = 'nsgs'\n"
      "set = ['max_iterations=1']\n"
      "[[claim.check]]\nquantity = 'none.failed_below'\nmeaning = 'm'\nclaimed = 1\n"
      "[claim.run]\nscenes = ['hair-band']\nsizes = [2]\nvalues = [3, 5]\nfrom = 6\nstride = 2\n"
      "starts = 2\ntolerance = 1e-3\n");
  ASSERT_EQ(run.code, 0);
  EXPECT_EQ(run.line.find("test-stacks: reproduced"), 0u) << run.line;
  EXPECT_EQ(run.document["samples"]["newton_fb.failed_below"][0], 0);
  ASSERT_EQ(run.document["curves"].size(), 2u);
  double last = 0;
  for (const json& point : run.document["curves"][0]["points"]) {
    EXPECT_GT(point[0].get<double>(), last);
    last = point[0].get<double>();
  }
}

TEST(Reproduce, ABundleOfAnotherSizeHasABandThatFits) {
  const std::string text =
      "segments = 26\nposition = [-0.0135, 0, -0.0135]\ncount = [6, 1, 6]\nradius = 0.024\n";
  EXPECT_EQ(with_bundle(text, 4, 9),
            "segments = 9\nposition = [-0.0081, 0, -0.0081]\ncount = [4, 1, 4]\nradius = 0.016\n");
  EXPECT_EQ(with_bundle(text, 6, 26), text);
  EXPECT_THROW(with_bundle("segments = 26\n", 4, 9), InputError);
}

/// The same contacts, and as many degrees of freedom.
TEST(Reproduce, ThreeModelsOfFibresHaveTheSameContacts) {
  Wisp wisp;
  wisp.contacts = 40;
  wisp.seed = 3;
  for (const FibreModel model : kFibreModels) {
    SCOPED_TRACE(name_of(model));
    const ContactProblem problem = wisp_problem(model, wisp);
    EXPECT_NO_THROW(check(problem));
    EXPECT_EQ(problem.contacts(), 40U);
    EXPECT_EQ(problem.moving_dofs(), 4U * kFibreDofs);
    EXPECT_EQ(asymmetry_of(problem.A).relative, 0);
    // Free strands approach each other where they touch: some normal velocities without impulses are
    // negative, and those of the three models are alike.
    const std::vector<double> q = to_local(problem).q;
    const std::vector<double> other = to_local(wisp_problem(FibreModel::curvatures, wisp)).q;
    double product = 0, own = 0, others = 0;
    for (std::size_t i = 0; i < q.size(); i += 3) {
      product += q[i] * other[i];
      own += q[i] * q[i];
      others += other[i] * other[i];
    }
    EXPECT_GT(product / std::sqrt(own * others), 0.9);
    EXPECT_LT(*std::ranges::min_element(q), -0.01);
  }
  EXPECT_THROW(wisp_problem(FibreModel::rods, {.side = 1}), std::invalid_argument);
}

/// In a long step inertia has no part: dt times an impulse across the tip of a straight strand moves it as a
/// force moves that of a clamped beam, by L^3 / (3 E I).
TEST(Reproduce, ThreeModelsOfFibresBendAsBeams) {
  Wisp wisp;
  wisp.contacts = 400;
  wisp.radius = 0;
  wisp.dt = 10;
  for (const FibreModel model : kFibreModels) {
    SCOPED_TRACE(name_of(model));
    const ContactProblem problem = wisp_problem(model, wisp);
    const ContactProblem local = to_local(problem);
    const double pi = std::numbers::pi, r = wisp.diameter / 2;
    const double beam = std::pow(wisp.length, 3) / (3 * wisp.young * pi / 4 * r * r * r * r);
    double most = 0;  // along a normal, of two strands in series
    for (std::size_t row = 0; row < local.size(); row += 3)
      for (std::int32_t k = local.W.offsets[row]; k < local.W.offsets[row + 1]; ++k)
        if (local.W.indices[static_cast<std::size_t>(k)] == static_cast<std::int32_t>(row))
          most = std::max(most, local.W.values[static_cast<std::size_t>(k)]);
    // The contact next to the tip is within 1% of it. Held first segments make node models stiffer: the
    // clamp is half a segment further on.
    const double held = model == FibreModel::curvatures ? 0
                        : model == FibreModel::springs  ? 0.5 / (kFibreDofs / 3 + 1)
                                                        : 0.5 / (kFibreDofs / 6 + 1);
    const double want = 2 * beam * std::pow(1 - held, 3);
    EXPECT_NEAR(most * wisp.dt * wisp.dt / want, 1, 0.06);
  }
}

TEST(Reproduce, ThreeModelsOfFibresHaveSharesOverNu) {
  const ReproducedClaim run(
      "[[claim]]\nname = 'test-stacks'\nwhere = 'Fig. 1'\nclaim = 'c'\nmeasure = 'fibre_models'\n"
      "[[claim.method]]\nname = 'newton_ac'\n"
      "[[claim.check]]\nquantity = 'curvatures.newton_ac.failed_below'\nmeaning = 'm'\nclaimed = 0\n"
      "[claim.run]\nsizes = [2]\nvalues = [0.25, 0.5]\nstarts = 2\ntolerance = 1e-6\n");
  ASSERT_EQ(run.code, 0);
  ASSERT_EQ(run.document["curves"].size(), 3U);
  for (const char* model : {"rods", "springs", "curvatures"})
    EXPECT_EQ(run.document["samples"][std::string(model) + ".newton_ac.failed_below"].size(), 1U) << model;
}

/// The quick run of every claim is measured; its verdict may be any.
class LongReproduce : public ::testing::TestWithParam<std::string> {};

TEST_P(LongReproduce, TheQuickRunIsMeasured) {
  ReproduceOptions options;
  options.names = {GetParam()};
  options.out = (fs::temp_directory_path() / ("reproduce_quick." + std::to_string(getpid()))).string();
  options.quick = true;
  options.threads = 1;
  EXPECT_EQ(reproduce_claims(load_claims(), options, make_engine, make_contact_lab), exit_good);
  fs::remove_all(options.out);
}

/// Names of the claims that have a run, found by their text.
std::vector<std::string> claims_with_runs() {
  const std::string begin = "\n[[claim]]\n", name = "name = \"";
  std::vector<std::string> names;
  for (const auto& file : test::shipped_files("claims")) {
    const std::string text = test::text_of(file);
    for (std::size_t at = text.find(begin); at != std::string::npos;) {
      const std::size_t next = text.find(begin, at + 1), first = text.find(name, at) + name.size();
      const std::string claim = text.substr(at, next - at);
      if (claim.find("\nmissing = ") == std::string::npos)
        names.push_back(text.substr(first, text.find('"', first) - first));
      at = next;
    }
  }
  return names;
}

TEST(ReproducedNames, AreThoseOfAllClaimsWithRuns) {
  std::vector<std::string> names;
  for (const ClaimedPaper& paper : load_claims())
    for (const Claim& claim : paper.claims)
      if (claim.runs()) names.push_back(claim.name);
  EXPECT_EQ(claims_with_runs(), names);
}

INSTANTIATE_TEST_SUITE_P(Papers, LongReproduce, ::testing::ValuesIn(claims_with_runs()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name;
                           for (const char c : info.param)
                             name += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c) : "_";
                           return name;
                         });

}  // namespace
}  // namespace stickslip
