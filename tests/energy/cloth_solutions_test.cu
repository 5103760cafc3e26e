// Sheets in equilibrium against beams, plates, the elastica and the catenary.
#include "gpu/model/element_group.h"
#include "tests/backend_test.h"
#include "tests/energy/cloth_sheet.h"
#include "tests/fixtures/refinement.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using fixtures::cloth_model;
using fixtures::refine;
using fixtures::Refinement;
using fixtures::sheet_mesh;
using fixtures::SheetMesh;
using fixtures::Weave;

constexpr double kLength = 1, kWidth = 0.2, kThickness = 0.01, kYoung = 1e6;
constexpr double kInertia = kWidth * kThickness * kThickness * kThickness / 12;
constexpr double kStiffness = kYoung * kInertia;  // E I [N m^2]

/// A strip along x whose first two columns of nodes are held: it is clamped half a cell from its end. The
/// hinges of the second column have the curvature of half a cell on each side.
struct Cantilever {
  ClothSheet sheet;
  double cell, length;
  std::vector<bool> held;
  std::vector<int> tip;

  Cantilever(Context& ctx, Weave weave, int nx, double poisson = 0)
      : sheet(ctx, cloth_model(sheet_mesh(weave, kLength, kWidth, nx, std::max(1, nx / 5)),
                               cloth_material(kYoung, poisson), kThickness)),
        cell(kLength / nx),
        length(kLength - cell / 2) {
    for (int i = 0; i < sheet.nodes(); ++i) {
      const double at = x(i);
      held.push_back(at < 1.01 * cell);
      if (at > kLength - 1e-9) tip.push_back(i);
    }
  }
  double x(int i) const { return sheet.model.rest_positions[static_cast<std::size_t>(i)][0]; }
  /// A force on the end, spread over its edges.
  Column at_tip(const Vec<double, 3>& force) const {
    Column load = Column::Zero(3 * sheet.nodes());
    const double edges = static_cast<double>(tip.size() - 1);
    for (const int i : tip) {
      const double y = sheet.model.rest_positions[static_cast<std::size_t>(i)][1];
      const double share = y < 1e-9 || y > kWidth - 1e-9 ? 0.5 / edges : 1 / edges;
      for (int c = 0; c < 3; ++c) load[3 * i + c] += share * force[c];
    }
    return load;
  }
  /// [m] of the end, on average.
  Vec<double, 3> tip_position() const {
    Vec<double, 3> sum{0, 0, 0};
    for (const int i : tip) sum += sheet.x[static_cast<std::size_t>(i)].template cast<double>();
    return sum / static_cast<double>(tip.size());
  }
};

