#include "gpu/energy/tet_terms.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/energy/tet_pack.h"

namespace stickslip {
namespace {

/// How far F may change, per singular value, before blocks are renewed; see TetTerm::relinearise. With a
/// reach of 0.1 some scenes took a quarter more Newton iterations, with this none. Blocks of a tet that has
/// turned since resist a further turn with their stiffness times the angle; this stays below the inertia of
/// the tet.
SS_HD Real kept_reach(const TetView& view, const SolidMotion& motion, std::size_t i) {
  constexpr Real kReach = Real(0.03), kOfInertia = Real(0.3);
  const ElasticMaterial& material = view.material(i);
  const Real size = view.sizes[i] / motion.dt;
  const Real inertia = material.density * size * size / material.lame.mu;
  return kOfInertia * inertia < kReach ? kOfInertia * inertia : kReach;
}

#if STICKSLIP_ON_CUDA

/// C = dP/dF, projected, at the start of the step, without what resists turning: what damping resists with.
SS_HD StrainResistance damping_stiffness(const ElasticMaterial& material, const Svd3<Real>& at_start) {
  return {projected(stress_derivative(material.model, at_start, material.lame)), at_start.s};
}

SS_HD KeptDeformation kept_deformation(const TetView& view, const SolidMotion& motion, std::size_t i,
                                       const Mat3& f, const Svd3<Real>& svd) {
  Real least = std::abs(svd.s[0]);
  for (int k = 1; k < 3; ++k) least = std::abs(svd.s[k]) < least ? std::abs(svd.s[k]) : least;
  const Real reach = kept_reach(view, motion, i) * least;
  return {f, reach * reach};
}

/// F - F_s: by how much F changes in the time dt at the velocities that are damped.
SS_HD Mat3 damped_change(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f) {
  return f - view.deformation(i, motion.damped_from());
}

SS_HD StrainResistance damping_stiffness(const TetView& view, const SolidMotion& motion, std::size_t i) {
  return view.start != nullptr ? view.start[i]
                               : damping_stiffness(view.material(i), svd3(view.deformation(i, motion.x_t)));
}

/// [J] `density` [J/m^3]: of the elastic energy at F.
SS_HD double tet_energy(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f,
                        Real density) {
  const ElasticMaterial& material = view.material(i);
  if (material.damping > Real(0) && !motion.is_at_start()) {
    const Mat3 df = damped_change(view, motion, i, f);
    density += material.damping / (Real(2) * motion.dt) * damping_stiffness(view, motion, i).square(df);
  }
  return static_cast<double>(view.volumes[i]) * static_cast<double>(density);
}

/// The stress of damping; zero at the start of the step.
SS_HD Mat3 damping_stress(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f,
                          const StrainResistance& stiffness) {
  return view.material(i).damping / motion.dt * stiffness(damped_change(view, motion, i, f));
}

SS_HD void tet_gradient(const TetView& view, const SolidMotion& motion, std::size_t i, const Mat3& f,
                        CornerVectors& gradient) {
  const ElasticMaterial& material = view.material(i);
  Mat3 piola = first_piola(material.model, f, material.lame);
  if (material.damping > Real(0) && !motion.is_at_start())
    piola += damping_stress(view, motion, i, f, damping_stiffness(view, motion, i));
  add_corner_gradients(piola, ShapeGradients(view.inverse_rest[i]), view.volumes[i], gradient);
}

SS_HD double tet_energy(const TetView& view, const SolidMotion& motion, std::size_t i) {
  const ElasticMaterial& material = view.material(i);
  const Mat3 f = view.deformation(i, motion.x);
  return tet_energy(view, motion, i, f, energy_density(material.model, f, material.lame));
}

SS_HD KeptDeformation tet_gradient_and_blocks(const TetView& view, const SolidMotion& motion, std::size_t i,
                                              const Mat3& f, CornerVectors& gradient, CornerBlocks& blocks) {
  const ElasticMaterial& material = view.material(i);
  const Real volume = view.volumes[i];
  const ShapeGradients shape(view.inverse_rest[i]);
  const Svd3<Real> svd = svd3(f);
  Mat3 piola = first_piola(material.model, f, svd, material.lame);
  const StressDerivative elastic = projected(stress_derivative(material.model, svd, material.lame));
  add_corner_blocks(elastic, shape, volume, blocks);
  if (material.damping > Real(0)) {
    const Real rate = volume * material.damping / motion.dt;
    if (motion.is_at_start()) {
      add_corner_blocks(StrainResistance(elastic, svd.s), shape, rate, blocks);
    } else {
      const StrainResistance stiffness = damping_stiffness(view, motion, i);
      piola += damping_stress(view, motion, i, f, stiffness);
      add_corner_blocks(stiffness, shape, rate, blocks);
    }
  }
  add_corner_gradients(piola, shape, volume, gradient);
  return kept_deformation(view, motion, i, f, svd);
}

#else

constexpr std::size_t kPackSize = TetPack::size;

std::size_t pack_count(std::size_t n) { return (n + kPackSize - 1) / kPackSize; }

/// Damping of the tets of a pack.
struct PackDamping {
  Mat<WideLanes, 3> change;          // F - F_s: in the time dt at the velocities that are damped
  const ResistancePack* resistance;  // at the start of the step
  WideLanes rate;                    // damping / dt [1]

