#include "app/viewer/spawn.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh.h"
#include "app/io/scene/toml_text.h"
#include "app/viewer/free_space.h"
#include "app/viewer/scene_content.h"
#include "app/viewer/simulation.h"
#include "gpu/model/coupled.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

constexpr double kLeastSize = 1e-4, kMostSize = 1e3;  // [m]
constexpr double kFarthest = 1e6;                     // [m] of a place from the origin
constexpr double kGap = 0.05;                         // least gap above what is in the way, of the size
constexpr double kSheetThickness = 1e-3;              // of the size, and a tenth of an edge at most
constexpr double kRodDiameter = 1e-2;                 // of the length, and half of a segment at most
constexpr int kMeshCells = 8;                         // along the size of a file's surface
constexpr double kColors[5][3] = {
    {0.93, 0.35, 0.23}, {0.98, 0.75, 0.22}, {0.36, 0.74, 0.53}, {0.25, 0.58, 0.85}, {0.55, 0.45, 0.85}};

bool is_thin(SpawnKind kind) { return kind == SpawnKind::cloth || kind == SpawnKind::rod; }

/// Value of `body` in an [[object]].
const char* body_of(SpawnKind kind) {
  switch (kind) {
    case SpawnKind::rigid:
      return "rigid";
    case SpawnKind::elastic:
      return "deformable";
    case SpawnKind::affine:
      return "affine";
    case SpawnKind::cloth:
      return "cloth";
    case SpawnKind::rod:
      return "rods";
  }
  return "";
}

bool is_of(const Object& object, SpawnKind kind) {
  switch (kind) {
    case SpawnKind::rigid:
      return object.is_rigid();
    case SpawnKind::elastic:
      return object.is_solid() && !object.is_affine();
    case SpawnKind::affine:
      return object.is_affine();
    case SpawnKind::cloth:
      return object.is_cloth();
    case SpawnKind::rod:
      return object.is_rods();
  }
  return false;
}

/// A body of the scene's file: no collider, and no object that came later.
bool is_body(const Model& model, const Object& object) {
  if (came_later(object)) return false;
  return object.is_rigid() ? model.bodies[static_cast<std::size_t>(object.body)].moves : object.is_movable();
}

double largest(const Vec3d& v) { return std::max({v[0], v[1], v[2]}); }

double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return std::strtod(text, nullptr);
}

