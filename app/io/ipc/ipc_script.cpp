#include "app/io/ipc/ipc_script.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "app/io/file/byte_cursor.h"
#include "app/io/file/number_text.h"
#include "app/io/ipc/ipc_animation.h"
#include "app/io/ipc/ipc_camera.h"
#include "app/io/ipc/ipc_layout.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

constexpr double kForever = 1e30;

std::string text_of(double value) { return number_text(value + 0.0); }  // + 0.0 turns -0 into 0

std::string text_of(const Vec3d& v) {
  return "[" + text_of(v[0]) + ", " + text_of(v[1]) + ", " + text_of(v[2]) + "]";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_zero(const Vec3d& v) { return v == Vec3d{0, 0, 0}; }

std::string text_of(const Motion& motion) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& key, const std::string& value) {
    parts.push_back(key + " = " + value);
  };
  if (!is_zero(motion.velocity)) add("velocity", text_of(motion.velocity));
  if (!is_zero(motion.angular_velocity)) {
    add("angular_velocity", text_of(motion.angular_velocity));
    add("center", text_of(motion.center));
  }
  if (motion.start > 0) add("start", text_of(motion.start));
  if (motion.end < kForever) add("end", text_of(motion.end));
  if (!motion.keys.empty()) {
    std::string keys;
    for (const Motion::Key& key : motion.keys)
      keys += (keys.empty() ? "" : ", ") + ("{ time = " + text_of(key.time)) +
              ", translation = " + text_of(key.translation) + " }";
    add("key", "[" + keys + "]");
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "{ " + text + " }";
}

/// Writes one scene; the order of the tables is that of the methods.
class Writer {
 public:
  Writer(const IpcScript& script, const IpcLayout& layout, IpcAnimation animation, fs::path toml_folder)
      : script_(script),
        layout_(layout),
        animation_(std::move(animation)),
        folder_(fs::absolute(toml_folder).lexically_normal()) {
    for (const IpcBody& body : layout_.bodies)
      for (int i = body.begin; i < body.end; ++i) {
        body_of_.push_back(&body - layout_.bodies.data());
        nodes_.push_back(layout_.nodes[i] + animation_.shift);
      }
  }

  std::string write() {
    write_head();
    write_params();
    write_camera();
    write_materials();
    write_bodies();
    write_mesh_colliders();
    write_half_spaces();
    write_friction();
    for (const IpcAnimation::Start& start : animation_.starts)
      write_nodes("velocity", start.nodes, "velocity = " + text_of(start.velocity) + "\n");
    write_pins();
    for (const NodeForce& force : animation_.forces)
      write_nodes("force", force.nodes,
                  "acceleration = " + text_of(force.acceleration) + "\n" + interval(force.begin, force.end));
    return out_.str();
  }

 private:
  void write_head();
  void write_params();
  void write_camera();
  void write_materials();
  void write_bodies();
  void write_body(const IpcBody& body, const IpcShape& shape);
  void write_placement(const IpcBody& body, const Vec3d& shift);
  void write_mesh_colliders();
  void write_half_spaces();
  void write_friction();
  void write_pins();
  void write_nodes(const std::string& table, const std::vector<std::int32_t>& all, const std::string& what);
  bool write_box(const std::string& table, const std::string& object, const std::vector<std::int32_t>& wanted,
                 const std::vector<std::int32_t>& candidates, const std::string& what);
  Motion collider_motion(const IpcBody& body) const;

  template <class T>
  void line(const std::string& key, const T& value) {
    out_ << key << " = " << value << "\n";
  }
  static std::string interval(double begin, double end) {
    std::string text;
    if (begin > 0) text += "from = " + text_of(begin) + "\n";
    if (end < kForever) text += "to = " + text_of(end) + "\n";
    return text;
  }
  bool is_solid(std::int32_t node) const { return layout_.bodies[body_of_[node]].kind == IpcKind::solid; }
  std::string solid_material(const IpcMaterial& material) {
    const auto found = std::find(materials_.begin(), materials_.end(), material);
    const auto index = found - materials_.begin();
    if (found == materials_.end()) materials_.push_back(material);
    return index == 0 ? "solid" : "solid_" + std::to_string(index + 1);
  }
  std::string mesh_material(double mu) {
    const auto found = std::find(mesh_mus_.begin(), mesh_mus_.end(), mu);
    const auto index = found - mesh_mus_.begin();
    if (found == mesh_mus_.end()) mesh_mus_.push_back(mu);
    return index == 0 ? "mesh" : "mesh_" + std::to_string(index + 1);
  }

