// Replacements for the functions that parsers call in the rest of the program. They report little memory:
// excessive sizes are refused before they slow the fuzzer down.
#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/input_error.h"
#include "app/io/file/memory.h"

namespace stickslip {

double available_memory() { return 8.0 * (1 << 20); }

// Checkpoints need HDF5, which is not fuzzed.
bool is_checkpoint_name(const std::filesystem::path&) { return false; }
Scene load_checkpoint(const std::filesystem::path& file) { throw InputError(file.string() + ": not here"); }

}  // namespace stickslip
