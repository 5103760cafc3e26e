// The pattern of D, L and C in frames, and its picture in a window that is not drawn.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "gpu/model/barrier_model.h"
#include "tests/app/simulation_fixture.h"
#include "tests/app/undrawn_window.h"

namespace stickslip {
namespace {

/// A soft box half a millimetre above another one.
Scene two_soft_boxes(const std::string& head, const std::string& body) {
  return parse_scene(head + R"(
[[material]]
name = "soft"
young = 1e5
[[object]]
name = "low"
shape = "box"
size = [0.2, 0.2, 0.2]
edge = 0.1
material = "soft"
)" + body + R"(
[[object]]
name = "high"
shape = "box"
size = [0.2, 0.2, 0.2]
edge = 0.1
material = "soft"
position = [0, 0.2005, 0]
)" + body,
                     "/somewhere/boxes.toml");
}

MatrixParts matrix_after_a_step(const Scene& scene, int cells) {
  const auto engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  engine->load(scene.model);
  Snapshot snapshot;
  snapshot.matrix_cells = cells;
  engine->snapshot(snapshot);
  EXPECT_TRUE(snapshot.matrix.empty()) << "no step yet";
  engine->step();
  engine->snapshot(snapshot);
  Snapshot without;
  engine->snapshot(without);
  EXPECT_TRUE(without.matrix.empty());
  return snapshot.matrix;
}

/// Ordered pairs of nodes of one tet.
std::set<std::pair<int, int>> pairs_of_tets(const Model& model) {
  std::set<std::pair<int, int>> pairs;
  for (const Vec4i& t : model.tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b) pairs.insert({t[a], t[b]});
  return pairs;
}

TEST(MatrixPartsOfSteps, BarrierStepsCoupleBodiesByContactsAlone) {
  const Scene scene = two_soft_boxes("solver = \"ipc\"\n", "");
  const auto n = static_cast<std::int32_t>(scene.model.node_count());
  const MatrixParts parts = matrix_after_a_step(scene, 1 << 20);
  ASSERT_EQ(parts.nodes, n);
  ASSERT_EQ(parts.cells, n) << "a cell per block";
  const auto elastic = pairs_of_tets(scene.model);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      EXPECT_EQ(parts.at(i, j)[MatrixParts::diagonal], i == j);
      EXPECT_EQ(parts.at(i, j)[MatrixParts::elastic], elastic.count({i, j}));
      EXPECT_EQ(parts.at(i, j)[MatrixParts::contact], parts.at(j, i)[MatrixParts::contact]);
    }
  EXPECT_GT(parts.total[MatrixParts::contact], 0);
  std::int64_t across = 0;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j)
      if (scene.model.node_object[static_cast<std::size_t>(i)] !=
          scene.model.node_object[static_cast<std::size_t>(j)])
        across += parts.at(i, j)[MatrixParts::contact];
  EXPECT_GT(across, 0) << "the box lies on the other";
}

TEST(MatrixPartsOfSteps, VelocityStepsHaveTheElasticBodiesWithoutContacts) {
  const MatrixParts parts = matrix_after_a_step(two_soft_boxes("solver = \"velocity\"\n", ""), 10);
  ASSERT_EQ(parts.cells, 10);
  EXPECT_GT(parts.total[MatrixParts::elastic], 0);
  EXPECT_EQ(parts.total[MatrixParts::contact], 0);
  EXPECT_TRUE(
      matrix_after_a_step(two_soft_boxes("solver = \"velocity\"\n", "body = \"rigid\"\n"), 10).empty());
}

