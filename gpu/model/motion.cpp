#include <algorithm>

#include "gpu/model/model.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

Motion::Key interpolate(const std::vector<Motion::Key>& keys, double time) {
  if (keys.empty()) return {};
  const auto after = std::upper_bound(keys.begin(), keys.end(), time,
                                      [](double t, const Motion::Key& k) { return t < k.time; });
  if (after == keys.begin()) return keys.front();
  if (after == keys.end()) return keys.back();
  const Motion::Key &a = after[-1], &b = after[0];
  const double s = (time - a.time) / (b.time - a.time);
  return {time, (1 - s) * a.translation + s * b.translation,
          (1 - s) * a.rotation_degrees + s * b.rotation_degrees};
}

}  // namespace

bool Motion::is_static() const {
  const Vec<double, 3> zero{0, 0, 0};
  return velocity == zero && angular_velocity == zero &&
         std::all_of(keys.begin(), keys.end(), [&](const Key& k) {
           return k.translation == keys.front().translation &&
                  k.rotation_degrees == keys.front().rotation_degrees;
         });
}

Vec<double, 3> Motion::apply(const Vec<double, 3>& start_position, double time) const {
  const double t = std::clamp(time, start, end);
  const Key key = interpolate(keys, t);
  const Mat<double, 3> rotation =
      rotation_matrix_degrees(key.rotation_degrees) * rotation_matrix((t - start) * angular_velocity);
  return center + rotation * (start_position - center) + (t - start) * velocity + key.translation;
}

}  // namespace stickslip
