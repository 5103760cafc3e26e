// Rods on a backend, evaluated at host positions, with a solver for their equilibrium. For .cu tests.
#pragma once

#include "gpu/energy/rod_terms.cuh"
#include "tests/energy/elastic_material.h"
#include "tests/energy/numeric.h"

namespace stickslip::STICKSLIP_BACKEND {

using namespace stickslip::test;
using Vec3d = Vec<double, 3>;

/// Centreline nodes first, then one ghost per segment. The kernels see x and x_t; `start` is the rest shape.
struct RodChain {
  Context& ctx;
  std::vector<Vec2i> segments;
  std::vector<Vec3d> rest;
  std::size_t centre;  // nodes of the centreline
  std::vector<Vec4i> segment_stencils, vertex_stencils;
  std::vector<std::int32_t> material;
  std::vector<double> thickness, aspect;
  RodSegmentTerm stretch;
  RodVertexTerm bend;
  Real dt = Real(0.1);
  std::vector<Vec3> x, x_t;

  RodChain(Context& context, const std::vector<Vec3d>& nodes, double diameter, const Material& m,
           bool closed = false, double section_aspect = 1)
      : RodChain(context, nodes, place_ghosts(nodes, chain(nodes.size(), closed), diameter), diameter, m,
                 closed, section_aspect) {}
  RodChain(Context& context, const std::vector<Vec3d>& nodes, const std::vector<Vec3d>& ghosts,
           double diameter, const Material& m, bool closed, double section_aspect)
      : ctx(context),
        segments(chain(nodes.size(), closed)),
        rest(joined(nodes, ghosts)),
        centre(nodes.size()),
        segment_stencils(stencils_of_segments()),
        vertex_stencils(stencils_of_vertices()),
        material(std::max(segment_stencils.size(), vertex_stencils.size()), 0),
        thickness(material.size(), diameter),
        aspect(material.size(), section_aspect),
        stretch(ctx, elements(segment_stencils)),
        bend(ctx, elements(vertex_stencils)) {
    stretch.set_materials(ctx, std::vector<Material>{m});
    bend.set_materials(ctx, std::vector<Material>{m});
    for (const Vec3d& p : rest) x.push_back(p.cast<Real>());
    x_t = x;
  }

  static std::vector<Vec2i> chain(std::size_t nodes, bool closed) {
    std::vector<Vec2i> out;
    const auto n = static_cast<std::int32_t>(nodes);
    for (std::int32_t i = 0; i + 1 < n; ++i) out.push_back({i, i + 1});
    if (closed) out.push_back({n - 1, 0});
    return out;
  }
  static std::vector<Vec3d> joined(std::vector<Vec3d> a, const std::vector<Vec3d>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  std::int32_t ghost(std::int32_t segment) const { return static_cast<std::int32_t>(centre) + segment; }
  std::vector<Vec4i> stencils_of_segments() const {
    std::vector<Vec4i> out;
    for (std::size_t s = 0; s < segments.size(); ++s)
      out.push_back({segments[s][0], segments[s][1], ghost(static_cast<std::int32_t>(s)), -1});
    return out;
  }
  std::vector<Vec4i> stencils_of_vertices() const {
    std::vector<Vec4i> out;
    for (const auto& [a, b] : rod_joints(segments)) {
      const std::int32_t nodes[] = {segments[static_cast<std::size_t>(a)][0],
                                    segments[static_cast<std::size_t>(a)][1],
                                    segments[static_cast<std::size_t>(b)][1], ghost(a), ghost(b)};
      for (int s = 0; s < kRodVertexStencils; ++s) {
        Vec4i& stencil = out.emplace_back();
        for (int c = 0; c < 4; ++c)
          stencil[c] = rod_vertex_stencil(s, c) < 0 ? -1 : nodes[rod_vertex_stencil(s, c)];
      }
    }
    return out;
  }
  TermElements elements(const std::vector<Vec4i>& stencils) const {
    TermElements out{rest, stencils, std::span(material).first(stencils.size()), {}};
    out.thickness = std::span(thickness).first(stencils.size());
    out.aspect = std::span(aspect).first(stencils.size());
    return out;
  }

  int nodes() const { return static_cast<int>(x.size()); }
  double energy() {
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    Buffer<double> out(ctx, 1);
    double sum = 0;
    for (EnergyTerm* term : {static_cast<EnergyTerm*>(&stretch), static_cast<EnergyTerm*>(&bend)}) {
      term->energy(ctx, {a.data(), b.data(), dt}, out.data());
      sum += read_back(ctx, out.data());
    }
    return sum;
  }
  Column gradient() {
    Column sum = Column::Zero(3 * nodes());
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    for_terms([&](EnergyTerm& term, const std::vector<Vec4i>& stencils) {
      Buffer<Vec3> out(ctx, 4 * term.size());
      term.gradient(ctx, {a.data(), b.data(), dt}, {0, term.size()}, out.data());
      add(out.download(ctx), stencils, sum);
    });
    return sum;
  }
  /// The assembled Hessian, and the gradient that comes with it.
  std::pair<Column, Dense> gradient_and_hessian() {
    Column sum = Column::Zero(3 * nodes());
    Dense h = Dense::Zero(3 * nodes(), 3 * nodes());
    Buffer<Vec3> a(ctx, x), b(ctx, x_t);
    for_terms([&](EnergyTerm& term, const std::vector<Vec4i>& stencils) {
      Buffer<Vec3> out(ctx, 4 * term.size());
      Buffer<Mat3> blocks(ctx, kCornerBlocks * term.size());
      term.gradient_and_hessian(ctx, {a.data(), b.data(), dt}, {0, term.size()}, out.data(), blocks.data());
      add(out.download(ctx), stencils, sum);
      const std::vector<Mat3> host = blocks.download(ctx);
      for (std::size_t s = 0; s < stencils.size(); ++s) {
        CornerBlocks of_stencil;
        std::copy_n(&host[kCornerBlocks * s], kCornerBlocks, of_stencil.b);
        const Dense local = dense(of_stencil);
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < 12; ++j)
            if (stencils[s][i / 3] >= 0 && stencils[s][j / 3] >= 0)
              h(3 * stencils[s][i / 3] + i % 3, 3 * stencils[s][j / 3] + j % 3) += local(i, j);
      }
    });
    return {sum, h};
  }

