// The tables [[joint]] of a scene file.
#include <algorithm>
#include <numbers>

#include "app/io/scene/scene_build.h"
#include "gpu/model/element_group.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr std::int32_t kWorld = -1;
const std::vector<std::string> kJointKinds{"ball", "hinge", "slider", "fixed", "distance", "gear"};

/// Objects of one name that can hold joints, rigid bodies and solids: one, or all instances of an array.
/// "world" gives kWorld.
std::vector<std::int32_t> read_side(const TableReader& table, const std::string& key, const Model& model,
                                    const std::string& name) {
  if (name == "world") return {kWorld};
  std::vector<std::int32_t> bodies;
  std::vector<std::string> known{"world"};
  for (std::size_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    if (!object.is_rigid() && !object.is_solid()) {
      if (is_called(object, name))
        table.fail(
            key, "'" + name +
                     "' is a collider without a volume, which holds no joint: hold it by \"world\", or give "
                     "it a shape (body = \"rigid\")");
      continue;
    }
    if (is_called(object, name)) bodies.push_back(static_cast<std::int32_t>(o));
    for (const std::string& spelled : {object.name, object.name.substr(0, object.name.find('.'))})
      if (known.back() != spelled) known.push_back(spelled);
  }
  if (bodies.empty()) check_known(table, key, "rigid body or solid", name, known);
  return bodies;
}

/// Two objects.
struct Pair {
  std::int32_t a, b;
};

/// A frame that moves with an object at the start. Instances of an array of solids have the same nodes, so
/// that their frames differ by the motion from one instance to the other.
Pose start_pose(const Model& model, std::int32_t index) {
  const Object& object = model.objects[index];
  if (object.is_rigid()) return model.bodies[object.body].pose;
  Vec3d centre{0, 0, 0};
  const std::vector<double> volumes = node_volumes(model, object);
  for (std::size_t i = 0; i < volumes.size(); ++i)
    centre += volumes[i] * model.positions[static_cast<std::size_t>(object.node_begin) + i];
  centre = (1 / solid_volume(model, object)) * centre;
  // The edges of the first tet turn with the instance.
  const Vec4i& tet = model.tets[object.tet_begin];
  const Vec3d x = normalized(model.positions[tet[1]] - model.positions[tet[0]]);
  const Vec3d z = normalized(cross(x, model.positions[tet[2]] - model.positions[tet[0]]));
  return {centre, quaternion_of(Mat<double, 3>::from_columns({x, cross(z, x), z}))};
}

Vec3d center_of(const Model& model, std::int32_t object) { return start_pose(model, object).x; }

/// All pairs of instances of an array with centres at most `reach` apart. Sorted along x, so that each
/// instance is compared only with those within reach.
std::vector<Pair> read_mesh(TableReader& table, const Model& model) {
  std::vector<std::int32_t> links = read_side(table, "mesh", model, table.text("mesh"));
  const double reach = table.number("reach", Range::positive());
  std::vector<Vec3d> centre(model.objects.size(), Vec3d::zero());
  for (const std::int32_t link : links) centre[link] = center_of(model, link);
  const auto at = [&](std::int32_t object) { return centre[object]; };
  std::sort(links.begin(), links.end(), [&](std::int32_t p, std::int32_t q) {
    return at(p)[0] != at(q)[0] ? at(p)[0] < at(q)[0] : p < q;
  });
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t j = i + 1; j < links.size() && at(links[j])[0] - at(links[i])[0] <= reach; ++j)
      if (norm(at(links[i]) - at(links[j])) <= reach)
        pairs.push_back({std::min(links[i], links[j]), std::max(links[i], links[j])});
  if (pairs.empty()) table.fail("reach", "joins no two bodies");
  return pairs;
}

/// `between` two bodies, two arrays of equal length, or an array and one body; or a `chain` of consecutive
/// instances of an array.
std::vector<Pair> read_pairs(TableReader& table, const Model& model) {
  std::vector<Pair> pairs;
  if (table.has("chain") + table.has("between") + table.has("mesh") != 1)
    table.fail("", "needs either between = [\"a\", \"b\"], chain = \"array\" or mesh = \"array\"");
  if (table.has("mesh")) return read_mesh(table, model);
  if (table.has("chain")) {
    const std::vector<std::int32_t> links = read_side(table, "chain", model, table.text("chain"));
    if (links.size() < 2) table.fail("chain", "must be an array of two bodies at least");
    for (std::size_t i = 0; i + 1 < links.size(); ++i) pairs.push_back({links[i], links[i + 1]});
    if (table.flag("closed", false)) pairs.push_back({links.back(), links.front()});
    return pairs;
  }
  const std::vector<std::string> names = table.texts("between", 2);
  const std::vector<std::int32_t> a = read_side(table, "between", model, names[0]),
                                  b = read_side(table, "between", model, names[1]);
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
    table.fail("between", "'" + names[0] + "' are " + std::to_string(a.size()) + " bodies, '" + names[1] +
                              "' are " + std::to_string(b.size()) + ": must be as many, or one");
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    pairs.push_back({a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]});
  for (const Pair& pair : pairs)
    if (pair.a == pair.b && pair.a != kWorld)
      table.fail("between", "needs two different bodies, or a body and \"world\"");
  return pairs;
}

