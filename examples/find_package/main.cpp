// Boxes on an incline of 25 degrees slide with the acceleration g (sin - mu cos), or stick where mu > tan.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "gpu/engine.h"
#include "gpu/model/rigid_body.h"

int main() {
  using namespace stickslip;
  constexpr double angle = 25 * std::numbers::pi / 180, half = 0.05, dt = 0.0025;  // [m], [s]
  constexpr double mu[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  constexpr int steps = 400;
  const Vec<double, 3> up{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};

  Model model;
  model.half_spaces = {{.normal = up, .mu = 1}};  // a pair has the geometric mean of both coefficients
  const BodyForm box = assemble({make_part(ShapeKind::box, {half, half, half})});
  for (int i = 0; i < 6; ++i) {
    model.material_names.push_back("m" + std::to_string(i));
    model.materials.push_back({.mu = mu[i] * mu[i]});
    const Vec<double, 3> start = half * up + Vec<double, 3>{0, 0, 0.5 * i};
    add_body(model, "box" + std::to_string(i), box, i,
             {.pose = {start, rotation_by(Vec<double, 3>{0, 0, -angle})}});
  }
  finalize(model);

  const auto engine = make_engine(Backend::cpu);
  engine->set_params({.dt = dt, .solver = SolverKind::velocity});
  engine->load(model);
  for (int i = 0; i < steps; ++i) engine->step();

  double worst = 0;
  for (int i = 0; i < 6; ++i) {
    const double a = std::max(0.0, 9.81 * (std::sin(angle) - mu[i] * std::cos(angle))), t = steps * dt;
    const double expected = a * t * (t + dt) / 2;  // each step moves by the velocity at its end
    const double slid = dot(engine->state().bodies[i].pose.x, down);
    std::printf("mu %.1f: slid by %.4f m, expected %.4f m\n", mu[i], slid, expected);
    worst = std::max(worst, std::abs(slid - expected));
  }
  return worst < 1e-3 ? 0 : 1;
}
