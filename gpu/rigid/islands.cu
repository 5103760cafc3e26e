#include "gpu/rigid/islands.cuh"

#include <limits>

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr std::int32_t kNoIsland = -1;

/// The value of *p; other threads may lower it concurrently.
SS_LAMBDA std::int32_t current(std::int32_t* p) {
  return atomic_min(p, std::numeric_limits<std::int32_t>::max());
}

/// The end of the chain of labels that starts at b; halves the path for later calls.
SS_LAMBDA std::int32_t root_of(std::int32_t* label, std::int32_t b) {
  for (;;) {
    const std::int32_t next = current(label + b);
    if (next == b) return b;
    const std::int32_t beyond = current(label + next);
    if (beyond != next) atomic_min(label + b, beyond);
    b = next;
  }
}

/// Labels only decrease, and the smallest index of an island keeps its own label: under any
/// schedule all chains of an island end there. If another thread has linked `high` first, its
/// former link is connected too.
SS_LAMBDA void connect_bodies(std::int32_t* label, std::int32_t a, std::int32_t b) {
  std::int32_t high = root_of(label, a), low = root_of(label, b);
  while (high != low) {
    if (high < low) {
      const std::int32_t swap = high;
      high = low;
      low = swap;
    }
    const std::int32_t before = atomic_min(label + high, low);
    if (before == high) return;
    high = before;
  }
}

SS_HD bool is_moving(const IslandInput& in, std::int32_t b) { return b >= 0 && in.moves[b] != 0; }

/// [m/s] upper bound on the speed of its fastest point.
SS_HD double fastest_point(const IslandInput& in, std::size_t b) {
  return norm(in.velocity[b]) + in.reach[b] * norm(in.spin[b]);
}

/// An immovable body that moves wakes the bodies in contact with it.
SS_LAMBDA void wake_by_script(const IslandInput& in, std::int32_t script, std::int32_t other, double speed,
                              double* rested) {
  if (script < 0 || is_moving(in, script) || !is_moving(in, other)) return;
  if (fastest_point(in, static_cast<std::size_t>(script)) > speed) atomic_min(rested + other, 0.0);
}

struct SumCounts {
  SS_HD IslandCounts operator()(const IslandCounts& a, const IslandCounts& b) const {
    return {a.islands + b.islands, a.asleep + b.asleep};
  }
};

/// Every movable body is an island of its own.
void label_bodies(Context& ctx, const IslandInput& input, std::int32_t* label) {
  const IslandInput in = input;
  launch(ctx, in.bodies, [=] SS_LAMBDA(std::size_t b) {
    label[b] = in.moves[b] != 0 ? static_cast<std::int32_t>(b) : kNoIsland;
  });
}

/// Joins the islands of movable bodies that touch.
void connect_by_contacts(Context& ctx, const IslandInput& input, std::int32_t* label) {
  const IslandInput in = input;
  launch(
      ctx, in.contact_count,
      [=] SS_LAMBDA(std::size_t c) {
        const std::int32_t a = in.contacts[c].a, b = in.contacts[c].b;
        // Contacts of a pair are adjacent: only the first one connects.
        if (c > 0 && in.contacts[c - 1].a == a && in.contacts[c - 1].b == b) return;
        if (is_moving(in, a) && is_moving(in, b)) connect_bodies(label, a, b);
      },
      kMedium);
}

/// Joins the islands of movable bodies with a joint.
void connect_by_joints(Context& ctx, const IslandInput& input, std::int32_t* label) {
  const IslandInput in = input;
  launch(
      ctx, in.joint_count,
      [=] SS_LAMBDA(std::size_t j) {
        const std::int32_t a = in.joints[j].a, b = in.joints[j].b;
        if (is_moving(in, a) && is_moving(in, b)) connect_bodies(label, a, b);
      },
      kMedium);
}

/// Labels all bodies of an island with the end of its chains.
void flatten_labels(Context& ctx, const IslandInput& input, std::int32_t* label) {
  const IslandInput in = input;
  launch(ctx, in.bodies, [=] SS_LAMBDA(std::size_t b) {
    if (in.moves[b] != 0) atomic_min(label + b, root_of(label, static_cast<std::int32_t>(b)));
  });
}