/// Angle and position at the end of a clamped elastica, E I theta'' = -N(s, theta): theta(0) = 0,
/// theta'(length) = 0; by shooting with Runge-Kutta steps. `moment_rate`(s, theta) = theta''.
template <class Rate>
Vec<double, 3> elastica_end(double length, double most_curvature, Rate moment_rate) {
  constexpr int steps = 2000;
  const double h = length / steps;
  Vec<double, 3> end{0, 0, 0};
  const auto shoot = [&](double curvature) {
    double theta = 0, kappa = curvature, s = 0;
    end = {0, 0, 0};
    for (int k = 0; k < steps; ++k, s += h) {
      const double k1 = kappa, l1 = moment_rate(s, theta);
      const double k2 = kappa + h / 2 * l1, l2 = moment_rate(s + h / 2, theta + h / 2 * k1);
      const double k3 = kappa + h / 2 * l2, l3 = moment_rate(s + h / 2, theta + h / 2 * k2);
      const double k4 = kappa + h * l3, l4 = moment_rate(s + h, theta + h * k3);
      const double middle = theta + h / 2 * k1 + h * h / 8 * l1;
      const double next = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      end[0] += h / 6 * (std::cos(theta) + 4 * std::cos(middle) + std::cos(next));
      end[1] += h / 6 * (std::sin(theta) + 4 * std::sin(middle) + std::sin(next));
      theta = next;
      kappa += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    end[2] = theta;
    return kappa;
  };
  double low = 0, high = most_curvature;
  for (int k = 0; k < 100; ++k) {
    const double middle = (low + high) / 2;
    (shoot(middle) < 0 ? low : high) = middle;
  }
  return end;
}

/// A ring between the radii 1/2 and 1 in cells of about `cell`.
SheetMesh annulus_mesh(double cell) {
  const int rings = static_cast<int>(std::lround(0.5 / cell));
  const int sectors = static_cast<int>(std::lround(1.5 * M_PI / cell));
  SheetMesh mesh;
  for (int j = 0; j <= rings; ++j)
    for (int i = 0; i < sectors; ++i) {
      const double radius = 0.5 + 0.5 * j / rings, angle = 2 * M_PI * i / sectors;
      mesh.nodes.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
  for (int j = 0; j < rings; ++j)
    for (int i = 0; i < sectors; ++i) {
      const int a = j * sectors + i, b = j * sectors + (i + 1) % sectors;
      mesh.triangles.push_back({a, a + sectors, b});
      mesh.triangles.push_back({b, a + sectors, b + sectors});
    }
  return mesh;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

#define SKIP_IN_FLOAT \
  if (sizeof(Real) < 8) GTEST_SKIP() << "the bending of thin sheets drowns in the rounding of float"

// A small force at the end deflects it by P L^3 / (3 E I), whatever the mesh.
BACKEND_TEST(ClothSolutions, AStripBendsAsABeam) {
  SKIP_IN_FLOAT;
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral}) {
    const Refinement errors = refine(0.1, 3, [&](double cell) {
      Cantilever strip(ctx, weave, static_cast<int>(std::lround(1 / cell)));
      const double force = 1e-5;
      EXPECT_GE(strip.sheet.settle(strip.held, strip.at_tip({0, 0, -force}), 1e-5), 0);
      const double l = strip.length, want = force * l * l * l / (3 * kStiffness);
      return -strip.tip_position()[2] / want - 1;
    });
    EXPECT_LT(errors.errors[2], weave == Weave::one_diagonal ? 5e-4 : 5e-3) << errors.text();
  }
}

// Forces P at two opposite corners of a square and -P at the others twist it into w = k x y, with
// k = P / (2 D (1 - nu)).
BACKEND_TEST(ClothSolutions, APlateTwistsUnderForcesAtItsCorners) {
  SKIP_IN_FLOAT;
  const double nu = 0.3, edge = 1, force = 1e-5;
  const double d = kYoung * kThickness * kThickness * kThickness / (12 * (1 - nu * nu));
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral}) {
    const Refinement errors = refine(0.25, 3, [&](double cell) {
      const int n = static_cast<int>(std::lround(edge / cell));
      ClothSheet sheet(
          ctx, cloth_model(sheet_mesh(weave, edge, edge, n, n), cloth_material(kYoung, nu), kThickness));
      Column load = Column::Zero(3 * sheet.nodes());
      std::vector<bool> held(sheet.x.size());
      std::vector<int> corners;
      for (int i = 0; i < sheet.nodes(); ++i) {
        const auto& p = sheet.model.rest_positions[static_cast<std::size_t>(i)];
        const bool left = p[0]<1e-9, right = p[0]> edge - 1e-9, low = p[1]<1e-9, high = p[1]> edge - 1e-9;
        if ((left || right) && (low || high)) corners.push_back(i);
      }
      // Three corners are held and the fourth has the force: the others have it by reaction.
      for (int k = 0; k < 3; ++k) held[static_cast<std::size_t>(corners[static_cast<std::size_t>(k)])] = true;
      const int loaded = corners[3];
      load[3 * loaded + 2] = force;
      EXPECT_GE(sheet.settle(held, load, 1e-5), 0);
      // The plane of the three others stays, so the fourth rises by four times k (edge / 2)^2.
      const double want = force / (2 * d * (1 - nu)) * edge * edge;
      return sheet.x[static_cast<std::size_t>(loaded)][2] / want - 1;
    });
    EXPECT_LT(errors.errors[2], 5e-3) << errors.text();
  }
}

