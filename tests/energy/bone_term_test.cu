#include "gpu/energy/bone_term.cuh"

#include "tests/backend_test.h"
#include "tests/energy/elastic_material.h"
#include "tests/energy/group_solid.h"
#include "tests/energy/term_ranges.h"
#include "tests/fixtures/frame_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using namespace stickslip::test;
using fixtures::Vec3d;

#define STICKSLIP_MODEL(name, ...) ElasticModel::name,
constexpr ElasticModel kBoneModels[] = {STICKSLIP_ELASTIC_MODELS(STICKSLIP_MODEL)};
#undef STICKSLIP_MODEL

Model bar_model(int bones) {
  Model model;
  fixtures::add_frame_bar(model, "bar", {2, 1, 1}, {1, 0, 0}, bones);
  finalize(model);
  return model;
}
Model arc_model(int bones) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("default");
  const fixtures::BoxMesh mesh = fixtures::arc_mesh(1.5, 0.5, 12);
  add_frames(model, "arc", mesh.nodes, mesh.tets, {fixtures::arc_of_frames(1.5, bones)}, 0);
  finalize(model);
  return model;
}

/// The bones of a model, at the points of its frames.
struct Bones : GroupSolid<BoneTerm> {
  Bones(Context& context, const Model& m, const Material& material)
      : GroupSolid(context, m, {material}, kBoneStencils,
                   static_cast<std::size_t>(m.objects[0].collides_from)) {}

  Column gradient() { return flat(GroupSolid::gradient().data(), nodes()); }
  void displace(Random& random, Real size) {
    for (Vec3& p : x) p += random.vector(size);
    for (Vec3& p : x_t) p += random.vector(size);
  }
};

/// Where the frames of a straight bar along x from 0 on put a point, with none of the code under test: hats
/// along x, and barycentric coordinates by Cramer's rule.
Vec3d skinned(const Bones& bar, double bone_length, const Vec3d& at) {
  const int last = bar.nodes() / 4 - 2, bone = std::clamp(static_cast<int>(at[0] / bone_length), 0, last);
  const double s = at[0] / bone_length - bone;
  Vec3d sum{0, 0, 0};
  for (int side = 0; side < 2; ++side) {
    const auto rest = [&](int k) {
      return bar.model.rest_positions[static_cast<std::size_t>(4 * (bone + side) + k)];
    };
    const auto now = [&](int k) {
      return bar.x[static_cast<std::size_t>(4 * (bone + side) + k)].cast<double>();
    };
    const auto volume = [](const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
      return dot(b - a, cross(c - a, d - a));
    };
    const double whole = volume(rest(0), rest(1), rest(2), rest(3));
    const double part[4] = {volume(at, rest(1), rest(2), rest(3)), volume(rest(0), at, rest(2), rest(3)),
                            volume(rest(0), rest(1), at, rest(3)), volume(rest(0), rest(1), rest(2), at)};
    for (int k = 0; k < 4; ++k) sum += ((side == 0 ? 1 - s : s) * part[k] / whole) * now(k);
  }
  return sum;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

/// The integral over the bar of the energy density of the blended map, whose gradient comes from differences.
BACKEND_TEST(BoneTerm, EnergyIsTheIntegralOverTheBlendedMap) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kBoneModels) {
    SCOPED_TRACE(static_cast<int>(model));
    Bones bar(ctx, bar_model(2), elastic_material(model, 5, 0.3));
    bar.displace(random, Real(0.02));
    const Lame lame = lame_parameters(model, Real(5), Real(0.3));
    const auto energy_by = [&](int n) {  // the middles of n^3 cells per bone
      double sum = 0;
      for (int i = 0; i < 2 * n; ++i)
        for (int j = 0; j < n * n; ++j) {
          const Vec3d at{(i + 0.5) / n, (j / n + 0.5) / n - 0.5, (j % n + 0.5) / n - 0.5};
          Mat3 f;
          for (int c = 0; c < 3; ++c) {
            constexpr double h = 1e-4;
            Vec3d up = at, down = at;
            up[c] += h;
            down[c] -= h;
            const Vec3d d = (skinned(bar, 1, up) - skinned(bar, 1, down)) / (2 * h);
            for (int r = 0; r < 3; ++r) f(r, c) = static_cast<Real>(d[r]);
          }
          sum += double(energy_density(model, f, lame)) / (n * n * n);
        }
      return sum;
    };
    // Richardson: the midpoint rule has an error of 1/n^2.
    const double want = (4 * energy_by(12) - energy_by(6)) / 3;
    EXPECT_GT(want, 1e-3);
    EXPECT_NEAR(bar.energy(), want, 0.01 * want);
  }
}

BACKEND_TEST(BoneTerm, GradientMatchesFiniteDifferences) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kBoneModels)
    for (const double damping : {0.0, 0.05}) {
      SCOPED_TRACE(static_cast<int>(model));
      Bones arc(ctx, arc_model(3), elastic_material(model, 5, 0.3, damping));
      arc.displace(random, Real(0.005));
      const auto energy = [&] { return arc.energy(); };
      expect_near(arc.gradient(), difference_gradient(arc.x.data(), arc.nodes(), energy),
                  300 * kDifferenceError);
    }
}

