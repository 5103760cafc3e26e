// What the parsers ask of the rest of the program. Little memory: sizes that would fill a machine are refused
// here before they slow the fuzzer down.
#include "app/io/file/memory.h"

namespace stickslip {

double available_memory() { return 8.0 * (1 << 20); }

}  // namespace stickslip
