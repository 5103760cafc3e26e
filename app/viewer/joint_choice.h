// The joint that the window adds next.
#pragma once

#include <array>
#include <string_view>

#include "gpu/model/body.h"

namespace stickslip {

/// The axis of a hinge or slider: the normal of the face that was picked last, or an axis of the world.
enum class JointAxis { normal, x, y, z };

struct JointChoice {
  JointKind kind = JointKind::ball;  // one of joint_kind_names
  JointAxis axis = JointAxis::normal;

  bool has_axis() const { return kind == JointKind::hinge || kind == JointKind::slider; }
};

/// By JointKind, as scene files name them; of the kinds that are added between picked places.
inline constexpr std::array<std::string_view, 4> joint_kind_names{"ball", "hinge", "slider", "fixed"};
/// By JointAxis.
inline constexpr std::array<std::string_view, 4> joint_axis_names{"normal", "x", "y", "z"};

}  // namespace stickslip