/// A soft box beside a rigid one, a sheet and a strand, apart from each other but for the rigid box, which
/// lies on the soft one.
Scene mixed_bodies(const std::string& head) {
  return parse_scene(head + R"(
[[material]]
name = "soft"
young = 1e5
[[object]]
name = "rigid"
body = "rigid"
shape = "box"
size = [0.2, 0.2, 0.2]
material = "soft"
position = [0, 0.2005, 0]
[[object]]
name = "solid"
shape = "box"
size = [0.2, 0.2, 0.2]
edge = 0.1
material = "soft"
[[object]]
name = "sheet"
body = "cloth"
shape = "sheet"
size = [0.3, 0.2]
edge = 0.1
thickness = 1e-3
material = "soft"
position = [1, 0, 0]
[[object]]
name = "strand"
body = "rods"
shape = "strand"
length = 0.4
segments = 4
diameter = 0.01
material = "soft"
position = [2, 1, 0]
)",
                     "/somewhere/mixed.toml");
}

/// Ordered pairs of nodes of one triangle of a sheet and those across its edges: bending couples all nodes of
/// such a patch (bend_patch.h).
std::set<std::pair<int, int>> pairs_of_sheet(const Model& model, const Object& sheet) {
  std::set<std::pair<int, int>> pairs;
  const auto begin = model.triangles.begin() + sheet.triangle_begin,
             end = model.triangles.begin() + sheet.triangle_end;
  for (auto s = begin; s != end; ++s) {
    std::set<int> patch(s->v, s->v + 3);
    for (auto t = begin; t != end; ++t) {
      std::set<int> both(s->v, s->v + 3);
      both.insert(t->v, t->v + 3);
      if (both.size() <= 4) patch.insert(t->v, t->v + 3);
    }
    for (const int a : patch)
      for (const int b : patch)
        if (a != b) pairs.insert({a, b});
  }
  return pairs;
}

/// The places of L in nodes of the scene. `node`: of each row.
std::set<std::pair<int, int>> elastic_places(const MatrixParts& parts, const std::vector<int>& node) {
  std::set<std::pair<int, int>> places;
  for (std::int32_t i = 0; i < parts.nodes; ++i)
    for (std::int32_t j = 0; j < parts.nodes; ++j)
      if (parts.at(i, j)[MatrixParts::elastic] > 0)
        places.insert({node[static_cast<std::size_t>(i)], node[static_cast<std::size_t>(j)]});
  return places;
}

/// Those of one object.
std::set<std::pair<int, int>> places_within(const std::set<std::pair<int, int>>& places,
                                            const Object& object) {
  std::set<std::pair<int, int>> own;
  for (const auto& [a, b] : places)
    if (a >= object.node_begin && a < object.node_end && b >= object.node_begin && b < object.node_end)
      own.insert({a, b});
  return own;
}

/// L of the soft bodies of `mixed_bodies`, against pairs of nodes that are counted from their meshes.
void expect_mixed_places(const Model& model, const std::set<std::pair<int, int>>& places) {
  const Object &solid = model.objects[1], &sheet = model.objects[2], &strand = model.objects[3];
  EXPECT_EQ(places_within(places, solid), places_within(pairs_of_tets(model), solid));
  EXPECT_EQ(places_within(places, sheet), pairs_of_sheet(model, sheet));
  // Along the strand, x0, y0, x1, y1, x2, ...: elements have the nodes of two segments and their ghosts.
  std::set<std::pair<int, int>> chain;
  const int ghosts = 4;
  const auto along = [&](int k) { return strand.node_begin + (k % 2 == 0 ? ghosts + k / 2 : k / 2); };
  for (int k = 0; k <= 2 * ghosts; ++k)
    for (int other = std::max(0, k - 4); other <= std::min(2 * ghosts, k + 4); ++other)
      if (other != k) chain.insert({along(k), along(other)});
  const std::set<std::pair<int, int>> found = places_within(places, strand);
  for (const auto& place : found) EXPECT_TRUE(chain.count(place)) << place.first << " " << place.second;
  for (int k = 0; k + 2 <= 2 * ghosts; ++k)
    EXPECT_TRUE(found.count({along(k), along(k + 2)})) << "neighbours of one kind, " << k;
}

