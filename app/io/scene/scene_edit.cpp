#include "app/io/scene/scene_edit.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <regex>
#include <set>

#include "app/io/file/number_text.h"
#include "app/io/scene/edited_text.h"
#include "app/io/scene/scene_array.h"
#include "app/io/scene/toml_text.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

std::string value_text(const void* object, const ParamInfo& row) {
  const std::string text = param_text(object, row);
  return row.type == ParamType::choice ? toml_text(text) : text;
}

/// Calls set(key, value) for each row in which the objects differ, but for those of `left_out`.
template <class Set>
void change_rows(std::span<const ParamInfo> table, const void* from, const void* to,
                 const std::set<std::string_view>& left_out, const Set& set) {
  for (const ParamInfo& row : table)
    if (get_param(from, row) != get_param(to, row) && !left_out.contains(row.name))
      set(std::string(row.name), value_text(to, row));
}

std::string solver_text(const Params& params) {
  const ParamInfo* row =
      find_param(param_table(), params.solver == SolverKind::velocity ? "contact_solver" : "solver");
  return toml_text(param_text(&params, *row));
}

/// The tables of an array, [[name]].
std::vector<const toml::table*> tables_of(const toml::table& root, const char* name) {
  std::vector<const toml::table*> tables;
  if (const toml::array* array = root[name].as_array())
    for (const toml::node& node : *array)
      if (const toml::table* table = node.as_table()) tables.push_back(table);
  return tables;
}

/// Calls visit(value, path, is_folder) for the keys that name files and folders: "file", "scalp", "folder",
/// and "frames" where it is no list.
template <class Visit>
void visit_paths(const toml::node& node, const Visit& visit) {
  if (const toml::array* array = node.as_array())
    for (const toml::node& entry : *array) visit_paths(entry, visit);
  const toml::table* table = node.as_table();
  if (table == nullptr) return;
  for (const auto& [key, value] : *table) {
    const auto* text = value.as_string();
    const std::string_view name = key.str();
    if (text != nullptr && (name == "file" || name == "scalp" || name == "frames" || name == "folder"))
      visit(value, text->get(), name == "folder");
    else visit_paths(value, visit);
  }
}

void make_absolute(const fs::path& folder, EditedText& edited) {
  visit_paths(edited.root(), [&](const toml::node& value, const fs::path& path, bool) {
    if (path.is_relative())
      edited.replace(value, toml_text(fs::absolute(folder / path).lexically_normal().string()));
  });
}

SceneSettings settings_of(const Scene& scene) {
  SceneSettings settings{scene.params, scene.contact_params, scene.model.materials, {}};
  for (const HalfSpace& plane : scene.model.half_spaces) settings.half_space_mu.push_back(plane.mu);
  return settings;
}

/// The first setting in which both differ; empty: there is none.
std::string difference(const SceneSettings& a, const SceneSettings& b) {
  std::string found;
  const auto note = [&](const std::string& key, const std::string&) {
    if (found.empty()) found = key;
  };
  change_rows(param_table(), &a.params, &b.params, {}, note);
  change_rows(lab_param_table(), &a.contact_params, &b.contact_params, {}, note);
  for (std::size_t m = 0; m < a.materials.size(); ++m)
    change_rows(material_table(), &a.materials[m], &b.materials[m], {}, note);
  if (found.empty() && a.half_space_mu != b.half_space_mu) found = "mu of a half-space";
  return found;
}

/// The text without the tables of `tables(root)` for which `goes` is true.
template <class Tables, class Goes>
std::string without_tables(const std::string& text, const fs::path& file, const Tables& tables,
                           const Goes& goes) {
  std::string left = text;
  for (bool found = true; found;) {
    found = false;
    const EditedText edited(left, file);
    for (const toml::table* table : tables(edited.root()))
      if (goes(*table)) {
        left = edited.without(*table);
        found = true;
        break;
      }
  }
  return left;
}

/// The same for the tables [[name]].
template <class Goes>
std::string without_tables(const std::string& text, const fs::path& file, const char* name,
                           const Goes& goes) {
  return without_tables(
      text, file, [&](const toml::table& root) { return tables_of(root, name); }, goes);
}

