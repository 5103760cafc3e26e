// What the parsers ask of the rest of the program. Little memory: sizes that would fill a machine are refused
// here before they slow the fuzzer down.
#include "app/io/memory.h"
#include "gpu/contact_lab.h"

namespace stickslip {

double available_memory() { return 8.0 * (1 << 20); }
std::vector<ContactSolverInfo> list_contact_solvers() { return {{"nsgs", "", "", {}}, {"apgd", "", "", {}}}; }

}  // namespace stickslip