/// [m] The median extent of about a hundred of the scene's bodies, of the thin or of the others; without any,
/// a part of the scene's size.
double usual_size(const Model& model, bool thin) {
  std::vector<const Object*> bodies;
  for (const Object& object : model.objects)
    if (is_body(model, object) && object.is_thin() == thin) bodies.push_back(&object);
  if (bodies.empty()) return rounded((thin ? 1 : 0.25) * scene_radius(model));
  std::vector<double> sizes;
  for (std::size_t k = 0; k < bodies.size(); k += 1 + bodies.size() / 100) {
    const NodeBox box = box_of(*bodies[k], model.positions);
    sizes.push_back(largest(box.high - box.low));
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  return std::clamp(rounded(*middle), kLeastSize, kMostSize);
}

std::string usual_material(const Model& model, SpawnKind kind) {
  const Object* chosen = nullptr;
  for (const Object& object : model.objects) {
    if (!is_body(model, object)) continue;
    if (chosen == nullptr || (is_of(object, kind) && !is_of(*chosen, kind))) chosen = &object;
  }
  return model.material_names.at(chosen ? static_cast<std::size_t>(chosen->material) : 0);
}

/// Cells are not shorter than the distance at which contacts are found, as far as the kind allows it: else
/// each would be in contact with many of its own body, and a step could take minutes.
int usual_cells(const Params& params, const SpawnRequest& request) {
  const bool is_velocity = stepper_family(params.solver) == StepperFamily::velocity;
  const double reach = is_velocity ? params.contact_margin : params.d_hat;
  const int cells = request.kind == SpawnKind::cloth    ? 20
                    : request.kind == SpawnKind::rod    ? 30
                    : request.shape == SpawnShape::mesh ? kMeshCells
                                                        : 5;
  const double fit = reach > 0 ? request.size / reach : cells;
  return fit < cells ? std::max(is_thin(*request.kind) ? 2 : 1, static_cast<int>(fit)) : cells;
}

/// What no parameter of a run changes.
std::string scene_refusal(const Scene& scene, SpawnKind kind) {
  if (scene.source.empty()) return scene.name + " has no TOML text: objects cannot be added to it";
  if (scene.model.material_names.empty()) return "the scene has no material";
  const bool has_collider = std::ranges::any_of(scene.model.objects, &Object::is_collider);
  if (kind == SpawnKind::rigid && scene.model.bodies.empty() && has_collider)
    return "the scene has colliders and no rigid bodies: with one, its colliders would become rigid bodies, "
           "too; add an affine body, which is nearly rigid";
  return {};
}

void check_range(const char* what, double value, double low, double high) {
  if (!(value >= low && value <= high))
    throw InputError(std::string(what) + " " + number_text(value) + " must be in [" + number_text(low) +
                     ", " + number_text(high) + "]");
}

/// Of a completed request.
void check(const Model& model, const SpawnRequest& request) {
  if (const std::string reason = shape_refusal(*request.kind, *request.shape); !reason.empty())
    throw InputError(reason);
  check_range("size [m]", request.size, kLeastSize, kMostSize);
  check_range("cells", request.cells, 1, most_cells(*request.kind));
  check_range("height [m]", request.height, 0, kFarthest);
  for (int k = 0; k < 3; ++k) check_range("place [m]", request.at[k], -kFarthest, kFarthest);
  if (std::ranges::find(model.material_names, request.material) == model.material_names.end())
    throw InputError("there is no material '" + request.material + "'");
}

std::string list_text(const Vec3d& v) {
  return "[" + number_text(v[0]) + ", " + number_text(v[1]) + ", " + number_text(v[2]) + "]";
}

std::string line(const char* key, double value) {
  return std::string(key) + " = " + number_text(value) + "\n";
}

/// The keys of a shape, and where it is when its object's position is the origin.
struct Form {
  std::string keys;
  NodeBox box;
};

Form around_origin(std::string keys, const Vec3d& extent) {
  return {std::move(keys), {-0.5 * extent, 0.5 * extent}};
}

Form mesh_form(const SpawnRequest& request) {
  if (request.file.empty()) throw InputError("the path of a mesh is missing");
  const fs::path file = fs::absolute(request.file);
  const std::string ending = lower_extension(file);
  static constexpr std::string_view endings[] = {".msh", ".obj", ".ply", ".stl"};
  if (std::ranges::find(endings, ending) == std::end(endings))
    throw InputError(request.file.string() + ": a body needs a mesh of the type .msh, .obj, .ply or .stl");
  NodeBox box;
  for (const Vec3d& x : load_surface(file).nodes) {
    box.low = min(box.low, x);
    box.high = max(box.high, x);
  }
  const double given = largest(box.high - box.low);
  if (!(given > 0 && given <= 1e30)) throw InputError(request.file.string() + ": the mesh has no size");
  const double factor = request.size / given;
  std::string keys = "file = " + toml_text(file.string()) + "\n" + line("scale", factor);
  // A surface is filled before it is scaled; a .msh has its tets, and a rigid body needs none.
  if (request.kind != SpawnKind::rigid && ending != ".msh")
    keys += line("edge", given / (request.kind == SpawnKind::affine ? kMeshCells : request.cells));
  return {keys, {factor * box.low, factor * box.high}};
}

/// Of a box, a ball, a cylinder or a capsule.
Form primitive_form(const SpawnRequest& request) {
  const double size = request.size;
  std::string keys;
  Vec3d extent = Vec3d::filled(size);
  if (request.shape == SpawnShape::box) {
    keys = "shape = \"box\"\nsize = " + list_text(extent) + "\n";
  } else if (request.shape == SpawnShape::ball) {
    keys = "shape = \"sphere\"\n" + line("radius", 0.5 * size);
  } else if (request.shape == SpawnShape::cylinder) {
    keys = "shape = \"cylinder\"\n" + line("radius", 0.5 * size) + line("height", size);
  } else {
    keys = "shape = \"capsule\"\n" + line("radius", 0.25 * size) + line("height", 0.5 * size);
    extent = {0.5 * size, size, 0.5 * size};
  }
  // The surface of an affine body is all that its elements are for.
  if (request.kind == SpawnKind::elastic) keys += line("edge", size / request.cells);
  if (request.kind == SpawnKind::affine)
    keys += line("edge", request.shape == SpawnShape::box ? size : 0.3 * size);
  return around_origin(std::move(keys), extent);
}

Form form_of(const SpawnRequest& request) {
  const double size = request.size, part = size / request.cells;
  if (request.shape == SpawnShape::sheet) {
    const double thickness = std::min(kSheetThickness * size, 0.1 * part);
    return around_origin("shape = \"sheet\"\nsize = [" + number_text(size) + ", " + number_text(size) +
                             "]\n" + line("edge", part) + line("thickness", thickness),
                         {size, thickness, size});
  }
  if (request.shape == SpawnShape::strand) {
    // A strand goes down from its position; turned, it goes along x.
    const double diameter = std::min(kRodDiameter * size, 0.5 * part);
    return {"shape = \"strand\"\n" + line("length", size) + "segments = " + std::to_string(request.cells) +
                "\n" + line("diameter", diameter) + "rotation = [0, 0, 90]\n",
            {{0, -0.5 * diameter, -0.5 * diameter}, {size, 0.5 * diameter, 0.5 * diameter}}};
  }
  return request.shape == SpawnShape::mesh ? mesh_form(request) : primitive_form(request);
}

/// The box at the place of the request, or above what is in the way there.
NodeBox placed(const Scene& scene, const SpawnRequest& request, std::span<const Vec3f> positions,
               NodeBox box) {
  const double gap = std::max({request.height, kGap * request.size, 2 * scene.params.d_hat});
  box.move(request.at - 0.5 * (box.low + box.high));
  box = raised_above(taken_boxes(scene.model, positions), raised_above_ground(scene.model, box, gap), gap);
  for (std::size_t k = 0; k < scene.model.half_spaces.size(); ++k)
    if (!(clearance(scene.model.half_spaces[k], box) > 0))
      throw InputError("there is no room at the camera target: the body would be behind half-space " +
                       std::to_string(k + 1));
  return box;
}

/// The number of `name` in a list of names. Throws InputError with the names that there are.
std::size_t index_of(std::span<const std::string_view> names, const char* what, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string text = std::string("there is no ") + what + " '" + name + "': there is";
  for (const std::string_view known : names) text.append(" ").append(known);
  throw InputError(text);
}

}  // namespace

