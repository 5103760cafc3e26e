#include "gpu/energy/energy_terms.cuh"

#include <algorithm>
#include <limits>

#include "gpu/core/launch.h"
#include "gpu/energy/bone_term.cuh"
#include "gpu/energy/cloth_terms.cuh"
#include "gpu/energy/rod_terms.cuh"
#include "gpu/energy/skin_term.cuh"
#include "gpu/energy/spring_term.cuh"
#include "gpu/energy/tet10_term.cuh"
#include "gpu/energy/tet_terms.cuh"
#include "gpu/model/element_group.h"
#include "gpu/model/frames.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

template <class Term>
std::unique_ptr<EnergyTerm> make_term(Context& ctx, const TermElements& elements) {
  return std::make_unique<Term>(ctx, elements);
}

/// The terms by kind. Control tets come last, as SplitMatrix asks.
constexpr struct {
  ElementKind kind;
  std::unique_ptr<EnergyTerm> (*make)(Context& ctx, const TermElements& elements);
} kTerms[] = {{ElementKind::tet, make_term<TetTerm>},
              {ElementKind::tet10, make_term<Tet10Term>},
              {ElementKind::bone, make_term<BoneTerm>},
              {ElementKind::skin, make_term<SkinTerm>},
              {ElementKind::rod_segment, make_term<RodSegmentTerm>},
              {ElementKind::rod_vertex, make_term<RodVertexTerm>},
              {ElementKind::membrane, make_term<MembraneTerm>},
              {ElementKind::bend, make_term<BendTerm>},
              {ElementKind::spring, make_term<SpringTerm>},
              {ElementKind::control_tet, make_term<ControlTetTerm>}};

struct Sum {
  SS_HD double operator()(double a, double b) const { return a + b; }
};
struct Least {
  SS_HD double operator()(double a, double b) const { return b < a ? b : a; }
};

/// *out = `start` combined with each of the n values in turn.
template <class Combine>
void combine_values(Context& ctx, const double* values, std::size_t n, double start, Combine combine,
                    double* out) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    double total = start;
    for (std::size_t k = 0; k < n; ++k) total = combine(total, values[k]);
    *out = total;
  });
}

}  // namespace

void EnergyTerm::drag_power(Context& ctx, const SolidMotion&, double* out) { fill(ctx, out, 1, 0.0); }

void EnergyTerms::load(Context& ctx, const Model& model) {
  terms_.clear();
  stencils_.clear();
  const std::vector<ElementGroup> groups = element_groups(model);
  for (const auto& [kind, make] : kTerms) {
    const std::size_t first = stencils_.size();
    std::vector<std::int32_t> material;
    std::vector<double> volume, stiffness, thickness, aspect, share;
    std::vector<Vec<double, 3>> warp;
    std::vector<FlatStencil> flat;
    std::vector<FramePoint> points;
    const auto extra = static_cast<std::int32_t>(model.materials.size());
    for (const ElementGroup& group : groups) {
      if (group.kind != kind) continue;
      for (FramePoint point : group.points) {
        point.bone += static_cast<std::int32_t>((stencils_.size() - first) / kBoneStencils);
        points.push_back(point);
      }
      stencils_.insert(stencils_.end(), group.stencils.begin(), group.stencils.end());
      material.resize(stencils_.size() - first, group.stiffness > 0 ? extra : group.material);
      volume.resize(stencils_.size() - first, group.volume);
      stiffness.resize(stencils_.size() - first, group.stiffness);
      thickness.resize(stencils_.size() - first, group.thickness);
      aspect.resize(stencils_.size() - first, group.aspect);
      warp.resize(stencils_.size() - first, group.warp);
      share.insert(share.end(), group.shares.begin(), group.shares.end());
      share.resize(stencils_.size() - first, 1.0);
      if (group.flat.empty() && flat.empty()) continue;
      flat.resize(stencils_.size() - first - group.stencils.size());
      flat.insert(flat.end(), group.flat.begin(), group.flat.end());
      flat.resize(stencils_.size() - first);
    }
    if (material.empty()) continue;
    terms_.push_back(make(ctx, {model.rest_positions, std::span(stencils_).subspan(first), material, volume,
                                stiffness, thickness, aspect, warp, model.springs, share, flat, points}));
  }
  values_.resize(ctx, std::max<std::size_t>(1, terms_.size()));
  set_materials(ctx, model.materials);
}

