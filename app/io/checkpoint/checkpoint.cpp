#include "app/io/checkpoint/checkpoint.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/io/fclib/hdf5_file.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/scene/scene_variant.h"

namespace stickslip {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr std::int32_t kFormat = 1;
constexpr std::size_t kBodyNumbers = 13;                            // position, quaternion, velocity, spin
constexpr std::size_t kAnchorNumbers = 7;                           // bodies, feature, stretch
constexpr std::size_t kStandInNumbers = 25;                         // 4 positions, 4 velocities, skin
constexpr std::size_t kLongestSource = (std::size_t{1} << 20) - 1;  // that is read again

/// FNV-1a.
class Hash {
 public:
  void add(std::uint64_t bits) {
    for (int byte = 0; byte < 8; ++byte) {
      value_ ^= (bits >> (8 * byte)) & 0xff;
      value_ *= 0x100000001b3ULL;
    }
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(const std::vector<double>& values) {
    add(std::uint64_t{values.size()});
    for (const double value : values) add(value);
  }
  void add(const std::string& text) {
    add(std::uint64_t{text.size()});
    for (const char c : text) add(std::uint64_t{static_cast<unsigned char>(c)});
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::vector<double> numbers_of(const std::vector<Vec<double, 3>>& vectors) {
  std::vector<double> numbers;
  numbers.reserve(3 * vectors.size());
  for (const auto& v : vectors) numbers.insert(numbers.end(), {v[0], v[1], v[2]});
  return numbers;
}

std::vector<double> numbers_of(const std::vector<BodyState>& bodies) {
  std::vector<double> numbers;
  numbers.reserve(kBodyNumbers * bodies.size());
  for (const BodyState& body : bodies) {
    const auto &x = body.pose.x, &q = body.pose.q.v, &v = body.velocity, &w = body.spin;
    numbers.insert(numbers.end(),
                   {x[0], x[1], x[2], body.pose.q.w, q[0], q[1], q[2], v[0], v[1], v[2], w[0], w[1], w[2]});
  }
  return numbers;
}

std::vector<double> numbers_of(const std::vector<ContactAnchor>& anchors) {
  std::vector<double> numbers;
  numbers.reserve(kAnchorNumbers * anchors.size());
  for (const ContactAnchor& x : anchors)
    numbers.insert(numbers.end(),
                   {static_cast<double>(x.a), static_cast<double>(x.b), static_cast<double>(x.feature),
                    x.stretch[0], x.stretch[1], x.stretch[2], x.stretch[3]});
  return numbers;
}

std::vector<double> numbers_of(const std::vector<StandIn>& bodies) {
  std::vector<double> numbers;
  numbers.reserve(kStandInNumbers * bodies.size());
  for (const StandIn& body : bodies) {
    for (const auto& x : body.positions) numbers.insert(numbers.end(), {x[0], x[1], x[2]});
    for (const auto& v : body.velocities) numbers.insert(numbers.end(), {v[0], v[1], v[2]});
    numbers.push_back(body.skin);
  }
  return numbers;
}

std::vector<StandIn> stand_ins_of(const std::vector<double>& numbers) {
  std::vector<StandIn> bodies(numbers.size() / kStandInNumbers);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const double* n = numbers.data() + kStandInNumbers * b;
    for (std::size_t k = 0; k < 4; ++k) {
      bodies[b].positions[k] = {n[3 * k], n[3 * k + 1], n[3 * k + 2]};
      bodies[b].velocities[k] = {n[12 + 3 * k], n[13 + 3 * k], n[14 + 3 * k]};
    }
    bodies[b].skin = n[24];
  }
  return bodies;
}

/// Stiffness, stiffening, skin and tessellation; nothing without a memory of barrier steps.
std::vector<double> numbers_of(const BarrierMemory& memory) {
  if (memory.is_empty()) return {};
  return {memory.stiffness, memory.stiffening, memory.wanted_skin, memory.tessellation};
}

std::vector<ContactAnchor> anchors_of(const std::vector<double>& numbers) {
  std::vector<ContactAnchor> anchors(numbers.size() / kAnchorNumbers);
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const double* n = numbers.data() + kAnchorNumbers * i;
    anchors[i] = {static_cast<std::int32_t>(n[0]),
                  static_cast<std::int32_t>(n[1]),
                  static_cast<std::uint32_t>(n[2]),
                  {n[3], n[4], n[5], n[6]}};
  }
  return anchors;
}

/// Whether each number of a list of anchors fits its field.
bool fits_anchors(const std::vector<double>& numbers) {
  if (numbers.size() % kAnchorNumbers != 0) return false;
  for (std::size_t i = 0; i < numbers.size(); i += kAnchorNumbers)
    if (!(std::abs(numbers[i]) < 0x1p31) || !(std::abs(numbers[i + 1]) < 0x1p31) || !(numbers[i + 2] >= 0) ||
        !(numbers[i + 2] < 0x1p32))
      return false;
  return true;
}

std::vector<Vec<double, 3>> vectors_of(const std::vector<double>& numbers) {
  std::vector<Vec<double, 3>> vectors(numbers.size() / 3);
  for (std::size_t i = 0; i < vectors.size(); ++i)
    vectors[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
  return vectors;
}

std::vector<BodyState> bodies_of(const std::vector<double>& numbers) {
  std::vector<BodyState> bodies(numbers.size() / kBodyNumbers);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const double* n = numbers.data() + kBodyNumbers * b;
    bodies[b].pose.x = {n[0], n[1], n[2]};
    bodies[b].pose.q.w = n[3];
    bodies[b].pose.q.v = {n[4], n[5], n[6]};
    bodies[b].velocity = {n[7], n[8], n[9]};
    bodies[b].spin = {n[10], n[11], n[12]};
  }
  return bodies;
}

/// All rows of a table as text, in the table's order.
json settings_of(std::span<const ParamInfo> table, const void* object) {
  json settings = json::object();
  for (const ParamInfo& info : table) settings[std::string(info.name)] = param_text(object, info);
  return settings;
}

/// Rows that the file lacks keep their values: an older version did not have them.
void apply(const json& settings, std::span<const ParamInfo> table, void* object) {
  for (const auto& [name, value] : settings.items()) {
    const ParamInfo* info = find_param(table, name);
    if (info == nullptr) throw std::invalid_argument("unknown setting '" + name + "'");
    set_param(object, *info, std::string_view(value.get_ref<const std::string&>()));
  }
}

std::string settings_text(const Checkpoint& checkpoint) {
  json all{{"params", settings_of(param_table(), &checkpoint.params)},
           {"contact", settings_of(lab_param_table(), &checkpoint.contact_params)},
           {"materials", json::array()}};
  for (const Material& material : checkpoint.materials)
    all["materials"].push_back(settings_of(material_table(), &material));
  return all.dump(1);
}

/// The datasets of a file.
struct Stored {
  std::string scene, variant, settings;
  std::int32_t frame = 0;
  std::vector<double> time_and_scale, half_space_mu, positions, velocities, bodies, thickness;
  std::vector<double> anchors = {};  // earlier files have none
  std::string source = {};           // only of changed scenes
  // Only of barrier steps.
  std::vector<double> barrier = {}, stand_ins = {}, colliders = {}, collider_velocities = {},
                      multipliers = {};

