#include "gpu/rigid/shock_propagation.cuh"

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr int kRoundsPerCheck = 8;

/// Level of an entry's body; immovable bodies are the ground.
SS_LAMBDA std::int32_t level_of(std::int32_t* level, std::int32_t b) {
  return b < 0 ? 0 : atomic_min(level + b, std::numeric_limits<std::int32_t>::max());
}

/// Sets `changed` if the level of b falls to `below` + 1.
SS_LAMBDA void lower_level(std::int32_t* level, std::int32_t b, std::int32_t below, std::int32_t* changed) {
  if (b < 0 || below == std::numeric_limits<std::int32_t>::max()) return;
  if (atomic_min(level + b, below + 1) > below + 1) atomic_max(changed, 1);
}

/// One pass over all contacts: each body of a loaded one is at most a level above the other.
template <int D>
void lower_levels(Context& ctx, const Delassus<D>& W, std::size_t joint_blocks, const Vec<double, D>* r,
                  std::int32_t* level, std::int32_t* changed) {
  const std::int32_t* body = W.body_rows().body;
  launch(
      ctx, W.blocks() - joint_blocks,
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t c = joint_blocks + i;
        if (!(r[c][0] > 0)) return;
        const std::int32_t a = body[2 * c], b = body[2 * c + 1];
        lower_level(level, a, level_of(level, b), changed);
        lower_level(level, b, level_of(level, a), changed);
      },
      kMedium);
}

/// Writes the level of each block's higher body; -1 if a body has none.
void write_stages(Context& ctx, std::size_t blocks, const std::int32_t* body, const std::int32_t* level,
                  std::int32_t* stage) {
  launch(ctx, blocks, [=] SS_LAMBDA(std::size_t c) {
    std::int32_t highest = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t b = body[2 * c + side];
      if (b >= 0 && level[b] > highest) highest = level[b];
    }
    stage[c] = highest == 0 || highest == std::numeric_limits<std::int32_t>::max() ? -1 : highest;
  });
}

}  // namespace

/// Passes over all contacts until no level falls. The result does not depend on the order of updates.
template <int D>
void ShockPropagation<D>::find_levels(Context& ctx, const Delassus<D>& W, std::size_t joint_blocks,
                                      const Vec<double, D>* r) {
  level_.resize(ctx, W.bodies());
  changed_.resize(ctx, 1);
  fill(ctx, level_.data(), W.bodies(), kNoLevel);
  std::int32_t* changed = changed_.data();
  do {
    fill(ctx, changed, 1, std::int32_t{0});
    for (int round = 0; round < kRoundsPerCheck; ++round)
      lower_levels(ctx, W, joint_blocks, r, level_.data(), changed);
  } while (read_back(ctx, changed) != 0);
}

template <int D>
void ShockPropagation<D>::propagate(Context& ctx, const Delassus<D>& W, const ContactLaw<D>* law,
                                    std::size_t joint_blocks, const Vec<double, D>* r, const double* free,
                                    int sweeps, Vec<double, 3>* velocity, Vec<double, 3>* spin) {
  if (W.blocks() == 0) return;
  find_levels(ctx, W, joint_blocks, r);
  block_level_.resize(ctx, W.blocks());
  write_stages(ctx, W.blocks(), W.body_rows().body, level_.data(), block_level_.data());
  r_.resize(ctx, W.blocks());
  v_.resize(ctx, 6 * W.bodies());
  copy(ctx, r_.data(), r, W.blocks());
  W.body_velocities(ctx, r, v_.data());
  sweeps_.prepare(ctx, W, law, {block_level_.data(), level_.data()});
  sweeps_.run(ctx, W, law, sweeps, r_.data(), v_.data());
  const std::int32_t* level = level_.data();
  const double* v = v_.data();
  launch(ctx, W.bodies(), [=] SS_LAMBDA(std::size_t b) {
    if (level[b] == std::numeric_limits<std::int32_t>::max()) return;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = 6 * b + static_cast<std::size_t>(i);
      velocity[b][i] = free[at] + v[at];
      spin[b][i] = free[at + 3] + v[at + 3];
    }
  });
}

template class ShockPropagation<3>;
template class ShockPropagation<4>;
template class ShockPropagation<5>;

}  // namespace stickslip::STICKSLIP_BACKEND
