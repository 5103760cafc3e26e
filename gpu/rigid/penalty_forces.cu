#include "gpu/rigid/penalty_forces.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

template <int D>
void PenaltyForces<D>::push(Context& ctx, const ConstraintBlock<D>* blocks, const RigidContact* contacts,
                            std::size_t count, const BodiesView& bodies, std::size_t body_count,
                            const PenaltyOptions& options, double* free) {
  r_.resize(ctx, count);
  Vec<double, D>* r = r_.data();
  std::uint32_t* key = gather_.keys(ctx, 2 * count);
  const BodiesView at = bodies;
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t c) {
        const ConstraintBlock<D>& block = blocks[c];
        const BodyAtStep a = at.at_step(block.body[0]), b = at.at_step(block.body[1]);
        Vec<double, D> u{};
        for (int i = 0; i < D; ++i)
          u[i] = dot(block.jacobian[0][i], a.twist()) + dot(block.jacobian[1][i], b.twist());
        r[c] = penalty_impulse(options, block, contacts[c].gap, u, a.inverse, b.inverse);
        for (int side = 0; side < 2; ++side) {
          const std::int32_t body = block.body[side];
          const bool pushed = body >= 0 && r[c][0] > 0;
          key[2 * c + static_cast<std::size_t>(side)] =
              static_cast<std::uint32_t>(pushed ? static_cast<std::size_t>(body) : body_count);
        }
      },
      kMedium);
  gather_.sort(ctx, body_count);
  const std::int32_t *start = gather_.start(), *entry = gather_.entry();
  launch(
      ctx, body_count,
      [=] SS_LAMBDA(std::size_t b) {
        Vec<double, 6> push = Vec<double, 6>::zero();
        for (std::int32_t k = start[b]; k < start[b + 1]; ++k) {
          const std::int32_t c = entry[k] / 2, side = entry[k] % 2;
          for (int i = 0; i < D; ++i) push += r[c][i] * blocks[c].jacobian[side][i];
        }
        const Vec<double, 6> change = at.inverse[b].times(push);
        for (std::size_t i = 0; i < 6; ++i) free[6 * b + i] += change[static_cast<int>(i)];
      },
      kMedium);
}

template class PenaltyForces<3>;
template class PenaltyForces<4>;

}  // namespace stickslip::STICKSLIP_BACKEND
