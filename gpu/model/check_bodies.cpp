// check_bodies: what finalize asks of rigid bodies and joints.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gpu/model/convex_hull.h"
#include "gpu/model/distance_grid.h"
#include "gpu/model/finite.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

// How far a unit quaternion's length may be from 1, and a node from where its body's pose puts it, in units
// of the body's size.
constexpr double kUnit = 1e-9, kNodeOff = 1e-6;

bool is_pose(const Pose& pose) {
  return is_finite(pose.x) && std::abs(pose.q.w * pose.q.w + norm2(pose.q.v) - 1) < kUnit;
}

class BodyCheck {
 public:
  explicit BodyCheck(const Model& model)
      : model_(model), hull_checked_(model.hulls.size()), mesh_checked_(model.shape_meshes.size()) {}

  void run() {
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
      const Body& body = model_.bodies[b];
      if (body.object < 0 || static_cast<std::size_t>(body.object) >= model_.objects.size() ||
          model_.objects[body.object].body != static_cast<std::int32_t>(b))
        throw std::invalid_argument("rigid body " + std::to_string(b) + " belongs to no object");
      object_ = &model_.objects[body.object];
      check_matter(body);
      check_start(body);
      check_shapes(body);
      check_surface(body);
    }
    for (const Object& object : model_.objects)
      if (object.is_rigid() && static_cast<std::size_t>(object.body) >= model_.bodies.size())
        throw std::invalid_argument("object '" + object.name + "': there is no rigid body " +
                                    std::to_string(object.body));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument("object '" + object_->name + "': " + what);
  }

  void check_matter(const Body& body) const {
    const double mass = body.mass > 0 ? body.mass : body.volume;
    if (!(body.volume > 0) || !std::isfinite(body.volume) || !(mass > 0) || !std::isfinite(body.mass) ||
        body.mass < 0)
      refuse("a rigid body needs a positive mass and volume");
    const Vec3d& i = body.unit_inertia;
    const double most = std::max({i[0], i[1], i[2]}), sum = i[0] + i[1] + i[2];
    if (!is_finite(i) || !(std::min({i[0], i[1], i[2]}) > 0) || !(most <= (1 + 1e-6) * (sum - most)))
      refuse(
          "no rigid body has these moments of inertia: each must be positive, none above the sum of the "
          "others");
  }

  void check_start(const Body& body) const {
    if (!is_pose(body.pose)) refuse("its pose needs finite numbers and a unit quaternion");
    if (!is_finite(body.velocity) || !is_finite(body.spin)) refuse("its velocity is not finite");
    if (!is_finite(body.grain) || !(norm(body.grain) > 0)) refuse("its grain must not be zero");
    if (!is_pose(body.texture_frame))
      refuse("its texture's frame needs finite numbers and a unit quaternion");
    if (body.motion < 0) return;
    if (static_cast<std::size_t>(body.motion) >= model_.body_motions.size())
      refuse("there is no motion " + std::to_string(body.motion));
    if (body.moves) refuse("a body that moves by itself cannot follow a motion");
  }

  void check_shapes(const Body& body) {
    if (body.shape_begin < 0 || body.shape_end <= body.shape_begin ||
        static_cast<std::size_t>(body.shape_end) > model_.shapes.size())
      refuse("a rigid body needs a shape");
    for (std::int32_t s = body.shape_begin; s < body.shape_end; ++s) {
      const Shape& shape = model_.shapes[s];
      if (!is_pose(shape.pose)) refuse("a shape's pose needs finite numbers and a unit quaternion");
      const bool only_radius = shape.kind == ShapeKind::sphere;
      const bool flat = shape.kind == ShapeKind::capsule;  // a capsule of no length is a sphere
      for (int c = 0; c < (only_radius ? 1 : 3); ++c)
        if (!std::isfinite(shape.size[c]) || !(flat && c == 1 ? shape.size[c] >= 0 : shape.size[c] > 0))
          refuse("the sizes of its shape must be positive");
      if (shape.kind == ShapeKind::hull) check_hull(shape);
      if (shape.kind == ShapeKind::mesh) check_mesh(shape);
    }
  }

  void check_bounds(const Shape& shape, const std::vector<Vec3d>& points) const {
    Vec3d low = points[0], high = points[0];
    for (const Vec3d& p : points) {
      low = min(low, p);
      high = max(high, p);
    }
    const double slack = 1e-6 * norm(high - low);
    if (!(norm(low + high) <= slack) || !(norm(shape.size - high) <= slack))
      refuse("its shape's size is not half of its bounding box, or that is not centred");
  }

  void check_hull(const Shape& shape) {
    if (shape.data < 0 || static_cast<std::size_t>(shape.data) >= model_.hulls.size())
      refuse("there is no hull " + std::to_string(shape.data));
    if (hull_checked_[shape.data]) return;
    const ConvexHull& hull = model_.hulls[shape.data];
    if (const std::string fault = hull_fault(hull); !fault.empty()) refuse(fault);
    check_bounds(shape, hull.vertices);
    hull_checked_[shape.data] = true;
  }

  void check_mesh(const Shape& shape) {
    if (shape.data < 0 || static_cast<std::size_t>(shape.data) >= model_.shape_meshes.size())
      refuse("there is no mesh " + std::to_string(shape.data));
    if (mesh_checked_[shape.data]) return;
    const ShapeMesh& mesh = model_.shape_meshes[shape.data];
    if (const std::string fault = surface_fault(mesh.vertices, mesh.triangles); !fault.empty()) refuse(fault);
    if (const std::string fault = field_fault(mesh); !fault.empty()) refuse(fault);
    check_bounds(shape, mesh.vertices);
    mesh_checked_[shape.data] = true;
  }

  void check_surface(const Body& body) const {
    if (object_->is_solid() || object_->is_affine()) refuse("a rigid body has no tets and no control nodes");
    double size = 0;
    for (std::int32_t i = object_->node_begin; i < object_->node_end; ++i)
      size = std::max(size, norm(model_.rest_positions[i]));
    const double slack = kNodeOff * (size + norm(body.pose.x));
    for (std::int32_t i = object_->node_begin; i < object_->node_end; ++i)
      if (!(norm(model_.positions[i] - body.pose.apply(model_.rest_positions[i])) <= slack))
        refuse("node " + std::to_string(i - object_->node_begin) +
               " does not start where the body's pose puts it");
  }

  const Model& model_;
  const Object* object_ = nullptr;
  std::vector<bool> hull_checked_, mesh_checked_;
};

