#include "gpu/rigid/solid_frames.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// B v of a frame.
SS_HD Vec<double, 6> twist_of(const SolidSide& side, const TetFrame& frame, const Vec3* v) {
  Vec3d at[4];
  for (int k = 0; k < 4; ++k) at[k] = v[side.point.nodes[k]].template cast<double>();
  return frame.twist(at);
}

/// Places a frame and its joint's side.
struct FrameStager {
  const SolidSide* sides;
  const Vec3 *x, *v;
  const double* resistance;
  const std::int32_t* node_material;
  std::int32_t first;
  TetFrame* frames;
  SideMobility* mobility;
  DeviceJoint* joints;
  Pose* pose;
  Vec3d *velocity, *spin, *grain;
  std::int32_t* material;

  SS_HD void operator()(std::size_t f) const {
    const SolidSide& side = sides[f];
    Vec3d at[4];
    double resists[4];
    for (int k = 0; k < 4; ++k) {
      at[k] = x[side.point.nodes[k]].template cast<double>();
      resists[k] = resistance[side.point.nodes[k]];
    }
    frames[f] = TetFrame::at(side.point, at);
    mobility[f] = side_mobility(side, frames[f], resists);
    const Vec<double, 6> twist = twist_of(side, frames[f], v);
    const std::size_t b = static_cast<std::size_t>(first) + f;
    pose[b] = frames[f].pose;
    velocity[b] = {twist[0], twist[1], twist[2]};
    spin[b] = {twist[3], twist[4], twist[5]};
    grain[b] = {0, 0, 0};
    material[b] = node_material[side.point.nodes[0]];
    DeviceJoint& joint = joints[side.joint];
    // The body's frame has its origin at the anchor.
    Pose& frame = side.side == 0 ? joint.frame_a : joint.frame_b;
    frame.x = {0, 0, 0};
    (side.side == 0 ? joint.a : joint.b) = static_cast<std::int32_t>(b);
  }
};

/// The velocity of a frame without impulses, and its change.
struct FrameMover {
  const SolidSide* sides;
  const TetFrame* frames;
  const Vec3* v;
  const Wrench* impulse;  // null: none
  const BodyInverse* inverse;
  double *free, *shift;

  SS_HD void operator()(std::size_t f) const {
    Vec<double, 6> t = twist_of(sides[f], frames[f], v);
    if (impulse != nullptr) t -= inverse[f].times(impulse[f]);
    for (std::size_t i = 0; i < 6; ++i) {
      shift[6 * f + i] = t[static_cast<int>(i)] - free[6 * f + i];
      free[6 * f + i] = t[static_cast<int>(i)];
    }
  }
};

/// H' r of the joint's blocks at the side.
template <int D>
struct SideImpulse {
  const SolidSide* sides;
  BodyRows<D> rows;
  const Vec<double, D>* r;
  Wrench* impulse;

  SS_HD void operator()(std::size_t f) const {
    const SolidSide& side = sides[f];
    Wrench sum = Wrench::zero();
    for (std::int32_t c = side.first_block; c < side.first_block + side.block_count; ++c)
      for (int i = 0; i < D; ++i) {
        const std::size_t entry = 2 * static_cast<std::size_t>(c) + static_cast<std::size_t>(side.side);
        const double* row = rows.jacobian + 6 * (entry * D + static_cast<std::size_t>(i));
        for (int k = 0; k < 6; ++k) sum[k] += row[k] * r[c][i];
      }
    impulse[f] = sum;
  }
};

/// The part of a frame's impulse on a corner of its tet.
struct TetCornerImpulse {
  const TetFrame* frames;
  const Wrench* impulse;

  SS_HD Vec3 operator()(std::int32_t corner) const {
    return frames[corner / 4].force_on(corner % 4, impulse[corner / 4]).template cast<Real>();
  }
};

struct FrameStepSums {
  const SolidSide* sides;
  const TetFrame* frames;
  const SideMobility* mobility;
  const Wrench *now, *start, *last;
  const Vec3 *v, *v_start;
  const double* shares;

  SS_HD FrameSums operator()(std::size_t f) const {
    const Wrench dr = now[f] - start[f];
    const Vec<double, 6> dv = twist_of(sides[f], frames[f], v) - twist_of(sides[f], frames[f], v_start);
    const BodyInverse all = mobility[f].inverse(shares[sides[f].object]);
    const double rigid = all.mass > 0 ? dot(dr, mobility[f].rigid.times(dr)) : 0.0;
    const Vec<double, 6> response = all.times(dr);
    const Vec3d push{all.mass * now[f][0], all.mass * now[f][1], all.mass * now[f][2]};
    return FrameSums{dot(dr, dv), dot(dr, response) - rigid, dot(response, now[f] - last[f]), norm2(push),
                     rigid};
  }
};

}  // namespace