// A strip that hangs under its weight: E I theta'' = -w (L - s) cos theta.
BACKEND_TEST(ClothSolutions, AHeavyStripIsAnElastica) {
  SKIP_IN_FLOAT;
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral})
    for (const double weight : {2.0, 20.0}) {  // w L^3 / (E I)
      Cantilever strip(ctx, weave, 40);
      const double per_length = weight * kStiffness;
      Column load = Column::Zero(3 * strip.sheet.nodes());
      const std::vector<double> volumes = node_volumes(strip.sheet.model, strip.sheet.model.objects[0]);
      for (int i = 0; i < strip.sheet.nodes(); ++i)
        load[3 * i + 2] = -per_length * volumes[static_cast<std::size_t>(i)] / (kWidth * kThickness);
      EXPECT_GE(strip.sheet.settle(strip.held, load, 1e-6), 0);
      const double l = strip.length;
      const Vec<double, 3> want = elastica_end(
          l, weight, [&](double s, double theta) { return -weight * (l - s) * std::cos(theta); });
      const Vec<double, 3> got = strip.tip_position();
      EXPECT_NEAR(got[0] - strip.cell / 2, want[0], 3e-3);
      EXPECT_NEAR(-got[2], want[1], 3e-3);
    }
}

// The same over three resolutions. Half a cell in front of the clamp is held, so the error is of first order
// in the cell there.
BACKEND_TEST(ClothSolutions, AHeavyStripApproachesTheElastica) {
  SKIP_IN_FLOAT;
  const double weight = 10;  // w L^3 / (E I)
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral}) {
    const Refinement errors = refine(0.1, 3, [&](double cell) {
      Cantilever strip(ctx, weave, static_cast<int>(std::lround(1 / cell)));
      Column load = Column::Zero(3 * strip.sheet.nodes());
      const std::vector<double> volumes = node_volumes(strip.sheet.model, strip.sheet.model.objects[0]);
      const double l = strip.length, per_length = weight * kStiffness / (l * l * l);
      for (int i = 0; i < strip.sheet.nodes(); ++i)
        load[3 * i + 2] = -per_length * volumes[static_cast<std::size_t>(i)] / (kWidth * kThickness);
      EXPECT_GE(strip.sheet.settle(strip.held, load, 1e-6), 0);
      const Vec<double, 3> want = elastica_end(l, weight / l, [&](double s, double theta) {
        return -per_length / kStiffness * (l - s) * std::cos(theta);
      });
      EXPECT_GT(want[1], 0.6 * l);  // it hangs down by most of its length
      const Vec<double, 3> got = strip.tip_position();
      return std::hypot(got[0] - cell / 2 - want[0], -got[2] - want[1]) / l;
    });
    EXPECT_LT(errors.errors[1], errors.errors[0]) << errors.text();
    EXPECT_LT(errors.errors[2], errors.errors[1]) << errors.text();
    EXPECT_LT(errors.errors[2], 4e-3) << errors.text();
  }
}