/// The tables that can name an object and mean nothing without it: [[pin]], [[force]], [[joint]], [[spring]]
/// and [[expect.KIND]], the last of variants, too.
std::vector<const toml::table*> tables_about_objects(const toml::table& root) {
  std::vector<const toml::table*> all;
  for (const char* name : {"pin", "force", "joint", "spring"})
    std::ranges::copy(tables_of(root, name), std::back_inserter(all));
  const auto add_expected = [&](const toml::table& of) {
    const toml::table* expect = of["expect"].as_table();
    if (expect == nullptr) return;
    for (const auto& [kind, node] : *expect)
      std::ranges::copy(tables_of(*expect, kind.data()), std::back_inserter(all));
  };
  add_expected(root);
  for (const toml::table* variant : tables_of(root, "variant")) add_expected(*variant);
  std::erase_if(all, [](const toml::table* table) { return table->is_inline(); });
  return all;
}

bool names_object(const toml::table& table, const std::string& name) {
  if (table["object"].value_or(std::string()) == name) return true;
  const toml::array* between = table["between"].as_array();
  return between != nullptr && std::ranges::any_of(*between, [&](const toml::node& side) {
           return side.value_or(std::string()) == name;
         });
}

/// The table that defines an object or a collider.
struct OwnTable {
  const toml::table& table;
  int number = -1;  // in the array of the table; < 0: the table is its own
  bool is_collider = false;

  std::string name() const { return table["name"].value_or(std::string()); }
};

/// Throws InputError: there is none.
OwnTable own_table(const toml::table& root, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  std::optional<OwnTable> array;
  for (const char* kind : {"object", "collider"})
    for (const toml::table* table : tables_of(root, kind)) {
      const OwnTable found{*table, -1, kind == std::string_view("collider")};
      if (found.name() == name) return found;
      if (dot != std::string::npos && dot + 1 < name.size() && found.name() == name.substr(0, dot))
        array.emplace(OwnTable{*table, std::atoi(name.c_str() + dot + 1), found.is_collider});
    }
  if (array) return *array;
  throw InputError("there is no object '" + name + "' in the scene's file");
}

/// The table of this name alone, also of an array. Throws InputError: there is none, or it is an array's.
const toml::table& object_table(const toml::table& root, const std::string& name) {
  const OwnTable own = own_table(root, name);
  if (own.number < 0) return own.table;
  throw InputError(std::string("'")
                       .append(name)
                       .append("' is part of the array '")
                       .append(own.name())
                       .append("', which is one object of the scene's file"));
}

/// The three numbers of a key; none without the key.
std::optional<Vec<double, 3>> vector_at(const toml::table& table, const char* key, const std::string& name) {
  const toml::node* given = table.get(key);
  if (given == nullptr) return std::nullopt;
  const toml::array* values = given->as_array();
  Vec<double, 3> vector{0, 0, 0};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto value = values != nullptr && values->size() == 3 ? (*values)[k].value<double>() : std::nullopt;
    if (!value)
      throw InputError(std::string("'")
                           .append(name)
                           .append("' has no ")
                           .append(key)
                           .append(" of three numbers that could be moved"));
    vector[static_cast<int>(k)] = *value;
  }
  return vector;
}

/// [m] or degrees, without the last digits of a sum.
std::string rounded_text(const Vec<double, 3>& vector) {
  constexpr double kDigits = 1e9;
  std::string text;
  for (int k = 0; k < 3; ++k)
    text.append(k == 0 ? "[" : ", ").append(number_text(std::round(vector[k] * kDigits) / kDigits + 0.0));
  return text.append("]");
}

/// The names of the objects that a joint or spring connects, or of the array of a chain or mesh.
std::vector<std::string> sides_of(const toml::table& tie) {
  std::vector<std::string> names;
  if (const toml::array* sides = tie["between"].as_array())
    for (const toml::node& side : *sides) names.push_back(side.value_or(std::string()));
  for (const char* key : {"chain", "mesh"})
    if (const auto name = tie[key].value<std::string>()) names.assign(2, *name);
  return names;
}

/// Joints and springs that name a whole array pair its bodies by their order. Throws InputError: there is
/// one.
void check_pairs(const toml::table& root, const std::string& array) {
  for (const char* kind : {"joint", "spring"})
    for (const toml::table* tie : tables_of(root, kind))
      if (std::ranges::count(sides_of(*tie), array) > 0)
        throw InputError(std::string("the ")
                             .append(kind)
                             .append(" '")
                             .append((*tie)["name"].value_or(std::string()))
                             .append("' connects all bodies of the array '")
                             .append(array)
                             .append("': none of them can be taken out of it"));
}

