// Stands in for app/io/checkpoint where the program, and with it HDF5, is not built.
#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/input_error.h"

namespace stickslip {

bool is_checkpoint_name(const std::filesystem::path& file) { return file.extension() == ".hdf5"; }

Scene load_checkpoint(const std::filesystem::path& file) {
  throw InputError(file.string() + ": checkpoints need the program, which was not built");
}

}  // namespace stickslip