/// Updates the rest time of each body by its own speed.
void count_rest(Context& ctx, const IslandInput& input, const SleepOptions& options, double* rested) {
  const IslandInput in = input;
  const double speed = options.speed, dt = options.dt;
  launch(ctx, in.bodies, [=] SS_LAMBDA(std::size_t b) {
    const bool rests =
        in.moves[b] != 0 && static_cast<std::int32_t>(b) != in.disturbed && fastest_point(in, b) < speed;
    rested[b] = rests ? rested[b] + dt : 0.0;
  });
}

/// Resets the rest times of bodies that a moving scripted body touches or holds by a joint.
void wake_by_scripts(Context& ctx, const IslandInput& input, double speed, double* rested) {
  const IslandInput in = input;
  launch(
      ctx, in.contact_count,
      [=] SS_LAMBDA(std::size_t c) {
        wake_by_script(in, in.contacts[c].a, in.contacts[c].b, speed, rested);
        wake_by_script(in, in.contacts[c].b, in.contacts[c].a, speed, rested);
      },
      kMedium);
  launch(
      ctx, in.joint_count,
      [=] SS_LAMBDA(std::size_t j) {
        wake_by_script(in, in.joints[j].a, in.joints[j].b, speed, rested);
        wake_by_script(in, in.joints[j].b, in.joints[j].a, speed, rested);
      },
      kMedium);
}

/// The least rest time of each island's bodies, at its label.
void find_least_rest(Context& ctx, std::size_t bodies, const std::int32_t* label, const double* rested,
                     double* least) {
  fill(ctx, least, bodies, std::numeric_limits<double>::max());
  launch(ctx, bodies, [=] SS_LAMBDA(std::size_t b) {
    if (label[b] >= 0) atomic_min(least + label[b], rested[b]);
  });
}

/// Lets the bodies of islands sleep that have rested `enough` [s], and wakes the others.
void sleep_or_wake(Context& ctx, const IslandInput& input, double enough, const std::int32_t* label,
                   const double* least, double* rested, std::uint8_t* asleep) {
  const IslandInput in = input;
  launch(ctx, in.bodies, [=] SS_LAMBDA(std::size_t b) {
    const bool sleeps = label[b] >= 0 && least[label[b]] >= enough;
    // Woken bodies start a new rest time: their support may be gone.
    if (!sleeps && asleep[b] != 0) rested[b] = 0;
    asleep[b] = sleeps ? 1 : 0;
    if (sleeps) in.velocity[b] = in.spin[b] = Vec<double, 3>{0, 0, 0};
  });
}

}  // namespace

void Islands::reset(Context& ctx, std::size_t bodies) {
  label_.resize(ctx, bodies);
  asleep_.resize(ctx, bodies);
  rested_.resize(ctx, bodies);
  island_rested_.resize(ctx, bodies);
  counts_.resize(ctx, 1);
  fill(ctx, label_.data(), bodies, kNoIsland);
  fill(ctx, asleep_.data(), bodies, std::uint8_t{0});
  fill(ctx, rested_.data(), bodies, 0.0);
}

void Islands::update(Context& ctx, const IslandInput& input, const SleepOptions& options) {
  if (label_.size() != input.bodies) reset(ctx, input.bodies);
  std::int32_t* label = label_.data();
  label_bodies(ctx, input, label);
  connect_by_contacts(ctx, input, label);
  connect_by_joints(ctx, input, label);
  flatten_labels(ctx, input, label);
  double *rested = rested_.data(), *least = island_rested_.data();
  std::uint8_t* asleep = asleep_.data();
  if (!options.sleeping) {
    fill(ctx, asleep, input.bodies, std::uint8_t{0});
    fill(ctx, rested, input.bodies, 0.0);
    return;
  }
  count_rest(ctx, input, options, rested);
  wake_by_scripts(ctx, input, options.speed, rested);
  find_least_rest(ctx, input.bodies, label, rested, least);
  sleep_or_wake(ctx, input, options.time, label, least, rested, asleep);
}

IslandCounts Islands::counts(Context& ctx) {
  counts_.resize(ctx, 1);
  launch_counts(ctx, counts_.data());
  return read_back(ctx, counts_.data());
}

void Islands::launch_counts(Context& ctx, IslandCounts* out) const {
  const std::int32_t* label = label_.data();
  const std::uint8_t* asleep = asleep_.data();
  reduce(
      ctx, label_.size(),
      [=] SS_LAMBDA(std::size_t b) {
        return IslandCounts{label[b] == static_cast<std::int32_t>(b) ? 1 : 0, asleep[b]};
      },
      SumCounts{}, IslandCounts{}, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
