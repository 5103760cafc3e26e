// The tables [[spring]] of a scene file, and the springs that tie strands to a solid.
#include <algorithm>
#include <cmath>

#include "app/io/scene/scene_build.h"
#include "gpu/model/element_group.h"
#include "gpu/model/rod.h"
#include "gpu/model/spring_points.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// The end of a spring on the object of this name at the point `at`, or a point that stands still.
ConstraintPoint read_end(const TableReader& table, const Model& model, const std::string& name,
                         const Vec3d& at) {
  ConstraintPoint point;
  if (name == "world") {
    point.fixed = at;
    return point;
  }
  std::vector<std::string> known{"world"};
  for (const Object& object : model.objects) {
    const bool holds = object.is_deformable() || object.is_collider();
    if (holds) known.push_back(object.name);
    if (object.name != name) continue;
    if (!holds)
      table.fail("between", "'" + name +
                                "' is not deformable: springs hold deformable objects and colliders; "
                                "hold it by a [[joint]]");
    return located(table, [&] { return nearest_on_object(model, object, at); });
  }
  check_known(table, "between", "deformable object, collider", name, known);
  return point;
}

/// [N/m] of the springs that hold the nodes of a strand's first segment: they resist bending there ten times
/// as much as the segment does, and give way by a twentieth of it where the strand is accelerated by 100
/// m/s^2; at most as stiff as the segment is when stretched, since stiffer springs only make steps slow.
double root_stiffness(const Model& model, const Object& rods) {
  const Vec2i& s = model.segments[rods.segment_begin];
  const double length = norm(model.rest_positions[s[1]] - model.rest_positions[s[0]]);
  const Material& material = model.materials[rods.material];
  const RodSection section = rod_section(rods.thickness, rods.aspect);
  const double bending = std::max(section.across_d1, section.across_d2) * material.young / length;  // [N m]
  const double mass =
      material.density * solid_volume(model, rods) / static_cast<double>(count_rods(model, rods).strands);
  const double holds = std::max(20 * bending / (length * length), mass * 100 / (0.05 * length));
  return std::min(holds, material.young * section.area / length);
}

}  // namespace

void build_spring(TableReader table, Model& model) {
  Spring spring;
  spring.name = table.text("name");
  for (const Spring& other : model.springs)
    if (other.name == spring.name) table.fail("name", "'" + spring.name + "' is the name of another spring");
  const std::vector<std::string> names = table.texts("between", 2);
  if (names[0] == "world" && names[1] == "world") table.fail("between", "needs an object");
  const Vec3d from = table.vec3("anchor"), to = table.vec3("anchor_b", from);
  spring.a = read_end(table, model, names[0], from);
  spring.b = read_end(table, model, names[1], to);
  const double apart = norm(start_of(model, spring.a) - start_of(model, spring.b));
  spring.length = table.number("length", Range::not_negative(), apart);
  spring.stiffness = table.number("stiffness", Range::positive());
  spring.damping = table.number("damping", Range::not_negative(), 0);
  table.finish();
  model.springs.push_back(std::move(spring));
}

bool follows_solid(const FollowingRods& rods, const Model& model) {
  return std::ranges::any_of(
      model.objects, [&](const Object& object) { return object.name == rods.leader && object.is_solid(); });
}

void tie_to_solid(const FollowingRods& rods, Model& model) {
  const Object& solid =
      *std::ranges::find_if(model.objects, [&](const Object& o) { return o.name == rods.leader; });
  if (!solid.is_deformable())
    rods.table.fail("follow",
                    "'" + rods.leader + "' is affine: strands follow a deformable solid, or a collider");
  const Object& strands = model.objects[model.node_object[rods.nodes[0]]];
  const double stiffness = root_stiffness(model, strands);
  for (std::size_t k = 0; k < rods.nodes.size(); ++k) {
    Spring spring;
    spring.name = strands.name + " root " + std::to_string(k);
    spring.a.nodes[0] = rods.nodes[k];
    spring.a.weights[0] = 1;
    spring.b = located(rods.table, [&] {
      return carried_by_tet(model, solid, rods.roots[k], model.positions[rods.nodes[k]]);
    });
    spring.stiffness = stiffness;
    spring.damping = model.materials[strands.material].damping;
    model.springs.push_back(std::move(spring));
  }
}

}  // namespace stickslip
