// User commands on a running simulation, applied in order between steps. The journal of applied commands
// describes a session.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/viewer/tripwires.h"
#include "gpu/model/interaction.h"
#include "gpu/model/perturbed.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

struct LoadScene {
  std::string scene;         // shipped name or path
  std::string variant = {};  // one of the scene's; empty: none
};
/// The scene's initial state with the present settings.
struct Reset {};
/// The scene as it was loaded: state, parameters, materials and friction of half-spaces. Its file is not
/// read.
struct ResetAll {};
struct ParamEdit {
  std::string_view name;  // of a row of param_table(); points to its text
  double value = 0;
};
struct ContactParamEdit {
  std::string_view name;  // of a row of lab_param_table()
  double value = 0;
};
struct MaterialEdit {
  int material = -1;      // -1: all
  std::string_view name;  // of a row of material_table()
  double value = 0;
};
struct HalfSpaceEdit {
  std::size_t index = 0;
  double mu = 0;
};
/// Of what pauses the run, see Tripwires. Acts on later steps, also where no scene is loaded.
struct TripwireEdit {
  std::string_view name;  // of a row of tripwire_table()
  double value = 0;
};
struct DragStart {
  Drag drag;
};
struct DragMove {
  Vec<double, 3> target;  // [m]
};
struct DragEnd {};
/// Copies the contact problem of the last step for the lab. Does not change the simulation.
struct Freeze {};
enum class CaptureUse { race, sweep, iterations };
/// Copies the scene with its settings and its present state, for a race of steppers, a sweep, or the
/// iterations of the next step. Does not change the simulation.
struct CaptureState {
  CaptureUse use = CaptureUse::race;
};
/// Copies as CaptureState, for a run that goes on beside this one (see Fork), and goes to the present state
/// as Rewind does: both then go on from a state without memory, and with equal settings to the same bits.
/// With a seed the copy's velocities are `perturbed`, those of this run are not.
struct ForkState {
  std::uint64_t seed = 0;       // 0: as they are
  double size = kPerturbation;  // [m/s] of the changes
};
/// The kept state of an earlier or later frame (see Timeline), with the objects, pins, joints and springs of
/// then and the present settings. Ends a drag.
struct Rewind {
  int frame = 0;
};
/// Keeps a copy of the present state for ReturnToKept, also beyond what the timeline keeps.
struct KeepState {};
/// The state that KeepState copied, as Rewind does.
struct ReturnToKept {};
/// The scene goes on with one more object, of which this is the [[object]] table, or without an object. Times
/// and states of the others stay.
struct AddObject {
  std::string toml;
};
struct RemoveObject {
  std::string name;
};
/// The scene goes on with an object elsewhere: it is turned about its middle (pivot_of) by the rotation
/// vector `turn`, then moved by `shift`, and starts from rest there. Its start is moved in the same way.
/// Otherwise as AddObject.
struct MoveObject {
  std::string object;
  Vec<double, 3> shift{0, 0, 0};  // [m]
  Vec<double, 3> turn{0, 0, 0};   // [degrees] world axes
};
/// The scene goes on with nodes of an object held where they are, counted as those of a [[pin]], or without
/// the pins of an object. Otherwise as AddObject.
struct AddPin {
  std::string object;
  std::vector<std::int32_t> nodes;
};
struct RemovePins {
  std::string object;
};
/// The scene goes on with one more joint or spring, of which this is the [[joint]] or [[spring]] table, or
/// without the ties (see tie_toml and spring_toml) of an object. Otherwise as AddObject.
struct AddJoint {
  std::string toml;
};
struct AddSpring {
  std::string toml;
};
struct RemoveTies {
  std::string object;
};
/// The objects, pins, joints and springs that the scene had at an earlier or later time since it was loaded,
/// counted from 0 by the changes of the commands above. Objects that come back are as they were when they
/// left; otherwise as AddObject.
struct GoToContent {
  int content = 0;
};
/// Only in journals: one step, and the hash of the state at its end (state_hash). Posting it does nothing.
struct Stepped {
  std::uint64_t hash = 0;
};

using Command = std::variant<LoadScene, Reset, ResetAll, ParamEdit, ContactParamEdit, MaterialEdit,
                             HalfSpaceEdit, TripwireEdit, DragStart, DragMove, DragEnd, Freeze, CaptureState,
                             ForkState, Rewind, KeepState, ReturnToKept, AddObject, RemoveObject, MoveObject,
                             AddPin, RemovePins, AddJoint, AddSpring, RemoveTies, GoToContent, Stepped>;

/// Whether it can change the objects, pins, joints or springs of the scene, or brings another scene.
bool changes_content(const Command& command);
/// True when `next` makes the directly preceding `previous` redundant: the same slider moved further.
bool supersedes(const Command& next, const Command& previous);
/// Edits that are made together, in an order in which the scene can have each of them: drop_unsupported
/// before the solver that needs it, and after the one that needed it.
std::vector<Command> in_order(std::vector<Command> edits);

/// All settings that can be edited while a scene runs.
struct Settings {
  Params params;
  std::vector<Material> materials;
  std::vector<double> half_space_mu;
  LabParams contact_params = stepping_lab_params();
};

/// Throw std::invalid_argument for an unknown name, a bad index or a value out of range.
void apply_edit(const ParamEdit& edit, Params& params);
void apply_edit(const ContactParamEdit& edit, LabParams& params);
void apply_edit(const MaterialEdit& edit, std::vector<Material>& materials);
void apply_edit(const HalfSpaceEdit& edit, std::vector<double>& half_space_mu);
void apply_edit(const TripwireEdit& edit, Tripwires& wires);

struct JournalEntry {
  int frame = 0;    // number of steps done when it was applied
  double time = 0;  // [s] simulated
  double wall = 0;  // [s] since the start of the simulation's thread, when the command was posted
  Command command;
};

}  // namespace stickslip
