// The pattern of D, L and C in frames, and its picture in a window that is not drawn.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "tests/app/simulation_fixture.h"

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
  void SetUp() override {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {kSide, kSide};
    io.DeltaTime = 1.0f / 60;
    io.IniFilename = nullptr;
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  void TearDown() override { ImGui::DestroyContext(); }
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
