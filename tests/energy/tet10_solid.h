// A cube of ten-node tets on a backend, evaluated at host positions. For .cu tests.
#pragma once

#include "gpu/energy/tet10_term.cuh"
#include "tests/energy/elastic_material.h"
#include "tests/energy/group_solid.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {

using namespace stickslip::test;

#define STICKSLIP_MODEL(name, ...) ElasticModel::name,
inline constexpr ElasticModel kSolidModels[] = {STICKSLIP_ELASTIC_MODELS(STICKSLIP_MODEL)};
#undef STICKSLIP_MODEL

/// A cube of edge 1 with one corner at the origin: n^3 cells of six ten-node tets, inner corners off their
/// places by up to `jitter` cells.
inline Model tet10_cube(int n, Random& random, double jitter) {
  fixtures::BoxMesh lattice = fixtures::box_lattice({1, 1, 1}, {0.5, 0.5, 0.5}, {n, n, n});
  for (fixtures::Vec3d& p : lattice.nodes) {
    bool inside = true;
    for (int c = 0; c < 3; ++c) inside = inside && p[c] > 1e-9 && p[c] < 1 - 1e-9;
    if (inside) p += random.vector(Real(jitter / n)).cast<double>();
  }
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  add_ten_node_solid(model, "cube", lattice.nodes, lattice.tets, 0);
  finalize(model);
  return model;
}

/// Its elements.
struct Tet10Solid : GroupSolid<Tet10Term> {
  Tet10Solid(Context& context, const Model& m, const Material& material)
      : Tet10Solid(context, m, std::vector<Material>{material}) {}
  /// Element e has material e mod n.
  Tet10Solid(Context& context, const Model& m, const std::vector<Material>& materials)
      : GroupSolid(context, m, materials, kTet10Stencils, m.rest_positions.size()) {}

  std::vector<Tet10> elements() const { return ten_node_tets_of(model, model.objects[0]); }
};

inline void displace(std::vector<Vec3>& x, Random& random, Real size) {
  for (Vec3& p : x) p += random.vector(size);
}

}  // namespace stickslip::STICKSLIP_BACKEND