  std::string checksum() const {
    Hash hash;
    for (const std::string* text : {&scene, &variant, &settings}) hash.add(*text);
    hash.add(static_cast<std::uint64_t>(frame));
    for (const auto* list : {&time_and_scale, &half_space_mu, &positions, &velocities, &bodies, &thickness})
      hash.add(*list);
    if (!anchors.empty()) hash.add(anchors);
    if (!source.empty()) hash.add(source);
    if (!barrier.empty())
      for (const auto* list : {&barrier, &stand_ins, &colliders, &collider_velocities, &multipliers})
        hash.add(*list);
    return hash_text(hash.value());
  }
};

bool is_shipped(const Scene& scene) {
  std::error_code error;
  try {
    return fs::equivalent(assets_folder() / "scenes" / (scene.name + ".toml"), scene.file, error);
  } catch (const InputError&) {
    return false;  // a program without assets
  }
}

/// The file of a scene by what `name_of` says of it.
fs::path file_of(const std::string& name) {
  return fs::path(name).has_parent_path() ? fs::path(name) : assets_folder() / "scenes" / (name + ".toml");
}

std::string name_of(const Scene& scene) {
  std::error_code error;
  return is_shipped(scene) ? scene.name : fs::absolute(scene.file, error).string();
}

}  // namespace

std::uint64_t state_hash(const State& state) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(state.frame));
  hash.add(state.time);
  hash.add(numbers_of(state.positions));
  hash.add(numbers_of(state.velocities));
  hash.add(numbers_of(state.bodies));
  hash.add(state.thickness);
  if (!state.anchors.empty()) hash.add(numbers_of(state.anchors));
  if (!state.barrier.is_empty()) {
    hash.add(numbers_of(state.barrier));
    hash.add(numbers_of(state.barrier.bodies));
    for (const auto* list :
         {&state.barrier.colliders, &state.barrier.collider_velocities, &state.barrier.multipliers})
      hash.add(numbers_of(*list));
  }
  return hash.value();
}

