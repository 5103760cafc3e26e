// Places the shapes of an IPC scene script: meshes are read, placed, rescaled and named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/ipc/ipc_script_parse.h"

namespace stickslip {

/// x = position + R(rotation) diag(scale) p.
struct IpcPlacement {
  Vec<double, 3> position{0, 0, 0};
  Vec<double, 3> rotation{0, 0, 0};  // rotation vector [degrees]
  Vec<double, 3> scale{1, 1, 1};
};

enum class IpcKind { solid, surface, segments, points };

struct IpcBody {
  std::string name;
  IpcKind kind = IpcKind::solid;
  std::filesystem::path file;
  std::filesystem::path sequence;  // folder of the position files; empty: none
  int first_of_sequence = 0;
  int line = 0;
  IpcPlacement placement;
  int begin = 0, end = 0;  // range of its nodes; of a meshCO: in IpcLayout::mesh_nodes
};

struct IpcBounds {
  Vec<double, 3> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  void include(const Vec<double, 3>& p) { low = min(low, p), high = max(high, p); }
  Vec<double, 3> size() const { return high - low; }
  Vec<double, 3> center() const { return 0.5 * (low + high); }
};

struct IpcLayout {
  std::vector<IpcBody> bodies;             // one per shape
  std::vector<Vec<double, 3>> file_nodes;  // of all bodies, as in their files
  std::vector<Vec<double, 3>> nodes;       // placed: at the start of the run, before any script moves them
  std::vector<Vec<double, 3>> unturned;    // the same without rotateModel; selects the "ends" of scripts
  std::vector<bool> on_boundary;           // per node
  std::vector<IpcBody> mesh_colliders;     // one per meshCO
  std::vector<Vec<double, 3>> mesh_nodes;  // placed nodes of mesh_colliders
  double diagonal = 0;                     // [m] of the solids' bounding box before rotateModel

  IpcBounds bounds(int begin, int end) const;
  IpcBounds bounds() const { return bounds(0, static_cast<int>(nodes.size())); }
};

/// Reads the meshes of the script. Paths are searched in the script's folder and all folders above it. Throws
/// InputError with the script's line when a mesh is missing or unusable.
IpcLayout lay_out(const IpcScript& script);

/// R = Rx Ry Rz, angles in degrees, as a rotation vector in degrees.
Vec<double, 3> rotation_vector_of_euler(const Vec<double, 3>& degrees);

}  // namespace stickslip