  /// [J/m^3]
  WideLanes energy() const { return WideLanes(0.5) * rate * resistance->square(change); }
  Mat<WideLanes, 3> stress() const { return rate * (*resistance)(change); }
};

/// What damping resists with at x_t, of the tets of a pack.
ResistancePack pack_resistance(const TetPack& at_start, const MaterialPack& materials) {
  const Svd3<WideLanes> svd = at_start.decomposition();
  StressDerivativeOf<WideLanes> stiffness =
      materials.by_model([&](ElasticModel model) { return stress_derivative(model, svd, materials.lame); });
  project(stiffness);
  return {stiffness, svd.s};
}

/// `own`: a place for the resistance where none is kept for just these tets.
PackDamping pack_damping(const TetView& view, const SolidMotion& motion, const TetPack& pack,
                         const MaterialPack& materials, std::size_t first, std::size_t count,
                         std::optional<ResistancePack>& own) {
  const StartPack* start =
      view.start != nullptr && first % kPackSize == 0 ? view.start + first / kPackSize : nullptr;
  const auto rate = materials.damping / WideLanes(motion.dt);
  if (start != nullptr && motion.still == nullptr) return {pack.f - start->f, &start->resistance, rate};
  const LanesMat3 change = pack.f - pack.deformation(view, motion.damped_from(), first, count);
  if (start != nullptr) return {change, &start->resistance, rate};
  return {change, &own.emplace(pack_resistance(TetPack(view, motion.x_t, first, count), materials)), rate};
}

/// [J] of the tets first, first + 1, ... of a pack with `count` tets.
double pack_energy(const TetView& view, const SolidMotion& motion, std::size_t first, std::size_t count) {
  const TetPack pack(view, motion.x, first, count);
  const MaterialPack materials(view, first, count);
  WideLanes density = materials.by_model([&](ElasticModel model) {
    return with_model(model, [&](auto m) {
      if constexpr (m.needs_svd) return m.energy(pack.f, pack.decomposition().s, materials.lame);
      else return m.energy(pack.f, LanesVec3{}, materials.lame);
    });
  });
  if (!motion.is_at_start() && materials.is_damped) {
    std::optional<ResistancePack> own;
    density += pack_damping(view, motion, pack, materials, first, count, own).energy();
  }
  double sum = 0;
  for (std::size_t lane = 0; lane < count; ++lane)
    sum += static_cast<double>(view.volumes[first + lane]) * density.v[lane];
  return sum;
}

/// [m^3] zero in lanes without a tet.
WideLanes pack_volumes(const TetView& view, std::size_t first, int count) {
  WideLanes volume(0.0);
  for (int lane = 0; lane < count; ++lane)
    volume.v[lane] = view.volumes[first + static_cast<std::size_t>(lane)];
  return volume;
}

void pack_gradients(const TetView& view, const SolidMotion& motion, const TetPack& pack, std::size_t first,
                    int count, Vec3* corner_gradients) {
  const auto tets = static_cast<std::size_t>(count);
  const MaterialPack materials(view, first, tets);
  LanesMat3 piola = materials.by_model([&](ElasticModel model) {
    return with_model(model, [&](auto m) {
      if constexpr (m.needs_svd) return m.stress(pack.f, pack.decomposition(), materials.lame);
      else return m.stress(pack.f, Svd3<WideLanes>{}, materials.lame);
    });
  });
  if (!motion.is_at_start() && materials.is_damped) {
    std::optional<ResistancePack> own;
    piola += pack_damping(view, motion, pack, materials, first, tets, own).stress();
  }
  pack.write_gradients(piola, pack_volumes(view, first, count), count, corner_gradients);
}

/// See kept_deformation.
void write_kept(const TetView& view, const SolidMotion& motion, const TetPack& pack, const LanesVec3& s,
                std::size_t first, int count, KeptDeformation* kept) {
  const auto size = [](WideLanes a) { return larger(a, -a); };
  const WideLanes least = -larger(larger(-size(s[0]), -size(s[1])), -size(s[2]));
  for (int lane = 0; lane < count; ++lane) {
    const Real reach =
        kept_reach(view, motion, first + static_cast<std::size_t>(lane)) * static_cast<Real>(least.v[lane]);
    kept[lane] = {lane_of(pack.f, lane), reach * reach};
  }
}

/// Gradients and blocks of the tets first, first + 1, ... of a pack with `count` tets. `kept`, unless null,
/// gets where the blocks were computed.
void pack_gradients_and_blocks(const TetView& view, const SolidMotion& motion, const TetPack& pack,
                               std::size_t first, int count, Vec3* corner_gradients, Mat3* corner_blocks,
                               KeptDeformation* kept) {
  const auto tets = static_cast<std::size_t>(count);
  const MaterialPack materials(view, first, tets);
  const Svd3<WideLanes> svd = pack.decomposition();
  LanesMat3 piola =
      materials.by_model([&](ElasticModel model) { return first_piola(model, pack.f, svd, materials.lame); });
  StressDerivativeOf<WideLanes> elastic =
      materials.by_model([&](ElasticModel model) { return stress_derivative(model, svd, materials.lame); });
  project(elastic);
  const WideLanes volume = pack_volumes(view, first, count);
  const WideLanes rate = volume * materials.damping / WideLanes(motion.dt);
  std::optional<ResistancePack> own;
  const ResistancePack* damping = nullptr;
  if (materials.is_damped && motion.is_at_start()) {
    damping = &own.emplace(elastic, svd.s);
  } else if (materials.is_damped) {
    const PackDamping of_pack = pack_damping(view, motion, pack, materials, first, tets, own);
    piola += of_pack.stress();
    damping = of_pack.resistance;
  }
  pack.write_gradients(piola, volume, count, corner_gradients);
  pack.write_blocks(elastic, volume, damping, rate, count, corner_blocks);
  if (kept != nullptr) write_kept(view, motion, pack, svd.s, first, count, kept);
}

/// The same for kept blocks, which stay where they serve all tets of the pack: whether a tet's blocks are
/// renewed depends on the others of its pack.
void renew_pack(const TetView& view, const SolidMotion& motion, std::size_t first, int count,
                Vec3* corner_gradients, const KeptBlocks& blocks, KeptDeformation* kept) {
  const TetPack pack(view, motion.x, first, static_cast<std::size_t>(count));
  bool serves = blocks.known;
  for (int lane = 0; serves && lane < count; ++lane)
    serves = kept[lane].serves(lane_of(pack.f, lane), blocks.share);
  if (!serves)
    return pack_gradients_and_blocks(view, motion, pack, first, count, corner_gradients, blocks.blocks, kept);
  pack_gradients(view, motion, pack, first, count, corner_gradients);
  for (int lane = 0; lane < count; ++lane) blocks.renewed[lane] = 0;
}

#endif

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

namespace {

#if !STICKSLIP_ON_CUDA
/// Of packs, for the grain of as many tets.
Grain pack_grain(Grain of_tets) { return Grain{std::max<std::size_t>(1, of_tets.size / kPackSize)}; }
#endif

/// What damping needs of x_t, of every damped tet.
void find_start(Context& ctx, const TetView& view, std::size_t n, const Vec3* x_t, TetStart* out) {
  const TetView tets = view;
#if STICKSLIP_ON_CUDA
  launch(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        const ElasticMaterial& material = tets.material(i);
        if (material.damping > Real(0)) out[i] = damping_stiffness(material, svd3(tets.deformation(i, x_t)));
      },
      kHeavy);
#else
  launch(
      ctx, pack_count(n),
      [=](std::size_t p) {
        const std::size_t first = p * kPackSize, count = std::min(kPackSize, n - first);
        const MaterialPack materials(tets, first, count);
        if (!materials.is_damped) return;
        const TetPack pack(tets, x_t, first, count);
        out[p] = {pack_resistance(pack, materials), pack.f};
      },
      pack_grain(kHeavy));
#endif
}

}  // namespace

TetTerm::TetTerm(Context& ctx, const TermElements& elements, std::span<const double> own_weights) {
  const auto& rest = elements.rest;
  const auto& tets = elements.stencils;
  const auto& material = elements.material;
  std::vector<Mat3> inverse_rest(tets.size());
  std::vector<Real> weights(tets.size()), sizes(tets.size());
  for (std::size_t i = 0; i < tets.size(); ++i) {
    const Vec<double, 3>& x0 = rest[tets[i][0]];
    const auto edges =
        Mat<double, 3>::from_columns({rest[tets[i][1]] - x0, rest[tets[i][2]] - x0, rest[tets[i][3]] - x0});
    const auto inverse_edges = inverse(edges);
    for (int k = 0; k < 9; ++k) inverse_rest[i].m[k] = static_cast<Real>(inverse_edges.m[k]);
    const double share = elements.share.empty() ? 1.0 : elements.share[i];
    const double weight = own_weights.empty() ? share * determinant(edges) / 6.0 : own_weights[i];
    weights[i] = static_cast<Real>(weight);
    sizes[i] = static_cast<Real>(std::cbrt(6 * weight));
    const auto m = static_cast<std::size_t>(material[i]);
    if (material_volume_.size() <= m) material_volume_.resize(m + 1, 0.0);
    material_volume_[m] += weight;
  }
  tets_.upload(ctx, tets);
  inverse_rest_.upload(ctx, inverse_rest);
#if !STICKSLIP_ON_CUDA
  std::vector<LanesMat3> packs;
  for (std::size_t i = 0; i < tets.size(); i += kPackSize)
    packs.push_back(lanes_of(&inverse_rest[i], std::min(kPackSize, tets.size() - i)));
  inverse_rest_packs_.upload(ctx, packs);
#endif
  volumes_.upload(ctx, weights);
  sizes_.upload(ctx, sizes);
  tet_material_.upload(ctx, material);
}

void TetTerm::set_materials(Context& ctx, std::span<const Material> materials) {
  std::vector<ElasticMaterial> elastic;
  elastic.reserve(materials.size() + 1);
  for (const Material& material : materials) elastic.push_back(elastic_material(material));
  elastic.push_back(extra_material());
  materials_.upload(ctx, elastic);
  forbids_inversion_ = is_damped_ = has_start_ = false;
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
          static_cast<Real>(material.damping), static_cast<Real>(material.density)};
}

