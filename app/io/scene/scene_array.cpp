#include "app/io/scene/scene_array.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "app/io/file/memory.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

Vec<float, 3> checked_color(const TableReader& table, const char* key, const Vec3d& color) {
  for (int c = 0; c < 3; ++c)
    if (color[c] < 0 || color[c] > 1) table.fail(key, "must be three numbers in [0, 1]");
  return color.cast<float>();
}

Vec<float, 3> read_color(TableReader& table) {
  return checked_color(table, "color", table.vec3("color", {0.7, 0.7, 0.7}));
}

Instance turned_about(const Vec3d& center, const Mat<double, 3>& rotation) {
  return {center - rotation * center, rotation};
}

/// `ring = { count, turn, center, layers, rise }`: each instance is the previous one rotated by `turn` about
/// the center. Each layer is `rise` above the one below and rotated by half of `turn`.
std::vector<Instance> read_ring(TableReader& ring, const Vec3d& position, std::size_t tets) {
  const int count = ring.whole("count", 1, 1000, 0);
  if (count == 0) ring.fail("count", "must be a whole number in [1, 1000]");
  const int layers = ring.whole("layers", 1, 1000, 1);
  check_total(ring, "count", "the array", double(layers) * count * static_cast<double>(tets));
  const Vec3d turn = ring.vec3("turn"), center = ring.vec3("center", position);
  const double rise = layers > 1 ? ring.number("rise", {}) : 0;
  ring.finish();
  std::vector<Instance> instances;
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < count; ++i) {
      Instance instance = turned_about(center, rotation_matrix_degrees((i + 0.5 * (layer % 2)) * turn));
      instance.offset[1] += layer * rise;
      instances.push_back(instance);
    }
  return instances;
}

/// Shape of an array.
enum class Pattern { grid, wall, pyramid, tower };

Pattern read_pattern(TableReader& table) {
  const std::vector<std::string> names{"grid", "wall", "pyramid", "tower"};
  const std::string name = table.text("pattern", names[0]);
  check_known(table, "pattern", "pattern", name, names);
  return static_cast<Pattern>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// One layer of an array: the number of instances along x and z, and the transform of the layer.
struct ArrayLayer {
  int nx, nz;
  Instance where;
};

ArrayLayer layer_of(Pattern pattern, const Vec3d& count, const Vec3d& spacing, const Vec3d& position, int y) {
  ArrayLayer layer{static_cast<int>(count[0]), static_cast<int>(count[2]), {}};
  const bool odd = y % 2 == 1;
  if (pattern == Pattern::wall && odd) {
    layer.nx = std::max(1, layer.nx - 1);
    layer.where.offset[0] += spacing[0] / 2;
  } else if (pattern == Pattern::pyramid) {
    layer.nx -= y;
    layer.nz = layer.nz == 1 ? 1 : layer.nz - y;
    layer.where.offset += (y / 2.0) * Vec3d{spacing[0], 0, count[2] == 1 ? 0 : spacing[2]};
  } else if (pattern == Pattern::tower && odd) {
    const Vec3d middle =
        position + Vec3d{(layer.nx - 1) * spacing[0] / 2, 0, (layer.nz - 1) * spacing[2] / 2};
    layer.where = turned_about(middle, rotation_matrix_degrees({0, 90, 0}));
  }
  return layer;
}

/// In bulk, the axes with more than one instance share the factor: the three axes of a heap each grow by its
/// cube root.
void grow_count(const Growth& growth, Vec3d& count) {
  if (!growth.bulk) {
    count[1] = std::round(count[1] * growth.bodies);
    return;
  }
  int axes = 0;
  for (int c = 0; c < 3; ++c) axes += count[c] > 1 ? 1 : 0;
  for (int c = 0; c < 3; ++c)
    if (count[c] > 1) count[c] = std::round(count[c] * std::pow(growth.bodies, 1.0 / axes));
}

/// Random displacement and rotation of instances.
struct Disorder {
  double jitter, tumble;
  std::mt19937_64 random;

  // Not std::uniform_real_distribution: its values differ between standard libraries.
  double noise(double size) { return size * (static_cast<double>(random() >> 11) * 0x1p-52 - 1); }
  Vec3d shift() {
    const double x = noise(jitter), y = noise(jitter), z = noise(jitter);
    return {x, y, z};
  }
  Mat<double, 3> turn() {
    const double x = noise(tumble), y = noise(tumble), z = noise(tumble);
    return rotation_matrix_degrees({x, y, z});
  }
};

}  // namespace

std::int32_t read_material(TableReader& table, const Model& model) {
  if (model.materials.empty()) table.fail("", "needs a [[material]] in the scene");
  const std::string name =
      model.materials.size() == 1 ? table.text("material", model.material_names[0]) : table.text("material");
  check_known(table, "material", "material", name, model.material_names);
  const auto found = std::find(model.material_names.begin(), model.material_names.end(), name);
  return static_cast<std::int32_t>(found - model.material_names.begin());
}

std::string read_new_name(TableReader& table, const Model& model) {
  std::string name = table.text("name");
  const std::size_t dot = std::min(name.find('.'), name.size());
  const bool numbered =
      dot + 1 < name.size() && name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    table.fail("name", "a name has no line ends, tabs or other control characters: files could not hold it");
  if (dot == 0 || (dot < name.size() && !numbered) || name.find_first_of(" =") != std::string::npos)
    table.fail(
        "name",
        "'" + name + "' must not be empty or contain spaces, '=' or dots, but for one in front of a number");
  for (const Object& object : model.objects)
    if (is_called(object, name)) table.fail("name", "'" + name + "' is the name of another object");
  return name;
}