void EnergyTerms::set_materials(Context& ctx, std::span<const Material> materials) {
  for (const auto& term : terms_) term->set_materials(ctx, materials);
}

void EnergyTerms::set_rigidity(double factor) {
  for (const auto& term : terms_) term->set_rigidity(factor);
}

void EnergyTerms::set_wind(const Wind& wind) {
  for (const auto& term : terms_) term->set_wind(wind);
}

void EnergyTerms::begin_step() {
  for (const auto& term : terms_) term->begin_step();
}

bool EnergyTerms::forbids_inversion() const {
  return std::ranges::any_of(terms_, [](const auto& term) { return term->forbids_inversion(); });
}

double EnergyTerms::energy_rounding() const {
  double sum = 0;
  for (const auto& term : terms_) sum += term->energy_rounding();
  return sum;
}

RodViews EnergyTerms::rods() const {
  RodViews views;
  for (const auto& term : terms_) {
    if (const auto* segments = dynamic_cast<const RodSegmentTerm*>(term.get()))
      views.segments = segments->view();
    if (const auto* vertices = dynamic_cast<const RodVertexTerm*>(term.get()))
      views.vertices = vertices->view();
  }
  return views;
}

/// A single term writes its value where it is wanted.
template <class Write, class Combine>
void EnergyTerms::over_terms(Context& ctx, Write write, double start, Combine combine, double* out) {
  if (terms_.size() == 1) return write(*terms_[0], out);
  for (std::size_t k = 0; k < terms_.size(); ++k) write(*terms_[k], values_.data() + k);
  combine_values(ctx, values_.data(), terms_.size(), start, combine, out);
}

template <class Work>
void EnergyTerms::over_parts(IndexRange stencils, Work work) {
  std::size_t first = 0;  // of the term
  for (const auto& term : terms_) {
    const std::size_t begin = std::max(stencils.begin, first);
    const std::size_t end = std::min(stencils.end, first + term->size());
    if (begin < end) work(*term, IndexRange{begin - first, end - first}, begin - stencils.begin);
    first += term->size();
  }
}

void EnergyTerms::energy(Context& ctx, const SolidMotion& motion, double* out) {
  over_terms(
      ctx, [&](EnergyTerm& term, double* at) { term.energy(ctx, motion, at); }, 0.0, Sum{}, out);
}

void EnergyTerms::gradient(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                           Vec3* corner_gradients) {
  over_parts(stencils, [&](EnergyTerm& term, IndexRange part, std::size_t before) {
    term.gradient(ctx, motion, part, corner_gradients + 4 * before);
  });
}

void EnergyTerms::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange stencils,
                                       Vec3* corner_gradients, Mat3* corner_blocks) {
  over_parts(stencils, [&](EnergyTerm& term, IndexRange part, std::size_t before) {
    term.gradient_and_hessian(ctx, motion, part, corner_gradients + 4 * before,
                              corner_blocks + kCornerBlocks * before);
  });
}

void EnergyTerms::relinearise(Context& ctx, const SolidMotion& motion, Vec3* corner_gradients,
                              const KeptBlocks& kept) {
  fill(ctx, kept.renewed, size(), std::uint8_t{1});
  over_parts({0, size()}, [&](EnergyTerm& term, IndexRange part, std::size_t before) {
    term.relinearise(ctx, motion, part, corner_gradients + 4 * before, kept.from(before));
  });
}

void EnergyTerms::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  over_terms(
      ctx, [&](EnergyTerm& term, double* at) { term.min_determinant(ctx, x, only_forbidden, at); },
      std::numeric_limits<double>::infinity(), Least{}, out);
}

void EnergyTerms::count_inverted(Context& ctx, const Vec3* x, double* out) {
  over_terms(
      ctx, [&](EnergyTerm& term, double* at) { term.count_inverted(ctx, x, at); }, 0.0, Sum{}, out);
}

void EnergyTerms::drag_power(Context& ctx, const SolidMotion& motion, double* out) {
  over_terms(
      ctx, [&](EnergyTerm& term, double* at) { term.drag_power(ctx, motion, at); }, 0.0, Sum{}, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