// A square under the stress of the simple shear F = [1 gamma; 0 1]. With tan(phi) = gamma / 2 the rotation of
// F turns by -phi, so U = [c s; s c + gamma s] for c = cos(phi), s = sin(phi); the stress T of e = U - I has
// the axes of U, and the force per length and thickness on an edge with the normal N is R T N. Linear
// triangles have this motion, so the error is that of rounding in every mesh.
BACKEND_TEST(ClothSolutions, ASquareShearsAsAMembrane) {
  SKIP_IN_FLOAT;
  const double gamma = 0.3, nu = 0.3;
  const double c = 2 / std::sqrt(4 + gamma * gamma), s = gamma / std::sqrt(4 + gamma * gamma);
  const double exx = c - 1, eyy = c + gamma * s - 1, stiff = kYoung / (1 - nu * nu);
  const double txx = stiff * (exx + nu * eyy), tyy = stiff * (eyy + nu * exx), txy = stiff * (1 - nu) * s;
  // P = R T by columns, R = [c s; -s c].
  const double along_x[] = {c * txx + s * txy, c * txy - s * txx};
  const double along_y[] = {c * txy + s * tyy, c * tyy - s * txy};
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral, Weave::irregular}) {
    const Refinement errors = refine(0.25, 3, [&](double cell) {
      const int n = static_cast<int>(std::lround(1 / cell));
      ClothSheet sheet(ctx,
                       cloth_model(sheet_mesh(weave, 1, 1, n, n), cloth_material(kYoung, nu), kThickness));
      const auto at = [&](int i) { return sheet.model.rest_positions[static_cast<std::size_t>(i)]; };
      std::vector<bool> held;
      for (int i = 0; i < sheet.nodes(); ++i) held.push_back(at(i)[1] < 1e-9);
      Column load = Column::Zero(3 * sheet.nodes());
      for (const Vec2i& edge : sheet.model.edges) {
        const Vec<double, 3> a = at(edge[0]), b = at(edge[1]);
        const auto on = [&](int k, double value) {
          return std::abs(a[k] - value) < 1e-9 && std::abs(b[k] - value) < 1e-9;
        };
        const double half = kThickness * norm(b - a) / 2;
        for (const int i : {edge[0], edge[1]})
          for (int k = 0; k < 2; ++k) {
            if (on(0, 1)) load[3 * i + k] += half * along_x[k];
            if (on(0, 0)) load[3 * i + k] -= half * along_x[k];
            if (on(1, 1)) load[3 * i + k] += half * along_y[k];
          }
      }
      EXPECT_GE(sheet.settle(held, load, 1e-9), 0);
      double most = 0;
      for (int i = 0; i < sheet.nodes(); ++i) {
        const Vec<double, 3> p = sheet.x[static_cast<std::size_t>(i)].template cast<double>();
        most = std::max(most, std::hypot(p[0] - at(i)[0] - gamma * at(i)[1], p[1] - at(i)[1]));
      }
      return most / gamma;
    });
    for (const double error : errors.errors) EXPECT_LT(error, 1e-6) << errors.text();
  }
}

// Shear that is not uniform: a ring of cloth that is held at its inner border a and turned by a torque M at
// its outer one b, by M (1 / a^2 - 1 / b^2) / (4 pi G t).
BACKEND_TEST(ClothSolutions, ARingShearsAsAMembrane) {
  SKIP_IN_FLOAT;
  const double nu = 0.3, shear = kYoung / (2 * (1 + nu)), torque = 2;
  const double want = torque * (1 / 0.25 - 1) / (4 * M_PI * shear * kThickness);
  const Refinement errors = refine(0.125, 3, [&](double cell) {
    ClothSheet sheet(ctx, cloth_model(annulus_mesh(cell), cloth_material(kYoung, nu), kThickness));
    const auto at = [&](int i) { return sheet.model.rest_positions[static_cast<std::size_t>(i)]; };
    std::vector<bool> held;
    std::vector<int> outer;
    for (int i = 0; i < sheet.nodes(); ++i) {
      held.push_back(norm(at(i)) < 0.5 + 1e-9);
      if (norm(at(i)) > 1 - 1e-9) outer.push_back(i);
    }
    Column load = Column::Zero(3 * sheet.nodes());
    for (const int i : outer) {
      const double force = torque / static_cast<double>(outer.size());
      load[3 * i] = -force * at(i)[1];
      load[3 * i + 1] = force * at(i)[0];
    }
    EXPECT_GE(sheet.settle(held, load, 1e-6), 0);
    double turned = 0;
    for (const int i : outer) {
      const Vec<double, 3> p = sheet.x[static_cast<std::size_t>(i)].template cast<double>();
      turned += (at(i)[0] * p[1] - at(i)[1] * p[0]) / static_cast<double>(outer.size());
    }
    return turned / want - 1;
  });
  EXPECT_GT(errors.order(), 1.7) << errors.text();
  EXPECT_LT(errors.errors[2], 5e-3) << errors.text();
}

