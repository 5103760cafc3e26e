// Greedy colouring of blocks by the vertices (nodes and bodies) that they move, on processors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// A bijection of 32 bits (a Murmur finaliser): neighbours in memory get unrelated priorities.
SS_HD inline std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/// Ascending in the order of greedy colouring: blocks with more neighbours first, as it then needs fewer
/// colours, ties by the scrambled index.
inline std::uint64_t colouring_key(std::int32_t neighbours, std::int32_t block) {
  return std::uint64_t{~static_cast<std::uint32_t>(neighbours)} << 32 |
         scramble(static_cast<std::uint32_t>(block));
}

/// Block c moves the vertices touched[entries c .. entries (c + 1)), -1: none. Blocks that move one vertex
/// are neighbours.
struct TouchedVertices {
  std::size_t blocks, vertices;
  const Vec4i* touched;
  std::size_t entries = 2;  // per block
};

/// How many entries of `touched` each vertex has.
void count_touches(const TouchedVertices& of, std::int32_t* touches);

/// The colours that Colouring::build finds, balanced, for the graph in which a block has a neighbour per
/// entry of the vertices that it moves. That list grows with the square of the entries of a vertex and is not
/// made here: a bit per vertex and colour says whether a neighbour has the colour. Returns the sizes of the
/// colours.
std::vector<std::size_t> colour_by_vertices(const TouchedVertices& of, const std::int32_t* touches,
                                            std::int32_t* colour);

}  // namespace stickslip
