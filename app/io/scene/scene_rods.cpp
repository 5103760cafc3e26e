// Objects with body = "rods": strands, rings, hair.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/io/file/memory.h"
#include "app/io/file/number_text.h"
#include "app/io/mesh/strands.h"
#include "app/io/scene/scene_array.h"
#include "gpu/model/rod.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

constexpr int kMostSegments = 100000, kMostStrands = 1000000;
// The scale of a scene leaves segments at least this many diameters long: those of one strand collide.
constexpr double kShortest = 1.1;

Curl read_curl(TableReader& table, const std::string& style) {
  check_known(table, "style", "style", style, curl_names);
  Curl curl;
  curl.style =
      static_cast<Curl::Style>(std::find(curl_names.begin(), curl_names.end(), style) - curl_names.begin());
  if (curl.style != Curl::Style::straight) {
    curl.radius = table.number("curl_radius", Range::positive());
    curl.pitch = table.number("curl_pitch", Range::positive());
  }
  return curl;
}

int read_segments(TableReader& table) {
  const int segments = table.whole("segments", 1, kMostSegments, 0);
  if (segments == 0) table.fail("", "needs the whole number segments");
  return segments;
}

/// [m]
double shortest_segment(const Strands& strands) {
  double least = 1e300;
  for (const std::vector<Vec3d>& strand : strands.points) {
    for (std::size_t i = 1; i < strand.size(); ++i) least = std::min(least, norm(strand[i] - strand[i - 1]));
    if (strands.closed) least = std::min(least, norm(strand.front() - strand.back()));
  }
  return least;
}

/// Strands as they are built, and into how many parts the scene's scale divides each of their segments.
struct BuiltStrands {
  Strands strands;
  int segments = 0;  // of each, before
  int parts = 1;
};

/// Calls make(number of segments), with whole parts of the given segments: so each given point stays a point.
template <class Make>
BuiltStrands refined(int segments, const Growth& growth, double diameter, Make&& make) {
  BuiltStrands out{make(segments), segments, 1};
  const double fit = shortest_segment(out.strands) / (kShortest * diameter);
  for (int parts = static_cast<int>(std::min(std::round(growth.refinement), fit + 1)); parts > 1; --parts) {
    Strands fine = make(segments * parts);
    if (shortest_segment(fine) < kShortest * diameter) continue;
    out.strands = std::move(fine);
    out.parts = parts;
    break;
  }
  return out;
}

/// So many times the strands of the scene file, at least one.
int dense(const TableReader& table, double strands, double density) {
  const double count = std::max(1.0, std::round(strands * density));
  if (count > kMostStrands)
    table.fail("strands", "are " + number_text(count) + " with the scene's density; at most " +
                              std::to_string(kMostStrands) + " are possible");
  return static_cast<int>(count);
}

/// `shape = "hair"`: a groom on a sphere (`radius`) or on the surface of a file (`scalp`).
BuiltStrands read_hair(TableReader& table, const SceneSource& source, const Growth& growth, double diameter) {
  Groom groom;
  groom.length = table.number("length", Range::positive());
  const int segments = read_segments(table);
  const int strands = table.whole("strands", 1, kMostStrands, 0);
  if (strands == 0) table.fail("", "needs the whole number strands");
  const int count = dense(table, strands * growth.bodies, source.density);
  groom.curl = read_curl(table, table.text("style", "straight"));
  groom.droop = table.number("droop", {0, 1}, 0);
  groom.unruly = table.number("unruly", {0, 90}, 0) * std::numbers::pi / 180;
  groom.volume = table.number("volume", Range::not_negative(), 0);
  groom.gap = table.number("gap", Range::not_negative(), diameter);
  groom.seed = static_cast<std::uint64_t>(table.whole("hair_seed", 0, 1 << 30, 1));
  const double cap = table.number("cap", {0, 180}, 90) * std::numbers::pi / 180;
  if (table.has("scalp") == table.has("radius"))
    table.fail("", "hair needs either the radius of a sphere or a scalp, the file of a surface");
  const auto grow = [&](const std::vector<Root>& roots) {
    return refined(segments, growth, diameter, [&](int n) {
      check_total(table, "strands", "the hair", double(count) * n);
      groom.segments = n;
      return make_hair(roots, groom);
    });
  };
  if (table.has("radius")) {
    groom.clear = table.number("radius", Range::positive());
    return grow(roots_on_sphere(groom.clear, count, cap));
  }
  const fs::path file = table.text("scalp");
  return located(table, [&] {
    try {
      const SurfaceMesh scalp = load_surface(file.is_absolute() ? file : source.file.parent_path() / file);
      return grow(roots_on_surface(scalp, count, cap, groom.seed));
    } catch (const InputError& error) {
      table.fail("scalp", error.what());
    }
  });
}