void check_joint(const Model& model, const Joint& joint) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument("joint '" + joint.name + "': " + what);
  };
  bool moves = false;
  for (const std::int32_t body : {joint.a, joint.b}) {
    if (body < -1 || body >= static_cast<std::int32_t>(model.bodies.size()))
      refuse("there is no body " + std::to_string(body));
    moves = moves || (body >= 0 && model.bodies[body].moves);
  }
  for (const std::int32_t tet : {joint.tet_a, joint.tet_b}) {
    if (tet < -1 || tet >= static_cast<std::int32_t>(model.tets.size()))
      refuse("there is no tet " + std::to_string(tet));
    moves = moves || tet >= 0;
  }
  if ((joint.a >= 0 && joint.tet_a >= 0) || (joint.b >= 0 && joint.tet_b >= 0))
    refuse("a side is a rigid body or a tet of a solid, not both");
  if (joint_object(model, joint, 0) == joint_object(model, joint, 1)) refuse("needs two different bodies");
  if (!moves) refuse("neither of its two bodies moves by itself");
  if (!is_pose(joint.frame_a) || !is_pose(joint.frame_b))
    refuse("its frames need finite numbers and unit quaternions");
  if (!std::isfinite(joint.low) || !std::isfinite(joint.high)) refuse("its limits must be finite");
  if (joint.kind == JointKind::distance && !(joint.low >= 0 && joint.high >= joint.low && joint.high > 0))
    refuse("a distance needs 0 <= low <= high and high above 0");
  if (!std::isfinite(joint.motor_speed) || !(joint.motor_limit >= 0) || !std::isfinite(joint.motor_limit))
    refuse("its motor needs a finite speed and a limit that is not negative");
  const bool can_drive = joint.kind == JointKind::hinge || joint.kind == JointKind::slider;
  if (joint.motor_limit > 0 && !can_drive) refuse("only a hinge or a slider has a motor");
  if (joint.kind == JointKind::gear && (!std::isfinite(joint.ratio) || joint.ratio == 0))
    refuse("a gear's ratio must be finite and not zero");
}

}  // namespace

void check_bodies(const Model& model) {
  BodyCheck(model).run();
  for (const Joint& joint : model.joints) check_joint(model, joint);
}

}  // namespace stickslip