std::vector<Vec<float, 3>> read_colors(TableReader& table) {
  if (!table.has("colors")) return {read_color(table)};
  if (table.has("color")) table.fail("colors", "give either color or colors");
  std::vector<Vec<float, 3>> colors;
  for (const Vec3d& color : table.vec3s("colors")) colors.push_back(checked_color(table, "colors", color));
  return colors;
}

std::int32_t read_no_contact_group(TableReader& table) { return table.whole("no_contact_group", 1, 7, 0); }

Vec3d read_scale(TableReader& table) {
  if (!table.is_list("scale")) return Vec3d::filled(table.number("scale", Range::positive(), 1));
  const Vec3d scale = table.vec3("scale");
  for (int c = 0; c < 3; ++c)
    if (scale[c] == 0) table.fail("scale", "must not be zero");
  return scale;
}

Placement read_placement(TableReader& table) {
  const Vec3d position = table.vec3("position", {0, 0, 0});
  Mat<double, 3> linear = rotation_matrix_degrees(table.vec3("rotation", {0, 0, 0}));
  const Vec3d scale = read_scale(table);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) linear(r, c) *= scale[c];
  return {position, linear};
}

void check_total(const TableReader& table, const char* key, const char* what, double tets) {
  if (const std::string shortage = memory_shortage(kBytesPerTet * tets); !shortage.empty())
    table.fail(key, std::string(what) + " " + shortage);
}

Growth read_growth(TableReader& table, double scale) {
  const std::string grow = table.text("grow", "edge");
  check_known(table, "grow", "way to grow", grow, {"edge", "count", "bulk"});
  if (grow == "edge") return {scale, 1};
  if (!table.has("count"))
    table.fail("grow", "\"" + grow + "\" belongs to an array: give count = [x, y, z] as well");
  return {1, scale, grow == "bulk"};
}

namespace {

/// All of the array, without numbers.
std::vector<Instance> read_all(TableReader& table, const Vec3d& position, std::size_t tets,
                               const Growth& growth) {
  std::optional<TableReader> ring = table.table("ring");
  if (ring && table.has("count")) table.fail("ring", "give either ring or count");
  if (!table.has("count")) {
    for (const char* key : {"spacing", "jitter", "tumble", "seed", "pattern"})
      if (table.has(key)) table.fail(key, "belongs to an array: give count = [x, y, z] as well");
    if (!ring && table.has("without"))
      table.fail("without", "belongs to an array: give count or ring as well");
    return ring ? read_ring(*ring, position, tets) : std::vector<Instance>(1);
  }
  Vec3d count = table.vec3("count");
  for (int c = 0; c < 3; ++c)
    if (count[c] < 1 || count[c] > 1000 || count[c] != std::floor(count[c]))
      table.fail("count", "must be three whole numbers in [1, 1000]");
  const Vec3d least = count;
  grow_count(growth, count);
  check_total(table, "count", "the array", count[0] * count[1] * count[2] * static_cast<double>(tets));
  const Vec3d spacing = table.vec3("spacing");
  // An array that grows sideways stays centred.
  const Vec3d start{0.5 * (least[0] - count[0]) * spacing[0], 0, 0.5 * (least[2] - count[2]) * spacing[2]};
  const Pattern pattern = read_pattern(table);
  Disorder disorder{table.number("jitter", Range::not_negative(), 0), table.number("tumble", {0, 180}, 0),
                    std::mt19937_64(static_cast<std::uint64_t>(table.whole("seed", 0, 1 << 30, 1)))};
  std::vector<Instance> instances;
  for (int y = 0; y < count[1]; ++y) {
    const ArrayLayer layer = layer_of(pattern, count, spacing, position + start, y);
    for (int z = 0; z < layer.nz; ++z)
      for (int x = 0; x < layer.nx; ++x) {
        Instance instance{start + Vec3d{x * spacing[0], y * spacing[1], z * spacing[2]} + disorder.shift()};
        if (disorder.tumble > 0) {
          instance.rotation = disorder.turn();
          instance.offset += position - instance.rotation * position;
        }
        instance.offset = layer.where.rotation * instance.offset + layer.where.offset;
        instance.rotation = layer.where.rotation * instance.rotation;
        instances.push_back(instance);
      }
  }
  return instances;
}

}  // namespace

std::vector<Instance> read_instances(TableReader& table, const Vec3d& position, std::size_t tets,
                                     const Growth& growth) {
  std::vector<Instance> instances = read_all(table, position, tets, growth);
  const auto count = static_cast<std::int32_t>(instances.size());
  if (count > 1)
    for (std::int32_t i = 0; i < count; ++i) instances[static_cast<std::size_t>(i)].number = i;
  if (!table.has("without")) return instances;
  if (count == 1) table.fail("without", "the array has one body: leave its table out");
  std::vector<std::int32_t> left_out = table.indices("without", count);
  std::ranges::sort(left_out);
  std::erase_if(instances, [&](const Instance& instance) {
    return std::ranges::binary_search(left_out, instance.number);
  });
  if (instances.empty()) table.fail("without", "leaves no body of the array: leave its table out");
  return instances;
}

std::vector<Instance> instances_of(const std::string& keys, const std::filesystem::path& file, double scale) {
  TableReader table(keys, file);
  const Growth growth = read_growth(table, scale);
  return read_instances(table, table.vec3("position", {0, 0, 0}), 0, growth);
}

std::string instance_name(const std::string& name, const Instance& instance) {
  return instance.number < 0 ? name : name + "." + std::to_string(instance.number);
}

Vec<float, 3> instance_color(const std::vector<Vec<float, 3>>& colors, const Instance& instance) {
  return colors[static_cast<std::size_t>(std::max(0, instance.number)) % colors.size()];
}

}  // namespace stickslip
