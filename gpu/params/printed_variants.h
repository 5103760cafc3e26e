// Choices in the functions of gpu/law/nonsmooth.h and fischer_burmeister.h, where texts differ.
#pragma once

namespace stickslip {

/// The normal impulse that bounds the tangential part of the Alart-Curnier function.
enum class SectionRadius : int {
  augmented,  // max(r_N - rho_n u_N, 0) [Alart91]
  impulse,    // max(r_N, 0) [Bertails11]
};

/// The derivatives of the Fischer-Burmeister function phi(x, y) at x = y = 0, where they are a set. x is the
/// impulse, y the velocity.
enum class FischerBurmeisterOrigin : int {
  diagonal,  // those along x = y: 1 - 1/sqrt(2) by each
  printed,   // 1 by x and 0 by y [Course Eqs.187-188]
};

/// psi(a, b), zero where 0 <= a, 0 <= b and a b = 0.
enum class NcpFunction : int {
  fischer_burmeister,  // a + b - (a^2 + b^2)^(1/2)
  minimum,             // min(a, b)
};

}  // namespace stickslip