BuiltStrands read_hair_file(TableReader& table, const SceneSource& source) {
  if (table.has("shape")) table.fail("file", "give either shape or file");
  if (fs::path(table.text("file")).extension() != ".hair")
    table.fail("file", "rods are read from .hair files; lines of other files are [[collider]]s");
  std::vector<std::string> notes;
  Strands strands =
      read_named_file(table, source.file, [&](const fs::path& file) { return load_hair(file, &notes); });
  source.notes.insert(source.notes.end(), notes.begin(), notes.end());
  const auto all = static_cast<int>(std::min<std::size_t>(strands.points.size(), kMostStrands));
  const int most = dense(table, std::min(table.whole("strands", 1, kMostStrands, all), all), source.density);
  if (most > all)
    table.fail("file", "has " + std::to_string(all) + " strands, and a density of " +
                           number_text(source.density) + " needs " + std::to_string(most));
  strands = thinned(std::move(strands), static_cast<std::size_t>(most));
  if (table.has("segments")) strands = resampled(strands, read_segments(table));
  return {std::move(strands), 0, 1};
}

BuiltStrands read_strands(TableReader& table, const SceneSource& source, const Growth& growth,
                          double diameter) {
  const auto build = [&](int segments, auto&& make) { return refined(segments, growth, diameter, make); };
  if (table.has("file")) return read_hair_file(table, source);
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape of rods", shape, {"strand", "ring", "curve", "hair"});
  if (shape == "hair") return read_hair(table, source, growth, diameter);
  if (shape == "ring") {
    const double radius = table.number("radius", Range::positive());
    const int segments = read_segments(table);
    if (segments < 3) table.fail("segments", "a ring has at least 3");
    return build(segments, [&](int n) { return make_ring_strand(radius, n); });
  }
  if (shape == "curve") {
    const std::vector<Vec3d> points = table.vec3s("points");
    if (points.size() < 2) table.fail("points", "a curve has at least 2");
    for (std::size_t i = 1; i < points.size(); ++i)
      if (!(norm(points[i] - points[i - 1]) > 0))
        table.fail("points", "two of a curve that follow each other must differ");
    return build(read_segments(table), [&](int n) { return make_curve_strand(points, n); });
  }
  const double length = table.number("length", Range::positive());
  const Curl curl = table.has("curl_radius") ? read_curl(table, "curly") : Curl{};
  return build(read_segments(table), [&](int n) { return make_strand(length, n, curl); });
}

/// The strands without stress: as they lie, or straight, and shorter by `stretch`.
Strands read_rest(TableReader& table, const Strands& strands) {
  const std::string rest = table.text("rest", "start");
  check_known(table, "rest", "rest shape", rest, {"start", "straight"});
  if (rest == "straight" && strands.closed) table.fail("rest", "a closed strand cannot be straight");
  return at_rest(strands, table.number("stretch", Range::positive(), 1), rest == "straight");
}

/// The ends of strands that are held: by their first or last segment in the scene file, ghosts included.
enum class Held { none, root, ends };

Held read_held(TableReader& table, Held fallback) {
  const std::vector<std::string> names{"none", "root", "ends"};
  const std::string name = table.text("hold", names[static_cast<std::size_t>(fallback)]);
  check_known(table, "hold", "way to hold strands", name, names);
  return static_cast<Held>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool read_quasistatic_twist(TableReader& table) {
  const std::string twist = table.text("twist", "dynamic");
  check_known(table, "twist", "kind of twist", twist, {"dynamic", "quasistatic"});
  return twist == "quasistatic";
}

}  // namespace

