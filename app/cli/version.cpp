// The only source that is compiled with the version and the commit: see app/CMakeLists.txt.
#include "app/cli/version.h"

namespace stickslip {

std::string version_text() {
  std::string text = "stickslip " STICKSLIP_VERSION;
  if (const std::string commit = STICKSLIP_COMMIT; !commit.empty()) text += " (commit " + commit + ")";
  text += "\nbackends: cpu";
#ifdef STICKSLIP_HAS_CUDA
  text += ", cuda";
#endif
  return text + "\nreal: " STICKSLIP_REAL_NAME;
}

}  // namespace stickslip
