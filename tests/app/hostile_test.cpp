// Input that would overflow the stack or run forever, system limits, and signals. Uses the program itself
// where the process would end.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/cli.h"
#include "app/io/ipc/ipc_script_parse.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/surface_parse.h"
#include "app/process/child_process.h"
#include "app/viewer/soak.h"
#include "gpu/model/step_interrupted.h"
#include "mesh_fixture.h"
#include "tests/app/call_cli.h"
#include "tests/app/scripted_engine.h"

namespace stickslip {
namespace {

namespace hostile_fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)  // GCC
constexpr bool has_address_sanitizer = true;
#elif defined(__has_feature)  // Clang
constexpr bool has_address_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool has_address_sanitizer = false;
#endif

constexpr const char* hostile_scene = R"(
frames = 100000
[[material]]
name = "soft"
[[object]]
name = "box"
shape = "box"
size = [1, 1, 1]
edge = 0.5
[[half_space]]
point = [0, -1000, 0]
)";

// A shell that starts the tests in the background makes them and their children ignore SIGINT.
[[maybe_unused]] const bool signals_act = [] {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) signal(signal_number, SIG_DFL);
  return true;
}();

/// An environment variable that the test changes; restored by the destructor.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() {
    if (before_) setenv(name_.c_str(), before_->c_str(), 1);
    else unsetenv(name_.c_str());
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

class Hostile : public MeshFiles {
 protected:
  Hostile() { write("scene.toml", hostile_scene); }

