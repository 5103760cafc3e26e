// The element group of a model's first object on a backend, evaluated at host positions. For .cu tests.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/energy/energy_term.cuh"
#include "gpu/model/element_group.h"
#include "tests/energy/numeric.h"

namespace stickslip::STICKSLIP_BACKEND {

using namespace stickslip::test;

template <class Term>
struct GroupSolid {
  Context& ctx;
  Model model;
  ElementGroup group;
  std::vector<std::int32_t> index;
  Term term;
  Real dt = Real(0.1);
  std::vector<Vec3> x, x_t;  // of the first `count` nodes

  /// Element e, which has `stencils` stencils, has material e mod n.
  GroupSolid(Context& context, const Model& m, const std::vector<Material>& materials, std::size_t stencils,
             std::size_t count)
      : ctx(context),
        model(m),
        group(element_groups(model).at(0)),
        index(alternating(group.stencils.size(), stencils, materials.size())),
        term(ctx, {.rest = model.rest_positions,
                   .stencils = group.stencils,
                   .material = index,
                   .object_volume = {},
                   .points = group.points}) {
    term.set_materials(ctx, materials);
    for (std::size_t i = 0; i < count; ++i) x.push_back(model.rest_positions[i].cast<Real>());
    x_t = x;
  }
  static std::vector<std::int32_t> alternating(std::size_t count, std::size_t stencils,
                                               std::size_t materials) {
    std::vector<std::int32_t> out(count);
    for (std::size_t s = 0; s < count; ++s) out[s] = static_cast<std::int32_t>(s / stencils % materials);
    return out;
  }

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

}  // namespace stickslip::STICKSLIP_BACKEND
