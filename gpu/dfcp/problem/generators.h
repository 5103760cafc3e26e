// Contact problems without a scene, generated from bodies and contact points by a rule and a seed. Host only.
//
// Every problem has the form `bodies` (6 dof), SI units, gravity -9.81 m/s^2 along y, steps of 10 ms. One
// build gives the same bits for the same arguments.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

struct GeneratorInfo {
  std::string_view name, meaning;
  std::string_view size;  // the unit that the size counts
  long default_size;
  long largest_size;
  int dim = 3;  // rows of a block
};

std::vector<GeneratorInfo> list_generators();
std::vector<std::string_view> generator_names();

/// size = 0: the default; some kinds ignore the seed. Throws std::invalid_argument for an unknown name, with
/// the nearest one, and for a size outside [1, largest_size].
ContactProblem generate(std::string_view name, long size, std::uint64_t seed);

// The generators behind `generate`. All throw std::invalid_argument for arguments outside the stated ranges.

/// Boxes of random sizes, densities and yaw in `stacks` towers on the ground, nudged sideways; contacts at
/// the corners of the overlap of two faces. 1 <= stacks <= boxes.
ContactProblem random_stacks(long boxes, long stacks, std::uint64_t seed);

/// Balls of random radii on a jittered face-centred lattice in a box twice as high as wide, with exactly
/// `contacts` contacts (about three per ball), mu = 0.3. In time proportional to `contacts`.
ContactProblem granular_column(long contacts, std::uint64_t seed);

/// A tower of equal cubes, each on its four corners; masses grow geometrically upwards
/// from 1 kg to ratio >= 1 kg.
ContactProblem mass_chain(long bodies, double ratio);

/// A tower of boxes, each on about 2 nu random points of its face and pushed sideways: nu = 3 contacts /
/// dofs, rounded to a multiple of 1 / (2 boxes).
ContactProblem over_constrained(double nu, long boxes, std::uint64_t seed);

/// A row of balls between two walls that approach at 1 m/s each: no velocities satisfy the contacts.
ContactProblem infeasible(long balls);

/// A table on four legs with a box on `points` points on it, all at rest: v = 0 for any impulses.
ContactProblem hyperstatic(long points);

/// Heaps of four balls on the ground, the fourth on top of the others, each ball moving and spinning, with
/// friction of 0.3 and rolling resistance: blocks of five rows. The rolling coefficients [m] are random, from
/// 0.01 to 0.5 of the radius, so that some contacts roll, some resist, and some slide or open.
ContactProblem rolling_spheres(long balls, std::uint64_t seed);

/// [Tasora13 Fig.3] `parts` bodies in a network of ball joints, 3.5 scalar rows per
/// part, with random velocities.
ContactProblem tasora_b1(long parts, std::uint64_t seed);
/// [Tasora13 Fig.4] `balls` equal smooth spheres in a box with 3.525 contacts per ball.
ContactProblem tasora_b2(long balls, std::uint64_t seed);
/// [Tasora13 Fig.5] A vertical stack of plates on four points each, alternately of 1 and 1000 kg.
ContactProblem tasora_b3(long plates);
/// [Tasora13 Fig.6] A ball of 500 kg at 10 m/s hits a wall of `bricks` in running bond.
ContactProblem tasora_b4(long bricks);

}  // namespace stickslip
