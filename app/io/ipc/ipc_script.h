// IPC scene scripts (`*.txt` in the format of the IPC reference implementation) are parsed, laid out, and
// written as the TOML that parse_scene reads. So `run` and `convert` agree.
#pragma once

#include <filesystem>
#include <string>

#include "app/io/ipc/ipc_script_parse.h"
#include "app/io/scene/scene.h"

namespace stickslip {

/// By its extension, .txt.
bool is_ipc_script(const std::filesystem::path& file);

/// The scene of a script as TOML, with mesh paths relative to `toml_folder`. Throws InputError with the
/// script's lines.
std::string ipc_script_to_toml(const std::filesystem::path& script, const std::filesystem::path& toml_folder,
                               const IpcOptions& options = {});

/// The same, parsed.
Scene load_ipc_script(const std::filesystem::path& script, const IpcOptions& options = {});

}  // namespace stickslip