/// The instances of the array of an object's keys, in which its tables are [object.NAME].
std::vector<Instance> instances_in(const std::string& keys, const fs::path& file, double scale) {
  static const std::regex header("(^|\\n)([ \\t]*\\[+[ \\t]*)(object|collider)\\.");
  return instances_of(std::regex_replace(keys, header, "$1$2"), file, scale);
}

/// The one body of an array that its number names, and whether it is the last one. Throws InputError: there
/// is none of this number.
struct OwnInstance {
  Instance instance;
  bool is_last;
};
OwnInstance instance_in(const std::string& keys, const fs::path& file, const OwnTable& own, double scale) {
  const std::vector<Instance> instances = instances_in(keys, file, scale);
  const auto found = std::ranges::find(instances, own.number, &Instance::number);
  if (found != instances.end()) return {*found, instances.size() == 1};
  throw InputError("there is no object '" + own.name() + "." + std::to_string(own.number) +
                   "' in the scene's file");
}

/// The text in which an array has one body less, which is not its last one.
std::string without_instance(const std::string& text, const fs::path& file, const OwnTable& own) {
  EditedText edited(text, file);
  const toml::table& table = own_table(edited.root(), own.name()).table;
  std::set<std::int64_t> left_out{own.number};
  if (const toml::array* given = table["without"].as_array())
    for (const toml::node& number : *given) left_out.insert(number.value_or(std::int64_t{own.number}));
  std::string list;
  for (const std::int64_t number : left_out)
    list.append(list.empty() ? "[" : ", ").append(std::to_string(number));
  edited.set(table, "without", list + "]");
  return edited.text();
}

/// The keys of an object's table: of one body of an array with its own name and place.
std::string keys_of(const std::string& text, const fs::path& file, const std::string& name, double scale) {
  constexpr double kDegree = std::numbers::pi / 180;
  const EditedText whole(text, file);
  const OwnTable own = own_table(whole.root(), name);
  std::string keys = whole.only(own.table);
  if (own.number < 0) return keys;
  if (own.table.contains("motion"))
    throw InputError("'" + name + "' follows a script with all of the array '" + own.name() + "'");
  if (scale != 1 && own.table.contains("grow"))
    throw InputError("'" + name + "' is of an array that the scale " + number_text(scale) +
                     " makes longer: load the scene without a scale");
  const Instance instance = instance_in(keys, file, own, scale).instance;
  EditedText edited(keys, file);
  const auto value = [&](const char* key) {
    return vector_at(edited.root(), key, name).value_or(Vec<double, 3>{0, 0, 0});
  };
  edited.set_at_top("name", toml_text(name));
  edited.set_at_top("position", rounded_text(instance.rotation * value("position") + instance.offset));
  if (const Quat turn = quaternion_of(instance.rotation); std::abs(turn.w) < 1) {
    const Quat before = rotation_by(kDegree * value("rotation"));
    edited.set_at_top("rotation", rounded_text(rotation_vector(normalized(turn * before)) / kDegree));
    for (const char* key : {"velocity", "angular_velocity"})
      if (edited.root().contains(key)) edited.set_at_top(key, rounded_text(instance.rotation * value(key)));
  }
  if (const toml::array* colors = edited.root()["colors"].as_array(); colors != nullptr && !colors->empty()) {
    const toml::array* color = (*colors)[static_cast<std::size_t>(own.number) % colors->size()].as_array();
    Vec<double, 3> rgb{0, 0, 0};
    for (int k = 0; color != nullptr && k < 3; ++k)
      rgb[k] = (*color)[static_cast<std::size_t>(k)].value_or(0.0);
    edited.remove("colors");
    edited.set_at_top("color", rounded_text(rgb));
  }
  for (const char* key :
       {"count", "spacing", "pattern", "jitter", "tumble", "seed", "ring", "grow", "without"})
    edited.remove(key);
  return edited.text();
}

