// What `bench rigid` measures: how fast boxes are stepped, and how they stand after ten seconds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/box_overlap.h"
#include "gpu/engine.h"

namespace stickslip {

constexpr double kRigidDt = 1.0 / 60.0;  // [s]
constexpr double kRigidGravity = -9.81;  // [m/s^2] along y

/// One step of a program that moves boxes.
struct RigidStep {
  double seconds = 0;
  int contacts = 0;  // points that its solver was given
  // Of this program's own steps only.
  StageTimes stages;
  std::optional<ContactSolveRecord> solve;
};

/// A program with a scene in it, whoever wrote it.
class RigidRunner {
 public:
  virtual ~RigidRunner() = default;
  /// Advances by kRigidDt.
  virtual RigidStep step() = 0;
  /// The poses [of the scene's boxes, in their order] as they are now.
  virtual void read(std::vector<SceneBox>& boxes) = 0;
  /// Of this program: bytes that a Gauss-Seidel sweep over the last step's contacts must move. Else 0.
  virtual double sweep_bytes() { return 0; }
};

/// One way of ours to find the impulses of a step.
struct RigidMethod {
  ContactSolverKind solver = ContactSolverKind::nsgs;
  int iterations = 50;
  bool warm_start = true;
  double tolerance = 1e-3;  // residual (the judge's) that ends a step's solve

  /// "nsgs 50", "spg 50, cold"; "tight" with less than the default tolerance
  std::string name() const;
  void apply(Params& params, LabParams& lab) const;
};

/// The ways that the bench tries, the one that all others are compared with first; `all`: every solver that
/// can.
std::vector<RigidMethod> rigid_methods(bool all);

/// The scene as the library's model: the boxes, a half-space as the floor, mu for every pair.
Model rigid_model(const RigidScene& scene);
/// `engine` with the scene loaded. Throws as Engine::load and set_params do.
std::unique_ptr<RigidRunner> make_engine_runner(std::unique_ptr<Engine> engine, const RigidScene& scene,
                                                const RigidMethod& method);

/// A scene stepped in one way.
struct RigidMeasure {
  int steps = 0;
  double median_seconds = 0, mean_seconds = 0, worst_seconds = 0;  // of a step
  double contacts = 0;                                             // mean of the second half of the steps
  OverlapReport overlap;                                           // at the end
  double deepest = 0;  // [m] overlap seen, looked once in kLook steps
  DriftReport drift;   // between start and end
  // Of this program's own steps only.
  StageTimes stages;                             // sums over the steps
  double residual_mean = 0, residual_worst = 0;  // of the judge; the worst of the second half
  double iterations = 0;                         // mean
  double sweep_bytes = 0;                        // of the last step, see RigidRunner
  std::string error;                             // what ended it early, or empty
};
constexpr int kLook = 30;

/// Steps `runner`, which holds `scene`, `steps` times. Looks at the poses off the clock.
RigidMeasure measure_rigid(RigidRunner& runner, const RigidScene& scene, int steps);

}  // namespace stickslip
