// Parses the text format of the IPC reference implementation's scene scripts into a plain struct, before any
// mesh is read. ipc_script.md has the table of commands.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/io/file/input_error.h"
#include "gpu/math/vec.h"

namespace stickslip {

struct IpcOptions {
  bool ignore_unknown = false;  // leave out unsupported commands instead of refusing the script
};

/// Nodes of one shape inside a box that is relative to the bounding box of the shape's file ([0, 1]^3).
struct IpcBox {
  Vec<double, 3> low{0, 0, 0}, high{1, 1, 1};
  double begin = 0, end = 1e30;  // [s]
};

struct IpcDirichlet : IpcBox {
  Vec<double, 3> velocity{0, 0, 0};          // [m/s]
  Vec<double, 3> angular_velocity{0, 0, 0};  // [rad/s]
};

struct IpcNeumann : IpcBox {
  Vec<double, 3> acceleration{0, 0, 0};  // [m/s^2]: the format's "force" is weighted by the node's mass
};

struct IpcMaterial {
  double density = 1000, young = 1e5, poisson = 0.4;
  bool operator==(const IpcMaterial&) const = default;
};

struct IpcShape {
  std::string file;  // as written
  int line = 0;
  Vec<double, 3> translation{0, 0, 0};
  Vec<double, 3> rotation{0, 0, 0};  // degrees, R = Rx Ry Rz
  Vec<double, 3> scale{1, 1, 1};
  std::optional<IpcMaterial> material;
  std::optional<Vec<double, 3>> linear_velocity;   // [m/s] of a scripted shape
  std::optional<Vec<double, 3>> angular_velocity;  // [rad/s]
  Vec<double, 3> initial_velocity{0, 0, 0};        // [m/s]
  Vec<double, 3> initial_spin{0, 0, 0};            // [rad/s]
  std::vector<IpcDirichlet> dirichlet;
  std::vector<IpcNeumann> neumann;
  std::string sequence;  // folder of files with the positions of its nodes after each step; empty: none
};

/// meshCO: a fixed surface, centred at the mean of its vertices and rescaled to a longest side of `size`.
struct IpcMeshCollider {
  std::string file;
  int line = 0;
  Vec<double, 3> origin{0, 0, 0};
  Vec<double, 3> rotation{0, 0, 0};  // as above
  double size = 1;
  double mu = 0;
};

struct IpcHalfSpace {
  int line = 0;
  Vec<double, 3> origin{0, 0, 0}, normal{0, 1, 0};
  double mu = 0;
};

/// Relative to the diagonal of the solids' bounding box unless `absolute`.
struct IpcTuning {
  double kappa = 0;  // [kg/m^2]; 0: adapted
  double d_hat = 1e-3;
  double eps_v = 1e-3;
  bool absolute = false;
};

/// x' = x + dt v + dt^2 ((1/2 - beta) a + beta a'), v' = v + dt ((1 - gamma) a + gamma a').
struct IpcNewmark {
  double beta = 0.25, gamma = 0.5;
};

struct IpcScript {
  std::filesystem::path file;
  std::optional<IpcNewmark> newmark;  // none: backward Euler
  bool self_collision = true;         // of `shapes`, with each other too; planes and meshCO always act
  bool neo_hookean = true;            // else fixed corotated
  double duration = 5, dt = 0.025;
  IpcMaterial material;
  double damping = 0;  // [s] stiffness-proportional
  double size = -1;    // longest side of all `shapes`; not positive: unchanged
  bool gravity = true;
  double mu = 0;            // of every pair except those with planes and meshCO
  double tolerance = 1e-2;  // of Newton, relative to diagonal * dt
  std::optional<int> friction_lags;
  IpcTuning tuning;
  std::string animation = "null";
  int animation_line = 0;
  std::string sequence;  // folder of the animation meshSeqFromFile, which the first kinematic shape follows
  std::vector<double> animation_params;
  std::array<double, 2> dirichlet_range{0, 1e30}, neumann_range{0, 1e30};  // [s]
  double handle_ratio = 0.01;
  Vec<double, 3> model_axis{0, 0, 1};
  double model_degrees = 0;
  std::vector<IpcShape> shapes;
  std::vector<IpcMeshCollider> mesh_colliders;
  std::vector<IpcHalfSpace> half_spaces;
  bool orthographic = false;
  std::vector<std::string> left_out;  // "line N: what, why", then "and N more"; with ignore_unknown

  /// Throws InputError "file:line: what".
  [[noreturn]] void fail(int line, const std::string& what) const;
};

/// Throws InputError with file and line for a wrong number or name. Unsupported commands give one InputError
/// that lists each with its line, unless they are ignored.
IpcScript parse_ipc_script(const std::string& text, const std::filesystem::path& file,
                           const IpcOptions& options = {});

}  // namespace stickslip