void SolidFrames::load(Context& ctx, const Model& model, const ElasticSolids& solids) {
  std::vector<std::int32_t> object(model.objects.size(), -1);
  for (std::size_t k = 0; k < solids.model().objects.size(); ++k)
    object[static_cast<std::size_t>(solids.object_of(static_cast<std::int32_t>(k)))] =
        static_cast<std::int32_t>(k);
  const std::vector<SolidSide> sides = solid_sides(model, solids.node_places(), object);
  std::vector<Vec4i> stencils;
  stencils.reserve(sides.size());
  for (const SolidSide& side : sides) stencils.push_back(side.point.nodes);
  sides_.upload(ctx, sides);
  if (sides.empty()) return;
  frames_.resize(ctx, size());
  mobility_.resize(ctx, size());
  joints_.resize(ctx, model.joints.size());
  stencils_.upload(ctx, stencils);
  gather_.build(ctx, stencils_.data(), size(), solids.size());
}

void SolidFrames::stage(Context& ctx, const ElasticSolids& solids, std::int32_t first,
                        const DeviceJoint* joints, std::size_t joint_count, DeviceBodies& all) {
  if (size() == 0) return;
  copy(ctx, joints_.data(), joints, joint_count);
  launch(ctx, size(),
         FrameStager{sides_.data(), solids.x.data(), solids.v.data(), solids.resistance(),
                     solids.device().node_material.data(), first, frames_.data(), mobility_.data(),
                     joints_.data(), all.pose.data(), all.velocity.data(), all.spin.data(), all.grain.data(),
                     all.material.data()},
         kMedium);
  fill(ctx, all.free.data() + 6 * static_cast<std::size_t>(first), 6 * size(), 0.0);
}

void SolidFrames::weigh(Context& ctx, const double* shares, BodyInverse* inverse) const {
  const SolidSide* sides = sides_.data();
  const SideMobility* mobility = mobility_.data();
  launch(ctx, size(),
         [=] SS_LAMBDA(std::size_t f) { inverse[f] = mobility[f].inverse(shares[sides[f].object]); });
}

void SolidFrames::move_free(Context& ctx, const Vec3* v, const Wrench* impulse, const BodyInverse* inverse,
                            double* free, double* shift) const {
  launch(ctx, size(), FrameMover{sides_.data(), frames_.data(), v, impulse, inverse, free, shift});
}

void SolidFrames::settle(Context& ctx, const Vec3* v, Vec3d* velocity, Vec3d* spin) const {
  const SolidSide* sides = sides_.data();
  const TetFrame* frames = frames_.data();
  launch(ctx, size(), [=] SS_LAMBDA(std::size_t f) {
    const Vec<double, 6> twist = twist_of(sides[f], frames[f], v);
    velocity[f] = {twist[0], twist[1], twist[2]};
    spin[f] = {twist[3], twist[4], twist[5]};
  });
}

template <int D>
void SolidFrames::take_impulses(Context& ctx, const BodyRows<D>& rows, const Vec<double, D>* r,
                                Wrench* impulse) const {
  launch(ctx, size(), SideImpulse<D>{sides_.data(), rows, r, impulse});
}
template void SolidFrames::take_impulses(Context&, const BodyRows<3>&, const Vec<double, 3>*, Wrench*) const;
template void SolidFrames::take_impulses(Context&, const BodyRows<4>&, const Vec<double, 4>*, Wrench*) const;
template void SolidFrames::take_impulses(Context&, const BodyRows<5>&, const Vec<double, 5>*, Wrench*) const;

void SolidFrames::add_impulses(Context& ctx, const Wrench* impulse, Vec3* at_nodes) const {
  if (size() == 0) return;
  gather_.sum(ctx, TetCornerImpulse{frames_.data(), impulse}, at_nodes);
}

void SolidFrames::add_sums(Context& ctx, const RoundImpulses& impulses, const Vec3* v, const Vec3* v_start,
                           const double* shares, StepSums* sums, double* core_work) {
  if (size() == 0) return;
  sums_.resize(ctx, size());
  FrameSums* of_frame = sums_.data();
  const FrameStepSums step{
      sides_.data(), frames_.data(), mobility_.data(), impulses.now, impulses.start, impulses.last, v,
      v_start,       shares};
  launch(
      ctx, size(), [=] SS_LAMBDA(std::size_t f) { of_frame[f] = step(f); }, kMedium);
  const SolidSide* sides = sides_.data();
  const std::size_t count = size();
  // One lane: joints on solids are few, and the order is fixed.
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    for (std::size_t f = 0; f < count; ++f) {
      const std::int32_t o = sides[f].object;
      for (int i = 0; i < 4; ++i) sums[o][i] += of_frame[f][i];
      core_work[o] += of_frame[f][4];
    }
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