/// Moves what a joint says of places and directions in the world.
void move_joint(EditedText& edited, const toml::table& joint, const Pose& move) {
  const std::string name = joint["name"].value_or(std::string());
  for (const char* key : {"anchor", "anchor_b"})
    if (const auto anchor = vector_at(joint, key, name))
      edited.replace(*joint.get(key), rounded_text(move.apply(*anchor)));
  for (const char* key : {"axis", "axis_b", "turn_b"})
    if (const auto axis = vector_at(joint, key, name); axis && move.q.w != 1)
      edited.replace(*joint.get(key), rounded_text(move.q.rotate(*axis)));
}

/// Writes the lengths that a rope or spring has by the distance of its ends, so that it keeps them when one
/// of these moves. `before`: the model of the text.
void keep_lengths(EditedText& edited, const toml::table& tie, const Model& before) {
  const std::string name = tie["name"].value_or(std::string());
  const auto is_meant = [&](const auto& of) { return of.name == name || of.name == name + ".0"; };
  const auto keep = [&](const char* key, double length) {
    if (!tie.contains(key)) edited.set(tie, key, number_text(length));
  };
  if (const auto joint = std::ranges::find_if(before.joints, is_meant); joint != before.joints.end()) {
    keep("low", joint->low);
    keep("high", joint->high);
  } else if (const auto spring = std::ranges::find_if(before.springs, is_meant);
             spring != before.springs.end()) {
    keep("length", spring->length);
  }
}

/// Moves the joints of the objects, and the ends of ropes and springs at them.
void move_ties(EditedText& edited, const Model& before, const std::set<std::string>& names,
               const Pose& move) {
  for (const std::string kind : {"joint", "spring"}) {
    for (const toml::table* tie : tables_of(edited.root(), kind.c_str())) {
      const std::vector<std::string> sides = sides_of(*tie);
      const auto moves = [&](const std::string& side) {
        return names.contains(side) || names.contains(side.substr(0, side.find('.')));
      };
      if (std::ranges::none_of(sides, moves)) continue;
      if (kind == "joint" && (*tie)["kind"].value_or(std::string()) != "distance") {
        move_joint(edited, *tie, move);
        continue;
      }
      if (!std::ranges::all_of(sides, moves)) keep_lengths(edited, *tie, before);
      for (std::size_t k = 0; k < sides.size(); ++k) {
        if (!moves(sides[k])) continue;
        const char* key = k == 0 ? "anchor" : "anchor_b";
        if (const auto anchor = vector_at(*tie, key, sides[k]))
          edited.replace(*tie->get(key), rounded_text(move.apply(*anchor)));
        else if (!std::ranges::all_of(sides, moves))
          throw InputError("'" + sides[k] + "' is held by the " + kind + " '" +
                           (*tie)["name"].value_or(std::string()) +
                           "': only ropes and springs with anchors move with an object");
      }
    }
  }
}

/// Moves the centres about which pins turn the objects.
void move_pins(EditedText& edited, const std::set<std::string>& names, const Pose& move) {
  for (const toml::table* pin : tables_of(edited.root(), "pin")) {
    const std::string object = (*pin)["object"].value_or(std::string());
    if (!names.contains(object) && !names.contains(object.substr(0, object.find('.')))) continue;
    const toml::table* motion = (*pin)["motion"].as_table();
    if (motion == nullptr) continue;
    if (const auto center = vector_at(*motion, "center", object))
      edited.replace(*motion->get("center"), rounded_text(move.apply(*center)));
  }
}

/// Moves and turns the script that the object follows: with it, its path is that of before after `move`.
void move_script(EditedText& edited, const toml::table& table, const std::string& name, const Pose& move) {
  if (table.contains("sequence"))
    throw InputError("'" + name + "' follows a sequence of files: it cannot be moved");
  if (table.contains("follow")) throw InputError("the ends of '" + name + "' follow another object");
  for (const toml::table* other : tables_of(edited.root(), "object"))
    if ((*other)["follow"].value_or(std::string()) == name)
      throw InputError("'" + (*other)["name"].value_or(std::string()) + "' follows '" + name + "'");
  const toml::table* motion = table["motion"].as_table();
  if (motion == nullptr) return;
  if (const auto center = vector_at(*motion, "center", name))
    edited.replace(*motion->get("center"), rounded_text(move.apply(*center)));
  if (move.q.w == 1) return;
  const auto turn = [&](const toml::table& of, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (const auto vector = vector_at(of, key, name))
        edited.replace(*of.get(key), rounded_text(move.q.rotate(*vector)));
  };
  turn(*motion, {"velocity", "angular_velocity"});
  for (const toml::table* key : tables_of(*motion, "key")) turn(*key, {"translation", "rotation"});
}

}  // namespace

