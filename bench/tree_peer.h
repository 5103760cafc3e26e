// The peer of Lbvh: Embree's low-quality (Morton) builder, where the library is installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/broadphase/float_box.h"

namespace stickslip {

/// True if this build has Embree; without it the functions below return 0.
bool embree_present();

/// Seconds, the shortest of `repetitions` on `threads` threads, of rtcBuildBVH at RTC_BUILD_QUALITY_LOW over
/// n boxes into the same tree as Lbvh's: binary, one primitive a leaf, each node with the boxes and addresses
/// of its two children. Timed: the call. Not timed: copying the boxes into the array that the call may
/// reorder.
double embree_tree_seconds(const FloatBox* boxes, std::size_t n, int threads, int repetitions);

/// Seconds of rtcCommitScene for one triangle geometry of low quality in a dynamic scene, all vertices of
/// which have moved: Embree's own nodes and leaves. x: 3 floats a vertex; triangles: 3 indices each.
struct TriangleArrays {
  const float* x;
  std::size_t vertex_count;
  const std::int32_t* corners;
  std::size_t triangle_count;
};
double embree_scene_seconds(const TriangleArrays& mesh, int threads, int repetitions);

}  // namespace stickslip
