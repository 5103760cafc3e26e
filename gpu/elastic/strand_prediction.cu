#include "gpu/elastic/strand_prediction.cuh"

#include "gpu/core/launch.h"
#include "gpu/math/quat.h"
#include "gpu/math/spd.h"
#include "gpu/model/element_group.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

/// Rigid motion of a strand in a step: x -> centre + shift + turn (x - centre).
struct StrandStep {
  Vec3d centre{0, 0, 0}, shift{0, 0, 0};
  Mat3d turn = Mat3d::identity();
};

/// About its line a straight strand has the moment of inertia of its ghosts alone. Added to it: this share of
/// the trace. In float, rounding dominates the spin about the line.
constexpr double kLeastInertia = sizeof(Real) == 8 ? 1e-14 : 1e-6;

struct MoveStrand {
  const std::int32_t *start, *node;
  const std::uint8_t* held;
  const Real* mass;
  const Vec3 *x, *v;
  double dt;
  Vec3 *ahead, *speed;

  SS_HD Vec3d at(std::int32_t i) const { return x[i].template cast<double>(); }
  SS_HD Vec3d velocity(std::int32_t i) const { return v[i].template cast<double>(); }

  SS_HD void operator()(std::size_t strand) const {
    const std::int32_t begin = start[strand], end = start[strand + 1];
    // Nodes that are held before the first free one, and behind the last one.
    std::int32_t first = begin, last = end;
    while (first < end && held[node[first]] != 0) ++first;
    while (last > first && held[node[last - 1]] != 0) --last;
    if (first == last || (first > begin && last < end)) return;
    for (std::int32_t k = first; k < last; ++k)
      if (held[node[k]] != 0) return;
    // Centreline nodes have even places in the strand. A ghost may be held without the node behind it.
    std::int32_t pivot = -1;
    if (first > begin) pivot = begin + (first - 1 - begin) / 2 * 2;
    if (last < end) pivot = begin + (last - begin + 1) / 2 * 2;
    if (pivot >= end) return;
    move(begin, end, step_of(first, last, pivot));
  }

  /// Of the nodes at the places [first, last); `pivot`: a place, -1: none.
  SS_HD StrandStep step_of(std::int32_t first, std::int32_t last, std::int32_t pivot) const {
    StrandStep step;
    Vec3d drift{0, 0, 0};
    if (pivot >= 0) {
      step.centre = at(node[pivot]);
      drift = velocity(node[pivot]);
    } else {
      double all = 0;
      for (std::int32_t k = first; k < last; ++k) {
        const double m = static_cast<double>(mass[node[k]]);
        all += m;
        step.centre += m * at(node[k]);
        drift += m * velocity(node[k]);
      }
      step.centre = (1 / all) * step.centre;
      drift = (1 / all) * drift;
    }
    step.shift = dt * drift;
    Mat3d inertia = Mat3d::zero();
    Vec3d angular{0, 0, 0};
    for (std::int32_t k = first; k < last; ++k) {
      const double m = static_cast<double>(mass[node[k]]);
      const Vec3d arm = at(node[k]) - step.centre;
      angular += m * cross(arm, velocity(node[k]) - drift);
      inertia += m * (norm2(arm) * Mat3d::identity() - outer(arm, arm));
    }
    inertia += (kLeastInertia * trace(inertia)) * Mat3d::identity();
    const Ldl<double, 3> factors = factor_ldl(inertia);
    if (factors.positive) step.turn = rotation_by(dt * solve(factors, angular)).matrix();
    return step;
  }

  SS_HD void move(std::int32_t begin, std::int32_t end, const StrandStep& step) const {
    for (std::int32_t k = begin; k < end; ++k) {
      const std::int32_t i = node[k];
      const Vec3d from = at(i);
      const Vec3d by = held[i] != 0 ? dt * velocity(i)
                                    : step.centre - from + step.shift + step.turn * (from - step.centre);
      ahead[i] = (from + by).template cast<Real>();
      speed[i] = ((1 / dt) * by).template cast<Real>();
    }
  }
};

}  // namespace

void StrandPrediction::load(Context& ctx, const Model& model) {
  std::vector<std::int32_t> start{0}, nodes;
  for (const std::vector<std::int32_t>& chain : rod_chains(model)) {
    const Object& rods = model.objects[static_cast<std::size_t>(model.node_object[chain.front()])];
    const bool is_open = chain.front() >= rods.collides_from;  // that of a closed one begins with a ghost
    if (!is_open) continue;
    nodes.insert(nodes.end(), chain.begin(), chain.end());
    start.push_back(static_cast<std::int32_t>(nodes.size()));
  }
  count_ = start.size() - 1;
  start_.upload(ctx, start);
  node_.upload(ctx, nodes);
}

void StrandPrediction::predict(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v,
                               double dt, Vec3* ahead, Vec3* speed) const {
  launch(ctx, count_,
         MoveStrand{start_.data(), node_.data(), device.scripted.data(), device.mass.data(), x, v, dt, ahead,
                    speed},
         kHeavy);
}

}  // namespace stickslip::STICKSLIP_BACKEND
