#include "bench/rigid_study.h"

#include <algorithm>
#include <utility>

#include "gpu/core/timer.h"
#include "gpu/model/rigid_body.h"

namespace stickslip {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_stages(StageTimes& sum, const StageTimes& more) {
  sum.broad_phase += more.broad_phase;
  sum.contacts += more.contacts;
  sum.assembly += more.assembly;
  sum.linear_solve += more.linear_solve;
  sum.ccd += more.ccd;
  sum.line_search += more.line_search;
  sum.contact_solve += more.contact_solve;
  sum.check += more.check;
  sum.other += more.other;
}

/// Sums over the steps; `finish` converts them to means.
class Means {
 public:
  explicit Means(int steps) : steps_(steps) { seconds_.reserve(static_cast<std::size_t>(steps)); }

  void add(const RigidStep& step, RigidMeasure& measure) {
    const bool late = 2 * measure.steps >= steps_;
    ++measure.steps;
    seconds_.push_back(step.seconds);
    add_stages(measure.stages, step.stages);
    if (step.solve) {
      residual_ += step.solve->residual;
      iterations_ += static_cast<double>(step.solve->iterations);
    }
    if (!late) return;
    ++late_steps_;
    contacts_ += step.contacts;
    if (step.solve) measure.residual_worst = std::max(measure.residual_worst, step.solve->residual);
  }

  void finish(RigidMeasure& measure) const {
    if (seconds_.empty()) return;
    const double count = measure.steps;
    measure.median_seconds = median_of(seconds_);
    measure.worst_seconds = *std::max_element(seconds_.begin(), seconds_.end());
    for (const double s : seconds_) measure.mean_seconds += s / count;
    measure.residual_mean = residual_ / count;
    measure.iterations = iterations_ / count;
    if (late_steps_ > 0) measure.contacts = contacts_ / late_steps_;
  }

 private:
  int steps_, late_steps_ = 0;
  double contacts_ = 0, residual_ = 0, iterations_ = 0;
  std::vector<double> seconds_;
};

/// Bytes of a sweep with body velocities: every array read once, and written once where it changes; cache
/// misses are not counted. A contact reads its law, its own block of W, q and its index in the order; for
/// each body the rows of H and A^-1 H'. Impulses and velocities change.
double sweep_bytes_of(const ContactProblem& problem) {
  constexpr double kRow = 3 * sizeof(double), kIndex = sizeof(std::int32_t);
  const auto contacts = static_cast<double>(problem.blocks()),
             sides = static_cast<double>(problem.jacobian.size()),
             bodies = static_cast<double>(problem.bodies());
  return contacts * (kIndex + sizeof(ContactLaw<3>) + 3 * kRow + kRow + 2 * kRow) +
         sides * (kIndex + 2 * 6 * kRow) + bodies * 2 * 6 * sizeof(double);
}

class EngineRunner final : public RigidRunner {
 public:
  EngineRunner(std::unique_ptr<Engine> engine, const Model& model)
      : engine_(std::move(engine)), shapes_(model.shapes) {
    engine_->load(model);
  }

  RigidStep step() override {
    RigidStep done;
    const Timer timer;
    const StepReport report = engine_->step();
    done.seconds = timer.seconds();
    done.contacts = report.contacts;
    done.stages = report.seconds;
    done.solve = report.contact_solve;
    return done;
  }
  void read(std::vector<SceneBox>& boxes) override {
    const State state = engine_->state();
    for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].pose = state.bodies.at(i).pose * shapes_[i].pose;
  }
  double sweep_bytes() override { return sweep_bytes_of(engine_->freeze()); }

 private:
  std::unique_ptr<Engine> engine_;
  std::vector<Shape> shapes_;  // one per body
};

}  // namespace

std::string RigidMethod::name() const {
  Params params;
  params.contact_solver = solver;
  return param_text(&params, *find_param(param_table(), "contact_solver")) + " " +
         std::to_string(iterations) + (warm_start ? "" : ", cold") +
         (tolerance < RigidMethod{}.tolerance ? ", tight" : "");
}

void RigidMethod::apply(Params& params, LabParams& lab) const {
  params.contact_solver = solver;
  lab.max_iterations = iterations;
  lab.warm_start = warm_start;
  lab.tolerance = tolerance;
}

std::vector<RigidMethod> rigid_methods(bool all) {
  using enum ContactSolverKind;
  std::vector<RigidMethod> methods{{manifold_gs, 6}, {manifold_gs, 20}, {manifold_gs, 40}};
  if (all)
    methods.insert(methods.end(), {{nsgs, 10},
                                   {nsgs, 50},
                                   {nsgs, 50, true, 1e-4},
                                   {nsgs, 50, false},
                                   {prox_gs, 50},
                                   {nncg, 50},
                                   {spg, 50},
                                   {automatic, 50},
                                   {nsgs, 200},
                                   {pgs, 50},
                                   {pgs_jacobi, 50},
                                   {prox_jacobi, 50},
                                   {staggered, 50},
                                   {pgs_sm, 50},
                                   {apgd, 50},
                                   {admm, 50}});
  return methods;
}

Model rigid_model(const RigidScene& scene) {
  Model model;
  Material material;
  material.mu = scene.mu;
  material.density = scene.density;
  model.materials.push_back(material);
  model.material_names.emplace_back("box");
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const SceneBox& box = scene.boxes[i];
    BodyStart start;
    start.pose = box.pose;
    start.moves = box.moves;
    add_body(model, "box " + std::to_string(i), assemble({make_part(ShapeKind::box, box.half)}), 0, start);
  }
  HalfSpace floor;
  floor.mu = scene.mu;
  floor.mu_of_pair = true;
  model.half_spaces.push_back(floor);
  finalize(model);
  return model;
}

std::unique_ptr<RigidRunner> make_engine_runner(std::unique_ptr<Engine> engine, const RigidScene& scene,
                                                const RigidMethod& method) {
  Params params;
  params.solver = SolverKind::velocity;
  params.dt = kRigidDt;
  params.gravity = kRigidGravity;
  LabParams lab = stepping_lab_params();
  method.apply(params, lab);
  engine->set_params(params);
  engine->set_contact_params(lab);
  return std::make_unique<EngineRunner>(std::move(engine), rigid_model(scene));
}

RigidMeasure measure_rigid(RigidRunner& runner, const RigidScene& scene, int steps) {
  RigidMeasure measure;
  Means means(steps);
  std::vector<SceneBox> boxes = scene.boxes;
  for (int i = 0; i < steps; ++i) {
    try {
      means.add(runner.step(), measure);
    } catch (const SimulationError& error) {
      measure.error = error.what();
      break;
    }
    if ((i + 1) % kLook != 0 && i + 1 < steps) continue;
    runner.read(boxes);
    measure.overlap = measure_overlaps(boxes);
    measure.deepest = std::max(measure.deepest, measure.overlap.deepest);
  }
  measure.drift = measure_drift(scene.boxes, boxes);
  means.finish(measure);
  if (measure.error.empty() && steps > 0) measure.sweep_bytes = runner.sweep_bytes();
  return measure;
}

}  // namespace stickslip