std::string_view name_of(SpawnKind kind) { return spawn_kind_names[static_cast<std::size_t>(kind)]; }
std::string_view name_of(SpawnShape shape) { return spawn_shape_names[static_cast<std::size_t>(shape)]; }

std::vector<SpawnShape> shapes_of(SpawnKind kind) {
  using enum SpawnShape;
  if (kind == SpawnKind::cloth) return {sheet};
  if (kind == SpawnKind::rod) return {strand};
  if (kind == SpawnKind::rigid) return {box, ball, cylinder, capsule, mesh};
  return {box, ball, cylinder, mesh};
}

bool has_cells(SpawnKind kind) { return kind == SpawnKind::elastic || is_thin(kind); }

int most_cells(SpawnKind kind) { return kind == SpawnKind::rod ? 5000 : kind == SpawnKind::cloth ? 300 : 50; }

std::string spawn_refusal(const Scene& scene, const Params& params, SpawnKind kind) {
  if (std::string reason = scene_refusal(scene, kind); !reason.empty()) return reason;
  const bool is_first = kind != SpawnKind::rigid && !is_coupled(scene.model);
  return is_first && stepper_family(params.solver) == StepperFamily::velocity ? coupled_fault(params) : "";
}

std::string shape_refusal(SpawnKind kind, SpawnShape shape) {
  const std::vector<SpawnShape> known = shapes_of(kind);
  if (std::ranges::find(known, shape) != known.end()) return {};
  std::string text = "a body of the kind " + std::string(name_of(kind)) + " cannot be a " +
                     std::string(name_of(shape)) + ": it can be a ";
  for (std::size_t k = 0; k < known.size(); ++k)
    text.append(k == 0 ? "" : k + 1 == known.size() ? " or " : ", ").append(name_of(known[k]));
  return text;
}