ElasticMaterial ControlTetTerm::elastic_material(const Material& material) const {
  constexpr ElasticModel model = ElasticModel::orthogonality;
  return {model, lame_parameters(model, static_cast<Real>(material.young), 0), 0, 0};
}

std::vector<double> ControlTetTerm::weights_of(const TermElements& tets) {
  std::vector<double> weights(tets.object_volume.begin(), tets.object_volume.end());
  for (std::size_t i = 0; i < tets.stiffness.size(); ++i)
    if (tets.stiffness[i] > 0) weights[i] = tets.stiffness[i];
  return weights;
}

ElasticMaterial ControlTetTerm::extra_material() const {
  return {ElasticModel::orthogonality, {static_cast<Real>(rigidity_), Real(0)}, Real(0), Real(0)};
}

TetView TetTerm::view_of(Context& ctx, const SolidMotion& motion) {
  // [bytes] beyond which the elements of a large scene need the memory for other things.
  constexpr std::size_t kMostMemory = std::size_t{1} << 29;
#if STICKSLIP_ON_CUDA
  const std::size_t count = size();
#else
  const std::size_t count = pack_count(size());
#endif
  TetView tets = view();
  if (!is_damped_ || !motion.x_t_kept || motion.is_at_start() || count * sizeof(TetStart) > kMostMemory)
    return tets;
  if (!has_start_) {
    start_.resize(ctx, count);
    find_start(ctx, tets, size(), motion.x_t, start_.data());
    has_start_ = true;
  }
  tets.start = start_.data();
  return tets;
}

