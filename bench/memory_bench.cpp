#include "bench/memory_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>

#include "bench/barrier_study.h"
#include "bench/bench_backend.h"
#include "bench/counted.h"
#include "bench/cube_stacks.h"
#include "gpu/core/timer.h"
#include "gpu/math/mat.h"

namespace stickslip {
namespace {

// The largest scene of [Guo24 Fig.12, Table 1] and its memory.
constexpr double kLargestTets = 9e6, kLargestContacts = 300e3, kLargestBytes = 8e9;
constexpr double kContactsAColumn = 1040;  // about that of two touching cubes

const char* const kLeast = "rest data, state and matrix alone";

constexpr double kNodesATet = double(kStackCubeNodes) / kStackCubeTets;
constexpr double kPairsATet = double(kStackCubePairs) / kStackCubeTets;

/// Lower bound for solvers of this kind: per tet corners, inverse rest shape, volume and material; per node
/// rest position, x, v, mass, gradient and diagonal block; per pair of nodes a block and its index.
double least_bytes_a_tet() {
  return sizeof(Vec4i) + sizeof(Mat3) + sizeof(Real) + sizeof(std::int32_t) +
         kNodesATet * (4 * sizeof(Vec3) + sizeof(Real) + sizeof(Mat3)) +
         kPairsATet * (sizeof(Mat3) + sizeof(std::int32_t));
}

/// Per contact: its nodes and the six blocks that couple them.
double least_bytes_a_contact() { return sizeof(Vec4i) + 6 * sizeof(Mat3); }

std::string counted_gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", 1e-9 * bytes);
  return text;
}

void set_memory_limit([[maybe_unused]] Backend backend, double bytes) {
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::limit_memory(static_cast<std::size_t>(bytes));
#endif
  cpu::limit_memory(static_cast<std::size_t>(bytes));
}

struct MemoryLimit {
  MemoryLimit(Backend backend, double bytes) : backend(backend) { set_memory_limit(backend, bytes); }
  ~MemoryLimit() { set_memory_limit(backend, 0); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  Backend backend;
};

}  // namespace

void add_memory_slopes(Backend backend, int threads, int columns, BenchResult& result) {
  const MemoryModel memory =
      measure_memory([=] { return make_engine(backend, threads); }, {barrier_methods().front()}, columns)
          .front();
  const double floor = least_bytes_a_tet();
  result.figures.push_back(
      {"a tet, with its share of nodes and surface", memory.bytes_per_tet, "B", floor, kLeast});
  result.figures.push_back({"a node, with its share of tets and surface", memory.bytes_per_tet / kNodesATet,
                            "B", floor / kNodesATet, kLeast});
  result.figures.push_back({"a contact", memory.bytes_per_contact, "B", least_bytes_a_contact(),
                            "its blocks in the matrix alone"});
  result.figures.push_back(
      {"9M tets with 300k contacts, projected", 1e-9 * memory.projected(kLargestTets, kLargestContacts), "GB",
       1e-9 * (kLargestTets * floor + kLargestContacts * least_bytes_a_contact()), kLeast});
}

void add_built_scene(Backend backend, int threads, double tets, double contacts, double limit,
                     BenchResult& result) {
  const int columns = std::max(1, static_cast<int>(std::ceil(tets / (2 * kStackCubeTets))));
  const int touching = std::min(columns, static_cast<int>(std::ceil(contacts / kContactsAColumn)));
  const Params params = memory_params();
  const Timer timer;
  const Model model = cube_stacks(columns, touching, params.d_hat);
  const auto built = static_cast<double>(model.tets.size());
  const std::string name = counted(built) + " tets";
  const MemoryLimit held(backend, limit);
  try {
    const std::unique_ptr<Engine> engine = make_engine(backend, threads);
    engine->set_params(params);
    engine->load(model);
    const StepReport report = engine->step();
    const auto bytes = static_cast<double>(report.memory_bytes);
    const auto add = [&](const std::string& what, double value, const char* unit) {
      result.figures.push_back({name + what, value, unit});
    };
    const double least = least_bytes_a_tet() * built + least_bytes_a_contact() * report.contacts;
    result.figures.push_back({name + " with " + counted(report.contacts) + " contacts, built and stepped",
                              1e-9 * bytes, "GB", 1e-9 * least, kLeast});
    add(", a tet", bytes / built, "B");
    add(", a node", bytes / static_cast<double>(model.node_count()), "B");
    add(", loaded and stepped in", timer.seconds(), "s");
    result.notes.push_back("memory: " + name + " fit into " + counted_gigabytes(limit));
  } catch (const std::bad_alloc& error) {
    result.notes.push_back("memory: " + name + " do NOT fit into " + counted_gigabytes(limit) + ": " +
                           error.what());
  }
}

BenchResult bench_memory(Backend backend, int threads, bool full) {
  BenchResult result = result_of("memory", backend, threads);
  add_memory_slopes(backend, threads, kMemoryColumns, result);
  if (full) add_built_scene(backend, threads, kLargestTets, kLargestContacts, kLargestBytes, result);
  else result.notes.emplace_back("memory: 9M tets are built with --full");
  return result;
}

}  // namespace stickslip