  struct Result {
    int code;
    std::string out, err;
    nlohmann::json last_line() const {
      const std::string trimmed = out.substr(0, out.find_last_not_of('\n') + 1);
      return nlohmann::json::parse(trimmed.substr(trimmed.rfind('\n') + 1));
    }
  };
  /// Runs the program through a shell with the prefix `before`, then calls `act` with its process id.
  Result program(const std::string& words, const std::string& before = "",
                 const std::function<void(pid_t)>& act = {}, const std::string& out = "> out.txt") const {
    const std::string line = "cd '" + folder_.string() + "' && " + before + " exec '" STICKSLIP_PROGRAM "' " +
                             words + " " + out + " 2> err.txt";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    if (act) act(child);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read(folder_ / "out.txt"),
            read(folder_ / "err.txt")};
  }
  /// Waits for a file whose name contains `part` and that has at least `bytes`.
  bool wait_for(const std::string& part, std::uintmax_t bytes) const {
    for (int i = 0; i < 6000; ++i) {
      for (const auto& entry : hostile_fs::directory_iterator(folder_)) {
        std::error_code gone;
        const std::uintmax_t size = hostile_fs::file_size(entry.path(), gone);
        if (!gone && entry.path().filename().string().find(part) != std::string::npos && size >= bytes)
          return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// Whether the shell that starts the program has become it.
  static bool is_program(pid_t process) {
    std::error_code gone;
    return hostile_fs::read_symlink("/proc/" + std::to_string(process) + "/exe", gone).filename() ==
           hostile_fs::path(STICKSLIP_PROGRAM).filename();
  }
  /// Whether a signal is in a set of a process in /proc: "SigCgt", "SigIgn".
  static bool has_signal(pid_t process, const std::string& set, int signal_number) {
    const std::string status = read("/proc/" + std::to_string(process) + "/status");
    const std::size_t at = status.find(set + ":");
    if (at == std::string::npos) return false;
    return ((std::stoull(status.substr(at + set.size() + 1), nullptr, 16) >> (signal_number - 1)) & 1u) != 0;
  }
  std::vector<hostile_fs::path> parts() const {
    std::vector<hostile_fs::path> found;
    for (const auto& entry : hostile_fs::directory_iterator(folder_))
      if (entry.path().filename().string().find(".part") != std::string::npos) found.push_back(entry.path());
    return found;
  }
  Result call(std::vector<std::string> arguments, const ScriptedEngine::Script& script = {}) const {
    arguments.insert(arguments.begin(), "stickslip");
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = call_cli(static_cast<int>(argv.size()), argv.data(),
                              [&](Backend, int) { return std::make_unique<ScriptedEngine>(script); });
    const std::string out = ::testing::internal::GetCapturedStdout();
    return {code, out, ::testing::internal::GetCapturedStderr()};
  }
  std::string scene() const { return (folder_ / "scene.toml").string(); }
};

TEST_F(Hostile, DeepTomlIsRefusedBeforeItIsParsed) {
  const auto refused = [](const std::string& text) {
    return refusal_of([&] { parse_scene(text, "deep.toml"); });
  };
  expect_parts(refused("\n" + repeated("a.", 50000) + "a = 1\n"), {"deep.toml:2: ", "more than 16 parts"});
  expect_parts(refused("[" + repeated("a.", 50000) + "a]\n"), {"deep.toml:1: ", "more than 16 parts"});
  expect_parts(refused(repeated("'a'.", 50000) + "a = 1\n"), {"deep.toml:1: ", "more than 16 parts"});
  expect_parts(refused("x = " + repeated("{ a = ", 50000)), {"deep.toml:1: ", "more than 32 brackets"});
  expect_parts(refused("x = \"\"\"\n[[[\n\"\"\"\ny = " + repeated("[", 50000)),
               {"deep.toml:4: ", "more than 32 brackets"});
  // A multi-line string may end with quotes of its own.
  for (const char* text : {"\"\"\"a\"\"\"", "'''a'''"})
    for (const int own : {1, 2})
      expect_parts(refused("x = { b = " + (text + std::string(static_cast<std::size_t>(own), text[0])) +
                           ", " + repeated("a.", 50000) + "a = 1 }\n"),
                   {"deep.toml:1: ", "more than 16 parts"});
  // Dots and brackets without nesting.
  const std::string harmless = "description = \"" + repeated(".[", 500) + "\\\"" + repeated(".{", 500) +
                               "\"\n" + "title = '''" + repeated(".[", 500) + "'''\n# " +
                               repeated("[.", 500) + "\n";
  EXPECT_EQ(parse_scene(harmless + hostile_scene, "scene.toml").frames, 100000);
  expect_parts(refused(harmless + "[x]\ny = [" + repeated("1.5, ", 500) + "]\n"),
               {"deep.toml", "unknown key"});
}

TEST_F(Hostile, HugeWordsAreRefusedAtOnceAndNotEchoed) {
  const std::string word(10'000'000, 'k');
  const std::string key = refusal_of([&] { parse_scene("frames = 1\n" + word + " = 1\n", "scene.toml"); });
  EXPECT_LT(key.size(), 1000u);
  EXPECT_NE(key.find("scene.toml:2: "), std::string::npos) << key;
  EXPECT_NE(key.find("kkk..."), std::string::npos) << key;
  const std::string script = refusal_of([&] { parse_ipc_script(word + "\n", "script.txt"); });
  EXPECT_LT(script.size(), 1000u);
  EXPECT_NE(script.find("unknown command"), std::string::npos) << script;
  const std::string text = std::string(hostile_scene) + "[[object]]\nshape = 'box'\nname = 'x'\nmaterial = '";
  EXPECT_LT(refusal_of([&] { parse_scene(text + word + "'\n", "scene.toml"); }).size(), 2000u);
  const Result result = call({"run", scene(), "--set", std::string(100'000, 'k') + "=1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_LT(result.err.size(), 1000u);
}

TEST_F(Hostile, TooManyMaterialsAreRefusedBeforeTheyAreBuilt) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "[[material]]\nname = 'm" + std::to_string(i) + "'\n";
  expect_parts(refusal_of([&] { parse_scene(text, "scene.toml"); }),
               {"scene.toml:1: ", "3000", "at most 1000"});
}

TEST_F(Hostile, NumbersThatAreNoneAreRefusedByEveryOption) {
  const std::vector<std::vector<std::string>> options{{"run", scene(), "--scale"},
                                                      {"run", scene(), "--frames"},
                                                      {"run", scene(), "--threads"},
                                                      {"soak", scene(), "--minutes"},
                                                      {"soak", scene(), "--step-budget"},
                                                      {"soak", scene(), "--steps"},
                                                      {"soak", scene(), "--scale"},
                                                      {"bench", "barrier", "--scales"},
                                                      {"bench", "barrier", "--scale"},
                                                      {"bench", "barrier", "--tolerance"},
                                                      {"bench", "barrier", "--at"},
                                                      {"bench", "steps", "--warm"},
                                                      {"bench", "rigid", "--iterations"},
                                                      {"convert", "a.obj", "b.msh", "--edge"},
                                                      {"solve", "--generate", "stack", "--tolerance"},
                                                      {"solve", "--generate", "stack", "--time-budget"},
                                                      {"solve", "--generate", "stack", "--max-iterations"},
                                                      {"solve", "--generate", "stack", "--size"},
                                                      {"race", "--generate", "stack", "--time-budget"}};
  for (const std::vector<std::string>& option : options)
    for (const char* number : {"nan", "inf", "-inf", "-1", "1e999"}) {
      std::vector<std::string> line = option;
      line.emplace_back(number);
      SCOPED_TRACE(option.front() + " " + option.back() + " " + number);
      const Result result = call(line);
      EXPECT_EQ(result.code, 2);
      EXPECT_EQ(result.out, "");
      EXPECT_NE(result.err.find(option.back()), std::string::npos) << result.err;
    }
}

TEST_F(Hostile, NoOutputReplacesAnInput) {
  const auto expect_refused = [&](const std::vector<std::string>& line, const char* why) {
    const Result result = call(line);
    EXPECT_EQ(result.code, 2) << line.back();
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  };
  const std::string mesh = write("mesh.obj", "v 0 0 0\n").string(),
                    scene = write("named.toml", std::string(hostile_scene) + "\n# its mesh: \"mesh.obj\"\n")
                                .string();
  expect_refused({"run", scene, "--report", mesh}, "mesh.obj, which the scene names");
  EXPECT_EQ(read(mesh), "v 0 0 0\n");
  const std::string problem = (folder_ / "problem.hdf5").string(), pictures = (folder_ / "pictures").string();
  ASSERT_EQ(call({"solve", "--generate", "random_stacks", "--size", "3", "--out", problem}).code, 0);
  const std::string before = read(problem);
  expect_refused({"solve", problem, "--history", problem}, "the same file as the problem");
  expect_refused({"race", problem, "--csv", problem}, "the same file as the problem");
  EXPECT_EQ(read(problem), before);
  hostile_fs::create_directory(pictures);
  expect_refused({"run", scene, "--images", pictures, "--image", pictures + "/frame_00001.png"}, "--images");
}

TEST_F(Hostile, ControlCharactersInNamesAreRefused) {
  std::string text = hostile_scene;
  text += "\n[[object]]\nname = \"a\\nv 1 2 3\"\nshape = \"box\"\n";
  const Result result = call({"run", write("name.toml", text).string(), "--frames", "1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("control characters"), std::string::npos) << result.err;
}

TEST_F(Hostile, OneFileForTwoOutputsIsRefused) {
  hostile_fs::create_symlink("r.json", folder_ / "link.json");
  const std::string file = (folder_ / "r.json").string();
  for (const std::string& other :
       {file, (folder_ / "." / "r.json").string(), (folder_ / "link.json").string()}) {
    const Result result = call({"run", scene(), "--report", file, "--trace", other});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("same file"), std::string::npos) << result.err;
  }
  const Result over_scene = call({"run", scene(), "--report", scene()});
  EXPECT_EQ(over_scene.code, 2);
  EXPECT_EQ(read(scene()), hostile_scene);
  EXPECT_NE(over_scene.err.find("same file as the scene"), std::string::npos) << over_scene.err;
  const std::string problem = (folder_ / "a.hdf5").string(), plot = (folder_ / "p.png").string();
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"solve", "--generate", "random_stacks", "--out", problem, "--history",
                                 problem},
        {"race", "--generate", "random_stacks", "--plot", plot, "--csv", plot}}) {
    const Result result = call(line);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("same file"), std::string::npos) << result.err;
  }
}

/// Runs as an ordinary user: root may write everywhere.
TEST_F(Hostile, ASceneInAFolderThatCannotBeWrittenToIsRun) {
  using hostile_fs::perms;
  hostile_fs::create_directory(folder_ / "out");
  hostile_fs::permissions(folder_ / "out", perms::all);
  hostile_fs::permissions(folder_,
                          perms::all & ~(perms::owner_write | perms::group_write | perms::others_write));
  const std::string file = scene(), report = (folder_ / "out" / "r.jsonl").string();
  const char* const line[] = {"stickslip", "run", file.c_str(), "--quiet",
                              "--frames",  "2",   "--report",   report.c_str()};
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(99);
    _exit(run_cli(8, line,
                  [](Backend, int) { return std::make_unique<ScriptedEngine>(ScriptedEngine::Script{}); }));
  }
  int status = 0;
  waitpid(child, &status, 0);
  hostile_fs::permissions(folder_, perms::owner_all);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(hostile_fs::exists(report));
}

