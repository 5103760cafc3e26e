// elastic_part: the objects of a model that are not rigid bodies, as a separate model.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

struct ElasticPart {
  Model model;                       // finalized; with the materials and half-spaces of the whole model
  std::vector<std::int32_t> node;    // per node of the part: its index in the whole model
  std::vector<std::int32_t> object;  // per object of the part: likewise
  /// Objects of the part and rigid bodies that joints let not touch, ascending.
  std::vector<Vec2i> exempt_bodies;
};

/// Solids, affine bodies with their control nodes, and colliders.
ElasticPart elastic_part(const Model& model);

}  // namespace stickslip
