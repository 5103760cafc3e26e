// elastic_part: the elastic solids of a model that has rigid bodies beside them, as a model of their own.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

struct ElasticPart {
  Model model;                       // finalized; the materials and half-spaces of the whole
  std::vector<std::int32_t> node;    // of each of its nodes, that of the whole model
  std::vector<std::int32_t> object;  // likewise of each object
};

/// For models whose bodies are rigid or elastic solids: see `stepper_refusal`.
ElasticPart elastic_part(const Model& model);

}  // namespace stickslip
