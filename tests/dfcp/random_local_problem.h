// Local problems with a dense random W, for the tests of solvers.
#pragma once

#include <random>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip::fixtures {

/// W = G G' / m + floor I, with G of m columns: singular if m < 3 blocks and floor = 0. Most contacts
/// approach.
inline ContactProblem random_local_problem(int blocks, int m, double floor, double mu, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const int n = 3 * blocks;
  std::vector<double> g(static_cast<std::size_t>(n * m));
  for (double& value : g) value = normal(random);
  ContactProblem p;
  p.title = "random";
  p.laws.resize(static_cast<std::size_t>(blocks));
  for (BlockLaw& law : p.laws) law.mu = {mu, mu, mu};
  p.W.rows = p.W.columns = n;
  p.W.offsets = {0};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = i == j ? floor : 0;
      for (int k = 0; k < m; ++k)
        sum += g[static_cast<std::size_t>(i * m + k)] * g[static_cast<std::size_t>(j * m + k)] / m;
      p.W.indices.push_back(j);
      p.W.values.push_back(sum);
    }
    p.W.offsets.push_back(n * (i + 1));
  }
  // q = G v lies in the range of W: a singular problem is feasible if that v can be stopped.
  std::vector<double> v(static_cast<std::size_t>(m));
  for (double& value : v) value = normal(random);
  for (int i = 0; i < n; ++i) {
    double sum = floor * normal(random);
    for (int k = 0; k < m; ++k)
      sum += g[static_cast<std::size_t>(i * m + k)] * v[static_cast<std::size_t>(k)];
    p.q.push_back(sum - (i % 3 == 0 && floor > 0 ? 1.0 : 0.0));
  }
  return p;
}

}  // namespace stickslip::fixtures
