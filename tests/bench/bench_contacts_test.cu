#include <cmath>
#include <map>
#include <set>

#include "bench/benches.cuh"
#include "gpu/dfcp/problem/generators.h"
#include "gpu/law/local_data.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

constexpr long kContacts = 300;

/// Properties of the column, counted by hand. All its bodies move except walls.
struct Counts {
  double bodies = 0;
  double entries = 0;  // pairs (contact, moving body)
  double blocks = 0;   // pairs (contact, contact) that share a moving body
  double most_of_a_body = 0;
};

Counts count(const ContactProblem& p) {
  std::vector<std::set<std::size_t>> bodies_of(p.blocks()), contacts_of(p.bodies());
  const auto n = static_cast<std::size_t>(p.body_dofs * p.body_dofs);
  for (std::size_t c = 0; c < p.blocks(); ++c)
    for (auto k = p.block_start[c]; k < p.block_start[c + 1]; ++k) {
      const auto body = static_cast<std::size_t>(p.jacobian[static_cast<std::size_t>(k)].body);
      if (p.inverse_mass[body * n] == 0) continue;
      bodies_of[c].insert(body);
      contacts_of[body].insert(c);
    }
  Counts counts;
  counts.bodies = static_cast<double>(p.bodies());
  for (std::size_t c = 0; c < p.blocks(); ++c) {
    std::set<std::size_t> met{c};
    for (const std::size_t body : bodies_of[c])
      met.insert(contacts_of[body].begin(), contacts_of[body].end());
    counts.entries += static_cast<double>(bodies_of[c].size());
    counts.blocks += static_cast<double>(met.size());
  }
  for (const auto& contacts : contacts_of)
    counts.most_of_a_body = std::max(counts.most_of_a_body, static_cast<double>(contacts.size()));
  return counts;
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(BenchContacts, FiguresAreFiniteAndCountWhatTheyMove) {
  constexpr double triad = 1e10;
  BenchResult result;
  add_contact_figures(ctx, kContacts, triad, result);
  std::map<std::string, BenchFigure> figures;
  for (const BenchFigure& f : result.figures) {
    EXPECT_TRUE(std::isfinite(f.value) && f.value > 0) << f.name << " " << f.value;
    EXPECT_TRUE(figures.emplace(f.name, f).second) << f.name;
    EXPECT_EQ(f.floor > 0, f.unit == "iterations/s" || f.name.find(", colouring") != std::string::npos)
        << f.name;
  }
  // 3 of the colours, 1 of W's size, 1 of the colouring of a given graph; and for each storage of W its
  // assembly, six rates and the colouring.
  EXPECT_EQ(result.figures.size(), 3 + 1 + 1 + 2 * (1 + 6 + 1));
  ASSERT_TRUE(figures.contains("300 factored, check by the judge"));

  const Counts counts = count(granular_column(kContacts, 1));
  constexpr double n = kContacts;
  EXPECT_NEAR(figures["300, blocks of W a row"].value, counts.blocks / n, 1e-12);
  EXPECT_GE(figures["300, colours"].value, counts.most_of_a_body);
  EXPECT_LE(figures["300, smallest colour"].value * figures["300, colours"].value, n);
  EXPECT_GE(figures["300, largest colour"].value * figures["300, colours"].value, n);

  EXPECT_NEAR(1e-3 * triad * figures["300 assembled, colouring of the graph"].floor,
              4 * (3 * n + counts.blocks), 1e-3);
  EXPECT_NEAR(1e-3 * triad * figures["300 factored, colouring"].floor, 4 * (3 * n + 2 * counts.entries),
              1e-3);

  const auto bytes = [&](const char* name) { return triad / figures[name].floor; };
  // A block of W and its column; the start of its row, x and y.
  EXPECT_NEAR(bytes("300 assembled, W x"), 76 * counts.blocks + (4 + 48) * n, 1e-3);
  // The same plus order, q, r twice, law, the diagonal block, LocalData and the multiplier twice.
  EXPECT_NEAR(
      bytes("300 assembled, nsgs sweep"),
      76 * counts.blocks + (4 + 4 + 24 + 48 + sizeof(ContactLaw<3>) + 72 + sizeof(LocalData<3>) + 16) * n,
      1e-3);
  // H and A^-1 H' of 6 x 3 and three indices per entry; the starts of both; v twice; x twice, compliance, y.
  EXPECT_NEAR(bytes("300 factored, W x"),
              (2 * 144 + 3 * 4) * counts.entries + (4 + 2 * 48) * counts.bodies + (4 + 4 * 24) * n, 1e-3);
}