void TetTerm::energy(Context& ctx, const SolidMotion& motion, double* out) {
  const TetView tets = view_of(ctx, motion);
  const SolidMotion m = motion;
#if STICKSLIP_ON_CUDA
  reduce_sum(
      ctx, size(), [=] SS_LAMBDA(std::size_t i) { return tet_energy(tets, m, i); }, out, kMedium);
#else
  const std::size_t n = size();
  reduce_sum(
      ctx, pack_count(n),
      [=](std::size_t p) {
        return pack_energy(tets, m, p * kPackSize, std::min(kPackSize, n - p * kPackSize));
      },
      out, pack_grain(kMedium));
#endif
}

void TetTerm::gradient(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients) {
  const TetView tet_view = view_of(ctx, motion);
  const SolidMotion m = motion;
#if STICKSLIP_ON_CUDA
  launch(
      ctx, tets.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        const std::size_t tet = tets.begin + i;
        tet_gradient(tet_view, m, tet, tet_view.deformation(tet, m.x), gradient);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
      },
      kMedium);
#else
  launch(
      ctx, pack_count(tets.size()),
      [=](std::size_t p) {
        const std::size_t first = p * kPackSize, count = std::min(kPackSize, tets.size() - first);
        const TetPack pack(tet_view, m.x, tets.begin + first, count);
        pack_gradients(tet_view, m, pack, tets.begin + first, static_cast<int>(count),
                       corner_gradients + 4 * first);
      },
      pack_grain(kMedium));
