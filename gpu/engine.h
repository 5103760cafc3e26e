// The host-only interface of the simulation: load a Model, set parameters, step, take
// snapshots, read diagnostics.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/linear/matrix_parts.h"
#include "gpu/model/interaction.h"
#include "gpu/model/model.h"
#include "gpu/model/report.h"
#include "gpu/model/state.h"
#include "gpu/model/steppers.h"
#include "gpu/model/tree_box.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"
#include "gpu/sharing.h"

namespace stickslip {

/// The state at one instant, for the viewer.
struct Snapshot {
  int frame = 0;
  double time = 0;
  std::vector<Vec<float, 3>> positions;  // per node
  std::vector<ContactRecord> contacts;
  std::vector<Pose> poses = {};           // per rigid body, of the centre and the principal axes
  std::vector<std::uint8_t> asleep = {};  // per body, 1 while it sleeps; empty: none does
  /// Of the trees in which the last step searched for contacts: over triangles of surfaces, and over rigid
  /// bodies at velocity level, those that move apart from the others. The boxes contain what may touch within
  /// the step.
  std::vector<TreeBox> tree = {};
  /// [N/m] per node: with what it resisted in the last linear system, inertia and contacts included, a third
  /// of the trace of its diagonal block; < 0 where nothing moved by it, as at colliders, and at rigid and
  /// affine bodies. Empty before the first step, and where nothing is elastic.
  std::vector<float> stiffness = {};
  /// Of the last linear system of elastic bodies: in barrier steps all nodes of the model and control nodes,
  /// at velocity level those of elastic bodies alone, without contacts, which are in W there. Empty before
  /// the first step, and where nothing is elastic.
  MatrixParts matrix = {};
  // Set by the caller: which of the arrays to fill.
  bool wants_positions = true, wants_contacts = true, wants_tree = false, wants_stiffness = false;
  int matrix_cells = 0;  // of a side of `matrix`, at most; 0: it stays empty
};

enum class Backend { cpu, cuda };

struct BackendInfo {
  Backend backend;
  std::string name;    // "cpu", "cuda"
  std::string device;  // the device it runs on
  bool available;
  std::string reason;  // why it is not available
};

/// Not thread safe: one thread drives an engine.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Copies a finalized model and resets to its start. Throws std::invalid_argument, naming the objects,
  /// when the stepper for `solver` refuses the model (`stepper_refusal`), or when bodies intersect at the
  /// start or touch a half-space.
  virtual void load(const Model& model) = 0;
  /// A note for the user about the loaded model, for example bodies that overlap at the start or when the
  /// solver changed to one of another family; usually empty.
  virtual std::string load_note() const { return {}; }
  /// Back to the start of the loaded model; keeps parameters and materials.
  virtual void reset() = 0;

  /// If `solver` requires another stepper, the state is transferred to it. Throws std::invalid_argument if
  /// that stepper refuses the model (`stepper_refusal`).
  virtual void set_params(const Params& params) = 0;
  virtual const Params& params() const = 0;
  /// For the contact solvers of velocity-level stepping; `stepping_lab_params` at first.
  virtual void set_contact_params(const LabParams& params) = 0;
  virtual const LabParams& contact_params() const = 0;
  /// Throws std::invalid_argument, with the materials unchanged, if their number is not that of the model or
  /// if the stepper refuses them (`stepper_refusal`).
  virtual void set_materials(const std::vector<Material>& materials) = 0;
  virtual const std::vector<Material>& materials() const = 0;
  virtual void set_half_space_mu(std::size_t index, double mu) = 0;
  virtual void set_drag(const std::optional<Drag>& drag) = 0;

  /// Advances by params().dt. Throws SimulationError, and StepInterrupted when cancelled.
  virtual StepReport step() = 0;
  /// While `flag` is set (from another thread, or a signal), steps end at their next Newton iteration or
  /// contact solve; nullptr: never. It must outlive the steps.
  virtual void set_cancel(const std::atomic<bool>* /*flag*/) {}

  /// From now on, every StepReport carries the spans of its step. On CUDA this costs a wait and events.
  virtual void set_tracing(bool on) = 0;

  virtual void snapshot(Snapshot& out) = 0;

  /// UUID of the device in use; none on the CPU.
  virtual std::optional<DeviceUuid> device_uuid() const { return std::nullopt; }
  /// From now on, until the next load, `publish` writes to the target; its memory must stay valid until then,
  /// or until the last publication. Returns the kind of sharing: `staged`, with the reason, if it is not
  /// possible. Throws std::invalid_argument when the target's number of nodes differs from the model's.
  virtual Sharing share(PositionTarget) {
    return {ShareKind::staged, "this engine keeps its memory to itself"};
  }
  /// Writes the positions of all nodes into a slot of the target, and sets its semaphore to
  /// `value`, which must be larger than all before. Both are complete on return. Throws
  /// std::logic_error when nothing is shared.
  virtual PublishedBox publish(std::size_t /*slot*/, std::uint64_t /*value*/) {
    throw std::logic_error("publish: nothing is shared");
  }

  virtual State state() = 0;
  /// The mesh nodes of affine and rigid bodies follow their control nodes and poses; their own values
  /// in the state are ignored. Throws std::invalid_argument, with the state unchanged, where a barrier solver
  /// could not go on: surfaces intersect, or nodes are behind half-spaces.
  virtual void set_state(const State& state) = 0;

  /// The contact problem of the last step, made at velocity level, as its solver received it: `guess` is the
  /// start, `solution` the result. Throws std::logic_error when there was no such step.
  virtual ContactProblem freeze() = 0;
};

/// `threads`: 0 for all cores. Throws std::runtime_error when the backend is not available.
std::unique_ptr<Engine> make_engine(Backend backend, int threads = 0);

/// Both backends, with the reason when one cannot run here.
std::vector<BackendInfo> list_backends();
/// Of one backend. Asks no device for the CPU: the CUDA runtime would take time and memory.
BackendInfo backend_info(Backend backend);
/// "auto": cuda if a device is available. Throws std::invalid_argument for an unknown name.
Backend choose_backend(std::string_view name);

}  // namespace stickslip
