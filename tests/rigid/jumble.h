// Jumble: a heap of bodies in one step, for tests of ManifoldSolver.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gpu/collide/rigid_contacts.cuh"
#include "gpu/model/rigid_body.h"
#include "gpu/rigid/contact_system.cuh"
#include "gpu/rigid/device_joints.cuh"
#include "tests/fixtures/rigid_model.h"

namespace stickslip::STICKSLIP_BACKEND {

using V3d = Vec<double, 3>;

inline constexpr double kStep = 1.0 / 60;

/// Boxes and balls thrown together above a floor, and their contacts after one step without impulses; with
/// `jointed`, each body but every third is joined to the next one, by joints of all kinds in turn, with
/// limits and motors; with `rough`, every other body has friction along a grain, with torsion.
struct Jumble {
  Model model;
  DeviceBodies bodies;
  RigidContacts contacts;
  Buffer<ContactSurface> surfaces;
  Buffer<double> mu;
  DeviceJoints joints;
  StepConstraints list;

  Jumble(Context& ctx, int count, double softness = 0, bool with_static = true, double friction = 0.6,
         bool jointed = false, bool rough = false) {
    std::mt19937 rng(11);
    std::uniform_real_distribution<double> in(-1, 1);
    const int side = static_cast<int>(std::ceil(std::cbrt(count)));
    for (int i = 0; i < count; ++i) {
      const V3d at{0.56 * (i % side), 0.26 + 0.5 * (i / (side * side)), 0.56 * (i / side % side)};
      if (i % 4 == 3) fixtures::add_rigid_sphere(model, 0.26, at);
      else
        fixtures::add_rigid_box(model, {0.26, 0.25, 0.24},
                                fixtures::pose_at(at, {0.2 * in(rng), in(rng), 0.2 * in(rng)}),
                                !with_static || i % 17 != 5);
      model.bodies.back().velocity = {in(rng), in(rng), in(rng)};
      model.bodies.back().spin = {2 * in(rng), 2 * in(rng), 2 * in(rng)};
      if (!model.bodies.back().moves) model.bodies.back().velocity = model.bodies.back().spin = {0, 0, 0};
    }
    fixtures::add_floor(model, 0, 0.4);
    model.materials[0].mu = 0.6;
    for (int i = 0; jointed && i + 1 < count; ++i)
      if (i % 3 != 2) join(i, i + 1, static_cast<JointKind>(i % 6));
    if (rough) add_rough_surface();
    bodies.load(ctx, model);
    contacts.load(ctx, model);
    RigidContacts::Options options;
    options.dt = kStep;
    contacts.find(
        ctx, {bodies.pose.data(), bodies.velocity.data(), bodies.spin.data(), bodies.moves.data(), nullptr},
        options);
    bodies.predict(ctx, kStep, -9.81, true, {}, nullptr);
    std::vector<ContactSurface> columns;
    for (const Material& material : model.materials) columns.push_back(contact_surface(material));
    const auto materials = static_cast<std::int32_t>(columns.size());
    columns.push_back(half_space_surface(0.4));
    std::vector<double> pairs(columns.size() * model.materials.size(), friction);
    for (std::size_t m = 1; m <= model.materials.size(); ++m) pairs[m * columns.size() - 1] = 0.9 * friction;
    surfaces.upload(ctx, columns);
    mu.upload(ctx, pairs);
    list.contacts = contacts.contacts();
    list.contact_count = contacts.count();
    list.pair_start = contacts.pair_start();
    list.pairs = contacts.pairs();
    list.surfaces = {surfaces.data(), mu.data(), materials, materials + 1};
    list.plain = !rough;
    list.options.feedback = {kStep, 0.2, 2.0, 1e-4, softness};
    list.joint_feedback = list.options.feedback;
    list.options.restitution_speed = 0.5;
    joints.load(ctx, model);
    list.joints = joints.joints();
    list.block_joint = joints.block_joint();
    list.block_part = joints.block_part();
    list.joint_blocks = joints.blocks();
    list.joint_groups = joints.groups();
    list.joint_ends = &joints.ends();
  }
  Jumble(const Jumble&) = delete;  // `list` refers to the rest
  Jumble& operator=(const Jumble&) = delete;

 private:
  void add_rough_surface() {
    Material material = model.materials[0];
    material.friction_kind = FrictionKind::elliptic;
    material.mu_across = 0.3 * material.mu;
    material.torsion_radius = 0.05;
    model.materials.push_back(material);
    model.material_names.push_back("rough");
    for (std::size_t b = 0; b < model.bodies.size(); b += 2)
      model.objects[static_cast<std::size_t>(model.bodies[b].object)].material = 1;
  }
  void join(std::int32_t a, std::int32_t b, JointKind kind) {
    Joint joint;
    joint.kind = kind;
    joint.a = a;
    joint.b = b;
    const V3d middle = 0.5 * (model.bodies[static_cast<std::size_t>(a)].pose.x +
                              model.bodies[static_cast<std::size_t>(b)].pose.x);
    if (kind == JointKind::hinge || kind == JointKind::slider) {
      joint.low = -0.01;
      joint.high = 0.01;
      joint.motor_speed = 2;
      joint.motor_limit = 20;
    }
    if (kind == JointKind::distance) joint.low = joint.high = 0.5;
    add_joint(model, joint, Pose{middle, Quat::identity()});
  }
};

inline LabParams exact_params(long iterations, double tolerance) {
  LabParams params = stepping_lab_params();
  params.max_iterations = static_cast<int>(iterations);
  params.tolerance = tolerance;
  return params;
}

inline double largest_difference(const std::vector<V3d>& a, const std::vector<V3d>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, norm(a[i] - b[i]));
  return most;
}

}  // namespace stickslip::STICKSLIP_BACKEND