TEST_F(Hostile, AProblemThatCannotBeFrozenLeavesTheOtherOutputs) {
  write("boxes.toml",
        "[[material]]\nname = 'm'\n[[half_space]]\n[[object]]\nname = 'box'\nbody = 'rigid'\nshape = 'box'\n"
        "size = [1, 1, 1]\nposition = [0, 0.499, 0]\n");
  const Result result =
      program("run boxes.toml --quiet --frames 9 --freeze 2:a.hdf5 --report r.jsonl", "ulimit -f 16;");
  EXPECT_EQ(result.code, 1) << result.err;
  const nlohmann::json last = result.last_line();
  EXPECT_EQ(last["frames"], 2);
  EXPECT_NE(last["error"].get<std::string>().find("a.hdf5: writing failed"), std::string::npos) << last;
  EXPECT_TRUE(hostile_fs::exists(folder_ / "r.jsonl"));
  EXPECT_FALSE(hostile_fs::exists(folder_ / "a.hdf5"));
  EXPECT_TRUE(parts().empty());
}

TEST_F(Hostile, AFolderThatIsGoneAtTheEndLeavesTheOtherOutputs) {
  hostile_fs::create_directory(folder_ / "sub");
  ScriptedEngine::Script script;
  script.waits_for_cancel_at = 4;
  script.when_waiting = [&] {
    hostile_fs::remove(folder_ / "sub");
    raise(SIGINT);
  };
  const std::string report = (folder_ / "r.jsonl").string();
  const Result result =
      call({"run", scene(), "--quiet", "--report", report, "--state", (folder_ / "sub" / "a.obj").string()},
           script);
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.last_line()["error"].get<std::string>().find("there is no folder"), std::string::npos);
  EXPECT_TRUE(hostile_fs::exists(report));
}

