#include "app/viewer/open_file.h"

#include <spdlog/spdlog.h>

#include "app/io/checkpoint/checkpoint.h"
#include "app/io/fclib/fclib.h"
#include "app/io/mesh/mesh.h"
#include "app/io/scene/mesh_scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// The problem of an FCLIB file; null: it is none.
std::shared_ptr<const FrozenStep> problem_of(const fs::path& file) {
  auto step = std::make_shared<FrozenStep>();
  try {
    step->problem = read_fclib(file).problem;
  } catch (const InputError& error) {
    spdlog::debug("{}", error.what());
    return nullptr;
  }
  step->scene = file.stem().string();
  return step;
}

}  // namespace

void open_file(const fs::path& given, Simulation& simulation,
               const std::function<void(std::shared_ptr<const FrozenStep>)>& race,
               const std::function<void(const fs::path&)>& replay) {
  const fs::path file = fs::absolute(given);
  const std::string ending = lower_extension(file);
  if (ending == ".jsonl") return replay(file);
  if (is_checkpoint_name(file))
    if (auto problem = problem_of(file)) return race(std::move(problem));
  if (!is_checkpoint_name(file) && !is_mesh_name(file) && ending != ".toml" && ending != ".txt") {
    spdlog::warn(
        "{} is not opened: it must be a scene (.toml, .txt), a checkpoint or contact problem (.hdf5), a "
        "bundle "
        "(.stickslip), a journal (.jsonl), or a mesh (.msh, .obj, .ply, .stl, .hair)",
        file.string());
    return;
  }
  simulation.post(LoadScene{file.string()});
}

}  // namespace stickslip
