// Bodies that a user adds to a running scene: what can be chosen, and the [[object]] table that follows.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/scene/scene.h"

namespace stickslip {

class Simulation;

enum class SpawnKind { rigid, elastic, affine, cloth, rod };
inline constexpr std::array<std::string_view, 5> spawn_kind_names{"rigid", "elastic", "affine", "cloth",
                                                                  "rod"};
/// `mesh`: of a file. `sheet` is the shape of cloth, `strand` that of a rod.
enum class SpawnShape { box, ball, cylinder, capsule, mesh, sheet, strand };
inline constexpr std::array<std::string_view, 7> spawn_shape_names{"box",  "ball",  "cylinder", "capsule",
                                                                   "mesh", "sheet", "strand"};
std::string_view name_of(SpawnKind kind);
std::string_view name_of(SpawnShape shape);

struct SpawnRequest {
  std::optional<SpawnKind> kind = {};    // none: rigid in scenes with rigid bodies, else elastic
  std::optional<SpawnShape> shape = {};  // none: box, sheet or strand
  std::filesystem::path file = {};       // of a mesh: .msh, .obj, .ply or .stl
  double size = 0;                       // [m] largest extent; 0: that of most bodies of the scene
  int cells = 0;               // elements or segments along the size; 0: a number that suits kind and size
  std::string material = {};   // name; empty: that of the first body of this kind, or of any
  double height = 0;           // [m] above what is in the way, if that is more than the least gap
  Vec<double, 3> at{0, 0, 0};  // [m] middle of the body, if nothing is in the way
};

/// The shapes that bodies of this kind can have; the first is the default.
std::vector<SpawnShape> shapes_of(SpawnKind kind);
/// Whether `cells` has an effect on bodies of this kind.
bool has_cells(SpawnKind kind);
/// The largest number of `cells`.
int most_cells(SpawnKind kind);

/// Why no body of this kind can be added to the scene with these parameters; empty: one can. An engine may
/// still refuse it, for example for a material that its steps do not support.
std::string spawn_refusal(const Scene& scene, const Params& params, SpawnKind kind);
/// Why a body of this kind cannot have this shape; empty: it can.
std::string shape_refusal(SpawnKind kind, SpawnShape shape);

/// The request with its defaults in place of what it leaves open.
SpawnRequest completed(const Scene& scene, SpawnRequest request);

/// The table of the requested body, "added-N", at rest. Its middle is at `at`; if objects are in the way, it
/// is above all of them, and above the places of their start. `positions`: one per node of the scene [m].
/// Throws InputError: what the scene cannot take, numbers out of range, a file that cannot be read, a place
/// behind a half-space.
std::string spawn_toml(const Scene& scene, const SpawnRequest& request, std::span<const Vec3f> positions);

/// The request of a script's words: a kind; a shape or the path of a mesh; a size [m] or nothing. Throws
/// InputError for what is none of these.
SpawnRequest spawn_request(const std::string& kind, const std::string& shape, const std::string& size);

/// Posts the AddObject of a request to a simulation. Throws InputError: as spawn_refusal and spawn_toml, or
/// an earlier change of the scene's content is not done yet.
void add_body(Simulation& simulation, const SpawnRequest& request);

}  // namespace stickslip
