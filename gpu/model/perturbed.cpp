#include "gpu/model/perturbed.h"

#include <cmath>
#include <random>

namespace stickslip {

State perturbed(State state, std::uint64_t seed, double size) {
  if (seed == 0) return state;
  std::mt19937_64 random(seed);
  const auto change = [&] { return size * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1); };
  for (Vec<double, 3>& velocity : state.velocities) velocity += {change(), change(), change()};
  for (BodyState& body : state.bodies) body.velocity += {change(), change(), change()};
  return state;
}

}  // namespace stickslip
