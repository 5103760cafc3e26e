#include "gpu/energy/tet_terms.cuh"

#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip {
namespace {

/// True at x = x_t, where nothing moves and F is F_t.
SS_HD bool is_at_start(const SolidMotion& motion) {
  return motion.x == motion.x_t && motion.still == nullptr;
}

/// F - F_s: by how much F changes in the time dt at the velocities that are damped.
SS_HD Mat3 damped_change(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f) {
  return f - view.deformation(i, motion.still != nullptr ? motion.still : motion.x_t);
}

/// C = dP/dF, projected, at the start of the step, without what resists turning: what damping resists with.
SS_HD StrainResistance damping_stiffness(const ElasticMaterial& material, const Mat3& f_t) {
  const Svd3<Real> svd = svd3(f_t);
  return {projected(stress_derivative(material.model, svd, material.lame)), svd.s};
}

SS_HD StrainResistance damping_stiffness(const TetView& view, const SolidMotion& motion, std::size_t i) {
  return view.resistance != nullptr ? view.resistance[i]
                                    : damping_stiffness(view.material(i), view.deformation(i, motion.x_t));
}

SS_HD double tet_energy(const TetView& view, const SolidMotion& motion, std::size_t i) {
  const ElasticMaterial& material = view.material(i);
  const Mat3 f = view.deformation(i, motion.x);
  Real density = energy_density(material.model, f, material.lame);
  if (material.damping > Real(0) && !is_at_start(motion)) {
    const Mat3 df = damped_change(view, motion, i, f);
    density += material.damping / (Real(2) * motion.dt) * dot(df, damping_stiffness(view, motion, i)(df));
  }
  return static_cast<double>(view.volumes[i]) * static_cast<double>(density);
}

template <bool with_blocks>
SS_HD void tet_derivatives(const TetView& view, const SolidMotion& motion, std::size_t i,
                           CornerVectors& gradient, [[maybe_unused]] CornerBlocks* blocks) {
  const ElasticMaterial& material = view.material(i);
  const Real volume = view.volumes[i];
  const ShapeGradients shape(view.inverse_rest[i]);
  const Mat3 f = view.deformation(i, motion.x);
  const bool damped = material.damping > Real(0);
  const Real rate = damped ? material.damping / motion.dt : Real(0);
  Mat3 piola;
  if constexpr (with_blocks) {
    const Svd3<Real> svd = svd3(f);
    piola = first_piola(material.model, f, svd, material.lame);
    const StressDerivative stiffness = projected(stress_derivative(material.model, svd, material.lame));
    add_corner_blocks(stiffness, shape, volume, *blocks);
    if (damped && is_at_start(motion))
      add_corner_blocks(StrainResistance(stiffness, svd.s), shape, volume * rate, *blocks);
  } else {
    piola = first_piola(material.model, f, material.lame);
  }
  if (damped && !is_at_start(motion)) {
    const StrainResistance stiffness = damping_stiffness(view, motion, i);
    piola += rate * stiffness(damped_change(view, motion, i, f));
    if constexpr (with_blocks) add_corner_blocks(stiffness, shape, volume * rate, *blocks);
  }
  add_corner_gradients(piola, shape, volume, gradient);
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// What damping resists with at x_t, of every damped tet.
void find_resistance(Context& ctx, const TetView& view, std::size_t n, const Vec3* x_t,
                     StrainResistance* out) {
  const TetView tets = view;
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const ElasticMaterial& material = tets.material(i);
        if (material.damping > Real(0)) out[i] = damping_stiffness(material, tets.deformation(i, x_t));
      },
      kHeavy);
}

}  // namespace

TetTerm::TetTerm(Context& ctx, const TermElements& elements, std::span<const double> own_weights) {
  const auto& [rest, tets, material, object_volume, stiffness] = elements;
  std::vector<Mat3> inverse_rest(tets.size());
  std::vector<Real> weights(tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const Vec<double, 3>& x0 = rest[tets[i][0]];
    const auto edges =
        Mat<double, 3>::from_columns({rest[tets[i][1]] - x0, rest[tets[i][2]] - x0, rest[tets[i][3]] - x0});
    const auto inverse_edges = inverse(edges);
    for (int k = 0; k < 9; ++k) inverse_rest[i].m[k] = static_cast<Real>(inverse_edges.m[k]);
    const double weight = own_weights.empty() ? determinant(edges) / 6.0 : own_weights[i];
    weights[i] = static_cast<Real>(weight);
    const auto m = static_cast<std::size_t>(material[i]);
    if (material_volume_.size() <= m) material_volume_.resize(m + 1, 0.0);
    material_volume_[m] += weight;
  }
  tets_.upload(ctx, tets);
  inverse_rest_.upload(ctx, inverse_rest);
  volumes_.upload(ctx, weights);
  tet_material_.upload(ctx, material);
}

void TetTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<ElasticMaterial> elastic;
  elastic.reserve(materials.size() + 1);
  for (const Material& material : materials) elastic.push_back(elastic_material(material));
  elastic.push_back(extra_material());
  materials_.upload(ctx, elastic);
  forbids_inversion_ = is_damped_ = has_resistance_ = false;
  energy_rounding_ = 0;
  for (std::size_t m = 0; m < material_volume_.size(); ++m) {
    if (material_volume_[m] == 0) continue;
    const ElasticMaterial& used = elastic[m];
    forbids_inversion_ |= stickslip::forbids_inversion(used.model);
    is_damped_ |= used.damping > Real(0);
    // |F|^2 is 3 at rest, and J is 1, whatever little is left of the sum of their terms.
    constexpr double epsilon = std::numeric_limits<Real>::epsilon();
    const double moduli = static_cast<double>(used.lame.mu) + static_cast<double>(used.lame.lambda);
    energy_rounding_ += 4 * epsilon * moduli * material_volume_[m];
  }
}

ElasticMaterial TetTerm::elastic_material(const Material& material) const {
  const Real young = static_cast<Real>(material.young), poisson = static_cast<Real>(material.poisson);
  return {material.model, lame_parameters(material.model, young, poisson),
          static_cast<Real>(material.damping)};
}

ElasticMaterial ControlTetTerm::elastic_material(const Material& material) const {
  constexpr ElasticModel model = ElasticModel::orthogonality;
  return {model, lame_parameters(model, static_cast<Real>(material.young), 0), 0};
}

std::vector<double> ControlTetTerm::weights_of(const TermElements& tets) {
  std::vector<double> weights(tets.object_volume.begin(), tets.object_volume.end());
  for (std::size_t i = 0; i < tets.stiffness.size(); ++i)
    if (tets.stiffness[i] > 0) weights[i] = tets.stiffness[i];
  return weights;
}

ElasticMaterial ControlTetTerm::extra_material() const {
  return {ElasticModel::orthogonality, {static_cast<Real>(rigidity_), Real(0)}, Real(0)};
}

TetView TetTerm::view_of(Context& ctx, const SolidMotion& motion) {
  // [bytes] beyond which the elements of a large scene need the memory for other things.
  constexpr std::size_t kMostMemory = std::size_t{1} << 29;
  TetView tets = view();
  if (!is_damped_ || !motion.x_t_kept || is_at_start(motion) ||
      size() * sizeof(StrainResistance) > kMostMemory)
    return tets;
  if (!has_resistance_) {
    resistance_.resize(ctx, size());
    find_resistance(ctx, tets, size(), motion.x_t, resistance_.data());
    has_resistance_ = true;
  }
  tets.resistance = resistance_.data();
  return tets;
}

void TetTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const TetView tets = view_of(ctx, motion);
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return tet_energy(tets, m, i); }, out, kMedium);
}

void TetTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients) {
  const TetView tet_view = view_of(ctx, motion);
  const SolidMotion m = motion;
  launch(
      ctx, tets.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        tet_derivatives<false>(tet_view, m, tets.begin + i, gradient, nullptr);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
      },
      kMedium);
}

void TetTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange tets,
                                   Vec3* corner_gradients, Mat3* corner_blocks) {
  const TetView tet_view = view_of(ctx, motion);
  const SolidMotion m = motion;
  launch(
      ctx, tets.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        CornerBlocks blocks{};
        tet_derivatives<true>(tet_view, m, tets.begin + i, gradient, &blocks);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
        for (int k = 0; k < kCornerBlocks; ++k) corner_blocks[kCornerBlocks * i + k] = blocks.b[k];
      },
      kHeavy);
}

void TetTerm::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  const TetView tets = view();
  reduce_min(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (only_forbidden && !stickslip::forbids_inversion(tets.material(i).model))
          return std::numeric_limits<double>::infinity();
        return static_cast<double>(determinant(tets.deformation(i, x)));
      },
      std::numeric_limits<double>::infinity(), out);
}

void TetTerm::count_inverted(Context& ctx, const Vec3* x, double* out) {
  const TetView tets = view();
  reduce_sum(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t i) { return determinant(tets.deformation(i, x)) > Real(0) ? 0.0 : 1.0; },
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
