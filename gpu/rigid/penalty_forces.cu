#include "gpu/rigid/penalty_forces.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// The impulse of each contact, and the body of each of its sides; `body_count` where nothing is pushed.
template <int D>
struct PushContact {
  typename PenaltyForces<D>::Input in;
  Vec<double, D>* r;
  std::uint32_t* key;

  SS_HD void operator()(std::size_t c) const {
    const ConstraintBlock<D>& block = in.blocks[c];
    const BodyAtStep a = in.bodies.at_step(block.body[0]), b = in.bodies.at_step(block.body[1]);
    Vec<double, D> u{};
    for (int i = 0; i < D; ++i)
      u[i] = dot(block.jacobian[0][i], a.twist()) + dot(block.jacobian[1][i], b.twist());
    r[c] = penalty_impulse(in.options, block, in.contacts[c].gap, u, a.inverse, b.inverse,
                           stretch_of_rows(block, in.anchors(c)));
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = block.body[side];
      const bool pushed = body >= 0 && r[c][0] > 0;
      key[2 * c + static_cast<std::size_t>(side)] =
          static_cast<std::uint32_t>(pushed ? static_cast<std::size_t>(body) : in.body_count);
    }
  }
};

template <int D>
struct PushBody {
  typename PenaltyForces<D>::Input in;
  const Vec<double, D>* r;
  const std::int32_t *start, *entry;
  double* free;

  SS_HD void operator()(std::size_t b) const {
    Vec<double, 6> push = Vec<double, 6>::zero();
    for (std::int32_t k = start[b]; k < start[b + 1]; ++k) {
      const std::int32_t c = entry[k] / 2, side = entry[k] % 2;
      for (int i = 0; i < D; ++i) push += r[c][i] * in.blocks[c].jacobian[side][i];
    }
    const Vec<double, 6> change = in.bodies.inverse[b].times(push);
    for (std::size_t i = 0; i < 6; ++i) free[6 * b + i] += change[static_cast<int>(i)];
  }
};

template <int D>
struct PushSteepness {
  typename PenaltyForces<D>::Input in;
  const Vec<double, D>* r;

  SS_HD double operator()(std::size_t c) const {
    if (!(r[c][0] > 0)) return 0;
    const ConstraintBlock<D>& block = in.blocks[c];
    const double mobility = rigid_detail::row_mobility(block, 0, in.bodies.at_step(block.body[0]).inverse,
                                                       in.bodies.at_step(block.body[1]).inverse);
    return penalty_steepness(in.options, in.contacts[c].gap, mobility);
  }
};

}  // namespace

template <int D>
void PenaltyForces<D>::push(Context& ctx, const Input& in, double* free, double* steepness) {
  r_.resize(ctx, in.count);
  launch(ctx, in.count, PushContact<D>{in, r_.data(), gather_.keys(ctx, 2 * in.count)}, kMedium);
  gather_.sort(ctx, in.body_count);
  launch(ctx, in.body_count, PushBody<D>{in, r_.data(), gather_.start(), gather_.entry(), free}, kMedium);
  reduce_max(ctx, in.count, PushSteepness<D>{in, r_.data()}, 0.0, steepness, kMedium);
}

template class PenaltyForces<3>;
template class PenaltyForces<4>;
template class PenaltyForces<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