  const IpcScript& script_;
  const IpcLayout& layout_;
  IpcAnimation animation_;
  fs::path folder_;
  std::vector<std::ptrdiff_t> body_of_;  // per node
  std::vector<Vec3d> nodes_;             // at the start
  std::vector<IpcMaterial> materials_;   // of solids
  std::vector<double> mesh_mus_;         // of meshCO
  std::ostringstream out_;
};

void Writer::write_head() {
  out_ << "# From the IPC scene script " << script_.file.filename().string() << ".\n";
  for (const std::string& what : script_.left_out) out_ << "# Left out: " << what << ".\n";
  line("title", quoted(script_.file.stem().string() + " (IPC scene script)"));
  line("frames", ipc_frames(script_));
}

void Writer::write_params() {
  const double unit = script_.tuning.absolute ? 1 : layout_.diagonal;
  out_ << "\n[params]\n";
  line("dt", text_of(script_.dt));
  line("gravity", text_of(script_.gravity ? -9.80665 : 0));
  line("d_hat", text_of(script_.tuning.d_hat * unit));
  line("eps_v", text_of(script_.tuning.eps_v * unit));
  if (script_.newmark) {
    line("time_integrator", quoted("newmark"));
    line("newmark_beta", text_of(script_.newmark->beta));
    line("newmark_gamma", text_of(script_.newmark->gamma));
  }
  line("newton_stop", quoted("displacement"));
  line("newton_tolerance", text_of(script_.tolerance));
  if (script_.tuning.kappa > 0) {
    // kappa b(d^2) / (beta dt^2) and sigma b(d) agree to first order at d = d_hat.
    const double d_hat = script_.tuning.d_hat * unit, beta = script_.newmark ? script_.newmark->beta : 1;
    const double inertia = beta * script_.dt * script_.dt;
    line("barrier_stiffness", text_of(8 * script_.tuning.kappa * d_hat * d_hat / inertia));
  }
  if (!script_.friction_lags) return;
  line("friction_update", quoted(*script_.friction_lags > 0 ? "lagged" : "newton"));
  if (*script_.friction_lags > 0) line("friction_lags", *script_.friction_lags);
}

void Writer::write_camera() {
  const CameraStart camera = ipc_camera(script_, layout_, nodes_);
  out_ << "\n[camera]\n";
  line("position", text_of(camera.position));
  line("target", text_of(camera.target));
  line("fov", text_of(camera.fov));
}

void Writer::write_materials() {
  const auto write = [&](const std::string& name, double mu) {
    out_ << "\n[[material]]\n";
    line("name", quoted(name));
    line("mu", text_of(mu));
  };
  bool kinematic = false;
  for (std::size_t b = 0; b < script_.shapes.size(); ++b) {
    kinematic = kinematic || layout_.bodies[b].kind != IpcKind::solid;
    if (layout_.bodies[b].kind == IpcKind::solid)
      solid_material(script_.shapes[b].material.value_or(script_.material));
  }
  for (const IpcMaterial& material : std::vector<IpcMaterial>(materials_)) {
    write(solid_material(material), script_.mu);
    line("model", quoted(script_.neo_hookean ? "neo_hookean" : "fixed_corotated"));
    line("young", text_of(material.young));
    line("poisson", text_of(material.poisson));
    line("density", text_of(material.density));
    if (script_.damping > 0) line("damping", text_of(script_.damping));
  }
  if (kinematic) write("kinematic", script_.mu);
  for (const IpcMeshCollider& collider : script_.mesh_colliders) {
    const std::size_t known = mesh_mus_.size();
    const std::string name = mesh_material(collider.mu);
    if (mesh_mus_.size() > known) write(name, collider.mu);
  }
}

void Writer::write_placement(const IpcBody& body, const Vec3d& shift) {
  line("file", quoted(body.file.lexically_relative(folder_).generic_string()));
  line("position", text_of(body.placement.position + shift));
  if (!is_zero(body.placement.rotation)) line("rotation", text_of(body.placement.rotation));
  const Vec3d& scale = body.placement.scale;
  const bool uniform = scale[0] == scale[1] && scale[0] == scale[2] && scale[0] > 0;
  if (!uniform) line("scale", text_of(scale));
  else if (scale[0] != 1) line("scale", text_of(scale[0]));
}

constexpr Vec3d kColors[] = {{0.86, 0.42, 0.32}, {0.33, 0.55, 0.78}, {0.90, 0.72, 0.33}, {0.45, 0.68, 0.45},
                             {0.63, 0.47, 0.70}, {0.42, 0.70, 0.72}, {0.80, 0.55, 0.60}};