SpawnRequest completed(const Scene& scene, SpawnRequest request) {
  const Model& model = scene.model;
  if (!request.kind) request.kind = model.bodies.empty() ? SpawnKind::elastic : SpawnKind::rigid;
  if (!request.shape) request.shape = shapes_of(*request.kind).front();
  if (request.size == 0) request.size = usual_size(model, is_thin(*request.kind));
  if (request.cells == 0) request.cells = usual_cells(scene.params, request);
  if (request.material.empty() && !model.material_names.empty())
    request.material = usual_material(model, *request.kind);
  return request;
}

std::string spawn_toml(const Scene& scene, const SpawnRequest& wanted, std::span<const Vec3f> positions) {
  const SpawnRequest request = completed(scene, wanted);
  if (const std::string reason = scene_refusal(scene, *request.kind); !reason.empty())
    throw InputError(reason);
  check(scene.model, request);
  const Form form = form_of(request);
  const Vec3d position = placed(scene, request, positions, form.box).low - form.box.low;
  const std::string stem = "added-", name = free_object_name(scene.model, stem);
  const auto& color =
      kColors[static_cast<std::size_t>(std::atoi(name.c_str() + stem.size())) % std::size(kColors)];
  return "name = " + toml_text(name) + "\nbody = " + toml_text(body_of(*request.kind)) + "\n" + form.keys +
         "material = " + toml_text(request.material) + "\nposition = " + list_text(position) +
         "\ncolor = " + list_text({color[0], color[1], color[2]}) + "\n";
}

SpawnRequest spawn_request(const std::string& kind, const std::string& shape, const std::string& size) {
  SpawnRequest request;
  request.kind = static_cast<SpawnKind>(index_of(spawn_kind_names, "kind of body", kind));
  if (shape.find('.') != std::string::npos) {
    request.shape = SpawnShape::mesh;
    request.file = shape;
  } else {
    request.shape = static_cast<SpawnShape>(index_of(spawn_shape_names, "shape", shape));
    if (request.shape == SpawnShape::mesh) throw InputError("in place of 'mesh' give the path of its file");
  }
  if (const std::string reason = shape_refusal(*request.kind, *request.shape); !reason.empty())
    throw InputError(reason);
  if (size.empty()) return request;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), request.size);
  if (error != std::errc() || end != size.data() + size.size())
    throw InputError("'" + size + "' is no size: it must be a number [m]");
  check_range("size [m]", request.size, kLeastSize, kMostSize);
  return request;
}

void add_body(Simulation& simulation, const SpawnRequest& request) {
  if (simulation.is_changing_content()) throw InputError("the last change is not done yet");
  const SimulationFrame& frame = simulation.frame();
  if (!frame.scene) throw InputError("no scene is loaded");
  const SpawnKind kind = *completed(*frame.scene, request).kind;
  if (const std::string reason = spawn_refusal(*frame.scene, simulation.settings().params, kind);
      !reason.empty())
    throw InputError(reason);
  simulation.post(AddObject{spawn_toml(*frame.scene, request, frame.positions())});
}

}  // namespace stickslip