void build_rods(TableReader& table, const SceneSource& source, Model& model,
                std::vector<RefinedRods>& refined_rods, std::vector<FollowingRods>& following) {
  const std::string name = read_new_name(table, model);
  const Growth growth = read_growth(table, source.scale);
  const double diameter = table.number("diameter", Range::positive());
  const double aspect = table.number("aspect", {0.01, 100}, 1);
  const bool quasistatic = read_quasistatic_twist(table);
  const auto [strands, given, parts] = read_strands(table, source, growth, diameter);
  if (parts > 1) refined_rods.push_back({name, given, parts, strands.closed});
  const bool is_hair = table.has("file") || table.text("shape") == "hair";
  const Strands unloaded = read_rest(table, strands);
  const Held held = strands.closed ? Held::none : read_held(table, is_hair ? Held::root : Held::none);
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  std::optional<TableReader> motion_table = table.table("motion");
  if (motion_table && held == Held::none)
    table.fail("motion",
               "moves the held ends of strands, and none are held: give hold = \"root\" or \"ends\"");
  const bool has_motion = motion_table.has_value();
  const Motion motion = read_motion(std::move(motion_table), placement.position);
  const bool follows = table.has("follow");
  const std::string followed = table.text("follow", "");
  if (follows && held == Held::none)
    table.fail("follow", "moves the held ends of strands, and none are held: give hold = \"root\"");
  if (follows && has_motion) table.fail("follow", "give either a motion or follow");
  const Vec3d velocity = table.vec3("velocity", {0, 0, 0});
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::int32_t group = table.whole("no_contact_group", 1, 7, 0);
  const std::vector<Instance> instances =
      read_instances(table, placement.position, strands.segments(), growth);
  table.finish();
  check_total(table, "", "the scene up to here",
              static_cast<double>(model.segments.size() + instances.size() * strands.segments()));

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn, number] = instances[i];
    std::vector<Vec3d> nodes, rest;
    std::vector<Vec2i> segments;
    std::vector<std::int32_t> held_nodes, held_ghosts;  // both as indices into their own kind
    std::vector<Vec3d> roots_of_nodes, roots_of_ghosts;
    for (const std::vector<Vec3d>& strand : strands.points) {
      const auto first = static_cast<std::int32_t>(nodes.size());
      const auto first_segment = static_cast<std::int32_t>(segments.size());
      for (const Vec3d& p : strand) nodes.push_back(turn * placement.apply(p) + offset);
      const auto last = static_cast<std::int32_t>(nodes.size()) - 1;
      for (std::int32_t k = first; k < last; ++k) segments.push_back({k, k + 1});
      if (strands.closed) segments.push_back({last, first});
      if (held == Held::none) continue;
      // A script takes a node once: of two segments, both ends hold the node between them.
      const std::int32_t tail = held == Held::ends && last - first > parts ? last - parts : last + 1;
      for (std::int32_t k = first; k <= last; ++k)
        if (k <= first + parts || k >= tail) held_nodes.push_back(k);
      for (std::int32_t k = 0; k < last - first; ++k)
        if (k < parts || first + k >= tail) held_ghosts.push_back(first_segment + k);
      roots_of_nodes.resize(held_nodes.size(), nodes[first]);
      roots_of_ghosts.resize(held_ghosts.size(), nodes[first]);
    }
    for (const std::vector<Vec3d>& strand : unloaded.points)
      for (const Vec3d& p : strand) rest.push_back(turn * placement.apply(p) + offset);
    Object& object = located(table, [&]() -> Object& {
      return add_rods(model, instance_name(name, instances[i]), nodes, segments, material, diameter, aspect);
    });
    object.color = instance_color(colors, instances[i]);
    object.no_contact_group = group;
    object.quasistatic_twist = quasistatic;
    const std::vector<Vec3d> ghosts = place_ghosts(rest, segments, diameter);
    std::copy(ghosts.begin(), ghosts.end(), model.rest_positions.begin() + object.node_begin);
    std::copy(rest.begin(), rest.end(), model.rest_positions.begin() + object.collides_from);
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n) model.velocities[n] = turn * velocity;
    if (held == Held::none) continue;
    ScriptedNodes script;
    for (const std::int32_t g : held_ghosts) script.nodes.push_back(object.node_begin + g);
    for (const std::int32_t n : held_nodes) script.nodes.push_back(object.collides_from + n);
    script.motion = motion;
    if (follows) {
      std::vector<Vec3d> roots = roots_of_ghosts;
      roots.insert(roots.end(), roots_of_nodes.begin(), roots_of_nodes.end());
      following.push_back({table, followed, script.nodes, std::move(roots)});
      continue;
    }
    model.scripted.push_back(std::move(script));
  }
}

}  // namespace stickslip