// At velocity level the rows are the nodes of the elastic bodies: a rigid body has none, and no body has
// contacts there.
TEST(MatrixPartsOfSteps, VelocityStepsOfMixedScenesHaveTheirSoftAndThinBodies) {
  const Scene scene = mixed_bodies("solver = \"velocity\"\n");
  const MatrixParts parts = matrix_after_a_step(scene, 1 << 20);
  std::vector<int> node;
  for (std::size_t k = 1; k < scene.model.objects.size(); ++k)
    for (int i = scene.model.objects[k].node_begin; i < scene.model.objects[k].node_end; ++i)
      node.push_back(i);
  ASSERT_EQ(parts.nodes, static_cast<std::int32_t>(node.size()));
  ASSERT_EQ(parts.cells, parts.nodes);
  EXPECT_EQ(parts.total[MatrixParts::diagonal], parts.nodes);
  EXPECT_EQ(parts.total[MatrixParts::contact], 0);
  const std::set<std::pair<int, int>> places = elastic_places(parts, node);
  expect_mixed_places(scene.model, places);
  EXPECT_EQ(static_cast<std::size_t>(parts.total[MatrixParts::elastic]), places.size());
  for (const auto& [a, b] : places)
    EXPECT_EQ(scene.model.node_object[static_cast<std::size_t>(a)],
              scene.model.node_object[static_cast<std::size_t>(b)]);
}

// In barrier steps the rigid body is an affine one, with control nodes; its contacts couple it to the solid.
TEST(MatrixPartsOfSteps, BarrierStepsOfMixedScenesHaveAffineBodiesForRigidOnes) {
  const Scene scene = mixed_bodies("solver = \"ipc\"\n");
  const MatrixParts parts = matrix_after_a_step(scene, 1 << 20);
  const BarrierModel stand_in = make_barrier_model(
      scene.model, body_skins(scene.model, scene.params.contact_skin * scene.params.d_hat), 1e-3);
  ASSERT_EQ(parts.nodes, static_cast<std::int32_t>(stand_in.model.node_count()));
  std::vector<int> node(stand_in.model.node_count(), -1);  // -1: of the body
  for (std::size_t i = 0; i < stand_in.node.size(); ++i)
    if (stand_in.node[i] >= 0) node[static_cast<std::size_t>(stand_in.node[i])] = static_cast<int>(i);
  const std::set<std::pair<int, int>> places = elastic_places(parts, node);
  expect_mixed_places(scene.model, places);
  // The control nodes are coupled by the energy that keeps the body's shape, and by contacts alone to others.
  const int first = stand_in.control.at(0);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      EXPECT_EQ(parts.at(first + a, first + b)[MatrixParts::elastic], a != b) << a << " " << b;
  std::int64_t across = 0;
  for (std::int32_t i = 0; i < parts.nodes; ++i)
    for (std::int32_t j = 0; j < parts.nodes; ++j) {
      if ((node[static_cast<std::size_t>(i)] < 0) == (node[static_cast<std::size_t>(j)] < 0)) continue;
      EXPECT_EQ(parts.at(i, j)[MatrixParts::elastic], 0);
      across += parts.at(i, j)[MatrixParts::contact];
    }
  EXPECT_GT(across, 0) << "the rigid box lies on the solid";
}

TEST(MatrixPartsOfSteps, FramesHaveItOnlyOnRequestAndOfAStep) {
  Simulation simulation(
      [] { return make_engine(Backend::cpu, 1); },
      [](const std::string&, const std::string&) { return two_soft_boxes("solver = \"ipc\"\n", ""); });
  const auto matrix = [&]() -> const MatrixParts& { return simulation.frame().snapshot.matrix; };
  simulation.post(LoadScene{"a"});
  simulation.step_once();
  simulation.step_once();
  ASSERT_TRUE(test::at_rest_after(simulation, 2));
  EXPECT_TRUE(matrix().empty());
  simulation.want_matrix(true);
  ASSERT_TRUE(test::reached(simulation, [&] { return !matrix().empty(); })) << "without a step";
  EXPECT_LE(matrix().cells, Simulation::kMatrixCells);
  simulation.post(Rewind{1});
  ASSERT_TRUE(test::reached(simulation, [&] {
    return simulation.frame().snapshot.frame == 1 && matrix().empty();
  })) << "no step led to a restored state";
}

