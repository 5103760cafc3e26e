#include "tests/device/device.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/device/include/nvtx3/nvToolsExt.h"

namespace stickslip::emulation {

std::recursive_mutex device_mutex;

namespace {

/// Byte in [0, bytes) from which on memory may not be read.
std::size_t first_fault(const Memory& memory, const void* p, std::size_t bytes, bool must_be_written) {
  const auto* begin = static_cast<const char*>(p);
  std::size_t at = 0;
  while (at < bytes && memory.fault(begin + at, 1, must_be_written) == nullptr) ++at;
  return at;
}

/// The innermost two callers outside the machinery.
std::string place_of_callers(const std::vector<void*>& callers) {
  std::string text;
  int found = 0;
  for (const void* caller : callers) {
    const std::string place = place_of(caller);
    if (place == "?" || place.starts_with("??") || place.find(" in ") != std::string::npos) continue;
    text += (text.empty() ? "" : ", from ") + place;
    if (++found == 2) break;
  }
  return text.empty() ? "?" : text;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

unsigned seed_of_environment() {
  const char* seed = std::getenv("STICKSLIP_DEVICE_SEED");
  return seed == nullptr ? 1u : static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
}

Checks checks_of_environment() {
  const char* checks = std::getenv("STICKSLIP_DEVICE_CHECK");
  const std::string text = checks == nullptr ? "off" : checks;
  if (text == "off") return {};
  if (text == "memory") return {.memory = true};
  if (text == "races") return {.memory = true, .races = true};
  std::fprintf(stderr, "STICKSLIP_DEVICE_CHECK: \"%s\" is none of: off, memory, races\n", text.c_str());
  std::exit(2);
}

std::size_t most_accesses_of_environment() {
  const char* millions = std::getenv("STICKSLIP_DEVICE_CHECK_MOST");
  return millions == nullptr ? 0 : 1'000'000 * std::strtoull(millions, nullptr, 10);
}

}  // namespace

Device& device() {
  static Device* one = new Device;  // outlives everything that may still call
  return *one;
}

namespace {

struct sigaction previous_handler;

void touched_by_host(int signal, siginfo_t* info, void* context) {
  if (device().memory.contains(info->si_addr)) {
    const Memory::Block block = device().memory.block_of(info->si_addr);
    char text[160];
    const int length = std::snprintf(
        text, sizeof text,
        "emulated device: host access: the host touched device memory, %td bytes into a %s block of %zu\n",
        static_cast<const char*>(info->si_addr) - block.begin, block.live ? "live" : "freed", block.bytes);
    static_cast<void>(!write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
  }
  if (previous_handler.sa_flags & SA_SIGINFO && previous_handler.sa_sigaction) {
    previous_handler.sa_sigaction(signal, info, context);
    return;
  }
  ::signal(SIGSEGV, SIG_DFL);
}

}  // namespace

Device::Device()
    : sheet(chosen_device()),
      memory(sheet.memory),
      lanes(memory, sheet.shared_per_block, seed_of_environment()),
      random(seed_of_environment()),
      costs(chosen_device()) {
  lanes.set_checks(checks_of_environment());
  lanes.limit_checks(most_accesses_of_environment());
  install_handler();
  end_with_error_on_faults();
}

cudaError_t Device::fail(cudaError_t error) {
  if (error == cudaSuccess) return error;
  last = error;
  const bool stays = error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure ||
                     error == cudaErrorLaunchTimeout || error == cudaErrorMisalignedAddress;
  if (stays) sticky = error;
  return error;
}

int Device::resident_blocks(const void* function, unsigned block) const {
  const KernelResources* known = costs.resources(function);
  return emulation::resident_blocks(sheet, known != nullptr ? *known : KernelResources{}, block);
}

void Device::install_handler() {
  struct sigaction action {};
  action.sa_sigaction = touched_by_host;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous_handler);
}

cudaError_t Device::run(const Work& work, const StreamOrder& order, bool in_graph) {
  switch (work.kind) {
    case Work::Kind::kernel: {
      const cudaError_t status = lanes.run(*work.launch, order);
      totals.bytes_read += lanes.cost().bytes_read;
      totals.bytes_written += lanes.cost().bytes_written;
      ++totals.launches;
      if (lanes.checks().costs)
        costs.add_launch(work.stage, work.launch->function, lanes.cost(), in_graph, lanes.in_cache());
      return status;
    }
    case Work::Kind::copy: {
      ++totals.copies;
      const bool from_device = memory.contains(work.from), to_device = memory.contains(work.to);
      if (lanes.checks().costs) costs.add_copy(work.stage, work.bytes, from_device && to_device);
      for (const void* end :
           {from_device ? work.from : nullptr, to_device ? static_cast<const void*>(work.to) : nullptr}) {
        if (end == nullptr) continue;
        const bool reads_for_host = end == work.from && !to_device && lanes.checks().memory;
        const char* why = memory.fault(end, work.bytes, reads_for_host);
        if (why == nullptr) continue;
        const std::string text = std::string("copy of ") + std::to_string(work.bytes) +
                                 " bytes: " + (end == work.from ? "source " : "target ") + why +
                                 ", first at byte " +
                                 std::to_string(first_fault(memory, end, work.bytes, reads_for_host)) +
                                 ", in " + place_of_callers(work.callers);
        if (std::strcmp(why, "never written") == 0) {
          report_fault(FaultKind::unwritten, text);
          memory.mark_written(end, work.bytes);
          continue;
        }
        report_fault(FaultKind::address, text);
        return cudaErrorIllegalAddress;
      }
      // The innermost callers are the runtime's.
      lanes.check_copy(work.to, work.from, work.bytes, order,
                       work.callers.size() > 1 ? work.callers[1] : nullptr);
      std::memmove(work.to, work.from, work.bytes);
      if (to_device && from_device) memory.copy_marks(work.to, work.from, work.bytes);
      else if (to_device) memory.mark_written(work.to, work.bytes);
      return cudaSuccess;
    }
    case Work::Kind::event:
      work.event->done = true;
      work.event->seconds = now();
      return cudaSuccess;
    case Work::Kind::signal:
      *work.timeline = work.value;
      return cudaSuccess;
    case Work::Kind::graph: {
      --work.graph->pending;
      if (lanes.checks().costs) costs.add_graph(work.stage);
      for (const auto& [handle, value] : work.graph->conditions) conditions[handle] = value;
      return run_all(work.graph->nodes, order);
    }
    case Work::Kind::loop:
      while (conditions[work.condition] != 0)
        if (const cudaError_t status = run_all(*work.body, order); status != cudaSuccess) return status;
      return cudaSuccess;
  }
  return cudaErrorUnknown;
}

cudaError_t Device::run_all(const Works& works, const StreamOrder& order) {
  for (const Work& work : works)
    if (const cudaError_t status = run(work, order, true); status != cudaSuccess) return status;
  return cudaSuccess;
}

cudaError_t Device::drain(CUstream_st* stream) {
  if (sticky != cudaSuccess) return sticky;
  cudaError_t status = cudaSuccess;
  memory.open();
  for (;;) {
    if (stream != nullptr && stream->queue.empty()) break;
    std::vector<CUstream_st*> busy;
    for (CUstream_st* s : streams)
      if (!s->queue.empty()) busy.push_back(s);
    if (busy.empty()) break;
    CUstream_st* next = busy[random() % busy.size()];
    const Work work = std::move(next->queue.front());
    next->queue.pop_front();
    if (status = run(work, work.order); status != cudaSuccess) {
      // The device is lost: nothing that is queued will run.
      fail(status);
      for (CUstream_st* s : streams) s->queue.clear();
      break;
    }
  }
  memory.close();
  return status;
}

cudaError_t Device::enqueue(CUstream_st* stream, Work work) {
  if (sticky != cudaSuccess) return sticky;
  if (stream == nullptr) {
    report_fault(FaultKind::call, "the default stream is not used in this project");
    return fail(cudaErrorInvalidResourceHandle);
  }
  work.stage = current_stage();
  if (stream->capture) {
    if (stream->capture_spoiled) return fail(cudaErrorStreamCaptureInvalidated);
    stream->capture->push_back(std::move(work));
  } else {
    stream->ticket = ++tickets;
    work.order = {stream->number, stream->ticket, host_waited};
    stream->queue.push_back(std::move(work));
  }
  return cudaSuccess;
}

void Device::waited(std::uint32_t stream, std::uint32_t ticket) {
  if (stream < host_waited->size() && (*host_waited)[stream] >= ticket) return;
  auto changed = std::make_shared<Tickets>(*host_waited);
  if (changed->size() <= stream) changed->resize(stream + 1);
  (*changed)[stream] = ticket;
  host_waited = std::move(changed);
}

void Device::waited_for_all() {
  for (const CUstream_st* stream : streams) waited(stream->number, stream->ticket);
}

bool Device::spoils_capture(const char* call) {
  bool spoilt = false;
  for (CUstream_st* stream : streams) {
    if (!stream->capture || stream->capturer != std::this_thread::get_id()) continue;
    stream->capture_spoiled = spoilt = true;
    report_fault(FaultKind::capture, std::string(call) + " while a stream of this thread records");
  }
  return spoilt;
}

cudaError_t make_launch(const void* function, dim3 grid, dim3 block, void* const* arguments,
                        std::size_t dynamic_shared, bool cooperative, Launch& out) {
  Device& d = device();
  const auto known = d.kernels.find(function);
  if (known == d.kernels.end()) {
    report_fault(FaultKind::call, "a launch of " + place_of(function, false) + ", which is no known kernel");
    return cudaErrorInvalidDeviceFunction;
  }
  const auto limit = [&](const std::string& what) {
    report_fault(FaultKind::limit, what + "; kernel " + place_of(function, false));
    return cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidConfiguration;
  };
  if (grid.y != 1 || grid.z != 1 || block.y != 1 || block.z != 1)
    return limit("the emulated device runs grids and blocks of one dimension");
  if (grid.x == 0 || grid.x > 0x7FFFFFFFu) return limit("a grid of " + std::to_string(grid.x) + " blocks");
  if (block.x == 0 || block.x > 1024) return limit("blocks of " + std::to_string(block.x) + " lanes");
  if (dynamic_shared != 0) return limit("dynamic shared memory");
  if (cooperative) {
    const int per_processor = d.resident_blocks(function, block.x);
    if (grid.x > static_cast<unsigned>(d.sheet.processors * per_processor))
      return limit("a cooperative grid of " + std::to_string(grid.x) + " blocks; at most " +
                   std::to_string(d.sheet.processors * per_processor) + " are resident");
  }
  out.kernel = known->second;
  out.function = function;
  out.grid = grid;
  out.block = block;
  out.cooperative = cooperative;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < out.kernel.argument_count; ++i) {
    bytes = (bytes + 15) / 16 * 16;
    out.positions.push_back(bytes);
    bytes += out.kernel.argument_bytes[i];
  }
  constexpr std::size_t kMostArguments = 4096;  // before compute capability 7.0; 32764 since
  if (bytes > (d.sheet.capability >= 70 ? 32764 : kMostArguments))
    return limit(std::to_string(bytes) + " bytes of arguments");
  out.arguments.resize(bytes);
  for (std::size_t i = 0; i < out.kernel.argument_count; ++i)
    std::memcpy(out.arguments.data() + out.positions[i], arguments[i], out.kernel.argument_bytes[i]);
  return cudaSuccess;
}

const void* register_kernel(const void* function, const Kernel& kernel) {
  const Lock lock(device_mutex);
  device().kernels[function] = kernel;
  return function;
}

void set_conditional(cudaGraphConditionalHandle handle, unsigned value) {
  // The thread that runs the kernel holds the lock.
  device().conditions[handle] = value;
}

bool Device::refuses(const char* call, cudaError_t& error) {
  const Lock lock(device_mutex);
  const auto found = refused.find(call);
  if (found == refused.end()) return false;
  error = fail(found->second);
  refused.erase(found);
  return true;
}

void refuse_next(const char* call, cudaError_t error) {
  const Lock lock(device_mutex);
  device().refused[call] = error;
}

std::size_t refusals_left() {
  const Lock lock(device_mutex);
  return device().refused.size();
}

void set_checks(const Checks& checks) {
  const Lock lock(device_mutex);
  device().lanes.set_checks(checks);
}

void limit_checks() {
  const Lock lock(device_mutex);
  device().lanes.limit_checks(most_accesses_of_environment());
}

void revive() {
  const Lock lock(device_mutex);
  device().last = device().sticky = cudaSuccess;
  device().refused.clear();
  for (CUstream_st* stream : device().streams) {
    stream->queue.clear();
    stream->capture.reset();
  }
}

namespace {
std::vector<const char*>& stages() {
  thread_local std::vector<const char*> open;
  return open;
}
}  // namespace

void begin_stage(const char* name) { stages().push_back(name); }
void end_stage() {
  if (!stages().empty()) stages().pop_back();
}
const char* current_stage() { return stages().empty() ? "" : stages().back(); }

const CostModel& costs() { return device().costs; }
void forget_costs() {
  const Lock lock(device_mutex);
  device().costs.forget();
}
void use_resources(CostModel::Resources resources) {
  const Lock lock(device_mutex);
  device().costs.set_resources(std::move(resources));
}

Totals totals() {
  const Lock lock(device_mutex);
  return device().totals;
}

int leftovers() {
  const Lock lock(device_mutex);
  int count = 0;
  if (device().memory.used() > 0) {
    ++count;
    report_fault(FaultKind::release,
                 std::to_string(device().memory.used()) + " bytes of device memory were never freed");
  }
  for (const CUstream_st* stream : device().streams)
    if (stream->capture) {
      ++count;
      report_fault(FaultKind::capture, "a recording was never ended");
    }
  return count;
}

}  // namespace stickslip::emulation
