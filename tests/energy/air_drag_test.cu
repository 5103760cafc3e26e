#include "gpu/law/drag_check.h"
#include "tests/backend_test.h"
#include "tests/energy/cloth_sheet.h"
#include "tests/fixtures/frame_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// Coefficients and sizes of one, so that drag has the magnitude of elasticity.
Material draggy() {
  Material m = cloth_material(2, 0.3);
  m.drag = 1.3;
  m.skin_drag = 0.4;
  return m;
}

Model blown_cloth() {
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::irregular, 1, 1, 2, 2);
  for (auto& p : mesh.nodes) p[2] = 0.2 * p[0] * p[0];
  return fixtures::cloth_model(mesh, draggy(), 0.2, {1, 0, 0});
}

Model blown_rods() {
  Model model;
  model.materials = {draggy()};
  model.material_names = {"fibre"};
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> segments;
  for (int i = 0; i < 5; ++i) nodes.push_back({0.5 * i, 0.1 * i * i, 0.05 * i});
  for (int i = 0; i < 4; ++i) segments.push_back({i, i + 1});
  add_rods(model, "rod", nodes, segments, 0, 0.3);
  finalize(model);
  return model;
}

Model blown_frames() {
  Model model;
  model.materials = {draggy()};
  model.material_names = {"wood"};
  fixtures::add_frame_bar(model, "bar", {2, 0.5, 0.5}, {1, 0, 0}, 2, {3, 1, 1});
  finalize(model);
  return model;
}

Wind breeze(double density) {
  Params params;
  params.air_density = density;
  params.wind_speed = 1.5;
  params.wind_heading = 40;
  params.wind_rise = 20;
  params.gust = 0.5;
  params.gust_period = 0.7;
  return wind_at(params, 0.3);
}

/// A model in the wind, at host positions; nodes were at `start` at the start of the step.
struct InWind {
  Context& ctx;
  Model model;
  EnergyTerms terms;
  Real dt = Real(0.1);
  std::vector<Vec3> x, start, slopes_at;  // slopes_at: velocities; empty: forces are not linear

  InWind(Context& context, Model m, Random& random) : ctx(context), model(std::move(m)) {
    terms.load(ctx, model);
    for (const auto& p : model.rest_positions) start.push_back(p.template cast<Real>());
    for (Vec3& p : start) p += random.vector(Real(0.05));
    x = start;
    for (Vec3& p : x) p += random.vector(Real(0.1));
  }
  int nodes() const { return static_cast<int>(x.size()); }

