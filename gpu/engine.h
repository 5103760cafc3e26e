// The host-only face of the simulation: load a Model, set parameters, step, take snapshots, read diagnostics.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/model/interaction.h"
#include "gpu/model/model.h"
#include "gpu/model/report.h"
#include "gpu/model/state.h"
#include "gpu/model/steppers.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"
#include "gpu/sharing.h"

namespace stickslip {

/// What the viewer needs of one instant.
struct Snapshot {
  int frame = 0;
  double time = 0;
  std::vector<Vec<float, 3>> positions;  // per node
  std::vector<ContactRecord> contacts;
  std::vector<Pose> poses = {};           // per rigid body, of the centre and the principal axes
  std::vector<std::uint8_t> asleep = {};  // per body, 1 while it sleeps; empty: none does
  // Set by the caller: what else to fill in.
  bool wants_positions = true, wants_contacts = true;
};

enum class Backend { cpu, cuda };

struct BackendInfo {
  Backend backend;
  std::string name;    // "cpu", "cuda"
  std::string device;  // what it runs on
  bool available;
  std::string reason;  // why not, when it is not
};

/// Not thread safe: one thread drives an engine.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Takes over a finalized model and resets to its start. Throws std::invalid_argument when the stepper that
  /// `solver` chooses cannot move it (`stepper_refusal`), or when bodies intersect at the start or touch a
  /// half-space, naming the objects.
  virtual void load(const Model& model) = 0;
  /// What a user should know of the loaded model, as bodies that start inside each other; mostly empty.
  virtual std::string load_note() const { return {}; }
  /// Back to the start of the loaded model; parameters and materials stay as they are set.
  virtual void reset() = 0;

  /// Where `solver` chooses another stepper than before, the state goes over to it. Throws
  /// std::invalid_argument where that one cannot move the model (`stepper_refusal`).
  virtual void set_params(const Params& params) = 0;
  virtual const Params& params() const = 0;
  /// Of the contact solvers of velocity-level stepping; `stepping_lab_params` at first.
  virtual void set_contact_params(const LabParams& params) = 0;
  virtual const LabParams& contact_params() const = 0;
  virtual void set_materials(const std::vector<Material>& materials) = 0;
  virtual const std::vector<Material>& materials() const = 0;
  virtual void set_half_space_mu(std::size_t index, double mu) = 0;
  virtual void set_drag(const std::optional<Drag>& drag) = 0;

  /// Advances by params().dt. Throws SimulationError, and StepInterrupted when it is cancelled.
  virtual StepReport step() = 0;
  /// While `flag` is set (from another thread, or a signal), steps end at their next Newton iteration or
  /// contact solve; nullptr: never. It must outlive the steps.
  virtual void set_cancel(const std::atomic<bool>* /*flag*/) {}

  /// From now on, every StepReport carries the spans of its step. On CUDA this costs a wait and events.
  virtual void set_tracing(bool on) = 0;

  virtual void snapshot(Snapshot& out) = 0;

  /// Of the device that it runs on; none on the CPU.
  virtual std::optional<DeviceUuid> device_uuid() const { return std::nullopt; }
  /// From now on `publish` writes there, until the next load; the memory must stay until then, or until the
  /// last publication. Returns how, which is `staged` with the reason when it does not. Throws
  /// std::invalid_argument when the target is not for as many nodes as the model has.
  virtual Sharing share(PositionTarget) {
    return {ShareKind::staged, "this engine keeps its memory to itself"};
  }
  /// Writes the positions of all nodes into a slot of the target, and sets its semaphore to `value`, larger
  /// than all before. Both have happened on return. Throws std::logic_error when nothing is shared.
  virtual PublishedBox publish(std::size_t /*slot*/, std::uint64_t /*value*/) {
    throw std::logic_error("publish: nothing is shared");
  }

  virtual State state() = 0;
  /// The mesh nodes of affine and rigid bodies follow their control nodes and poses, whatever the state says
  /// of them.
  virtual void set_state(const State& state) = 0;

  /// The contact problem of the last step of a velocity-level scene, as its solver had it: `guess` is what
  /// that started from, `solution` what it found. Throws std::logic_error when there was no such step.
  virtual ContactProblem freeze() = 0;
};

/// `threads`: 0 for all cores. Throws std::runtime_error when the backend is not available.
std::unique_ptr<Engine> make_engine(Backend backend, int threads = 0);

/// Both backends, with the reason when one cannot run here.
std::vector<BackendInfo> list_backends();
/// "auto" takes cuda if a device answers. Throws std::invalid_argument for an unknown name.
Backend choose_backend(std::string_view name);

}  // namespace stickslip
