#include "gpu/rigid/friction_anchors.cuh"

#include <algorithm>
#include <tuple>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

auto name_of_anchor(const ContactAnchor& x) { return std::tuple(x.a, x.b, x.feature); }

/// Stretches at the start of a step, from the last one.
struct FindStretch {
  const RigidContact* contact;
  const ContactAnchor* last;  // by place
  std::size_t last_count;
  const ContactAnchor* named;  // by name
  std::size_t named_count;
  Vec<double, 4>* stretch;

  SS_HD static bool is_before(const ContactAnchor& x, const RigidContact& c) {
    if (x.a != c.a) return x.a < c.a;
    return x.b != c.b ? x.b < c.b : x.feature < c.feature;
  }
  SS_HD void operator()(std::size_t i) const {
    const RigidContact& c = contact[i];
    stretch[i] = {0, 0, 0, 0};
    if (c.previous >= 0 && static_cast<std::size_t>(c.previous) < last_count)
      stretch[i] = last[c.previous].stretch;
    std::size_t low = 0, high = named_count;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_before(named[middle], c)) low = middle + 1;
      else high = middle;
    }
    if (low < named_count && named[low].a == c.a && named[low].b == c.b && named[low].feature == c.feature)
      stretch[i] = named[low].stretch;
  }
};

template <int D>
struct AdvanceAnchor {
  typename FrictionAnchors::Solved<D> solved;
  const RigidContact* contact;
  const Vec<double, 4>* stretch;
  ContactAnchor* next;

  SS_HD Vec<double, 6> twist(std::int32_t b) const {
    return b < 0 ? Vec<double, 6>::zero() : rigid_detail::joined(solved.velocity[b], solved.spin[b]);
  }
  SS_HD double normal_impulse(std::size_t i) const {
    if (solved.r != nullptr) return solved.r[i][0];
    const Vec<double, 4>& f = solved.world[i];
    return dot(Vec3d{f[0], f[1], f[2]}, contact[i].normal);
  }
  SS_HD void operator()(std::size_t i) const {
    const RigidContact& c = contact[i];
    next[i] = {c.a, c.b, c.feature, stretch[i]};
    const BodyInverse a = solved.blocks.at.at_step(c.a).inverse, b = solved.blocks.at.at_step(c.b).inverse;
    if (!(a.mass > 0) && !(b.mass > 0)) return;  // asleep: nothing moves, and nothing is solved
    const bool at_start = solved.pushed != nullptr;
    const ConstraintBlock<D> block = at_start ? solved.pushed[i] : solved.blocks.of(i, c);
    const PenaltyOptions& o = solved.blocks.penalty;
    const double r = normal_impulse(i);
    Vec<double, D> s = stretch_of_rows(block, stretch[i]);
    if (at_start) s = follow_anchor(o, block.law, r, s);
    for (int k = 1; k < D && r > 0; ++k)
      s[k] += o.dt * (dot(block.jacobian[0][k], twist(c.a)) + dot(block.jacobian[1][k], twist(c.b)));
    // The normal force at the end of an explicit step is that of the next one: it bounds the stretch then.
    if (!at_start || !(r > 0)) s = follow_anchor(o, block.law, r, s);
    next[i].stretch = stretch_in_world(block, s);
  }
};

}  // namespace

void FrictionAnchors::forget() {
  linked_ = false;
  for (Buffer<ContactAnchor>* b : {&end_, &next_, &named_}) *b = Buffer<ContactAnchor>();
}

void FrictionAnchors::set(Context& ctx, const std::vector<ContactAnchor>& anchors) {
  forget();
  end_.upload(ctx, anchors);
}

std::vector<ContactAnchor> FrictionAnchors::by_name(Context& ctx) const {
  std::vector<ContactAnchor> list = end_.download(ctx);
  std::erase_if(list, [](const ContactAnchor& x) { return !(norm2(x.stretch) > 0); });
  std::ranges::sort(list, {}, name_of_anchor);
  return list;
}

std::vector<ContactAnchor> FrictionAnchors::anchors(Context& ctx, std::size_t bodies) const {
  std::vector<ContactAnchor> list = by_name(ctx);
  const auto end = static_cast<std::int32_t>(bodies);
  std::erase_if(list, [&](const ContactAnchor& x) { return x.a >= end || x.b >= end; });
  return list;
}

void FrictionAnchors::begin(Context& ctx, const RigidContact* contacts, std::size_t count) {
  const Span span(ctx, "anchors");
  if (!linked_) named_.upload(ctx, by_name(ctx));
  start_.resize(ctx, count);
  launch(ctx, count,
         FindStretch{contacts, end_.data(), linked_ ? end_.size() : 0, named_.data(),
                     linked_ ? 0 : named_.size(), start_.data()},
         kMedium);
}

template <int D>
void FrictionAnchors::advance(Context& ctx, const RigidContact* contacts, const Solved<D>& solved) {
  const Span span(ctx, "anchors");
  next_.resize(ctx, start_.size());
  launch(ctx, start_.size(), AdvanceAnchor<D>{solved, contacts, start_.data(), next_.data()}, kMedium);
}

void FrictionAnchors::keep() {
  end_.swap(next_);
  linked_ = true;
}

template void FrictionAnchors::advance(Context&, const RigidContact*, const Solved<3>&);
template void FrictionAnchors::advance(Context&, const RigidContact*, const Solved<4>&);
template void FrictionAnchors::advance(Context&, const RigidContact*, const Solved<5>&);

}  // namespace stickslip::STICKSLIP_BACKEND
