// The nonsmooth Newton solvers: one driver, five functions of a block.
#include "gpu/dfcp/solvers/nonsmooth_newton.cuh"

#include "gpu/dfcp/solvers/newton_maps.h"
#include "gpu/dfcp/solvers/solvers.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// A map that has rho(c) of block c, in normal and tangential direction.
template <class Map>
concept HasRho = requires(const Map& map) {
  map.rho(std::size_t{});
};

template <class Map>
struct RhoOfMap {
  Map map;

  SS_HD Vec<float, 2> operator()(std::size_t c) const { return map.rho(c); }
};

template <int D, class Map>
void run_newton(System<D>& s, const Map& map) {
  const std::string refusal = NewtonSystem<D>::refusal(s.W, s.params.newton_linear);
  if (!refusal.empty()) {
    s.monitor.stop(SolveEnd::refused, refusal);
    return;
  }
  NonsmoothNewton<D, Map>(s, map).run();
  if constexpr (HasRho<Map>) s.monitor.note_steps(StepKind::rho, RhoOfMap<Map>{map});
}

}  // namespace

template <int D>
void solve_newton_ac(System<D>& s) {
  run_newton(s, AlartCurnierMap<D>{s.law, s.W.diagonal(), s.W.scale(), s.params.rho_n, s.params.rho_t,
                                   s.params.section_radius});
}
STICKSLIP_ROLLING_SOLVER(solve_newton_ac)

template <int D>
void solve_newton_fb(System<D>& s) {
  run_newton(s, FischerBurmeisterMap<D>{s.law, s.W.scale(), s.params.rho_t, s.params.fb_origin});
}
STICKSLIP_SOLVER(solve_newton_fb)

template <int D>
void solve_newton_minmap(System<D>& s) {
  run_newton(s, MinimumMap<D>{s.law, s.W.scale(), s.params.rho_t});
}
STICKSLIP_ROLLING_SOLVER(solve_newton_minmap)

template <int D>
void solve_newton_ncp(System<D>& s) {
  const NcpParts<D> parts{s.law,          s.W.diagonal(),        s.W.scale(),
                          s.params.rho_t, s.params.ncp_function, s.params.fb_origin};
  if (s.params.ncp_system == NcpSystem::fixed_point) {
    run_newton(s, NcpFixedPointMap<D>{parts});
    return;
  }
  Buffer<double> gamma(s.ctx, s.blocks()), step(s.ctx, s.blocks());
  fill(s.ctx, gamma.data(), s.blocks(), 0.0);
  fill(s.ctx, step.data(), s.blocks(), 0.0);
  run_newton(s, NcpMap<D>{parts, gamma.data(), step.data()});
}
STICKSLIP_SOLVER(solve_newton_ncp)

}  // namespace stickslip::STICKSLIP_BACKEND