constexpr float kSide = 400;  // [px] of the window

class MatrixPicture : public ::testing::Test {
 protected:
  test::UndrawnWindow window_{kSide, kSide};
  void draw(const MatrixParts& parts) {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({kSide, kSide});
    ImGui::Begin("matrix", nullptr, ImGuiWindowFlags_NoDecoration);
    at_ = ImGui::GetCursorScreenPos();
    size_ = std::min(ImGui::GetContentRegionAvail().x, em(36));
    draw_matrix_parts(parts, "none here");
    ImGui::End();
    ImGui::Render();
    // Corners of rectangles by colour, whatever their opacity, inside the square.
    corners_.clear();
    const ImDrawData& drawn = *ImGui::GetDrawData();
    for (int list = 0; list < drawn.CmdListsCount; ++list)
      for (const ImDrawVert& v : drawn.CmdLists[list]->VtxBuffer)
        if (v.pos.y < at_.y + size_ + 0.5f) ++corners_[v.col & ~IM_COL32_A_MASK];
  }
  int cells_of(ImU32 color) { return corners_[color & ~IM_COL32_A_MASK] / 4; }

  ImVec2 at_;
  float size_ = 0;
  std::map<ImU32, int> corners_;
};

TEST_F(MatrixPicture, HasACellInTheColourOfEachPart) {
  // Nodes 0 and 1 in an element, 1 and 3 in a contact, 2 alone.
  const std::vector<Vec2i> entries{{1, 0}};
  const std::vector<Vec4i> contacts{{1, 3, -1, -1}};
  const MatrixParts parts = count_parts(4, entries, contacts, 100);
  draw(parts);
  EXPECT_EQ(cells_of(theme::series[2]), 4);
  EXPECT_EQ(cells_of(theme::series[0]), 2);
  EXPECT_EQ(cells_of(theme::series[1]), 2);
  // In two cells a side, contacts hide what is below them.
  draw(count_parts(4, entries, contacts, 2));
  EXPECT_EQ(cells_of(theme::series[2]), 2);
  EXPECT_EQ(cells_of(theme::series[0]), 0);
  EXPECT_EQ(cells_of(theme::series[1]), 2);
  draw({});
  EXPECT_EQ(cells_of(theme::series[2]), 0);
}

TEST_F(MatrixPicture, ThePointerTellsWhatACellHas) {
  const std::vector<Vec2i> entries{{1, 0}, {2, 1}, {5, 4}};
  const std::vector<Vec4i> contacts{{0, 1, 4, -1}};
  const MatrixParts parts = count_parts(6, entries, contacts, 2);
  EXPECT_EQ(matrix_cell_text(parts, 0, 0),
            "rows 0 to 2, columns 0 to 2\nD: 3 blocks, 27 numbers\nL: 4 blocks, 36 numbers\n"
            "C: 2 blocks, 18 numbers");
  EXPECT_EQ(matrix_cell_text(parts, 1, 0),
            "rows 3 to 5, columns 0 to 2\nD: 0 blocks, 0 numbers\nL: 0 blocks, 0 numbers\n"
            "C: 2 blocks, 18 numbers");
  EXPECT_EQ(matrix_cell_text(count_parts(1, {}, {}, 8), 0, 0),
            "row 0, column 0\nD: 1 block, 9 numbers\nL: 0 blocks, 0 numbers\nC: 0 blocks, 0 numbers");
  // The pointer over the lower left quarter opens a second window with that text.
  draw(parts);
  const int windows = ImGui::GetDrawData()->CmdListsCount;
  ImGui::GetIO().MousePos = {at_.x + 0.25f * size_, at_.y + 0.75f * size_};
  draw(parts);
  draw(parts);
  EXPECT_GT(ImGui::GetDrawData()->CmdListsCount, windows);
}

}  // namespace
}  // namespace stickslip
