// How contacts join objects: islands, and the blocks of the Delassus operator W that are not zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/model/interaction.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Whether the object has a mass; colliders and bodies that stand still or follow a motion have none.
bool can_move(const Model& model, const Object& object);

/// Per object the smallest index of an object of its island, -1 for what cannot move. An island is a group of
/// objects that can move, joined by contacts and joints; one that touches none is an island of its own.
std::vector<std::int32_t> islands_of(const Model& model, std::span<const ContactRecord> contacts);

/// sRGB of an island, different for islands with neighbouring numbers.
Vec<float, 3> island_color(std::int32_t island);

enum class ContactOrder {
  found,  // as collision detection found them
  swept,  // by colours: those that a solver updates at once are neighbours
};

/// The pattern of W in `cells` x `cells` cells, as few as there are contacts at most: per cell, row by row,
/// the share of its blocks that are not zero. W_cd = H_c M^-1 H_d' is not zero where contacts c and d act on
/// one object that can move. In an elastic object, M^-1 joins all its contacts.
struct MatrixPattern {
  int cells = 0;
  std::vector<float> share;
  double filled = 0;  // share of all blocks
};
MatrixPattern pattern_of(const Model& model, std::span<const ContactRecord> contacts, int cells,
                         ContactOrder order);

}  // namespace stickslip
