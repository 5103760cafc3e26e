// The shapes of rigid bodies in a scene file. Used by scene_body.cpp only.
#pragma once

#include "app/io/scene/scene_build.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {

/// What the tables of a body's parts are read with.
struct PartSource {
  const SceneSource& scene;
  Model& model;          // takes hulls and meshes
  Vec<double, 3> scale;  // of the shape along its own axes
  double fineness = 5;   // edges of round surfaces that are drawn are their radius over this
};

/// The parts of one table: `shape` with its sizes or `file`, `edge`, `collision`, `cells`, `weight`; all at
/// `pose`. Several for a shape that is made of simpler ones.
std::vector<BodyPart> read_parts(TableReader& table, const PartSource& source, const Pose& pose);

}  // namespace stickslip