#endif
}

void TetTerm::gradient_and_hessian(Context& ctx, const SolidMotion& motion, IndexRange tets,
                                   Vec3* corner_gradients, Mat3* corner_blocks) {
  const TetView tet_view = view_of(ctx, motion);
  const SolidMotion m = motion;
#if STICKSLIP_ON_CUDA
  launch(
      ctx, tets.size(),
      [=] SS_LAMBDA(std::size_t i) {
        CornerVectors gradient{};
        CornerBlocks blocks{};
        const std::size_t tet = tets.begin + i;
        tet_gradient_and_blocks(tet_view, m, tet, tet_view.deformation(tet, m.x), gradient, blocks);
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
        for (int k = 0; k < kCornerBlocks; ++k) corner_blocks[kCornerBlocks * i + k] = blocks.b[k];
      },
      kHeavy);
#else
  launch(
      ctx, pack_count(tets.size()),
      [=](std::size_t p) {
        const std::size_t first = p * kPackSize, count = std::min(kPackSize, tets.size() - first);
        const TetPack pack(tet_view, m.x, tets.begin + first, count);
        pack_gradients_and_blocks(tet_view, m, pack, tets.begin + first, static_cast<int>(count),
                                  corner_gradients + 4 * first, corner_blocks + kCornerBlocks * first,
                                  nullptr);
      },
      pack_grain(kHeavy));
#endif
}

void TetTerm::relinearise(Context& ctx, const SolidMotion& motion, IndexRange tets, Vec3* corner_gradients,
                          const KeptBlocks& kept) {
  if (!keeps_blocks()) return gradient_and_hessian(ctx, motion, tets, corner_gradients, kept.blocks);
  const TetView tet_view = view_of(ctx, motion);
  const SolidMotion m = motion;
  kept_.resize(ctx, size());
  KeptDeformation* at = kept_.data() + tets.begin;
  const KeptBlocks out = kept;
#if STICKSLIP_ON_CUDA
  launch(
      ctx, tets.size(),
      [=] SS_LAMBDA(std::size_t i) {
        const std::size_t tet = tets.begin + i;
        const Mat3 f = tet_view.deformation(tet, m.x);
        CornerVectors gradient{};
        if (out.known && at[i].serves(f, out.share)) {
          tet_gradient(tet_view, m, tet, f, gradient);
          out.renewed[i] = 0;
        } else {
          CornerBlocks blocks{};
          at[i] = tet_gradient_and_blocks(tet_view, m, tet, f, gradient, blocks);
          for (int k = 0; k < kCornerBlocks; ++k) out.blocks[kCornerBlocks * i + k] = blocks.b[k];
        }
        for (int a = 0; a < 4; ++a) corner_gradients[4 * i + a] = gradient[a];
      },
      kHeavy);
#else
  launch(
      ctx, pack_count(tets.size()),
      [=](std::size_t p) {
        const std::size_t first = p * kPackSize, count = std::min(kPackSize, tets.size() - first);
        renew_pack(tet_view, m, tets.begin + first, static_cast<int>(count), corner_gradients + 4 * first,
                   out.from(first), at + first);
      },
      pack_grain(kHeavy));
#endif
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
