// The shapes of rigid bodies in a scene file. Used by scene_body.cpp only.
#pragma once

#include "app/io/scene/scene_build.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {

/// Context for reading the tables of a body's parts.
struct PartSource {
  const SceneSource& scene;
  Model& model;          // hulls and meshes are added to it
  Vec<double, 3> scale;  // of the shape, along its own axes
  double fineness = 5;   // edge length of drawn round surfaces is radius / fineness
};

/// Reads the parts of one table: `shape` with its sizes or `file`, `edge`, `collision`, `cells`, `weight`;
/// all at `pose`. A composite shape gives several parts.
std::vector<BodyPart> read_parts(TableReader& table, const PartSource& source, const Pose& pose);

}  // namespace stickslip