// Beside a compressive force P, a small force Q across deflects the end of a strip by
// Q (tan kL - kL) / (P k), k^2 = P / (E I): without bound towards Euler's load.
BACKEND_TEST(ClothSolutions, AStripBucklesUnderEulersLoad) {
  SKIP_IN_FLOAT;
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral}) {
    for (const double share : {0.5, 0.8}) {
      Cantilever strip(ctx, weave, 30);
      const double l = strip.length, euler = M_PI * M_PI * kStiffness / (4 * l * l);
      const double across = 1e-5, along = share * euler, k = std::sqrt(along / kStiffness);
      EXPECT_GE(strip.sheet.settle(strip.held, strip.at_tip({-along, 0, across}), 1e-7, 1000), 0);
      const double want = across * (std::tan(k * l) - k * l) / (along * k);
      EXPECT_NEAR(strip.tip_position()[2] / want, 1, 0.025);
    }
    // Beyond it the strip is an elastica: E I theta'' = -P sin theta, with theta from the force at the end.
    Cantilever strip(ctx, weave, 30);
    const double l = strip.length, along = 1.5 * M_PI * M_PI * kStiffness / (4 * l * l);
    EXPECT_GE(strip.sheet.settle(strip.held, strip.at_tip({-along, 0, 1e-4 * along}), 1e-6, 1000), 0);
    const Vec<double, 3> want =
        elastica_end(l, 10 / l, [&](double, double theta) { return -along / kStiffness * std::sin(theta); });
    const Vec<double, 3> got = strip.tip_position();
    EXPECT_NEAR(got[2], want[1], 5e-3);
  }
}

// With next to no bending stiffness a sheet between two edges hangs as a catenary of its length.
BACKEND_TEST(ClothSolutions, ASoftSheetHangsAsACatenary) {
  SKIP_IN_FLOAT;
  for (const Weave weave : {Weave::one_diagonal, Weave::equilateral}) {
    Material material = cloth_material(kYoung, 0);
    material.bending = 1e-6;
    const int n = 40;
    ClothSheet sheet(ctx, cloth_model(sheet_mesh(weave, kLength, kWidth, n, 4), material, kThickness));
    const double span = 0.7;
    // Length = 2 a sinh(span / (2 a)).
    double low = 0.01, high = 10;
    for (int k = 0; k < 200; ++k) {
      const double a = (low + high) / 2;
      (2 * a * std::sinh(span / (2 * a)) > kLength ? low : high) = a;
    }
    const double a = low;
    std::vector<bool> held;
    Column load = Column::Zero(3 * sheet.nodes());
    const std::vector<double> volumes = node_volumes(sheet.model, sheet.model.objects[0]);
    for (int i = 0; i < sheet.nodes(); ++i) {
      const double x = sheet.model.rest_positions[static_cast<std::size_t>(i)][0] / kLength;
      held.push_back(x < 1e-9 || x > 1 - 1e-9);
      sheet.x[static_cast<std::size_t>(i)][0] = static_cast<Real>(span * x);
      sheet.x[static_cast<std::size_t>(i)][2] = static_cast<Real>(-1.2 * x * (1 - x));
      load[3 * i + 2] = -10.0 * volumes[static_cast<std::size_t>(i)];
    }
    EXPECT_GE(sheet.settle(held, load, 1e-6), 0);
    double most = 0;
    for (int i = 0; i < sheet.nodes(); ++i) {
      const Vec3& p = sheet.x[static_cast<std::size_t>(i)];
      const double want = a * (std::cosh((p[0] - span / 2) / a) - std::cosh(span / (2 * a)));
      most = std::max(most, std::abs(p[2] - want));
    }
    EXPECT_LT(most, 5e-4);
  }
}