// Under tension no eigenvalue is negative, so that projection changes nothing.
BACKEND_TEST(BoneTerm, HessianMatchesFiniteDifferencesUnderTension) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kBoneModels) {
    SCOPED_TRACE(static_cast<int>(model));
    Bones arc(ctx, arc_model(2), elastic_material(model, 5, 0.3));
    arc.move([](const Vec3d& p) { return (1.15 * p).cast<Real>(); });
    for (Vec3& p : arc.x) p += random.vector(Real(0.002));
    const auto [gradient, hessian] = arc.gradient_and_hessian();
    expect_near(gradient, arc.gradient(), kRounding);
    const auto g = [&] { return arc.gradient(); };
    expect_near(hessian, difference_jacobian(arc.x.data(), arc.nodes(), g), 300 * kDifferenceError);
  }
}

BACKEND_TEST(BoneTerm, RigidMotionsCostNothingAndUniformStrainIsExact) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const ElasticModel model : kBoneModels) {
    SCOPED_TRACE(static_cast<int>(model));
    Bones arc(ctx, arc_model(4), elastic_material(model, 5, 0.3));
    const Mat3 turn = random.rotation();
    arc.move([&](const Vec3d& p) { return turn * p.cast<Real>() + Vec3{Real(3), Real(-1), Real(2)}; });
    EXPECT_NEAR(arc.energy(), 0, 20 * kRounding);
    EXPECT_LT(arc.gradient().norm(), 20 * kRounding);
    const Mat3 f = Mat3::identity() + random.matrix(Real(0.1));
    arc.move([&](const Vec3d& p) { return f * p.cast<Real>(); });
    const double density = double(energy_density(model, f, lame_parameters(model, Real(5), Real(0.3))));
    EXPECT_NEAR(arc.energy(), density * solid_volume(arc.model, arc.model.objects[0]), 20 * kRounding);
    EXPECT_GT(density, 1e-3);
  }
}

/// A uniform stress: none of the inner frames feels a force, and the last one feels that of the section.
BACKEND_TEST(BoneTerm, AStretchedBarCarriesItsModulusTimesItsSection) {
  for (const ElasticModel model : {ElasticModel::fixed_corotated, ElasticModel::arap}) {
    const double nu = model == ElasticModel::arap ? 0 : 0.3, strain = 1e-6;
    Bones bar(ctx, bar_model(4), elastic_material(model, 5, nu));
    bar.move([&](const Vec3d& p) {
      return Vec3d{(1 + strain) * p[0], (1 - nu * strain) * p[1], (1 - nu * strain) * p[2]}.cast<Real>();
    });
    const Column g = bar.gradient();
    const double want = 5 * strain;  // of a section of 1 m^2
    for (int frame = 0; frame < 5; ++frame) {
      Vec3d force{0, 0, 0};
      for (int k = 0; k < 12; ++k) force[k % 3] += g[12 * frame + k];
      EXPECT_NEAR(force[0], frame == 0 ? -want : frame == 4 ? want : 0, 1e-4 * want + 100 * kRounding);
      EXPECT_NEAR(norm(Vec3d{0, force[1], force[2]}), 0, 1e-4 * want + 100 * kRounding);
      for (int k = 0; k < 12 && frame > 0 && frame < 4; ++k)
        EXPECT_NEAR(g[12 * frame + k], 0, 1e-4 * want + 100 * kRounding);
    }
  }
}

BACKEND_TEST(BoneTerm, InvertedBonesAreCounted) {
  Bones bar(ctx, bar_model(3), elastic_material(ElasticModel::neo_hookean, 5, 0.3));
  const auto number = [&](auto write) {
    Buffer<Vec3> at(ctx, bar.x);
    Buffer<double> out(ctx, 1);
    write(at.data(), out.data());
    return read_back(ctx, out.data());
  };
  const auto inverted = [&] {
    return number([&](const Vec3* x, double* out) { bar.term.count_inverted(ctx, x, out); });
  };
  const auto least = [&] {
    return number([&](const Vec3* x, double* out) { bar.term.min_determinant(ctx, x, true, out); });
  };
  EXPECT_EQ(inverted(), 0);
  EXPECT_NEAR(least(), 1, 20 * kRounding);
  EXPECT_TRUE(bar.term.forbids_inversion());
  for (std::size_t i = 8; i < bar.x.size(); ++i) bar.x[i][0] = Real(-2) - bar.x[i][0];  // the last two frames
  EXPECT_GE(inverted(), 1);
  EXPECT_LT(least(), 0);
}

BACKEND_TEST(BoneTerm, RangesAreParts) {
  Random random;
  SCOPED_TRACE(random.trace());
  // Without damping: its resistance at x_t differs by rounding where it is kept.
  Bones bar(ctx, bar_model(4), elastic_material(ElasticModel::fixed_corotated, 9, 0.3));
  for (Vec3& p : bar.x) p += random.vector(Real(0.02));
  const Buffer<Vec3> x(ctx, bar.x), x_t(ctx, bar.x_t);
  const auto motion = [&](bool kept) { return SolidMotion{x.data(), x_t.data(), bar.dt, nullptr, kept}; };
  expect_ranges_are_parts(ctx, bar.term, motion, {{0, 6}, {3, 17}, {20, 24}});
}
