// The entry of libFuzzer: one program per target, named by FUZZ_TARGET.
#include <cstdint>
#include <cstdlib>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const stickslip::FuzzTarget& target : stickslip::fuzz_targets())
    if (target.name == FUZZ_TARGET) {
      target.run({reinterpret_cast<const char*>(data), size});
      return 0;
    }
  std::abort();
}