TEST_F(Hostile, AStandardOutputThatCannotBeWrittenIsAFailure) {
  for (const char* const out : {">&-", "> /dev/full"}) {
    const Result result = program("run scene.toml --quiet --frames 1 --report r.jsonl", "", {}, out);
    EXPECT_EQ(result.code, 1) << out;
    EXPECT_NE(result.err.find("standard output cannot be written"), std::string::npos) << out << result.err;
    std::istringstream report(read(folder_ / "r.jsonl"));
    std::string line, more;
    EXPECT_TRUE(std::getline(report, line)) << out;
    EXPECT_EQ(nlohmann::json::parse(line)["frame"], 1);
    EXPECT_FALSE(std::getline(report, more)) << more;
  }
}

TEST_F(Hostile, ASignalThatIsIgnoredAtTheStartStaysIgnored) {
  const Result result = program("run scene.toml --quiet --trace t.json", "trap '' INT;", [&](pid_t process) {
    EXPECT_TRUE(wait_for("t.json.part", 5000));
    EXPECT_TRUE(has_signal(process, "SigIgn", SIGINT));
    kill(process, SIGINT);
    kill(process, SIGTERM);
  });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.last_line()["interrupted"].get<bool>());
}

TEST_F(Hostile, AFullDiskEndsARunAtOnceAndKeepsWhatIsComplete) {
  // In units of 512 bytes.
  const Result result = program("run scene.toml --quiet --report r.jsonl --trace t.json", "ulimit -f 8;");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("writing failed: File too large"), std::string::npos) << result.err;
  EXPECT_LT(result.last_line()["frames"], 10);
  EXPECT_NE(result.last_line()["error"].get<std::string>().find("writing failed"), std::string::npos);
  std::istringstream report(read(folder_ / "r.jsonl"));
  int lines = 0;
  for (std::string line; std::getline(report, line); ++lines)
    EXPECT_EQ(nlohmann::json::parse(line)["frame"], lines + 1);
  EXPECT_GE(lines, 1);
  EXPECT_TRUE(nlohmann::json::parse(read(folder_ / "t.json")).contains("traceEvents"));
  EXPECT_TRUE(parts().empty());
}