  /// Newton's method with the line search on the energy, down to a relative residual of `tolerance`. `held`:
  /// nodes that stay; `load` [N]: three numbers per node. Returns the iterations.
  int balance(const std::vector<std::int32_t>& held, const Column& load, double tolerance) {
    std::vector<int> free;
    for (int i = 0; i < nodes(); ++i)
      if (std::find(held.begin(), held.end(), i) == held.end())
        for (int c = 0; c < 3; ++c) free.push_back(3 * i + c);
    const auto potential = [&] {
      double sum = energy();
      for (int k = 0; k < 3 * nodes(); ++k)
        sum -= load[k] * static_cast<double>(x[static_cast<std::size_t>(k / 3)][k % 3]);
      return sum;
    };
    for (int iteration = 0; iteration < 3000; ++iteration) {
      x_t = x;
      const auto [g, h] = gradient_and_hessian();
      const Column r = (load - g)(free);
      if (r.norm() <= tolerance * load.norm()) return iteration;
      Dense a = h(free, free);
      a.diagonal().array() += 1e-10 * a.diagonal().maxCoeff();
      const Column step = a.ldlt().solve(r);
      const std::vector<Vec3> before = x;
      const double start = potential();
      for (double length = 1; length > 1e-6; length /= 2) {
        x = before;
        for (std::size_t k = 0; k < free.size(); ++k)
          x[static_cast<std::size_t>(free[k] / 3)][free[k] % 3] +=
              static_cast<Real>(length * step[static_cast<int>(k)]);
        x_t = x;
        if (potential() <= start) break;
      }
    }
    return 3000;
  }

 private:
  template <class Visit>
  void for_terms(Visit visit) {
    visit(stretch, segment_stencils);
    visit(bend, vertex_stencils);
  }
  static void add(const std::vector<Vec3>& corners, const std::vector<Vec4i>& stencils, Column& sum) {
    for (std::size_t c = 0; c < corners.size(); ++c)
      if (const std::int32_t node = stencils[c / 4][static_cast<int>(c % 4)]; node >= 0)
        for (int k = 0; k < 3; ++k) sum[3 * node + k] += static_cast<double>(corners[c][k]);
  }
};

/// `count` segments of equal length along x, from the origin.
inline std::vector<Vec3d> straight_rod(int count, double length) {
  std::vector<Vec3d> nodes;
  for (int i = 0; i <= count; ++i) nodes.push_back({length * i / count, 0, 0});
  return nodes;
}
inline std::vector<Vec3d> helix(int count, double radius, double pitch, double turns) {
  std::vector<Vec3d> nodes;
  for (int i = 0; i <= count; ++i) {
    const double angle = 2 * std::numbers::pi * turns * i / count;
    nodes.push_back({radius * std::cos(angle), -pitch * turns * i / count, radius * std::sin(angle)});
  }
  return nodes;
}

}  // namespace stickslip::STICKSLIP_BACKEND
