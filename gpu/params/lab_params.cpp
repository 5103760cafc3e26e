#include "gpu/params/lab_params.h"

#include "gpu/params/param_rows.h"

namespace stickslip {

std::span<const ParamInfo> lab_param_table() {
  using Owner = LabParams;
  constexpr auto group_of = lab_param_group;
  static const std::vector<ParamInfo> table{
      STICKSLIP_LAB_PARAMS(STICKSLIP_ROW_REAL, STICKSLIP_ROW_INT, STICKSLIP_ROW_BOOL, STICKSLIP_ROW_CHOICE)};
  return table;
}

LabParams stepping_lab_params() {
  LabParams params;
  params.tolerance = 1e-3;
  params.max_iterations = 50;
  params.warm_start = true;
  return params;
}

}  // namespace stickslip