TEST_F(Hostile, SignalsEndARunWithWhatWasDone) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const Result result =
        program("run scene.toml --quiet --report r.jsonl --trace t.json", "", [&](pid_t process) {
          EXPECT_TRUE(wait_for("t.json.part", 5000));
          kill(process, signal_number);
        });
    EXPECT_EQ(result.code, 0) << signal_number << result.err;
    EXPECT_TRUE(result.last_line()["interrupted"].get<bool>());
    EXPECT_TRUE(parts().empty()) << signal_number;
    EXPECT_TRUE(hostile_fs::exists(folder_ / "r.jsonl"));
    hostile_fs::remove(folder_ / "r.jsonl");
    hostile_fs::remove(folder_ / "t.json");
  }
}

TEST_F(Hostile, ATraceIsValidWhenTheProgramIsKilled) {
  const Result result = program("run scene.toml --quiet --trace t.json", "", [&](pid_t process) {
    EXPECT_TRUE(wait_for("t.json.part", 20000));
    kill(process, SIGKILL);
  });
  EXPECT_EQ(result.code, -SIGKILL);
  ASSERT_EQ(parts().size(), 1u);
  EXPECT_GT(nlohmann::json::parse(read(parts().front()))["traceEvents"].size(), 10u);
}

TEST_F(Hostile, ASoakThatIsInterruptedSaysWhatItSaw) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    const Result result = program("soak scene.toml --minutes 10 --threads 1", "", [&](pid_t process) {
      // The shell itself catches SIGINT.
      for (int i = 0; i < 6000 && !(is_program(process) && has_signal(process, "SigCgt", signal_number)); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      kill(process, signal_number);
    });
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(result.last_line()["interrupted"].get<bool>());
  }
}

TEST_F(Hostile, ASecondSignalEndsTheProgramAtOnce) {
  ScriptedEngine::Script deaf;
  deaf.hangs_at = 2;
  deaf.when_waiting = [] {
    raise(SIGINT);
    raise(SIGTERM);
  };
  const auto run_and_interrupt = [&] {
    const std::string file = scene();
    const char* const line[] = {"stickslip", "run", file.c_str(), "--quiet"};
    run_cli(4, line, [&](Backend, int) { return std::make_unique<ScriptedEngine>(deaf); });
  };
  EXPECT_EXIT(run_and_interrupt(), ::testing::KilledBySignal(SIGTERM), "");
}