  template <class Work>
  auto with_motion(Work work) {
    const Buffer<Vec3> at(ctx, x), from(ctx, start), slopes(ctx, slopes_at);
    SolidMotion motion{at.data(), from.data(), dt};
    motion.air = {.start = from.data(), .still = from.data()};
    if (!slopes_at.empty()) motion.air.linear_at = slopes.data();
    return work(motion);
  }
  double energy() {
    return with_motion([&](const SolidMotion& motion) {
      Buffer<double> out(ctx, 1);
      terms.energy(ctx, motion, out.data());
      return read_back(ctx, out.data());
    });
  }
  Column gradient() {
    return with_motion([&](const SolidMotion& motion) {
      Buffer<Vec3> out(ctx, 4 * terms.size());
      terms.gradient(ctx, motion, {0, terms.size()}, out.data());
      return by_nodes(out.download(ctx));
    });
  }
  Column by_nodes(const std::vector<Vec3>& corners) const {
    Column sum = Column::Zero(3 * nodes());
    for (std::size_t c = 0; c < corners.size(); ++c)
      if (const std::int32_t node = terms.stencils()[c / 4][static_cast<int>(c % 4)]; node >= 0)
        for (int k = 0; k < 3; ++k) sum[3 * node + k] += static_cast<double>(corners[c][k]);
    return sum;
  }
  Dense hessian() {
    return with_motion([&](const SolidMotion& motion) {
      Buffer<Vec3> out(ctx, 4 * terms.size());
      Buffer<Mat3> blocks(ctx, kCornerBlocks * terms.size());
      terms.gradient_and_hessian(ctx, motion, {0, terms.size()}, out.data(), blocks.data());
      const std::vector<Mat3> host = blocks.download(ctx);
      Dense h = Dense::Zero(3 * nodes(), 3 * nodes());
      for (std::size_t s = 0; s < terms.size(); ++s) {
        CornerBlocks of_stencil;
        std::copy_n(&host[kCornerBlocks * s], kCornerBlocks, of_stencil.b);
        const Dense local = dense(of_stencil);
        const Vec4i& n = terms.stencils()[s];
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < 12; ++j)
            if (n[i / 3] >= 0 && n[j / 3] >= 0) h(3 * n[i / 3] + i % 3, 3 * n[j / 3] + j % 3) += local(i, j);
      }
      return h;
    });
  }
  /// What air adds.
  Column drag() {
    terms.set_wind(breeze(1.2));
    const Column with = gradient();
    terms.set_wind({});
    return with - gradient();
  }
  Dense drag_slope() {
    terms.set_wind(breeze(1.2));
    const Dense with = hessian();
    terms.set_wind({});
    return with - hessian();
  }
  std::vector<Vec3> velocities() const {
    std::vector<Vec3> v;
    for (std::size_t i = 0; i < x.size(); ++i) v.push_back((x[i] - start[i]) / dt);
    return v;
  }
  /// The forces of the judge.
  Column judged() {
    const std::vector<AirFace> faces = air_faces(model);
    const std::vector<Vec3> v = velocities();
    const DragCheck check{
        faces.data(), faces.size(), start.data(), v.data(), slopes_at.empty() ? nullptr : slopes_at.data(),
        breeze(1.2)};
    Column sum = Column::Zero(3 * nodes());
    for (std::size_t k = 0; k < check.corners(); ++k)
      if (check.node(k) >= 0)
        for (int c = 0; c < 3; ++c) sum[3 * check.node(k) + c] += check.force(k)[c];
    return sum;
  }
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(AirDrag, GradientIsThatOfTheEnergyAndTheForceOfTheJudge) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Model& model : {blown_cloth(), blown_rods(), blown_frames()}) {
    InWind in(ctx, model, random);
    const Column drag = in.drag();
    EXPECT_GT(drag.norm(), 0.1);
    expect_near(drag, -in.judged(), 100 * kRounding);
    in.terms.set_wind(breeze(1.2));
    expect_near(in.gradient(), difference_gradient(in.x.data(), in.nodes(), [&] { return in.energy(); }),
                500 * kDifferenceError);
  }
}

BACKEND_TEST(AirDrag, SlopeIsThatOfTheForceAndPositiveSemidefinite) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Model& model : {blown_cloth(), blown_rods(), blown_frames()}) {
    InWind in(ctx, model, random);
    const Dense slope = in.drag_slope();
    EXPECT_GT(slope.norm(), 0.1);
    expect_near(slope, difference_jacobian(in.x.data(), in.nodes(), [&] { return in.drag(); }),
                500 * kDifferenceError);
    expect_spd(slope);
  }
}

// At velocity level forces are linear around given velocities: there value and slope are those of the drag.
BACKEND_TEST(AirDrag, LinearForceTouchesTheTrueOne) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Model& model : {blown_cloth(), blown_rods(), blown_frames()}) {
    InWind in(ctx, model, random);
    const Column there = in.drag();
    const Dense slope = in.drag_slope();
    in.slopes_at = in.velocities();
    expect_near(in.drag(), there, 100 * kRounding);
    Column moved(3 * in.nodes());
    for (int i = 0; i < in.nodes(); ++i) {
      const Vec3 d = random.vector(Real(0.2));
      in.x[static_cast<std::size_t>(i)] += d;
      for (int k = 0; k < 3; ++k) moved[3 * i + k] = static_cast<double>(d[k]);
    }
    expect_near(in.drag(), there + slope * moved, 500 * kRounding);
    expect_near(in.drag(), -in.judged(), 500 * kRounding);
    expect_near(in.drag_slope(), slope, 100 * kRounding);
  }
}

BACKEND_TEST(AirDrag, PowerIsThatOfTheForces) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const Model& model : {blown_cloth(), blown_rods(), blown_frames()}) {
    InWind in(ctx, model, random);
    const std::vector<Vec3> v = in.velocities();
    Column speeds(3 * in.nodes());
    for (int i = 0; i < 3 * in.nodes(); ++i) speeds[i] = v[static_cast<std::size_t>(i / 3)][i % 3];
    const double want = -in.drag().dot(speeds);
    in.terms.set_wind(breeze(1.2));
    const double power = in.with_motion([&](SolidMotion motion) {
      const Buffer<Vec3> velocity(ctx, v);
      Buffer<double> out(ctx, 1);
      motion.air.velocity = velocity.data();
      in.terms.drag_power(ctx, motion, out.data());
      return read_back(ctx, out.data());
    });
    EXPECT_NEAR(power, want, 100 * kRounding * std::abs(want));
  }
}
