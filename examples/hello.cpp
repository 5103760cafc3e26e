// A box slides down an incline of 25 degrees with the acceleration g (sin - mu cos).
#include <cmath>
#include <cstdio>

#include "gpu/engine.h"
#include "gpu/model/rigid_body.h"

int main() {
  using namespace stickslip;
  const double angle = 25 * std::acos(-1.0) / 180, mu = 0.3;
  const Vec<double, 3> up{std::sin(angle), std::cos(angle), 0};
  Model model;
  model.material_names = {"ice"};
  model.materials = {{.mu = mu}};
  model.half_spaces = {{.normal = up, .mu = mu}};
  const BodyForm box = assemble({make_part(ShapeKind::box, {0.1, 0.05, 0.1})});  // half sizes
  add_body(model, "box", box, 0, {.pose = {0.05 * up, rotation_by(Vec<double, 3>{0, 0, -angle})}});
  finalize(model);

  const auto engine = make_engine(Backend::cpu);
  engine->set_params({.dt = 0.01, .solver = SolverKind::velocity});
  engine->load(model);
  for (int i = 0; i < 100; ++i) engine->step();
  const double expected = 9.81 * (std::sin(angle) - mu * std::cos(angle));  // [m/s] after 1 s
  const double speed = norm(engine->state().bodies[0].velocity);
  std::printf("%.4f m/s, expected %.4f m/s\n", speed, expected);
  return std::abs(speed - expected) < 1e-3 * expected ? 0 : 1;
}
