// A cube of ten-node tets on a backend, evaluated at host positions. For .cu tests.
#pragma once

#include "gpu/energy/tet10_term.cuh"
#include "gpu/model/element_group.h"
#include "tests/energy/elastic_material.h"
#include "tests/energy/numeric.h"
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

/// Its elements on the backend, evaluated at host positions.
struct Tet10Solid {
  Context& ctx;
  Model model;
  ElementGroup group;
  std::vector<std::int32_t> index;
  Tet10Term term;
  Real dt = Real(0.1);
  std::vector<Vec3> x, x_t;

  Tet10Solid(Context& context, const Model& m, const Material& material)
      : Tet10Solid(context, m, std::vector<Material>{material}) {}
  /// Element e has material e mod n.
  Tet10Solid(Context& context, const Model& m, const std::vector<Material>& materials)
      : ctx(context),
        model(m),
        group(element_groups(model).at(0)),
        index(alternating(group.stencils.size(), materials.size())),
        term(ctx, {model.rest_positions, group.stencils, index, {}}) {
    term.set_materials(ctx, materials);
    for (const fixtures::Vec3d& p : model.rest_positions) x.push_back(p.cast<Real>());
    x_t = x;
  }
  static std::vector<std::int32_t> alternating(std::size_t stencils, std::size_t materials) {
    std::vector<std::int32_t> out(stencils);
    for (std::size_t s = 0; s < stencils; ++s)
      out[s] = static_cast<std::int32_t>(s / kTet10Stencils % materials);
    return out;
  }

  std::vector<Tet10> elements() const { return ten_node_tets_of(model, model.objects[0]); }
  int nodes() const { return static_cast<int>(x.size()); }
  template <class Map>
  void move(Map map) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = map(model.rest_positions[i]);
  }
  double energy() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    Buffer<double> out(ctx, 1);
    term.energy(ctx, {a.data(), b.data(), dt}, out.data());
    return read_back(ctx, out.data());
  }
  std::vector<Vec3> by_nodes(const std::vector<Vec3>& corners) const {
    std::vector<Vec3> sum(x.size(), Vec3::zero());
    for (std::size_t c = 0; c < corners.size(); ++c)
      sum[static_cast<std::size_t>(group.stencils[c / 4][static_cast<int>(c % 4)])] += corners[c];
    return sum;
  }
  std::vector<Vec3> gradient() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), out(ctx, 4 * term.size());
    term.gradient(ctx, {a.data(), b.data(), dt}, {0, term.size()}, out.data());
    return by_nodes(out.download(ctx));
  }
  /// The assembled Hessian, and the gradient that comes with it.
  std::pair<Column, Dense> gradient_and_hessian() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t), corners(ctx, 4 * term.size());
    Buffer<Mat3> blocks(ctx, kCornerBlocks * term.size());
    term.gradient_and_hessian(ctx, {a.data(), b.data(), dt}, {0, term.size()}, corners.data(), blocks.data());
    const std::vector<Mat3> host = blocks.download(ctx);
    Dense h = Dense::Zero(3 * nodes(), 3 * nodes());
    for (std::size_t s = 0; s < term.size(); ++s) {
      CornerBlocks of_stencil;
      std::copy_n(&host[kCornerBlocks * s], kCornerBlocks, of_stencil.b);
      const Dense local = dense(of_stencil);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
          h(3 * group.stencils[s][i / 3] + i % 3, 3 * group.stencils[s][j / 3] + j % 3) += local(i, j);
    }
    return {flat(by_nodes(corners.download(ctx)).data(), nodes()), h};
  }
};

inline void displace(std::vector<Vec3>& x, Random& random, Real size) {
  for (Vec3& p : x) p += random.vector(size);
}

}  // namespace stickslip::STICKSLIP_BACKEND
