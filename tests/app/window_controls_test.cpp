// Controls of each kind are moved in a real window, by a real mouse and real keys: what each shows must
// change.
#include "tests/app/window_controls.h"

namespace stickslip {
namespace {

using test::ProgramWindowControls;

TEST_F(ProgramWindowControls, ThoseOfEachKindAreMovedByHandAndChange) {
  begin(test::two_boxes);
  for (const char* const key :
       {"left: ##speed", "left: Time", "left: mu/##slider", "left: mu/x", "left: contact/warm_start/##box",
        "left: Keep", "right: Forces", "right: Edges", "right: ##surfaces"})
    move(key);
  EXPECT_TRUE(find("right: Track")) << "a press on a panel selects nothing in the scene behind it";
  close_and_check();
}

}  // namespace
}  // namespace stickslip
