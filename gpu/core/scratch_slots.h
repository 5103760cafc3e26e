// The users of the slots of Context::scratch. Primitives that call each other must not share one.
#pragma once

namespace stickslip::slot {

enum Slot : int {
  reduce_partials,
  scan_partials,
  select_flags,
  select_positions,
  sort_alternate,
  sort_histograms,
  library_temporary,  // the temporary storage of a CUB call
  gather_nodes,
  first_free,
};

}  // namespace stickslip::slot
