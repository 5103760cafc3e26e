// Contact problems of a wisp of fibres, in three discretisations of one continuum: the same strands, motion
// and contacts for all of them, as [Bertails11] has one solver for three rod models.
//
// Strands are helices about lines along -y, whose roots are a square grid and are clamped. In a step they
// move towards the axis of the wisp, fall, and touch their neighbours at random points along them. At its
// start they have no stress.
#pragma once

#include <cstdint>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

enum class FibreModel {
  rods,       // discrete elastic rods: nodes and ghosts, in place of nodes and quaternions [Spillmann07]
  springs,    // nodes, springs of their distance, and of the second difference of three nodes [Baraff98]
  curvatures  // two curvatures and a twist for each part of a strand, which does not stretch [Bertails06]
};
inline constexpr FibreModel kFibreModels[] = {FibreModel::rods, FibreModel::springs, FibreModel::curvatures};
const char* name_of(FibreModel model);

/// Degrees of freedom of a strand, in each model.
inline constexpr int kFibreDofs = 24;

struct Wisp {
  int side = 2;  // strands along a side of the grid, at least 2
  int contacts = 1;
  std::uint64_t seed = 1;   // of the strands' phases and velocities, and of the contacts
  double length = 0.2;      // [m] of a strand
  double diameter = 2e-3;   // [m]
  double young = 2e7;       // [Pa]
  double density = 1300;    // [kg/m^3]
  double spacing = 5.4e-3;  // [m] of the grid
  double radius = 2.7e-3;   // [m] of the helices; 0: straight strands
  double dt = 5e-3;         // [s]
  double mu = 0.5;
};

/// One implicit step in the global form: A = M + dt^2 K, f = M v + dt M g, w = 0. The first rows of H of a
/// contact are along its normal, from the second strand to the first. Throws std::invalid_argument for a
/// side below 2 or no contact.
ContactProblem wisp_problem(FibreModel model, const Wisp& wisp);

}  // namespace stickslip
