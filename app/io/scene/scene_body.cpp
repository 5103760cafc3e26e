// Rigid bodies of a scene file: [[object]] with body = "rigid", and the colliders of a scene that has any.
#include <algorithm>
#include <numbers>

#include "app/io/scene/body_shape.h"
#include "app/io/scene/scene_array.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

Quat read_rotation(TableReader& table) {
  const Vec3d degrees = table.vec3("rotation", {0, 0, 0});
  return rotation_by((std::numbers::pi / 180) * degrees);
}

/// Fineness of drawn round surfaces: single large bodies are drawn finer than the grains of a heap.
double fineness_of(TableReader& table, const Growth& growth) {
  double count = growth.bodies;
  if (table.has("count")) {
    const Vec3d n = table.vec3("count");
    count *= n[0] * n[1] * n[2];
  }
  return count <= 64 ? 8 : count <= 1000 ? 5 : count <= 10000 ? 3 : 2;
}

BodyForm read_form(TableReader& table, const SceneSource& source, const Growth& growth, Model& model) {
  PartSource parts{{source.file, growth.refinement, source.density, source.notes},
                   model,
                   read_scale(table),
                   fineness_of(table, growth)};
  std::vector<BodyPart> all;
  if (!table.has("parts")) {
    all = read_parts(table, parts, Pose::identity());
  } else {
    for (const char* key : {"shape", "file", "scale"})
      if (table.has(key)) table.fail(key, "belongs into the parts");
    for (TableReader& part : table.tables("parts")) {
      const Pose pose{part.vec3("position", {0, 0, 0}), read_rotation(part)};
      parts.scale = read_scale(part);
      const std::vector<BodyPart> pieces = read_parts(part, parts, pose);
      part.finish();
      all.insert(all.end(), pieces.begin(), pieces.end());
    }
  }
  return located(table, [&] { return assemble(all); });
}

/// Values of a rigid body's table that all kinds share.
struct BodyTable {
  std::string name;
  BodyForm form;
  Pose pose;
  std::int32_t material;
  std::vector<Vec<float, 3>> colors;
  std::vector<Instance> instances;
};

BodyTable read_body(TableReader& table, const SceneSource& source, Model& model, const Growth& growth) {
  BodyTable body;
  body.name = read_new_name(table, model);
  body.form = read_form(table, source, growth, model);
  body.pose = {table.vec3("position", {0, 0, 0}), read_rotation(table)};
  body.material = read_material(table, model);
  body.colors = read_colors(table);
  // Memory in units of a tet: a tenth for each drawn triangle, three for a body's contacts.
  body.instances = read_instances(table, body.pose.x, body.form.triangles.size() / 10 + 3, growth);
  return body;
}

void add_instances(const TableReader& table, const BodyTable& body, const BodyStart& first, Model& model) {
  for (const Instance& instance : body.instances) {
    const auto& [offset, turn, number] = instance;
    BodyStart start = first;
    start.pose = {turn * body.pose.x + offset, normalized(quaternion_of(turn) * body.pose.q)};
    // The given velocity is that of `position`; the body's is that of its centre of mass.
    start.spin = turn * first.spin;
    start.velocity = turn * first.velocity + cross(start.spin, start.pose.q.rotate(body.form.frame.x));
    located(table, [&]() -> Object& {
      return add_body(model, instance_name(body.name, instance), body.form, body.material, start);
    }).color = instance_color(body.colors, instance);
  }
}

/// Name of a scene's first rigid body; it has one.
const std::string& first_rigid(const Model& model) {
  return std::ranges::find_if(model.objects, &Object::is_rigid)->name;
}

}  // namespace

void build_rigid_object(TableReader& table, const SceneSource& source, Model& model) {
  const BodyTable body = read_body(table, source, model, read_growth(table, source.scale));
  BodyStart start;
  start.velocity = table.vec3("velocity", {0, 0, 0});
  start.spin = table.vec3("angular_velocity", {0, 0, 0});
  if (table.has("mass")) start.mass = table.number("mass", Range::positive());
  start.grain = table.vec3("grain", {1, 0, 0});
  if (!(norm(start.grain) > 0)) table.fail("grain", "must not be zero");
  table.finish();
  add_instances(table, body, start, model);
}

void build_rigid_collider(TableReader& table, const SceneSource& source, Model& model) {
  if (table.has("as")) table.fail("as", "points and segments do not touch rigid bodies");
  if (table.has("sequence"))
    table.fail("sequence", "bends a collider, and beside rigid bodies such as '" + first_rigid(model) +
                               "' colliders are rigid: give a motion, or leave the rigid bodies out");
  const BodyTable body = read_body(table, source, model, {source.scale, 1});
  BodyStart start;
  start.moves = false;
  start.motion = read_motion(table.table("motion"), body.pose.x);  // an array moves as one
  start.grain = table.vec3("grain", {1, 0, 0});
  if (!(norm(start.grain) > 0)) table.fail("grain", "must not be zero");
  table.finish();
  add_instances(table, body, start, model);
}

}  // namespace stickslip
