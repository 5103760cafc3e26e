#include "gpu/energy/solid.cuh"

#include <limits>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip {
namespace {

/// F - F_s: by how much F changes in the time dt at the velocities that are damped.
SS_HD Mat3 damped_change(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f,
                         const Mat3& f_t) {
  return f - (motion.still ? view.deformation(i, motion.still) : f_t);
}

/// C = dP/dF, projected, at the start of the step, without what resists turning: what damping resists with.
SS_HD StrainResistance damping_stiffness(const ElasticMaterial& material, const Mat3& f_t) {
  const Svd3<Real> svd = svd3(f_t);
  return {projected(stress_derivative(material.model, svd, material.lame)), svd.s};
}

SS_HD double tet_energy(const TetView& view, const SolidMotion& motion, std::size_t i) {
  const ElasticMaterial& material = view.material(i);
  const Mat3 f = view.deformation(i, motion.x);
  Real density = energy_density(material.model, f, material.lame);
  if (material.damping > Real(0)) {
    const Mat3 f_t = view.deformation(i, motion.x_t), df = damped_change(view, motion, i, f, f_t);
    density += material.damping / (Real(2) * motion.dt) * dot(df, damping_stiffness(material, f_t)(df));
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
  Mat3 piola;
  if constexpr (with_blocks) {
    const Svd3<Real> svd = svd3(f);
    piola = first_piola(material.model, f, svd, material.lame);
    add_corner_blocks(projected(stress_derivative(material.model, svd, material.lame)), shape, volume,
                      *blocks);
  } else {
    piola = first_piola(material.model, f, material.lame);
  }
  if (material.damping > Real(0)) {
    const Mat3 f_t = view.deformation(i, motion.x_t);
    const StrainResistance stiffness = damping_stiffness(material, f_t);
    const Real rate = material.damping / motion.dt;
    piola += rate * stiffness(damped_change(view, motion, i, f, f_t));
    if constexpr (with_blocks) add_corner_blocks(stiffness, shape, volume * rate, *blocks);
  }
  add_corner_gradients(piola, shape, volume, gradient);
}

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void SolidEnergy::set(Context& ctx, std::span<const Vec<double, 3>> rest, std::span<const Vec4i> tets,
                      std::span<const std::int32_t> tet_material, std::span<const double> body_volumes) {
  std::vector<Mat3> inverse_rest(tets.size());
  std::vector<Real> volumes(tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const Vec<double, 3>& x0 = rest[tets[i][0]];
    const auto edges =
        Mat<double, 3>::from_columns({rest[tets[i][1]] - x0, rest[tets[i][2]] - x0, rest[tets[i][3]] - x0});
    const auto inverse_edges = inverse(edges);
    for (int k = 0; k < 9; ++k) inverse_rest[i].m[k] = static_cast<Real>(inverse_edges.m[k]);
    volumes[i] = static_cast<Real>(determinant(edges) / 6.0);
  }
  const std::size_t first_body = tets.size() - body_volumes.size();
  std::vector<std::int32_t> material(tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    material[i] = 2 * tet_material[i] + (i >= first_body);
    if (i >= first_body) volumes[i] = static_cast<Real>(body_volumes[i - first_body]);
  }
  tets_.upload(ctx, tets);
  inverse_rest_.upload(ctx, inverse_rest);
  volumes_.upload(ctx, volumes);
  tet_material_.upload(ctx, material);
}

void SolidEnergy::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<ElasticMaterial> elastic;
  elastic.reserve(2 * materials.size());
  for (const Material& m : materials) {
    const Real young = static_cast<Real>(m.young);
    elastic.push_back({m.model, lame_parameters(m.model, young, static_cast<Real>(m.poisson)),
                       static_cast<Real>(m.damping)});
    constexpr ElasticModel affine = ElasticModel::orthogonality;
    elastic.push_back({affine, lame_parameters(affine, young, 0), 0});
  }
  materials_.upload(ctx, elastic);
}

void SolidEnergy::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const TetView tets = view();
  const SolidMotion m = motion;
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return tet_energy(tets, m, i); }, out, kMedium);
}

void SolidEnergy::gradient(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients) {
  const TetView tet_view = view();
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

void SolidEnergy::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange tets,
                                       Vec3* corner_gradients, Mat3* corner_blocks) {
  const TetView tet_view = view();
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

void SolidEnergy::min_determinant(Context& ctx, const Vec3* x, bool only_forbidden, double* out) {
  const TetView tets = view();
  reduce_min(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t i) {
        if (only_forbidden && !forbids_inversion(tets.material(i).model))
          return std::numeric_limits<double>::infinity();
        return static_cast<double>(determinant(tets.deformation(i, x)));
      },
      std::numeric_limits<double>::infinity(), out);
}

void SolidEnergy::count_inverted(Context& ctx, const Vec3* x, double* out) {
  const TetView tets = view();
  reduce_sum(
      ctx, size(),
      [=] SS_LAMBDA(std::size_t i) { return determinant(tets.deformation(i, x)) > Real(0) ? 0.0 : 1.0; },
      out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