std::string hash_text(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

Checkpoint make_checkpoint(const Scene& scene, State state) {
  Checkpoint checkpoint{name_of(scene),  scene.variant,        scene.scale,           scene.density,
                        scene.params,    scene.contact_params, scene.model.materials, {},
                        std::move(state)};
  checkpoint.half_space_mu.reserve(scene.model.half_spaces.size());
  for (const HalfSpace& plane : scene.model.half_spaces) checkpoint.half_space_mu.push_back(plane.mu);
  if (scene.changed) checkpoint.source = scene.source;
  return checkpoint;
}

void write_checkpoint(const fs::path& file, const Checkpoint& checkpoint) {
  const State& state = checkpoint.state;
  if (checkpoint.source.size() > kLongestSource)
    throw InputError(file.string() + ": the text of the changed scene is longer than 1 MiB");
  const Stored stored{checkpoint.scene,
                      checkpoint.variant,
                      settings_text(checkpoint),
                      state.frame,
                      checkpoint.density == 1
                          ? std::vector<double>{state.time, checkpoint.scale}
                          : std::vector<double>{state.time, checkpoint.scale, checkpoint.density},
                      checkpoint.half_space_mu,
                      numbers_of(state.positions),
                      numbers_of(state.velocities),
                      numbers_of(state.bodies),
                      state.thickness,
                      numbers_of(state.anchors),
                      checkpoint.source,
                      numbers_of(state.barrier),
                      numbers_of(state.barrier.bodies),
                      numbers_of(state.barrier.colliders),
                      numbers_of(state.barrier.collider_velocities),
                      numbers_of(state.barrier.multipliers)};
  Hdf5Writer out(file);
  out.group("/checkpoint");
  out.integer("/checkpoint/format", kFormat);
  out.text("/checkpoint/scene", stored.scene);
  out.text("/checkpoint/variant", stored.variant);
  out.text("/checkpoint/settings", stored.settings);
  out.integer("/checkpoint/frame", stored.frame);
  out.reals("/checkpoint/time_and_scale", stored.time_and_scale);
  out.reals("/checkpoint/half_space_mu", stored.half_space_mu);
  out.reals("/checkpoint/positions", stored.positions);
  out.reals("/checkpoint/velocities", stored.velocities);
  out.reals("/checkpoint/bodies", stored.bodies);
  out.reals("/checkpoint/thickness", stored.thickness);
  if (!stored.anchors.empty()) out.reals("/checkpoint/anchors", stored.anchors);
  if (!stored.source.empty()) out.text("/checkpoint/source", stored.source);
  if (!stored.barrier.empty()) {
    out.reals("/checkpoint/barrier", stored.barrier);
    out.reals("/checkpoint/stand_ins", stored.stand_ins);
    out.reals("/checkpoint/colliders", stored.colliders);
    out.reals("/checkpoint/collider_velocities", stored.collider_velocities);
    out.reals("/checkpoint/multipliers", stored.multipliers);
  }
  out.text("/checkpoint/checksum", stored.checksum());
  out.commit();
}

Checkpoint read_checkpoint(const fs::path& file) {
  const Hdf5Reader in(file);
  if (!in.has("/checkpoint"))
    throw InputError(file.string() + (in.has("/fclib_local") || in.has("/fclib_global")
                                          ? ": is a contact problem, for stickslip solve and race"
                                          : ": is no checkpoint"));
  if (const std::int32_t format = in.integer("/checkpoint/format"); format != kFormat)
    in.fail("/checkpoint/format", "= " + std::to_string(format) + ", and this version reads 1");
  const auto reals_if_any = [&](const char* name) {
    return in.has(name) ? in.reals(name) : std::vector<double>{};
  };
  const Stored stored{in.text("/checkpoint/scene"),
                      in.text("/checkpoint/variant"),
                      in.text("/checkpoint/settings"),
                      in.integer("/checkpoint/frame"),
                      in.reals("/checkpoint/time_and_scale"),
                      in.reals("/checkpoint/half_space_mu"),
                      in.reals("/checkpoint/positions"),
                      in.reals("/checkpoint/velocities"),
                      in.reals("/checkpoint/bodies"),
                      in.reals("/checkpoint/thickness"),
                      reals_if_any("/checkpoint/anchors"),
                      in.has("/checkpoint/source") ? in.text("/checkpoint/source") : std::string(),
                      reals_if_any("/checkpoint/barrier"),
                      reals_if_any("/checkpoint/stand_ins"),
                      reals_if_any("/checkpoint/colliders"),
                      reals_if_any("/checkpoint/collider_velocities"),
                      reals_if_any("/checkpoint/multipliers")};
  if (in.text("/checkpoint/checksum") != stored.checksum())
    throw InputError(file.string() + ": its checksum is wrong: the file is damaged");
  // The third is a density other than 1.
  if (stored.time_and_scale.size() != 2 && stored.time_and_scale.size() != 3)
    in.fail("/checkpoint/time_and_scale", "must be two or three numbers");
  if (stored.positions.size() % 3 != 0) in.fail("/checkpoint/positions", "must be vectors");
  if (stored.velocities.size() != stored.positions.size())
    in.fail("/checkpoint/velocities", "must be as many as positions");
  if (stored.bodies.size() % kBodyNumbers != 0) in.fail("/checkpoint/bodies", "must have 13 numbers each");
  if (!fits_anchors(stored.anchors))
    in.fail("/checkpoint/anchors", "must have 7 numbers each: a, b, feature, stretch");
  if (!stored.barrier.empty() && stored.barrier.size() != 4)
    in.fail("/checkpoint/barrier", "must be four numbers: stiffness, stiffening, skin, tessellation");
  if (!stored.stand_ins.empty() &&
      stored.stand_ins.size() != stored.bodies.size() / kBodyNumbers * kStandInNumbers)
    in.fail("/checkpoint/stand_ins", "must have 25 numbers for each body");
  const auto need_vectors = [&](const std::string& name, const std::vector<double>& list) {
    if (list.size() % 3 != 0) in.fail("/checkpoint/" + name, "must be vectors");
  };
  need_vectors("colliders", stored.colliders);
  need_vectors("collider_velocities", stored.collider_velocities);
  need_vectors("multipliers", stored.multipliers);

  Checkpoint checkpoint;
  checkpoint.scene = stored.scene;
  checkpoint.variant = stored.variant;
  checkpoint.source = stored.source;
  checkpoint.scale = stored.time_and_scale[1];
  if (stored.time_and_scale.size() == 3) checkpoint.density = stored.time_and_scale[2];
  checkpoint.half_space_mu = stored.half_space_mu;
  checkpoint.state = {stored.frame,
                      stored.time_and_scale[0],
                      vectors_of(stored.positions),
                      vectors_of(stored.velocities),
                      bodies_of(stored.bodies),
                      stored.thickness,
                      anchors_of(stored.anchors),
                      {}};
  if (!stored.barrier.empty())
    checkpoint.state.barrier = {stored.barrier[0],
                                stored.barrier[1],
                                stored.barrier[2],
                                stored.barrier[3],
                                stand_ins_of(stored.stand_ins),
                                vectors_of(stored.colliders),
                                vectors_of(stored.collider_velocities),
                                vectors_of(stored.multipliers)};
  try {
    const json settings = json::parse(stored.settings);
    apply(settings.at("params"), param_table(), &checkpoint.params);
    apply(settings.at("contact"), lab_param_table(), &checkpoint.contact_params);
    for (const json& material : settings.at("materials"))
      apply(material, material_table(), &checkpoint.materials.emplace_back());
  } catch (const std::exception& error) {  // JSON's, or of a setting
    in.fail("/checkpoint/settings", error.what());
  }
  return checkpoint;
}

bool is_checkpoint_name(const fs::path& file) { return file.extension() == ".hdf5"; }

Scene load_checkpoint(const fs::path& file) {
  Checkpoint checkpoint = read_checkpoint(file);
  const auto misfit = [&](const std::string& what) {
    throw InputError(file.string() + ": the scene " + checkpoint.scene + " has changed: " + what);
  };
  if (is_checkpoint_name(checkpoint.scene)) throw InputError(file.string() + ": names itself as a scene");
  Scene scene;
  try {
    if (!checkpoint.source.empty()) {
      scene = parse_scene(checkpoint.source, file_of(checkpoint.scene), checkpoint.scale, checkpoint.density);
      scene.variant = checkpoint.variant;
      scene.changed = true;
    } else {
      scene = is_ipc_script(checkpoint.scene)
                  ? load_scene(checkpoint.scene)
                  : load_scene(checkpoint.scene, checkpoint.scale, checkpoint.density);
      if (!checkpoint.variant.empty()) choose_variant(scene, checkpoint.variant);
    }
  } catch (const InputError& error) {
    throw InputError(file.string() + ": its scene cannot be loaded: " + error.what());
  }
  Model& model = scene.model;
  if (scene.scale != checkpoint.scale) misfit("its scale was another");
  if (model.node_count() != checkpoint.state.positions.size()) misfit("its number of nodes was another");
  if (model.bodies.size() != checkpoint.state.bodies.size()) misfit("its number of rigid bodies was another");
  if (model.materials.size() != checkpoint.materials.size()) misfit("its number of materials was another");
  if (model.half_spaces.size() != checkpoint.half_space_mu.size())
    misfit("its number of half-spaces was another");
  scene.params = checkpoint.params;
  scene.contact_params = checkpoint.contact_params;
  model.materials = std::move(checkpoint.materials);
  for (std::size_t i = 0; i < model.half_spaces.size(); ++i)
    model.half_spaces[i].mu = checkpoint.half_space_mu[i];
  scene.resumed = std::make_shared<const State>(std::move(checkpoint.state));
  scene.expect.clear();
  scene.variants.clear();
  return scene;
}

}  // namespace stickslip
