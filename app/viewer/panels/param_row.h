// One row of a parameter table as a control.
#pragma once

#include <string>
#include <vector>

#include "app/viewer/panels/panel_context.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Text for one choice of a row.
struct ChoiceNote {
  std::string meaning;
  std::string barred;  // reason for which it cannot be chosen, or empty
};

struct ParamRow {
  const ParamInfo& info;
  double value;
  double reference;                    // the scene's value
  std::string idle;                    // reason for which it has no effect, or empty
  bool modified = false;               // differs from the scene
  bool mixed = false;                  // the materials that it edits have different values
  std::vector<ChoiceNote> notes = {};  // of its choices, in their order; empty: none
};

enum class EditAction { none, changed, reset };

/// Draws label, control and, if the value differs from the scene's, a reset button. `value` receives the new
/// value.
EditAction draw_param_row(TypedNumber& typed, const ParamRow& control, double& value);

}  // namespace stickslip
