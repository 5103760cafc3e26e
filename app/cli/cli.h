// The command line: `stickslip
// view|run|convert|list|bench|solve|race|soak|replay|bundle|reproduce|completion`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/lab.h"
#include "app/io/bundle/bundle.h"
#include "app/io/scene/scene.h"
#include "app/viewer/journal_file.h"
#include "gpu/engine.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stickslip {

enum ExitCode : int { exit_good = 0, exit_failed = 1, exit_bad_input = 2, exit_no_device = 3 };

using EngineFactory = std::function<std::unique_ptr<Engine>(Backend, int threads)>;

/// Parses and runs one command line. Messages for the user go to stderr. Never throws.
int run_cli(int argc, const char* const* argv, const EngineFactory& factory = make_engine,
            const LabFactory& labs = make_contact_lab);

/// Runs `command` and returns its exit code. Prints an exception's message on stderr.
int reported(const std::function<int()>& command);

/// Options shared by view and run.
struct SceneOptions {
  std::string scene = "drop";
  std::string backend = "auto";
  int threads = 0;
  std::string variant;  // empty: the scene without a variant
  std::string solver;   // empty: the scene's solver
  std::vector<std::string> settings;
  std::optional<double> scale, density;  // replace the scene's
  bool force = false;                    // Params::drop_unsupported
  bool ignore_unknown = false;           // of an IPC scene script
};

struct ViewCommand : SceneOptions {
  std::string quality = "automatic", interop = "auto", journal, script, output;
  bool paused = false, panels = false, fresh = false, validation = false, print_keys = false;
};

struct RunOptions : SceneOptions {
  std::optional<int> frames;
  std::string report, trace, image, images, video, state, checkpoint, journal, bundle, motion;
  double motion_rate = 30;
  int checkpoint_every = 60;
  std::string size = "1280x720", quality = "high", camera, interop = "auto";
  int supersample = 1;
  std::optional<double> fps;         // [1/s] pictures of the video per second of the run
  double turntable = 0;              // [degrees] of the camera's turn
  bool transparent = false;          // pictures without ground and sky
  std::vector<std::string> freezes;  // "FRAME:FILE" of contact problems to write
  bool check_intersections = false, quiet = false;
};

struct ConvertOptions {
  std::string input, output;
  std::string msh_version = "4.1", mesher = "auto";
  double edge = 0;  // [m] tet edge of a filled surface; 0: default
  bool binary = false;
  bool ignore_unknown = false;  // of an IPC scene script
};

struct SoakCommand : SceneOptions {
  double minutes = 1, step_budget = 0.5;
  int steps = 0;
  std::uint64_t seed = 1;
  bool window = false, quiet = false;
};

int command_view(const ViewCommand& options, const EngineFactory& factory);
int command_run(const RunOptions& options, const EngineFactory& factory);
int command_convert(const ConvertOptions& options);
int command_list(const std::string& what, bool json);
/// Starts the benchmark program with the arguments after `bench`; it replaces this process. Throws InputError
/// if the program does not exist.
[[noreturn]] void command_bench(const std::vector<std::string>& arguments);
/// With `--backend emulated` among the arguments, starts the program that has a CUDA device made of software
/// (tests/device) in place of this one; otherwise does nothing. Throws InputError if this build has none.
void start_on_emulated_device(std::vector<std::string> arguments);
/// Declares the arguments of `soak`.
/// Runs `soak`: returns exit_good, or exit_failed if it found a fault.
CLI::App* add_soak(CLI::App& app, SoakCommand& options);
int command_soak(const SoakCommand& options, const EngineFactory& factory);

/// Scene options of view, run and soak.
void add_scene_options(CLI::App& command, SceneOptions& options);

/// The option --seed, a whole number of at least 0.
CLI::Option* add_seed(CLI::App& command, std::uint64_t& seed, const std::string& meaning);
void add_threads(CLI::App& command, int& threads);
void add_scale(CLI::App& command, std::optional<double>& scale);
/// Makes every option of the commands of `app` refuse an empty value, such as an unset shell variable.
void refuse_empty_values(CLI::App& app);
/// Parses the arguments; exceptions name the faulty argument. Returns false after --help and --version.
bool parse_arguments(CLI::App& app, int argc, const char* const* argv);
/// The options --backend and --threads.
void add_backend(CLI::App& command, std::string& backend, int& threads);
/// Loads the scene and applies the options. Throws InputError.
Scene prepare_scene(const SceneOptions& options);
/// Where the bundles of this program come from.
BundleOrigin bundle_origin(Backend backend);
/// What the journal of a run or a window begins with.
JournalStart journal_start(const SceneOptions& options, const std::string& backend);
/// Returns the named backend. Throws InputError for an unknown name, DeviceError for an absent device.
Backend prepare_backend(const std::string& name);
std::string backend_name(Backend backend);
/// Loads the scene and its parameters. Throws InputError when the initial state is not admissible.
void load_into(Engine& engine, const Scene& scene);

}  // namespace stickslip