Vec3d read_axis(TableReader& table, const char* key, const Vec3d& fallback) {
  const Vec3d axis = table.vec3(key, fallback);
  if (!(norm(axis) > 0)) table.fail(key, "must not be zero");
  return normalized(axis);
}

/// Limits and motor of the free coordinate: in degrees for a hinge, else in m.
void read_freedom(TableReader& table, Joint& joint) {
  const bool angle = joint.kind == JointKind::hinge;
  if (angle || joint.kind == JointKind::slider) {
    if (table.has("low") != table.has("high")) table.fail("", "needs both low and high, or neither");
    if (table.has("low")) {
      const double unit = angle ? std::numbers::pi / 180 : 1;
      const Range range = angle ? Range{-180, 180} : Range{};
      joint.low = unit * table.number("low", range);
      joint.high = unit * table.number("high", {joint.low / unit, range.high});
    }
    if (auto motor = table.table("motor")) {
      joint.motor_speed = motor->number("speed", {});
      joint.motor_limit = motor->number("limit", Range::positive());
      motor->finish();
    }
  }
  if (joint.kind == JointKind::gear) {
    joint.ratio = table.number("ratio", {});
    if (joint.ratio == 0) table.fail("ratio", "must not be zero");
  }
}

/// Pose of an object relative to the object of the first pair.
Pose moved_from(const Model& model, std::int32_t first, std::int32_t object) {
  if (first == kWorld || object == first) return Pose::identity();
  const Pose p = start_pose(model, first);
  const Quat q = p.q.conjugate();
  return start_pose(model, object) * Pose{-q.rotate(p.x), q};
}

}  // namespace

void build_joint(TableReader table, Model& model) {
  if (std::ranges::none_of(model.objects, [](const Object& o) { return o.is_rigid() || o.is_solid(); }))
    table.fail("", "joints hold rigid bodies and solids, and the scene has none");
  Joint joint;
  joint.name = table.text("name");
  for (const Joint& other : model.joints)
    if (other.name.substr(0, other.name.find('.')) == joint.name)
      table.fail("name", "'" + joint.name + "' is the name of another joint");
  const std::string kind = table.text("kind");
  check_known(table, "kind", "kind of joint", kind, kJointKinds);
  joint.kind =
      static_cast<JointKind>(std::find(kJointKinds.begin(), kJointKinds.end(), kind) - kJointKinds.begin());
  const std::vector<Pair> pairs = read_pairs(table, model);
  const Pair& first = pairs.front();
  read_freedom(table, joint);
  joint.collide = table.flag("collide", false);

  // Anchors are given for the first pair. For the others they move with the first body of each pair.
  const bool has_b = first.b != kWorld, has_a = first.a != kWorld;
  if (!has_a && !has_b) table.fail("between", "needs a body");
  const Vec3d middle = !has_b   ? center_of(model, first.a)
                       : !has_a ? center_of(model, first.b)
                                : 0.5 * (center_of(model, first.a) + center_of(model, first.b));
  const bool two_points = joint.kind == JointKind::distance;
  const bool turns =
      joint.kind == JointKind::hinge || joint.kind == JointKind::slider || joint.kind == JointKind::fixed;
  const bool has_anchor_b = (turns || joint.kind == JointKind::ball) && table.has("anchor_b");
  // Pairs of a mesh differ in direction: each joint is halfway between its two bodies.
  const bool halfway = table.has("mesh") && !two_points && !table.has("anchor");
  const Vec3d anchor = table.vec3("anchor", two_points && has_a ? center_of(model, first.a) : middle);
  const Vec3d anchor_b = two_points || has_anchor_b
                             ? table.vec3("anchor_b", has_b ? center_of(model, first.b) : middle)
                             : anchor;
  const bool needs_axis =
      joint.kind == JointKind::hinge || joint.kind == JointKind::slider || joint.kind == JointKind::gear;
  if (needs_axis && !table.has("axis")) table.fail("", "needs axis = [x, y, z]");
  const Vec3d axis = read_axis(table, "axis", {1, 0, 0});
  const Vec3d axis_b = joint.kind == JointKind::gear ? read_axis(table, "axis_b", axis) : axis;
  // From the frame that the first body holds to that of the second one: bodies that begin apart.
  const Quat turn_b =
      turns ? rotation_by((std::numbers::pi / 180) * table.vec3("turn_b", {0, 0, 0})) : Quat::identity();
  if (two_points) {
    const double length = norm(anchor - anchor_b);
    joint.low = table.number("low", Range::not_negative(), length);
    joint.high = table.number("high", {joint.low, Range().high}, std::max(length, joint.low));
    if (!(joint.high > 0)) table.fail("", "the two anchors are one point: a ball joint holds them together");
  }
  table.finish();
  const std::string name = joint.name;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::int32_t a = pairs[i].a, b = pairs[i].b;
    const Pose move = halfway
                          ? Pose{0.5 * (center_of(model, a) + center_of(model, b)) - anchor, Quat::identity()}
                      : has_a && a != first.a ? moved_from(model, first.a, a)
                                              : moved_from(model, first.b, b);
    joint.name = pairs.size() == 1 ? name : name + "." + std::to_string(i);
    located(table, [&]() -> Joint& {
      return add_joint_between(model, joint, a, b, move * Pose{anchor, turn_of_x(axis)},
                               move * Pose{anchor_b, turn_b * turn_of_x(axis_b)});
    });
  }
}

}  // namespace stickslip
