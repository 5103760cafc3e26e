// A folder with the layout of the IPC reference implementation, with small meshes of known coordinates.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/msh.h"

namespace stickslip::testing {

/// input/tetMeshes/grid.msh: the cube [-0.5, 0.5]^3 with nodes every 0.25; input/triMeshes: plane.obj (a unit
/// square in y = 0), wedge.obj (3 x 1 x 1, lopsided); input/segMeshes/edge.seg: from the origin to (1, 0, 0).
struct IpcFolder {
  std::filesystem::path root;

  IpcFolder() {
    static std::atomic<int> count = 0;
    root = std::filesystem::temp_directory_path() /
           ("stickslip_ipc_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    for (const char* folder : {"tetMeshes", "triMeshes", "segMeshes"})
      std::filesystem::create_directories(root / "input" / folder);
    std::ofstream solid(root / "input/tetMeshes/grid.msh");
    write_msh(solid, {{"grid", make_box({1, 1, 1}, 0.25)}}, {});
    write("input/triMeshes/plane.obj",
          "v -0.5 0 -0.5\nv 0.5 0 -0.5\nv 0.5 0 0.5\nv -0.5 0 0.5\nf 1 3 2\nf 1 4 3\n");
    write("input/triMeshes/wedge.obj",
          "v 0 0 0\nv 3 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write("input/segMeshes/edge.seg", "v 0 0 0\nv 1 0 0\ns 1 2\n");
  }
  ~IpcFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  IpcFolder(const IpcFolder&) = delete;
  IpcFolder& operator=(const IpcFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(root / name) << text;
    return root / name;
  }
  std::filesystem::path script(const std::string& text) const { return write("scene.txt", text); }
};

}  // namespace stickslip::testing
