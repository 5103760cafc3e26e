#include "bench/tree_peer.h"

#if STICKSLIP_HAS_EMBREE
#include <embree3/rtcore.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/timer.h"
#endif

namespace stickslip {

#if STICKSLIP_HAS_EMBREE

namespace {

struct Device {
  explicit Device(int threads)
      : handle(rtcNewDevice(("threads=" + std::to_string(threads) + ",set_affinity=0").c_str())) {
    if (handle == nullptr) throw std::runtime_error("Embree gives no device");
  }
  ~Device() { rtcReleaseDevice(handle); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  void check() const {
    if (rtcGetDeviceError(handle) != RTC_ERROR_NONE) throw std::runtime_error("Embree reports an error");
  }
  RTCDevice handle;
};

/// Same layout as LbvhNode: both children with their boxes.
struct Node {
  RTCBounds box[2];
  void* child[2];
};

void* create_node(RTCThreadLocalAllocator allocator, unsigned, void*) {
  return rtcThreadLocalAlloc(allocator, sizeof(Node), 16);
}
void set_children(void* node, void** children, unsigned count, void*) {
  std::copy_n(children, count, static_cast<Node*>(node)->child);
}
void set_boxes(void* node, const RTCBounds** boxes, unsigned count, void*) {
  for (unsigned i = 0; i < count; ++i) static_cast<Node*>(node)->box[i] = *boxes[i];
}
/// A leaf is its primitive's number in place of the child pointer, tagged by the lowest
/// bit: no memory of its own.
void* create_leaf(RTCThreadLocalAllocator, const RTCBuildPrimitive* primitive, std::size_t, void*) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(primitive->primID) << 1 | 1U);
}

RTCBuildPrimitive build_primitive(const FloatBox& box, std::size_t index) {
  return {box.lo[0], box.lo[1], box.lo[2], 0, box.hi[0], box.hi[1], box.hi[2], static_cast<unsigned>(index)};
}

}  // namespace

bool embree_present() { return true; }

double embree_tree_seconds(const FloatBox* boxes, std::size_t n, int threads, int repetitions) {
  const Device device(threads);
  const RTCBVH bvh = rtcNewBVH(device.handle);
  std::vector<RTCBuildPrimitive> primitives(n);
  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.buildQuality = RTC_BUILD_QUALITY_LOW;
  arguments.maxBranchingFactor = 2;
  arguments.maxDepth = 1024;
  arguments.maxLeafSize = 1;
  arguments.bvh = bvh;
  arguments.primitives = primitives.data();
  arguments.primitiveCount = n;
  arguments.primitiveArrayCapacity = n;
  arguments.createNode = create_node;
  arguments.setNodeChildren = set_children;
  arguments.setNodeBounds = set_boxes;
  arguments.createLeaf = create_leaf;
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < n; ++i) primitives[i] = build_primitive(boxes[i], i);
    const Timer timer;
    rtcBuildBVH(&arguments);
    best = std::min(best, timer.seconds());
  }
  rtcReleaseBVH(bvh);
  device.check();
  return best;
}

double embree_scene_seconds(const TriangleArrays& mesh, int threads, int repetitions) {
  const Device device(threads);
  const RTCScene scene = rtcNewScene(device.handle);
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_DYNAMIC);
  rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
  const RTCGeometry geometry = rtcNewGeometry(device.handle, RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_LOW);
  // Embree owns the copies: it reads a few bytes past the last vertex.
  auto* x = static_cast<float*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), mesh.vertex_count));
  auto* corners = static_cast<std::int32_t*>(rtcSetNewGeometryBuffer(
      geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(std::int32_t), mesh.triangle_count));
  device.check();
  std::copy_n(mesh.x, 3 * mesh.vertex_count, x);
  std::copy_n(mesh.corners, 3 * mesh.triangle_count, corners);
  rtcAttachGeometry(scene, geometry);
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    rtcUpdateGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(geometry);
    const Timer timer;
    rtcCommitScene(scene);
    best = std::min(best, timer.seconds());
  }
  rtcReleaseGeometry(geometry);
  rtcReleaseScene(scene);
  device.check();
  return best;
}

#else

bool embree_present() { return false; }
double embree_tree_seconds(const FloatBox*, std::size_t, int, int) { return 0; }
double embree_scene_seconds(const TriangleArrays&, int, int) { return 0; }

#endif

}  // namespace stickslip
