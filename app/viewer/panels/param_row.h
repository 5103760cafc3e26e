// One row of a parameter table as a control, for the panels that show such rows.
#pragma once

#include <string>
#include <vector>

#include "app/viewer/panels/panel_context.h"
#include "gpu/params/params.h"

namespace stickslip {

/// What there is to say of one choice of a row.
struct ChoiceNote {
  std::string meaning;
  std::string barred;  // why it cannot be taken, or empty
};

struct ParamRow {
  const ParamInfo& info;
  double value;
  double reference;                    // the scene's value
  std::string idle;                    // why it is without effect, or empty
  bool modified = false;               // differs from the scene
  bool mixed = false;                  // the materials it stands for differ
  std::vector<ChoiceNote> notes = {};  // of its choices, in their order; empty: none
};

enum class EditAction { none, changed, reset };

/// Label, control and, where the value is not the scene's, a button that takes it back. `value` is the new
/// one.
EditAction draw_param_row(TypedNumber& typed, const ParamRow& control, double& value);

}  // namespace stickslip
