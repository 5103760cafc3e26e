// The signed distance of any point from a closed mesh, without a grid.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "gpu/model/body.h"

namespace stickslip {

/// To the nearest triangle, by a tree of boxes; the sign is that of the angle-weighted normal there
/// [Baerentzen05]. The mesh must have no `surface_fault`, and must live as long.
class ExactDistance {
 public:
  explicit ExactDistance(const ShapeMesh& mesh);
  ~ExactDistance();
  ExactDistance(const ExactDistance&) = delete;
  ExactDistance& operator=(const ExactDistance&) = delete;

  /// `bound`: a length that the distance does not exceed.
  double at(const Vec<double, 3>& p, double bound = std::numeric_limits<double>::infinity()) const;

 private:
  struct Search;
  const std::vector<Vec<std::int32_t, 3>>& triangles_;
  std::unique_ptr<Search> search_;
};

}  // namespace stickslip
