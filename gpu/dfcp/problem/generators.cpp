#include "gpu/dfcp/problem/generators.h"

#include <algorithm>

#include "gpu/dfcp/problem/generator_tools.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

struct Generator {
  GeneratorInfo info;
  ContactProblem (*make)(long size, std::uint64_t seed);
};

const std::vector<Generator>& table() {
  static const std::vector<Generator> generators{
      {{"random_stacks", "towers of boxes of random sizes, densities and friction, nudged sideways", "boxes",
        100, 1000000},
       [](long size, std::uint64_t seed) {
         return random_stacks(size, std::max(1L, std::lround(std::sqrt(static_cast<double>(size)))), seed);
       }},
      {{"granular_column", "balls packed in a box, mu = 0.3", "contacts", 10000, 5000000}, granular_column},
      {{"mass_chain", "tower of 10 cubes whose masses grow upwards", "mass of the last over the first", 1000,
        1000000},
       [](long size, std::uint64_t) { return mass_chain(10, static_cast<double>(size)); }},
      {{"over_constrained", "tower of 10 boxes on many points each, shoved", "nu = 3 contacts / dofs", 5,
        1000},
       [](long size, std::uint64_t seed) { return over_constrained(static_cast<double>(size), 10, seed); }},
      {{"infeasible", "balls between walls that close in: has no solution", "balls", 1, 1000000},
       [](long size, std::uint64_t) { return infeasible(size); }},
      {{"hyperstatic", "a table on four legs under a box on many points, at rest", "points under the box", 16,
        1000000},
       [](long size, std::uint64_t) { return hyperstatic(size); }},
      {{"rolling_spheres", "heaps of four moving balls on the ground, with friction and rolling resistance",
        "balls", 100, 1000000, kRollingRows},
       rolling_spheres},
      {{"tasora_b1", "network of ball joints, 3.5 bilateral rows per part", "parts", 1000, 1000000},
       tasora_b1},
      {{"tasora_b2", "equal smooth spheres, 3.525 contacts per sphere", "spheres", 1000, 1000000}, tasora_b2},
      {{"tasora_b3", "stack of plates of 1 and 1000 kg by turns", "plates", 20, 1000000},
       [](long size, std::uint64_t) { return tasora_b3(size); }},
      {{"tasora_b4", "wrecking ball against a brick wall", "bricks", 750, 1000000},
       [](long size, std::uint64_t) { return tasora_b4(size); }},
  };
  return generators;
}

}  // namespace

std::vector<GeneratorInfo> list_generators() {
  std::vector<GeneratorInfo> infos;
  for (const Generator& generator : table()) infos.push_back(generator.info);
  return infos;
}

std::vector<std::string_view> generator_names() {
  std::vector<std::string_view> names;
  for (const Generator& generator : table()) names.push_back(generator.info.name);
  return names;
}

ContactProblem generate(std::string_view name, long size, std::uint64_t seed) {
  for (const Generator& generator : table()) {
    if (generator.info.name != name) continue;
    const GeneratorInfo& info = generator.info;
    if (size == 0) size = info.default_size;
    require(size >= 1 && size <= info.largest_size,
            "size of " + std::string(name) + " (" + std::string(info.size) + ") is " + std::to_string(size) +
                " and must be in [1, " + std::to_string(info.largest_size) + "]");
    return generator.make(size, seed);
  }
  std::string text = "unknown generator '" + std::string(name) + "'";
  const std::vector<std::string_view> names = generator_names();
  if (const std::string near = nearest_name(names, name); !near.empty())
    text += ": did you mean '" + near + "'?";
  else
    for (std::size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? "; there are " : i + 1 < names.size() ? ", " : " and ") + std::string(names[i]);
  throw std::invalid_argument(text);
}

}  // namespace stickslip