constexpr Vec3d kColliderColor{0.62, 0.63, 0.66};

void Writer::write_bodies() {
  for (std::size_t b = 0; b < script_.shapes.size(); ++b) write_body(layout_.bodies[b], script_.shapes[b]);
}

void Writer::write_body(const IpcBody& body, const IpcShape& shape) {
  const bool solid = body.kind == IpcKind::solid;
  out_ << (solid ? "\n[[object]]\n" : "\n[[collider]]\n");
  line("name", quoted(body.name));
  write_placement(body, animation_.shift);
  if (!script_.self_collision) line("no_contact_group", 1);
  if (!solid) {
    line("material", quoted("kinematic"));
    const std::string extension = body.file.extension().string();
    if (body.kind == IpcKind::segments && extension != ".seg") line("as", quoted("segments"));
    if (body.kind == IpcKind::points && extension != ".pt") line("as", quoted("points"));
    line("color", text_of(kColliderColor));
    const Motion motion = collider_motion(body);
    if (!motion.is_static()) line("motion", text_of(motion));
    if (!body.sequence.empty())
      line("sequence", "{ folder = " + quoted(body.sequence.lexically_relative(folder_).generic_string()) +
                           ", dt = " + text_of(script_.dt) +
                           ", first = " + std::to_string(body.first_of_sequence) + " }");
    return;
  }
  line("material", quoted(solid_material(shape.material.value_or(script_.material))));
  line("color", text_of(kColors[(&body - layout_.bodies.data()) % std::size(kColors)]));
  if (script_.animation != "null") return;
  // The format rotates a shape about the center of its box, a scene about `position`.
  const Vec3d center = layout_.bounds(body.begin, body.end).center();
  const Vec3d velocity = shape.initial_velocity + cross(shape.initial_spin, body.placement.position - center);
  if (!is_zero(velocity)) line("velocity", text_of(velocity));
  if (!is_zero(shape.initial_spin)) line("angular_velocity", text_of(shape.initial_spin));
}

/// Motion of all nodes of a kinematic shape under the animation.
Motion Writer::collider_motion(const IpcBody& body) const {
  const auto of_body = [&](const ScriptedNodes& script) {
    return std::count_if(script.nodes.begin(), script.nodes.end(),
                         [&](std::int32_t i) { return i >= body.begin && i < body.end; });
  };
  Motion motion;
  for (const ScriptedNodes& script : animation_.scripted) {
    if (script.motion.is_static() || of_body(script) == 0) continue;
    if (of_body(script) != body.end - body.begin || !motion.is_static())
      script_.fail(body.line, "shape: a kinematic shape can only move as a whole and in one way");
    motion = script.motion;
    if (script.end < kForever) motion.end = std::min(motion.end, script.end);
  }
  return motion;
}

void Writer::write_mesh_colliders() {
  for (std::size_t m = 0; m < layout_.mesh_colliders.size(); ++m) {
    const IpcBody& body = layout_.mesh_colliders[m];
    out_ << "\n[[collider]]\n";
    line("name", quoted(body.name));
    write_placement(body, {0, 0, 0});
    line("material", quoted(mesh_material(script_.mesh_colliders[m].mu)));
    line("color", text_of(kColliderColor));
    const Motion& motion = animation_.mesh_motions[m];
    if (!motion.is_static()) line("motion", text_of(motion));
  }
}

void Writer::write_half_spaces() {
  for (const IpcHalfSpace& plane : script_.half_spaces) {
    out_ << "\n[[half_space]]\n";
    line("normal", text_of(plane.normal));
    line("point", text_of(plane.origin));
    line("mu", text_of(plane.mu));
    line("mu_of_pair", "true");
  }
}

/// The friction coefficient of a meshCO holds with every solid, whatever the solid's own value.
void Writer::write_friction() {
  for (const IpcMaterial& material : std::vector<IpcMaterial>(materials_))
    for (const double mu : std::vector<double>(mesh_mus_)) {
      if (mu == script_.mu) continue;
      out_ << "\n[[friction]]\n";
      line("between", "[" + quoted(solid_material(material)) + ", " + quoted(mesh_material(mu)) + "]");
      line("mu", text_of(mu));
    }
}

void Writer::write_pins() {
  for (const ScriptedNodes& script : animation_.scripted) {
    std::string what;
    if (!script.motion.is_static()) what.append("motion = ").append(text_of(script.motion)).append("\n");
    write_nodes("pin", script.nodes, what.append(interval(script.begin, script.end)));
  }
}