TEST_F(Hostile, AnInterruptedStepIsNotPartOfTheRun) {
  ScriptedEngine::Script script;
  script.waits_for_cancel_at = 4;
  script.when_waiting = [] { raise(SIGINT); };
  const Result result = call({"run", scene(), "--quiet"}, script);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.last_line()["interrupted"].get<bool>());
  EXPECT_EQ(result.last_line()["frames"], 3);
}

TEST_F(Hostile, MemoryThatRunsOutInAStepIsOneMessage) {
  ScriptedEngine::Script script;
  script.out_of_memory_at = 3;
  const Result result = call({"run", scene(), "--quiet"}, script);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "stickslip: out of memory after 2 frames\n");
  EXPECT_EQ(result.last_line()["error"], "out of memory after 2 frames");
}

TEST_F(Hostile, PicturesWithoutAddressSpaceAreOneMessage) {
  if (has_address_sanitizer) GTEST_SKIP() << "the sanitizer needs the address space";
  const Result result = program("run scene.toml --quiet --frames 2 --threads 1 --video a.mp4",
                                "ulimit -c 0; ulimit -v 400000;");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("address space"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_FALSE(hostile_fs::exists(folder_ / "a.mp4"));
}

/// A cancelled step of either kind leaves the state unchanged.
TEST_F(Hostile, EnginesEndAStepThatIsCancelled) {
  const std::string rigid =
      "[[material]]\nname = 'm'\n[[half_space]]\n[[object]]\nname = 'box'\nbody = 'rigid'\nshape = 'box'\n"
      "size = [1, 1, 1]\nposition = [0, 0.499, 0]\n";
  for (const std::string& text : {std::string(hostile_scene), rigid}) {
    const Scene scene = parse_scene(text, "scene.toml");
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
    load_into(*engine, scene);
    std::atomic<bool> cancel = false;
    engine->set_cancel(&cancel);
    engine->step();
    const State before = engine->state();
    cancel = true;
    EXPECT_THROW(engine->step(), StepInterrupted);
    const State after = engine->state();
    EXPECT_EQ(after.frame, 1);
    EXPECT_EQ(after.positions, before.positions);
    EXPECT_EQ(after.velocities, before.velocities);
    cancel = false;
    EXPECT_EQ(engine->step().frame, 2);
  }
}

TEST_F(Hostile, ASoakEndsWhenItIsCancelled) {
  std::atomic<bool> cancel = true;
  SoakOptions options;
  options.scene = "scene";
  options.minutes = 1e5;
  options.make_engine = [] { return make_engine(Backend::cpu, 1); };
  options.load_scene = [](const std::string&, const std::string&) {
    return parse_scene(hostile_scene, "scene.toml");
  };
  options.cancel = &cancel;
  const SoakReport report = soak(options);
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(report.faults.empty());
}

TEST_F(Hostile, ATetgenThatHangsGivesWayToTheLattice) {
  write("tetgen", "#!/bin/sh\nexec sleep 600\n");
  hostile_fs::permissions(folder_ / "tetgen", hostile_fs::perms::owner_all);
  std::ostringstream box;
  write_obj(box, {{"box", boundary_surface(make_box({1, 1, 1}, 1))}});
  const hostile_fs::path file = write("box.obj", box.str());
  const Variable path("PATH", folder_.string() + ":" + std::getenv("PATH")),
      cache("XDG_CACHE_HOME", folder_ / "cache");
  ::testing::internal::CaptureStderr();
  const TetMesh mesh = load_solid(file, {0.25, Mesher::automatic, 0.1});
  const std::string warning = ::testing::internal::GetCapturedStderr();
  const std::string refusal = refusal_of([&] { load_solid(file, {0.25, Mesher::tetgen, 0.1}); });
  EXPECT_GT(mesh.tets.size(), 100u);
  EXPECT_NE(warning.find("tetgen has not ended after 0.1 s"), std::string::npos) << warning;
  expect_parts(refusal, {"box.obj", "tetgen has not ended", "lattice"});
}

}  // namespace
}  // namespace stickslip
