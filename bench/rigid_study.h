// The measurements of `bench rigid`: speed of stepping boxes, and their state after ten seconds.
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

/// The result of one step of any engine.
struct RigidStep {
  double seconds = 0;
  int contacts = 0;  // contact points passed to its solver
  // Only for our own steps.
  StageTimes stages;
  std::optional<ContactSolveRecord> solve;
};

/// An engine with a scene loaded: ours or another one.
class RigidRunner {
 public:
  virtual ~RigidRunner() = default;
  /// Advances by kRigidDt.
  virtual RigidStep step() = 0;
  /// Reads the current poses of the scene's boxes, in their order.
  virtual void read(std::vector<SceneBox>& boxes) = 0;
  /// For our engine: bytes that a Gauss-Seidel sweep over the last step's contacts must move. Else 0.
  virtual double sweep_bytes() { return 0; }
};

/// One of our methods to compute the impulses of a step.
struct RigidMethod {
  ContactSolverKind solver = ContactSolverKind::nsgs;
  int iterations = 50;
  bool warm_start = true;
  double tolerance = 1e-3;  // residual (the judge's) that ends a step's solve

  /// "nsgs 50", "spg 50, cold"; "tight" with less than the default tolerance
  std::string name() const;
  void apply(Params& params, LabParams& lab) const;
};

/// The methods of the bench; the first is the reference for the others. `all`: every
/// solver that can run them.
std::vector<RigidMethod> rigid_methods(bool all);

/// The scene as the library's model: the boxes, a half-space as the floor, mu for every pair.
Model rigid_model(const RigidScene& scene);
/// `engine` with the scene loaded. Throws as Engine::load and set_params do.
std::unique_ptr<RigidRunner> make_engine_runner(std::unique_ptr<Engine> engine, const RigidScene& scene,
                                                const RigidMethod& method);

/// The result of a scene stepped with one method.
struct RigidMeasure {
  int steps = 0;
  double median_seconds = 0, mean_seconds = 0, worst_seconds = 0;  // of a step
  double contacts = 0;                                             // mean over the second half of the steps
  OverlapReport overlap;                                           // at the end
  double deepest = 0;  // [m] largest overlap seen, checked once every kLook steps
  DriftReport drift;   // between start and end
  // Only for our own steps.
  StageTimes stages;                             // sums over the steps
  double residual_mean = 0, residual_worst = 0;  // of the judge; `worst` over the second half
  double iterations = 0;                         // mean
  double sweep_bytes = 0;                        // of the last step, see RigidRunner
  std::string error;                             // why it ended early, or empty
};
constexpr int kLook = 30;

/// Steps `runner`, with `scene` loaded, `steps` times. Checks of the poses are not timed.
RigidMeasure measure_rigid(RigidRunner& runner, const RigidScene& scene, int steps);

}  // namespace stickslip