std::string with_settings(const std::string& text, const fs::path& file, const SceneSettings& wanted) {
  const Scene scene = parse_scene(text, file);
  const SceneSettings given = settings_of(scene);
  EditedText edited(text, file);
  const auto materials = tables_of(edited.root(), "material");
  const auto planes = tables_of(edited.root(), "half_space");
  if (materials.size() != given.materials.size() || wanted.materials.size() != given.materials.size() ||
      planes.size() != given.half_space_mu.size() ||
      wanted.half_space_mu.size() != given.half_space_mu.size())
    throw InputError(file.string() +
                     ": it has other materials or half-spaces than the scene that was changed");

  if (wanted.scale > 0 && wanted.scale != scene.scale) edited.set_at_top("scale", number_text(wanted.scale));
  if (wanted.density > 0 && wanted.density != scene.density)
    edited.set_at_top("density", number_text(wanted.density));
  if (solver_text(given.params) != solver_text(wanted.params))
    edited.set_at_top("solver", solver_text(wanted.params));
  change_rows(param_table(), &given.params, &wanted.params, {"solver", "contact_solver"},
              [&](const std::string& key, const std::string& value) { edited.set("params", key, value); });
  change_rows(lab_param_table(), &given.contact_params, &wanted.contact_params, {},
              [&](const std::string& key, const std::string& value) { edited.set("contact", key, value); });
  for (std::size_t m = 0; m < materials.size(); ++m)
    change_rows(
        material_table(), &given.materials[m], &wanted.materials[m], {},
        [&](const std::string& key, const std::string& value) { edited.set(*materials[m], key, value); });
  const ParamInfo& mu = *find_param(material_table(), "mu");
  for (std::size_t p = 0; p < planes.size(); ++p) {
    if (given.half_space_mu[p] == wanted.half_space_mu[p]) continue;
    Material holder;
    set_param(&holder, mu, wanted.half_space_mu[p]);
    edited.set(*planes[p], "mu", param_text(&holder, mu));
  }
  make_absolute(fs::absolute(file).parent_path(), edited);

  std::string out = edited.text();
  SceneSettings expected = wanted;
  if (expected.params.solver != SolverKind::velocity)  // a file names one solver
    expected.params.contact_solver = given.params.contact_solver;
  const std::string wrong = difference(settings_of(parse_scene(out, file)), expected);
  if (!wrong.empty()) throw InputError(file.string() + ": '" + wrong + "' cannot be written to a scene file");
  return out;
}

std::string without_object_table(const std::string& text, const fs::path& file, const std::string& name,
                                 double scale) {
  const EditedText edited(text, file);
  const OwnTable own = own_table(edited.root(), name);
  if (own.number >= 0) check_pairs(edited.root(), own.name());
  const bool is_last = own.number < 0 || instance_in(edited.only(own.table), file, own, scale).is_last;
  return without_tables(is_last ? edited.without(own.table) : without_instance(text, file, own), file,
                        tables_about_objects, [&](const toml::table& table) {
                          return names_object(table, name) || (is_last && names_object(table, own.name()));
                        });
}

std::string object_copy(const std::string& text, const fs::path& file, const std::string& name,
                        const std::string& copy_name, const Vec<double, 3>& shift, double scale) {
  if (own_table(EditedText(text, file).root(), name).is_collider)
    throw InputError("'" + name + "' is a collider of the scene's file, no object");
  EditedText edited(keys_of(text, file, name, scale), file);
  Vec<double, 3> position = vector_at(edited.root(), "position", name).value_or(Vec<double, 3>{0, 0, 0});
  position += shift;
  edited.set_at_top("name", toml_text(copy_name));
  edited.set_at_top("position", "[" + number_text(position[0]) + ", " + number_text(position[1]) + ", " +
                                    number_text(position[2]) + "]");
  return edited.text();
}

