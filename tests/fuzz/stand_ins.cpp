// Replacements for the functions that parsers call in the rest of the program. They report little memory:
// excessive sizes are refused before they slow the fuzzer down.
#include "app/io/file/memory.h"

namespace stickslip {

double available_memory() { return 8.0 * (1 << 20); }

}  // namespace stickslip
