// PenetrationGuard: contacts of the last step's pairs.
#include "gpu/core/launch.h"
#include "gpu/core/scan.h"
#include "gpu/core/sort.h"
#include "gpu/core/trace.h"
#include "gpu/elastic/penetration_guard.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

SS_HD std::uint32_t key_of(const Vec4i& q) {
  std::uint32_t h = 0;
  for (int c = 0; c < 4; ++c) h = (h ^ static_cast<std::uint32_t>(q[c])) * 2654435761U + (h >> 15);
  return h;
}
SS_HD bool same(const Vec4i& a, const Vec4i& b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

void set_keys(Context& ctx, std::size_t n, const Vec4i* pair, std::uint32_t* key, std::int32_t* order,
              std::uint8_t* is_found) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    key[i] = key_of(decoded_pair(pair[i]));
    order[i] = static_cast<std::int32_t>(i);
    is_found[i] = 0;
  });
}

/// Marks the pairs that are among `found`, each of which occurs there once.
struct MarkFound {
  const Vec4i *found, *pair;
  std::size_t n;
  const std::uint32_t* key;   // sorted
  const std::int32_t* order;  // of `pair`
  std::uint8_t* is_found;

  SS_HD void operator()(std::size_t f) const {
    const Vec4i q = found[f];
    const std::uint32_t wanted = key_of(q);
    std::size_t low = 0, high = n;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (key[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    for (; low < n && key[low] == wanted; ++low)
      if (same(decoded_pair(pair[order[low]]), q)) is_found[order[low]] = 1;
  }
};

/// Whether a pair is guarded, and nearer than twice what contacts keep.
template <class Pair>
SS_HD bool is_near(const GuardedMotion& motion, const Vec4i& q) {
  if (motion.is_tangled<Pair>(q)) return false;
  const Real distance = distance_at(motion.pair<Pair>(q), Real(0));
  return distance > motion.touching() && distance < Real(2) * motion.keep;
}

void flag_near(Context& ctx, std::size_t n, const GuardedMotion& motion, const Vec4i* pair,
               const std::uint8_t* is_found, std::int32_t* flag) {
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const Vec4i q = decoded_pair(pair[i]);
        const bool near =
            pair[i][0] >= 0 ? is_near<PointTriangle<Real>>(motion, q) : is_near<EdgeEdge<Real>>(motion, q);
        flag[i] = near && is_found[i] == 0 ? 1 : 0;
      },
      kMedium);
}

struct WriteRecalled {
  GuardedMotion motion;
  const Vec4i* before;
  const std::int32_t* start;
  std::int32_t place;
  RigidContact* contact;
  SurfacePoint* point;
  Vec4i* pair;

  SS_HD void operator()(std::size_t i) const {
    const std::int32_t k = start[i];
    if (k == start[i + 1]) return;
    pair[k] = before[i];
    contact[k] = crossing_contact(motion, decoded_pair(before[i]), before[i][0] >= 0, Real(0), point + 2 * k);
    contact[k].previous = place + static_cast<std::int32_t>(i);
  }
};

}  // namespace

void PenetrationGuard::mark_found(Context& ctx, const Vec4i* found, std::size_t count) {
  const std::size_t n = pairs_before_.size();
  keys_.resize(ctx, n);
  order_.resize(ctx, n);
  is_found_.resize(ctx, n);
  set_keys(ctx, n, pairs_before_.data(), keys_.data(), order_.data(), is_found_.data());
  sort_pairs(ctx, n, keys_.data(), order_.data());
  launch(ctx, count,
         MarkFound{found, pairs_before_.data(), n, keys_.data(), order_.data(), is_found_.data()});
}

std::size_t PenetrationGuard::recall(Context& ctx, const Input& in, const Vec4i* found,
                                     std::size_t found_count, std::int32_t place) {
  const Span span(ctx, "guard recall");
  pairs_.swap(pairs_before_);
  pairs_.resize(ctx, 0);
  const std::size_t n = remembers_ ? pairs_before_.size() : 0;
  remembers_ = true;
  if (n == 0) return 0;
  mark_found(ctx, found, found_count);
  start_.resize(ctx, n + 1);
  const GuardedMotion still = motion(in, Real(1));
  flag_near(ctx, n, still, pairs_before_.data(), is_found_.data(), start_.data());
  exclusive_scan(ctx, n, start_.data(), start_.data());
  const auto count = static_cast<std::size_t>(read_back(ctx, start_.data() + n));
  pairs_.resize(ctx, count);
  contacts_.resize(ctx, count);
  points_.resize(ctx, 2 * count);
  launch(ctx, n,
         WriteRecalled{still, pairs_before_.data(), start_.data(), place, contacts_.data(), points_.data(),
                       pairs_.data()},
         kMedium);
  return count;
}

}  // namespace stickslip::STICKSLIP_BACKEND