/// Writes a table for some nodes of solids. If a box over all solids holds exactly these nodes, one table
/// suffices; else one table per object.
void Writer::write_nodes(const std::string& table, const std::vector<std::int32_t>& all,
                         const std::string& what) {
  std::vector<std::int32_t> wanted, solids;
  for (const std::int32_t i : all)
    if (is_solid(i)) wanted.push_back(i);
  if (wanted.empty()) return;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (is_solid(static_cast<std::int32_t>(i))) solids.push_back(static_cast<std::int32_t>(i));
  if (write_box(table, "", wanted, solids, what)) return;

  for (std::size_t first = 0; first < wanted.size();) {
    const IpcBody& body = layout_.bodies[body_of_[wanted[first]]];
    std::vector<std::int32_t> mine, candidates;
    for (; first < wanted.size() && wanted[first] < body.end; ++first) mine.push_back(wanted[first]);
    for (std::int32_t i = body.begin; i < body.end; ++i) candidates.push_back(i);
    if (write_box(table, body.name, mine, candidates, what)) continue;
    out_ << "\n[[" << table << "]]\n";
    line("object", quoted(body.name));
    std::string list;
    for (const std::int32_t i : mine) list += (list.empty() ? "" : ", ") + std::to_string(i - body.begin);
    line("nodes", "[" + list + "]");
    out_ << what;
  }
}

/// Writes the table with a box that holds the wanted candidates and no other, with a margin on each side.
/// False when there is no such box.
bool Writer::write_box(const std::string& table, const std::string& object,
                       const std::vector<std::int32_t>& wanted, const std::vector<std::int32_t>& candidates,
                       const std::string& what) {
  IpcBounds box, all;
  for (const std::int32_t i : wanted) box.include(nodes_[i]);
  for (const std::int32_t i : candidates) all.include(nodes_[i]);
  const double margin = 1e-3 * norm(all.size());
  // Margin on each side: half the distance to the nearest node outside the slab, at most `margin`.
  IpcBounds roomy = box;
  for (int c = 0; c < 3; ++c) {
    double below = -1e300, above = 1e300;
    for (const std::int32_t i : candidates) {
      const double x = nodes_[i][c];
      if (x < box.low[c]) below = std::max(below, x);
      if (x > box.high[c]) above = std::min(above, x);
    }
    roomy.low[c] -= std::min(margin, 0.5 * (box.low[c] - below));
    roomy.high[c] += std::min(margin, 0.5 * (above - box.high[c]));
    if (!(box.low[c] - roomy.low[c] > 1e-3 * margin && roomy.high[c] - box.high[c] > 1e-3 * margin))
      return false;
  }
  const auto inside = [&](std::int32_t i) {
    return min(nodes_[i], roomy.low) == roomy.low && max(nodes_[i], roomy.high) == roomy.high;
  };
  if (std::count_if(candidates.begin(), candidates.end(), inside) != std::ptrdiff_t(wanted.size()))
    return false;
  out_ << "\n[[" << table << "]]\n";
  if (!object.empty()) line("object", quoted(object));
  line("box", "{ min = " + text_of(roomy.low) + ", max = " + text_of(roomy.high) + " }");
  out_ << what;
  return true;
}

/// Resolves a symbolic link that was stored as a text file with the target's path, as in checkouts without
/// symbolic links; other files are returned unchanged.
fs::path follow_link(const fs::path& script) {
  const std::string text = read_bytes(script);
  std::istringstream words(text.substr(byte_order_mark(text)));
  std::string target, more;
  words >> target >> more;
  const bool link = !target.empty() && more.empty() && is_ipc_script(target);
  return link ? script.parent_path() / target : script;
}

}  // namespace

bool is_ipc_script(const fs::path& file) { return file.extension() == ".txt"; }

std::string ipc_script_to_toml(const fs::path& script, const fs::path& toml_folder,
                               const IpcOptions& options) {
  const fs::path file = follow_link(script);
  const IpcScript parsed = parse_ipc_script(read_bytes(file), file, options);
  const IpcLayout layout = lay_out(parsed);
  return Writer(parsed, layout, animate(parsed, layout), toml_folder).write();
}

Scene load_ipc_script(const fs::path& script, const IpcOptions& options) {
  const fs::path folder = script.parent_path();
  const std::string toml = ipc_script_to_toml(script, folder.empty() ? "." : folder, options);
  // Line numbers in messages about the converted text must not look like lines of the script.
  Scene scene = parse_scene(toml, fs::path(script.string() + " (as TOML)"));
  scene.file = script;
  return scene;
}

}  // namespace stickslip
