#include "gpu/params/lab_params.h"

#include "gpu/params/param_rows.h"

namespace stickslip {

std::span<const ParamInfo> lab_param_table() {
  using Owner = LabParams;
  static const std::vector<ParamInfo> table{
      STICKSLIP_LAB_PARAMS(STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
  return table;
}

}  // namespace stickslip
