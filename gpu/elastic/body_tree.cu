#include "gpu/elastic/body_tree.cuh"

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

void place_boxes(Context& ctx, const ShapeView& shapes, const BodyMotionView& motion, double dt,
                 FloatBox* box) {
  launch(
      ctx, static_cast<std::size_t>(shapes.bodies),
      [=] SS_LAMBDA(std::size_t b) {
        const Box3d at = body_box(shapes, static_cast<std::int32_t>(b), motion.pose[b]);
        const Vec3d shift = dt * motion.velocity[b];
        const Vec3d turn = Vec3d::filled(dt * norm(motion.spin[b]) * shapes.radius[b]);
        const Vec3d low = min(at.lo, at.lo + shift) - turn, high = max(at.hi, at.hi + shift) + turn;
        box[b] = round_outward({low.template cast<Real>(), high.template cast<Real>()});
      },
      kMedium);
}

}  // namespace

void BodyTree::load(Context& ctx, std::size_t objects, const std::vector<Vec2i>& exempt) {
  std::vector<std::int32_t> start, body;
  if (!exempt.empty()) start.assign(objects + 1, 0);
  for (const Vec2i& pair : exempt) {
    ++start[static_cast<std::size_t>(pair[0]) + 1];
    body.push_back(pair[1]);
  }
  for (std::size_t o = 1; o < start.size(); ++o) start[o] += start[o - 1];
  start_.upload(ctx, start);
  body_.upload(ctx, body);
}

void BodyTree::build(Context& ctx, const ShapeView& shapes, const BodyMotionView& motion, double dt) {
  const auto bodies = static_cast<std::size_t>(shapes.bodies);
  if (bodies == 0) return;
  boxes_.resize(ctx, bodies);
  place_boxes(ctx, shapes, motion, dt, boxes_.data());
  tree_.build(ctx, boxes_.data(), bodies);
}

}  // namespace stickslip::STICKSLIP_BACKEND
