// Colouring of conflict graphs, checked against the graph.
#include <algorithm>
#include <random>
#include <set>

#include "gpu/dfcp/operator/colouring.cuh"
#include "gpu/model/report.h"
#include "tests/backend_test.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

struct Graph {
  std::vector<std::int32_t> start{0}, column;

  explicit Graph(const std::vector<std::set<std::int32_t>>& neighbours) {
    for (const auto& row : neighbours) {
      column.insert(column.end(), row.begin(), row.end());
      start.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
  std::size_t blocks() const { return start.size() - 1; }
  int largest_degree() const {  // a vertex is one of its own neighbours
    int most = 0;
    for (std::size_t c = 0; c < blocks(); ++c) most = std::max(most, start[c + 1] - start[c] - 1);
    return most;
  }
};

using Neighbours = std::vector<std::set<std::int32_t>>;

void connect(Neighbours& g, std::size_t a, std::size_t b) {
  g[a].insert(static_cast<std::int32_t>(b));
  g[b].insert(static_cast<std::int32_t>(a));
}

Neighbours isolated(std::size_t n) {
  Neighbours g(n);
  for (std::size_t c = 0; c < n; ++c) connect(g, c, c);
  return g;
}

Neighbours random_graph(std::size_t n, double mean_degree, unsigned seed) {
  Neighbours g = isolated(n);
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> any(0, n - 1);
  for (auto edges = static_cast<std::size_t>(0.5 * mean_degree * static_cast<double>(n)); edges > 0; --edges)
    connect(g, any(random), any(random));
  return g;
}

Neighbours complete_graph(std::size_t n) {
  Neighbours g = isolated(n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < a; ++b) connect(g, a, b);
  return g;
}

struct Coloured {
  std::vector<std::int32_t> colour, order;
  ColouringReport report;
};

Coloured colour_of(Context& ctx, const Neighbours& neighbours, std::span<const std::int32_t> keep = {}) {
  const Graph graph(neighbours);
  const Buffer<std::int32_t> start(ctx, graph.start), column(ctx, graph.column);
  Colouring colouring;
  colouring.build(ctx, {graph.blocks(), start.data(), column.data()}, keep);
  Coloured result{std::vector<std::int32_t>(graph.blocks()), std::vector<std::int32_t>(graph.blocks()),
                  colouring.report()};
  copy_to_host(ctx, result.colour.data(), colouring.colour(), graph.blocks());
  copy_to_host(ctx, result.order.data(), colouring.order(), graph.blocks());
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(colouring.colours()) + 1);
  copy_to_host(ctx, offsets.data(), colouring.offsets(), offsets.size());
  for (int k = 0; k <= colouring.colours(); ++k)
    EXPECT_EQ(static_cast<std::size_t>(offsets[static_cast<std::size_t>(k)]), colouring.offset(k));

  // No two neighbours have the same colour.
  for (std::size_t c = 0; c < graph.blocks(); ++c)
    for (const std::int32_t d : neighbours[c]) {
      if (d == static_cast<std::int32_t>(c)) continue;
      EXPECT_NE(result.colour[c], result.colour[static_cast<std::size_t>(d)]) << c << " and " << d;
    }
  // The order contains every block once, by colours, ascending within a colour; the report counts them.
  std::size_t smallest = graph.blocks(), largest = 0;
  for (int k = 0; k < colouring.colours(); ++k) {
    const std::size_t begin = colouring.offset(k), end = colouring.offset(k + 1);
    EXPECT_LT(begin, end);
    smallest = std::min(smallest, end - begin);
    largest = std::max(largest, end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      const auto of = [&](std::size_t j) { return result.colour[static_cast<std::size_t>(result.order[j])]; };
      EXPECT_EQ(of(i), of(begin));
      EXPECT_TRUE(i == begin || result.order[i - 1] < result.order[i]);
    }
  }
  EXPECT_EQ(std::set<std::int32_t>(result.order.begin(), result.order.end()).size(), graph.blocks());
  EXPECT_EQ(result.report.colours, colouring.colours());
  EXPECT_EQ(result.report.smallest, smallest);
  EXPECT_EQ(result.report.largest, largest);
  EXPECT_GE(result.report.seconds, 0);
  EXPECT_LE(colouring.colours(), graph.largest_degree() + 1);
  return result;
}

/// Blocks that move random vertices, the first `hub` of them also vertex 0.
std::vector<Vec4i> random_touches(std::size_t blocks, int vertices, std::size_t hub, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(-1, vertices - 1);
  std::vector<Vec4i> touched(2 * blocks);
  for (std::size_t e = 0; e < touched.size(); ++e) {
    std::set<int> nodes;
    for (int k = 0; k < 4; ++k) nodes.insert(any(random));
    if (e % 2 == 0 && e / 2 < hub) nodes.insert(0);
    touched[e] = {-1, -1, -1, -1};
    int at = 0;
    for (const int node : nodes)
      if (node >= 0 && at < 4) touched[e][at++] = node;
  }
  return touched;
}

/// A neighbour per entry of the vertices that a block moves, so that some are listed more than once.
std::vector<std::vector<std::int32_t>> neighbours_of(const std::vector<Vec4i>& touched, int vertices) {
  std::vector<std::vector<std::int32_t>> at(static_cast<std::size_t>(vertices));
  for (std::size_t e = 0; e < touched.size(); ++e)
    for (int k = 0; k < 4; ++k)
      if (touched[e][k] >= 0)
        at[static_cast<std::size_t>(touched[e][k])].push_back(static_cast<std::int32_t>(e / 2));
  std::vector<std::vector<std::int32_t>> of(touched.size() / 2);
  for (std::size_t e = 0; e < touched.size(); ++e)
    for (int k = 0; k < 4; ++k)
      if (touched[e][k] >= 0) {
        const auto& more = at[static_cast<std::size_t>(touched[e][k])];
        of[e / 2].insert(of[e / 2].end(), more.begin(), more.end());
      }
  return of;
}

/// Colours by vertices are those of the graph.
void expect_same_colours(Context& ctx, std::size_t blocks, int vertices, std::size_t hub) {
  const std::vector<Vec4i> touched = random_touches(blocks, vertices, hub, 5);
  std::vector<std::int32_t> start{0}, column;
  for (const auto& row : neighbours_of(touched, vertices)) {
    column.insert(column.end(), row.begin(), row.end());
    start.push_back(static_cast<std::int32_t>(column.size()));
  }
  const Buffer<std::int32_t> starts(ctx, start), columns(ctx, column);
  Colouring colouring;
  colouring.build(ctx, {blocks, starts.data(), columns.data()});
  std::vector<std::int32_t> expected(blocks), colour(blocks), touches(static_cast<std::size_t>(vertices));
  copy_to_host(ctx, expected.data(), colouring.colour(), blocks);
  const TouchedVertices of{blocks, touches.size(), touched.data()};
  count_touches(of, touches.data());
  const std::vector<std::size_t> sizes = colour_by_vertices(of, touches.data(), colour.data());
  EXPECT_EQ(colour, expected);
  ASSERT_EQ(sizes.size(), static_cast<std::size_t>(colouring.colours()));
  for (std::size_t k = 0; k < sizes.size(); ++k)
    EXPECT_EQ(sizes[k], colouring.offset(static_cast<int>(k) + 1) - colouring.offset(static_cast<int>(k)));
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Colouring, GraphsOfFewVerticesNeedFewColours) {
  EXPECT_EQ(colour_of(ctx, isolated(0)).report.colours, 0);
  EXPECT_EQ(colour_of(ctx, isolated(1)).report.colours, 1);
  EXPECT_EQ(colour_of(ctx, isolated(5)).report.colours, 1);
  Neighbours pair = isolated(2);
  connect(pair, 0, 1);
  EXPECT_EQ(colour_of(ctx, pair).report.colours, 2);
}

BACKEND_TEST(Colouring, APathNeedsThreeColoursAtMost) {
  Neighbours path = isolated(1000);
  for (std::size_t c = 1; c < path.size(); ++c) connect(path, c - 1, c);
  EXPECT_LE(colour_of(ctx, path).report.colours, 3);
}

BACKEND_TEST(Colouring, ACliqueNeedsAColourEach) {
  const Coloured clique = colour_of(ctx, complete_graph(150));  // more than two words of 64 colours
  EXPECT_EQ(clique.report.colours, 150);
  EXPECT_EQ(clique.report.largest, 1u);
}

BACKEND_TEST(Colouring, RandomGraphsAreBalanced) {
  FRESH_SEED(seed);
  for (const double degree : {0.5, 3.0, 12.0}) {
    const Coloured result = colour_of(ctx, random_graph(5000, degree, seed));
    const double fair = 5000.0 / result.report.colours;
    EXPECT_LE(static_cast<double>(result.report.largest), 1.5 * fair + 1) << "degree " << degree;
  }
}

BACKEND_TEST(Colouring, ACliqueAmongManyEndsSoon) {
  Neighbours graph = complete_graph(200);
  graph.resize(3000);
  for (std::size_t c = 200; c < graph.size(); ++c) {
    connect(graph, c, c);
    connect(graph, c, c - 1);
  }
  EXPECT_EQ(colour_of(ctx, graph).report.colours, 200);
}

BACKEND_TEST(Colouring, NeighboursAreListedOneAfterTheOther) {
  Buffer<std::int32_t> numbers(ctx, std::vector<std::int32_t>{2, 0, 3, -1});
  EXPECT_EQ(start_neighbours(ctx, 3, numbers.data(), ""), 5u);
  EXPECT_EQ(numbers.download(ctx), (std::vector<std::int32_t>{0, 2, 2, 5}));
  EXPECT_EQ(start_neighbours(ctx, 0, numbers.data(), ""), 0u);
}

BACKEND_TEST(Colouring, MoreNeighboursThanInt32CountsAreRefused) {
  // Blocks of one body: each has all of them as neighbours.
  for (const std::int32_t blocks : {46'341, 50'000, 70'000}) {
    Buffer<std::int32_t> numbers(ctx,
                                 std::vector<std::int32_t>(static_cast<std::size_t>(blocks) + 1, blocks));
    try {
      start_neighbours(ctx, static_cast<std::size_t>(blocks), numbers.data(), "take another solver");
      ADD_FAILURE() << blocks << " blocks were accepted";
    } catch (const SimulationError& error) {
      const std::string text = error.what();
      for (const std::string& part :
           {std::to_string(std::int64_t{blocks} * blocks), std::string("too many contacts on one body"),
            std::string("take another")})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

BACKEND_TEST(Colouring, IsTheSameForAnyNumberOfThreads) {
  FRESH_SEED(seed);
  const Neighbours graph = random_graph(4000, 8, seed);
  const Coloured expected = colour_of(ctx, graph);
  for (const int threads : {1, 2, 4}) {
    Context other(threads);
    const Coloured result = colour_of(other, graph);
    EXPECT_EQ(result.colour, expected.colour);
    EXPECT_EQ(result.order, expected.order);
  }
}

BACKEND_TEST(Colouring, PersistentBlocksKeepTheirColours) {
  FRESH_SEED(seed);
  Neighbours graph = random_graph(3000, 6, seed);
  const std::vector<std::int32_t> first = colour_of(ctx, graph).colour;
  // Unchanged, or contacts removed: all colours stay.
  EXPECT_EQ(colour_of(ctx, graph, first).colour, first);
  Neighbours fewer = graph;
  std::mt19937 random(seed);
  for (std::size_t c = 0; c < fewer.size(); c += 7) {
    for (const std::int32_t d : fewer[c])
      if (d != static_cast<std::int32_t>(c))
        fewer[static_cast<std::size_t>(d)].erase(static_cast<std::int32_t>(c));
    fewer[c] = {static_cast<std::int32_t>(c)};
  }
  EXPECT_EQ(colour_of(ctx, fewer, first).colour, first);
  // New blocks: only they are coloured, unless they connect blocks of the same colour.
  std::vector<std::int32_t> keep = first;
  std::uniform_int_distribution<std::size_t> any(0, 2999);
  for (int k = 0; k < 100; ++k) {
    graph.emplace_back();
    connect(graph, graph.size() - 1, graph.size() - 1);
    for (int j = 0; j < 4; ++j) connect(graph, graph.size() - 1, any(random));
    keep.push_back(-1);
  }
  const std::vector<std::int32_t> second = colour_of(ctx, graph, keep).colour;
  EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin()));
  // Neighbours of the same colour: one of them keeps it.
  keep.assign(2, 0);
  Neighbours pair = isolated(2);
  connect(pair, 0, 1);
  EXPECT_EQ(colour_of(ctx, pair, keep).colour, (std::vector<std::int32_t>{0, 1}));
  // Invalid colours count as new.
  keep = {1000000, -5};
  EXPECT_EQ(colour_of(ctx, pair, keep).report.colours, 2);
}

/// The last one has more than 64 colours.
BACKEND_TEST(Colouring, VerticesGiveTheColoursOfTheirGraph) {
  expect_same_colours(ctx, 0, 3, 0);
  expect_same_colours(ctx, 50, 400, 0);
  expect_same_colours(ctx, 2000, 600, 0);
  expect_same_colours(ctx, 300, 500, 150);
}
