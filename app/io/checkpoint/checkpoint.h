// Checkpoint files: a running scene with its settings and its state, from which it can go on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "gpu/model/state.h"

namespace stickslip {

struct Checkpoint {
  std::string scene;    // shipped name, or path of its file
  std::string variant;  // empty: none
  double scale = 1, density = 1;
  Params params;
  LabParams contact_params = stepping_lab_params();
  std::vector<Material> materials;
  std::vector<double> half_space_mu;
  State state;
  std::string source = {};  // TOML text of a scene that was changed; empty: that of its file
};

/// FNV-1a of frame, time, positions, velocities, bodies, thicknesses and anchors: equal states have equal
/// hashes, and a change of one bit gives another.
std::uint64_t state_hash(const State& state);
/// 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

/// The scene as it is: settings from `scene`, at `state`.
Checkpoint make_checkpoint(const Scene& scene, State state);

/// HDF5, all under /checkpoint, with a checksum. The file gets its name only when it is complete, so that an
/// earlier one of that name survives an interruption. Throws InputError when the path cannot be written, and
/// OutputError.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throws InputError with the file for everything that `write_checkpoint` does not write: no HDF5, a problem
/// instead of a checkpoint, damage, a wrong checksum, settings that this version does not know.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Whether the file's name ends as those of checkpoints, in ".hdf5".
bool is_checkpoint_name(const std::filesystem::path& file);

/// The scene of a checkpoint file with its settings; Scene::resumed is its state. It has no variants and no
/// expectations, which are about runs from the start. Throws InputError as read_checkpoint does, and when the
/// scene's file is gone or no longer fits. Of a scene that was changed the text is in the checkpoint.
Scene load_checkpoint(const std::filesystem::path& file);

}  // namespace stickslip
