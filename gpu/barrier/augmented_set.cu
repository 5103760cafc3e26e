#include "gpu/barrier/augmented_set.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

void AugmentedSet::update_multipliers(Context& ctx, const Proximity& near, const Vec3* x, Real d_hat,
                                      Real sigma, MultiplierUpdate update) {
  AugmentedPair* pairs = pairs_.data();
  launch(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        const Real d = pair_gap(near, pairs[i].pair, x);
        Real& m = pairs[i].multiplier;
        Contact contact = contact_at(near, pairs[i].pair, x);
        contact.multiplier = update == MultiplierUpdate::value ? Real(0) : m;
        const ContactPotential potential = contact.potential(d_hat, sigma);
        if (update == MultiplierUpdate::value) m += potential.value(d);
        else m = -potential.jet(d).first;
      },
      kMedium);
}

void AugmentedSet::select(Context& ctx, const Proximity& near, const ContactSet& active, const Vec3* x,
                          bool shrank, const AugmentationSettings& settings) {
  const bool singly = settings.end == AugmentationEnd::singly;
  const bool tight = active.size() > 0 && active.min_gap() <= settings.gap;
  if (!singly && !tight) return clear();
  if (!singly && count_ > 0 && !shrank) return;

  // Keeps the old pairs that still have a force, or rebuilds the set from all close pairs.
  counts_.resize(ctx, 2);
  std::int32_t* counts = counts_.data();
  const AugmentedPair* old = pairs_.data();
  const std::uint64_t* old_keys = keys_.data();
  const std::size_t old_count = count_;
  kept_.resize(ctx, old_count);
  index_.resize(ctx, active.size());
  std::int32_t *kept = kept_.data(), *found = index_.data();
  const Real gap = settings.gap;
  select_indices(
      ctx, singly ? old_count : 0, [=] SS_LAMBDA(std::size_t i) { return old[i].multiplier > 0; }, kept,
      counts, kMedium);
  const std::int32_t* candidate = active.candidates();
  select_indices(
      ctx, active.active_count(),
      [=] SS_LAMBDA(std::size_t i) {
        const ContactPair pair = near[static_cast<std::size_t>(candidate[i])];
        if (!(pair_gap(near, pair, x) < gap)) return false;
        const std::int32_t at = singly ? find_pair(old, old_keys, old_count, pair) : -1;
        return at < 0 || !(old[at].multiplier > 0);
      },
      found, counts + 1, kMedium);
  std::int32_t sizes[2];
  copy_to_host(ctx, sizes, counts, 2);
  rebuild(ctx, near, candidate, static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]));
}

void AugmentedSet::rebuild(Context& ctx, const Proximity& near, const std::int32_t* candidate,
                           std::size_t kept_count, std::size_t found_count) {
  const std::size_t count = kept_count + found_count, old_count = count_;
  const AugmentedPair* old = pairs_.data();
  const std::uint64_t* old_keys = keys_.data();
  const std::int32_t *kept = kept_.data(), *found = index_.data();
  wanted_.resize(ctx, count);
  wanted_keys_.resize(ctx, count);
  AugmentedPair* wanted = wanted_.data();
  std::uint64_t* keys = wanted_keys_.data();
  launch(
      ctx, count,
      [=] SS_LAMBDA(std::size_t i) {
        AugmentedPair entry;
        if (i < kept_count) {
          entry = old[kept[i]];
        } else {
          const std::int32_t f = found[i - kept_count];
          entry.pair = near[static_cast<std::size_t>(candidate != nullptr ? candidate[f] : f)];
          const std::int32_t at = find_pair(old, old_keys, old_count, entry.pair);
          entry.multiplier = at >= 0 ? old[at].multiplier : Real(0);
        }
        wanted[i] = entry;
        keys[i] = pair_key(entry.pair);
      },
      kMedium);
  index_.resize(ctx, count);
  std::int32_t* order = index_.data();
  launch(ctx, count, [=] SS_LAMBDA(std::size_t i) { order[i] = static_cast<std::int32_t>(i); });
  sort_pairs(ctx, count, keys, order);
  pairs_.resize(ctx, count);
  AugmentedPair* sorted = pairs_.data();
  launch(ctx, count, [=] SS_LAMBDA(std::size_t i) { sorted[i] = wanted[order[i]]; });
  keys_.swap(wanted_keys_);
  count_ = count;
}

void AugmentedSet::merge(Context& ctx, const Proximity& near, const std::uint8_t* added, const Vec3* x,
                         Real keep) {
  counts_.resize(ctx, 2);
  kept_.resize(ctx, count_);
  index_.resize(ctx, near.size());
  const AugmentedPair* old = pairs_.data();
  const std::uint64_t* old_keys = keys_.data();
  const std::size_t old_count = count_;
  select_indices(
      ctx, count_,
      [=] SS_LAMBDA(std::size_t i) {
        return old[i].multiplier > 0 || pair_gap_below(near, old[i].pair, x, keep) < keep;
      },
      kept_.data(), counts_.data(), kMedium);
  select_indices(
      ctx, near.size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (!added[i]) return false;
        const ContactPair pair = near[i];
        const std::int32_t at = find_pair(old, old_keys, old_count, pair);
        return at < 0 || !(old[at].multiplier > 0 || pair_gap_below(near, pair, x, keep) < keep);
      },
      index_.data(), counts_.data() + 1, kMedium);
  std::int32_t sizes[2];
  copy_to_host(ctx, sizes, counts_.data(), 2);
  rebuild(ctx, near, nullptr, static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1]));
}

void AugmentedSet::update_multipliers(Context& ctx, const LinearGap* linear, const Vec3* y, Real penalty,
                                      Real gap) {
  AugmentedPair* pairs = pairs_.data();
  launch(ctx, count_, [=] SS_LAMBDA(std::size_t i) {
    Real& m = pairs[i].multiplier;
    m = -ContactPotential::constraint(gap, penalty, m).jet(linear[i].gap(y)).first;
  });
}

void AugmentedSet::launch_largest(Context& ctx, double* out) const {
  const AugmentedPair* pairs = pairs_.data();
  reduce_max(
      ctx, count_, [=] SS_LAMBDA(std::size_t i) { return static_cast<double>(pairs[i].multiplier); }, 0.0,
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
