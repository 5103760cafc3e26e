// Materials for the tests of elastic terms.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// Young's modulus [Pa], Poisson's ratio, damping [s].
inline Material elastic_material(ElasticModel model, double young, double poisson, double damping = 0) {
  Material m;
  m.model = model;
  m.young = young;
  m.poisson = poisson;
  m.damping = damping;
  return m;
}

}  // namespace stickslip
