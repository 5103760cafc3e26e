#include "tests/device/kernel_names.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "tests/device/faults.h"

namespace stickslip::emulation {
namespace {

void erase_all(std::string& text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

/// Position of the bracket that closes the one at `open`; npos without one.
std::size_t closing(const std::string& text, std::size_t open, char left, char right) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == left) ++depth;
    if (text[i] == right && --depth == 0) return i;
  }
  return std::string::npos;
}

/// Position of the parenthesis that opens the one at `close`.
std::size_t opening(const std::string& text, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string::npos;
}

/// Of "f(int) const::{lambda(unsigned long)#2}" or "f(int) const::$_7" at the beginning of its last part:
/// leaves "f::lambda", returns the number. -1 where the text is none of these.
int shorten_lambda(std::string& text, std::size_t at) {
  std::size_t end = 0, digits = 0;
  if (text[at] == '{') {
    end = closing(text, at, '{', '}');
    digits = end == std::string::npos ? end : text.rfind('#', end);
    if (digits == std::string::npos || digits < at) return -1;
    ++digits, ++end;
  } else {
    digits = at + 2;
    end = text.find_first_not_of("0123456789", digits);
    if (end == std::string::npos) end = text.size();
  }
  const int number = std::atoi(text.c_str() + digits);
  std::size_t begin = at;
  if (begin >= 2 && text.compare(begin - 2, 2, "::") == 0) {
    std::size_t close = begin - 3;
    constexpr std::size_t kConst = 6;
    if (begin >= 2 + kConst && text.compare(begin - 2 - kConst, kConst, " const") == 0) close -= kConst;
    if (close < text.size() && text[close] == ')')
      if (const std::size_t open = opening(text, close); open != std::string::npos) begin = open;
  }
  text.replace(begin, end - begin, begin == at ? "lambda" : "::lambda");
  return number;
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 ? plain : "";
  std::free(plain);
  return out;
}

KernelResources largest(const KernelResources& a, const KernelResources& b) {
  return {std::max(a.registers, b.registers), std::max(a.stack, b.stack),
          std::max(a.spill_stores, b.spill_stores), std::max(a.spill_loads, b.spill_loads),
          std::max(a.shared, b.shared)};
}

using ByOrder = std::map<std::vector<int>, KernelResources>;

}  // namespace

KernelKey kernel_key(const std::string& demangled) {
  KernelKey key;
  std::string& text = key.name = demangled;
  if (text.starts_with("void ")) text.erase(0, 5);
  for (const char* part : {"(anonymous namespace)::", "stickslip::", "cuda::", "detail::"})
    erase_all(text, part);
  const std::size_t family = text.find("_kernel<");
  if (family == std::string::npos || family > text.find_first_of("(< ")) return {};
  // Template arguments of kernels are types: brackets balance.
  const std::size_t end = closing(text, text.find('<'), '<', '>');
  if (end == std::string::npos) return {};
  text.erase(end + 1);
  for (;;) {
    const std::size_t at = std::min(text.find("{lambda("), text.find("$_"));
    if (at == std::string::npos) break;
    const int number = shorten_lambda(text, at);
    if (number < 0) return {};
    key.order.push_back(number);
  }
  erase_all(text, " ");
  return key;
}

std::vector<ProgramKernel> kernels_of_program() {
  char command[64];
  std::snprintf(command, sizeof command, "nm /proc/%d/exe 2>/dev/null", getpid());
  std::FILE* pipe = popen(command, "r");
  std::vector<ProgramKernel> out;
  if (pipe == nullptr) return out;
  char* line = nullptr;
  std::size_t room = 0;
  while (getline(&line, &room, pipe) >= 0) {
    // "0000000000012340 t _ZN..."
    char* rest = nullptr;
    const std::uintptr_t offset = std::strtoull(line, &rest, 16);
    if (rest == line || rest[0] != ' ' || std::strchr("tTwW", rest[1]) == nullptr || rest[2] != ' ') continue;
    std::string name = rest + 3;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (name.find("_kernelI") == std::string::npos) continue;
    name = demangled(name);
    if (kernel_key(name).name.empty()) continue;
    out.push_back({std::move(name), reinterpret_cast<const void*>(load_address() + offset)});
  }
  std::free(line);
  pclose(pipe);
  return out;
}

std::map<const void*, KernelResources> match_resources(const std::vector<ProgramKernel>& kernels,
                                                       const std::vector<NamedResources>& table) {
  std::map<std::string, ByOrder> known;
  for (const NamedResources& entry : table) {
    const KernelKey key = kernel_key(entry.name);
    const auto [place, fresh] = known[key.name].try_emplace(key.order, entry.resources);
    if (!fresh) place->second = largest(place->second, entry.resources);
  }
  std::vector<KernelKey> keys;
  std::map<std::string, std::set<std::vector<int>>> orders;
  for (const ProgramKernel& kernel : kernels) {
    keys.push_back(kernel_key(kernel.name));
    orders[keys.back().name].insert(keys.back().order);
  }
  std::map<const void*, KernelResources> out;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto found = known.find(keys[k].name);
    if (found == known.end()) continue;
    const ByOrder& entries = found->second;
    const std::set<std::vector<int>>& all = orders[keys[k].name];
    if (all.size() == entries.size()) {
      const auto rank = std::distance(all.begin(), all.find(keys[k].order));
      out[kernels[k].function] = std::next(entries.begin(), rank)->second;
      continue;
    }
    KernelResources most;
    for (const auto& [order, resources] : entries) most = largest(most, resources);
    out[kernels[k].function] = most;
  }
  return out;
}

}  // namespace stickslip::emulation