std::string with_own_tables(const std::string& text, const fs::path& file, const std::set<std::string>& names,
                            double scale) {
  std::string out = text;
  for (const std::string& name : names) {
    const EditedText edited(out, file);
    const OwnTable own = own_table(edited.root(), name);
    if (own.number < 0) continue;
    check_pairs(edited.root(), own.name());
    const std::string keys = keys_of(out, file, name, scale);
    const bool is_last = instance_in(edited.only(own.table), file, own, scale).is_last;
    out = is_last ? edited.without(own.table) : without_instance(out, file, own);
    out += std::string(own.is_collider ? "\n[[collider]]\n" : "\n[[object]]\n") + keys;
  }
  return out;
}

std::string with_moved_tables(const std::string& text, const fs::path& file, const Model& model,
                              const std::set<std::string>& names, const Pose& move) {
  constexpr double kDegree = std::numbers::pi / 180;
  const Vec<double, 3> none{0, 0, 0};
  const bool turns = move.q.w != 1;
  EditedText edited(text, file);
  std::set<std::string> all = names;
  for (const char* kind : {"object", "collider"})  // bodies that left an array which moves
    for (const toml::table* table : tables_of(edited.root(), kind))
      if (const std::string own = (*table)["name"].value_or(std::string());
          own.find('.') != std::string::npos && names.contains(own.substr(0, own.find('.'))))
        all.insert(own);
  for (const std::string& name : all) {
    const toml::table& table = object_table(edited.root(), name);
    const toml::table* ring = table["ring"].as_table();
    if (turns && (table.contains("count") || ring != nullptr))
      throw InputError("'" + name + "' is an array: it can be moved, not turned");
    move_script(edited, table, name, move);
    if (ring != nullptr)
      if (const auto center = vector_at(*ring, "center", name))
        edited.replace(*ring->get("center"), rounded_text(move.apply(*center)));
    edited.set(table, "position",
               rounded_text(move.apply(vector_at(table, "position", name).value_or(none))));
    if (!turns) continue;
    const Quat turn = rotation_by(kDegree * vector_at(table, "rotation", name).value_or(none));
    edited.set(table, "rotation", rounded_text(rotation_vector(normalized(move.q * turn)) / kDegree));
  }
  move_ties(edited, model, names, move);
  move_pins(edited, names, move);
  return edited.text();
}

std::string without_pin_tables(const std::string& text, const fs::path& file, const std::string& object) {
  const auto holds = [&](const toml::table& pin) { return pin["object"].value_or(std::string()) == object; };
  std::string left = without_tables(text, file, "pin", holds);
  if (left == text) throw InputError("no pin in the scene's file holds '" + object + "' alone");
  return left;
}

std::string without_tie_tables(const std::string& text, const fs::path& file, const std::string& object,
                               const std::string& prefix) {
  const auto holds = [&](const toml::table& tie) {
    const toml::array* sides = tie["between"].as_array();
    return tie["name"].value_or(std::string()).starts_with(prefix) && sides != nullptr &&
           std::ranges::any_of(
               *sides, [&](const toml::node& side) { return side.value_or(std::string()) == object; });
  };
  std::string left = without_tables(without_tables(text, file, "joint", holds), file, "spring", holds);
  if (left == text) throw InputError("nothing is tied to '" + object + "'");
  return left;
}

std::vector<NamedPath> named_paths(const std::string& text, const fs::path& file) {
  std::vector<NamedPath> paths;
  const EditedText document(text, file);
  visit_paths(document.root(), [&](const toml::node&, const std::string& path, bool is_folder) {
    paths.push_back({path, is_folder});
  });
  return paths;
}

std::string with_paths(const std::string& text, const fs::path& file,
                       const std::function<std::string(const std::string&)>& change) {
  EditedText edited(text, file);
  bool is_changed = false;
  visit_paths(edited.root(), [&](const toml::node& value, const std::string& path, bool) {
    const std::string other = change(path);
    if (other == path) return;
    edited.replace(value, toml_text(other));
    is_changed = true;
  });
  return is_changed ? edited.text() : text;
}

std::string edited_scene(const Scene& scene, const SceneSettings& wanted) {
  if (scene.source.empty())
    throw InputError(scene.file.string() + ": only scenes of TOML files can be saved with other settings");
  SceneSettings with_scale = wanted;
  with_scale.scale = scene.scale;
  with_scale.density = scene.density;
  return with_settings(scene.source, scene.file, with_scale);
}

}  // namespace stickslip
