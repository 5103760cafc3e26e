// Panes of the run and its forks: where they are, what they show, and what their captions say.
#include "app/viewer/fork_panes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "app/viewer/panels/plot_columns.h"
#include "app/viewer/pointer.h"
#include "app/viewer/step_text.h"
#include "tests/app/fork_fixture.h"
#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

using test::reached;

TEST(PaneAreas, TheNumberOfColumnsMakesTheShorterSideLargest) {
  const auto columns = [](int count, int width, int height) {
    const std::vector<PaneArea> areas = pane_areas(count, {7, 3, width, height}, 2);
    EXPECT_EQ(areas.size(), static_cast<std::size_t>(count));
    int in_first_row = 0;
    for (const PaneArea& area : areas) {
      in_first_row += area.y == areas[0].y;
      EXPECT_GE(area.x, 7);
      EXPECT_GE(area.y, 3);
      EXPECT_LE(area.x + area.width, 7 + width);
      EXPECT_LE(area.y + area.height, 3 + height);
      EXPECT_EQ(area.width, areas[0].width);
      EXPECT_EQ(area.height, areas[0].height);
    }
    return in_first_row;
  };
  EXPECT_EQ(columns(2, 1280, 720), 2);
  EXPECT_EQ(columns(2, 500, 700), 1);
  EXPECT_EQ(columns(3, 1280, 720), 3);
  EXPECT_EQ(columns(3, 680, 600), 2);
  EXPECT_EQ(columns(4, 1280, 720), 2);
}

TEST(PaneAreas, TheCameraShowsTheShorterSideOfTheWholeInThatOfAPane) {
  const PaneArea within{0, 0, 1200, 600};
  const Vec3f right_end{1, 0, 0}, top{0, 1, 0};
  Camera camera = Camera::look_at({0, 0, 5}, {0, 0, 0}, 40);
  const float whole = 600 / (camera.project({0, 0, 0}, 1200, 600) - camera.project(top, 1200, 600))[1];
  for (const PaneArea& pane : {PaneArea{0, 0, 300, 600}, PaneArea{0, 0, 600, 300}}) {
    camera.widening = pane_widening(pane, within);
    const Vec3f middle = camera.project({0, 0, 0}, pane.width, pane.height);
    const float across = (camera.project(right_end, pane.width, pane.height) - middle)[0];
    EXPECT_NEAR(300 / across, whole, 1e-4f) << "what the shorter side of 300 shows";
    const Ray ray = camera.ray(middle[0] + across, middle[1], pane.width, pane.height);
    EXPECT_NEAR(norm(normalized(right_end - camera.eye()) - ray.direction), 0, 1e-6f)
        << "rays fit the picture";
  }
}

/// Five blocks on an incline, of which some stick; once forked, the friction of all is gone.
class ForkOfSlope : public test::ForkedRun {
 protected:
  static constexpr int kWidth = 640, kHeight = 240;
  static constexpr PaneArea kWithin{0, 0, kWidth, kHeight};

  ForkOfSlope() : ForkedRun("slope") {}
  void SetUp() override {
    ForkedRun::SetUp();
    simulation.post(MaterialEdit{-1, "mu", 0.0});
    panes.set_scene(simulation.frame().scene);
    const CameraStart& start = simulation.frame().scene->camera;
    view.camera = Camera::look_at(start.position.cast<float>(), start.target.cast<float>(),
                                  static_cast<float>(start.fov));
    view.overlays.contacts = true;
  }
  std::vector<Pane> shown_panes() {
    const std::vector<PaneArea> areas = pane_areas(static_cast<int>(forks.entries().size()) + 1, kWithin, 2);
    view.contacts = simulation.frame().snapshot.contacts;
    return panes.views(view, areas, simulation.frame(), forks, layers, looks);
  }
  /// Follows the forks until the newest step of each has contacts.
  void wait_for_contacts() {
    forks.want({.contacts = true});
    ASSERT_TRUE(reached(simulation, [&] {
      forks.update(simulation.status().frame, simulation.status().time);
      return std::ranges::all_of(forks.entries(), [](const Forks::Entry& entry) {
        return !entry.fork->status().newest()->snapshot->contacts.empty();
      });
    }));
  }

  ForkPanes panes;
  SceneLayers layers;
  PaneLooks looks;
  FrameView view;
};

TEST_F(ForkOfSlope, APaneShowsTheForksStateAndContactsAndNotTheRuns) {
  steps_to(9);
  EXPECT_TRUE(forks.entries()[0].fork->status().newest()->snapshot->contacts.empty()) << "not wanted so far";
  wait_for_contacts();
  const std::vector<Pane> shown = shown_panes();
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_TRUE(shown[0].positions.empty()) << "those of the renderer";
  const ForkStep& step = *forks.entries()[0].fork->status().newest();
  EXPECT_EQ(step.frame, 9);
  EXPECT_TRUE(std::ranges::equal(shown[1].positions, step.snapshot->positions));
  EXPECT_EQ(shown[1].view.contacts.size(), step.snapshot->contacts.size());
  EXPECT_EQ(shown[1].colors.size(), simulation.frame().scene->model.objects.size());
  EXPECT_EQ(shown[0].view.largest_force, shown[1].view.largest_force) << "arrows can be compared";
  EXPECT_EQ(shown[0].view.camera.eye(), shown[1].view.camera.eye());
  looks.shows = [](ShownState state) { return state == ShownState::stick; };
  const std::size_t sticking = shown_panes()[1].view.contacts.size();
  EXPECT_GT(sticking, 0u);
  EXPECT_LT(sticking, step.snapshot->contacts.size()) << "some blocks slide";
}

/// Until the newest step of the fork passes.
template <class Passes>
bool fork_reaches(Simulation& simulation, Forks& forks, Passes passes) {
  return reached(simulation, [&] {
    forks.update(simulation.status().frame, simulation.status().time);
    const ForkStep* step = forks.entries()[0].fork->status().newest();
    return step != nullptr && step->snapshot && passes(*step->snapshot);
  });
}

/// A rigid run has a tree at velocity level, but no stiffness.
TEST_F(ForkOfSlope, APaneShowsTheTreeOfTheForksStep) {
  steps_to(7);
  forks.want({.tree = true});
  ASSERT_TRUE(fork_reaches(simulation, forks, [](const Snapshot& s) { return !s.tree.empty(); }))
      << "without another step";
  simulation.want_tree(true);
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.frame().snapshot.tree.empty(); }));
  view.overlays.tree = true;
  view.tree = simulation.frame().snapshot.tree;
  const std::vector<Pane> shown = shown_panes();
  ASSERT_EQ(shown.size(), 2u);
  const std::vector<TreeBox>& own = forks.entries()[0].fork->status().newest()->snapshot->tree;
  ASSERT_EQ(shown[1].view.tree.size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(shown[1].view.tree[i].low, own[i].low);
  const auto same = [](const TreeBox& a, const TreeBox& b) { return a.low == b.low && a.high == b.high; };
  EXPECT_FALSE(std::ranges::equal(shown[0].view.tree, shown[1].view.tree, same)) << "the run slides";
  forks.want({});
  steps_to(8);
  EXPECT_TRUE(fork_reaches(simulation, forks, [](const Snapshot& s) { return s.tree.empty(); }));
}

/// Soft boxes on a floor, once forked with the run's material a hundred times as stiff.
class ForkOfStack : public test::ForkedRun {
 protected:
  ForkOfStack() : ForkedRun("stack") {}
};

TEST_F(ForkOfStack, APaneIsColouredByTheForksStiffnessOnTheRunsScale) {
  const double young = simulation.settings().materials[0].young;
  simulation.post(MaterialEdit{-1, "young", 100 * young});
  steps_to(6);
  forks.want({.stiffness = true});
  simulation.want_stiffness(true);
  ASSERT_TRUE(fork_reaches(simulation, forks, [](const Snapshot& s) { return !s.stiffness.empty(); }));
  ASSERT_TRUE(reached(simulation, [&] { return !simulation.frame().snapshot.stiffness.empty(); }));
  ForkPanes panes;
  panes.set_scene(simulation.frame().scene);
  SceneLayers layers;
  const PaneLooks looks{.surfaces = SurfaceColors::stiffness};
  FrameView view;
  view.heat = layers.heat(*simulation.frame().scene, looks.surfaces, simulation.frame(),
                          simulation.settings().materials);
  const std::vector<PaneArea> areas = pane_areas(2, {0, 0, 640, 240}, 2);
  const std::vector<Pane> shown = panes.views(view, areas, simulation.frame(), forks, layers, looks);
  ASSERT_EQ(shown.size(), 2u);
  const std::vector<float>& own = forks.entries()[0].fork->status().newest()->snapshot->stiffness;
  ASSERT_EQ(shown[1].view.heat.size(), own.size());
  const double low = std::log10(layers.least_heat()), high = std::log10(layers.most_heat());
  std::size_t softer = 0, coloured = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!(own[i] > 0)) continue;
    ++coloured;
    const double place = std::clamp((std::log10(static_cast<double>(own[i])) - low) / (high - low), 0.0, 1.0);
    EXPECT_NEAR(shown[1].view.heat[i], place, 1e-4);
    softer += shown[1].view.heat[i] < shown[0].view.heat[i];
  }
  EXPECT_GT(coloured, 0u);
  EXPECT_GT(softer, coloured / 2) << "the fork has the material of before";
}

TEST_F(ForkOfSlope, CaptionsSayWhatDiffersAndHowTheStepEnded) {
  steps_to(8);
  const StepReport& report = simulation.history().back();
  const std::vector<PaneCaption> captions = pane_captions(forks, simulation);
  ASSERT_EQ(captions.size(), 2u);
  EXPECT_EQ(captions[0].settings, "mu_01.mu 0, mu_02.mu 0, mu_03.mu 0, ...");
  EXPECT_EQ(captions[1].settings, "mu_01.mu 0.1, mu_02.mu 0.2, mu_03.mu 0.3, ...");
  EXPECT_EQ(captions[0].result, result_text(report));
  EXPECT_NE(captions[1].result.find("converged"), std::string::npos);
  EXPECT_LT(captions[0].distance, 0);
  EXPECT_EQ(captions[1].distance, forks.entries()[0].distances.at(8).mean);
  EXPECT_GT(captions[1].distance, 0);
}

TEST_F(ForkOfSlope, TheFileOfPlotsHasItsDistances) {
  steps_to(8);
  const std::vector<HistoryColumn> columns = plot_columns(forks, *simulation.frame().scene, {});
  ASSERT_FALSE(columns.empty());
  EXPECT_EQ(columns[0].title, "Distance, m: fork 1");
  const StepReport& last = simulation.history().back();
  EXPECT_EQ(columns[0].of(last), forks.entries()[0].distances.at(8).mean);
  EXPECT_TRUE(std::isnan(columns[0].of(simulation.history().front()))) << "before it began";
  std::vector<std::string> lines;
  std::istringstream text(history_csv(steps_of(simulation.history()), {}, columns));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_NE(lines[0].find(",\"Distance, m: fork 1\""), std::string::npos) << lines[0];
  const auto commas = [](const std::string& line, bool outside) {
    std::ptrdiff_t count = 0;
    for (const char c : line) {
      if (c == '"') outside = !outside;
      count += outside && c == ',';
    }
    return count;
  };
  for (const std::string& line : lines) EXPECT_EQ(commas(line, true), commas(lines[0], true));
}

/// There its pane is empty.
TEST_F(ForkOfSlope, ACaptionSaysWhereAForkBegins) {
  steps_to(6);
  simulation.post(Rewind{3});
  ASSERT_TRUE(reached(simulation, [&] { return simulation.frame().snapshot.frame == 3; }));
  EXPECT_EQ(shown_panes().size(), 1u);
  EXPECT_EQ(pane_captions(forks, simulation)[1].result, "begins at frame 5");
}

TEST(PaneCaptions, AResultIsThatOfTheContactSolverOrOfNewtonsMethod) {
  StepReport report;
  report.newton_iterations = 1;
  report.converged = true;
  EXPECT_EQ(result_text(report), "1 Newton iteration, converged");
  report.contact_solve.emplace();
  report.contact_solve->residual = 1e-3;
  report.contact_solve->tolerance = 1e-4;
  report.contact_solve->iterations = 200;
  EXPECT_EQ(result_text(report), "200 iterations, not converged");
}

/// Of the forks of the slope.
class PicturesOfForks : public ForkOfSlope {
 protected:
  void SetUp() override {
    try {
      renderer = std::make_unique<Renderer>(RendererOptions{.quality = Quality::light, .validation = true});
    } catch (const NoDeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    ForkOfSlope::SetUp();
    renderer->set_scene(simulation.frame().scene->model);
  }
  void TearDown() override {
    if (renderer) {
      EXPECT_TRUE(renderer->validation_messages().empty()) << renderer->validation_messages().front();
    }
  }
  /// A single view of the same state and size.
  Image alone(const Pane& pane) {
    renderer->set_positions(pane.positions.empty() ? simulation.frame().positions() : pane.positions);
    return renderer->render_offscreen(pane.view, pane.width, pane.height);
  }

  std::unique_ptr<Renderer> renderer;
};

TEST_F(PicturesOfForks, PanesDifferAndEachIsTheSingleViewOfItsState) {
  steps_to(17);
  wait_for_contacts();
  renderer->set_positions(simulation.frame().positions());
  view.contacts = simulation.frame().snapshot.contacts;
  const Image before = renderer->render_offscreen(view, kWidth, kHeight);
  const std::vector<Pane> shown = shown_panes();
  const Image both = renderer->render_offscreen(shown, kWidth, kHeight);
  EXPECT_EQ(renderer->render_offscreen(view, kWidth, kHeight).rgba, before.rgba) << "as it was without panes";
  EXPECT_GT(pixels_that_differ(part(both, shown[0]), part(both, shown[1])), 500u);
  for (const Pane& pane : shown)
    EXPECT_LE(pixels_that_differ(part(both, pane), alone(pane), 2),
              static_cast<std::size_t>(pane.width * pane.height / 500));
}

/// The pointer's part of the window is the pane of the run.
TEST_F(ForkOfSlope, ThePointerPicksInTheRunsPaneAndTurnsTheCameraInAnyPane) {
  Camera camera = view.camera;
  Pointer pointer(simulation, camera);
  pointer.resize(300, kHeight, {40, 20});
  const Bounds bounds = bounds_of(simulation.frame().scene->model.objects[2], simulation.frame().positions());
  const Vec3f at = camera.project(bounds.center(), 300, kHeight);
  const auto click = [&](float x, float y) {
    pointer.move(x, y);
    pointer.press(Pointer::Button::left, {});
    pointer.release(Pointer::Button::left);
    return pointer.take_click();
  };
  const std::optional<Click> hit = click(40 + at[0], 20 + at[1]);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->object, 2);
  EXPECT_FALSE(click(340 + at[0], 20 + at[1])) << "in another pane";
  const float yaw = camera.yaw;
  pointer.press(Pointer::Button::left, {});
  pointer.move(340 + at[0] + 50, 20 + at[1]);
  pointer.release(Pointer::Button::left);
  EXPECT_NE(camera.yaw, yaw);
  pointer.press(Pointer::Button::left, {.control = true});
  EXPECT_FALSE(pointer.busy()) << "nothing is pulled in another pane";
}

}  // namespace
}  // namespace stickslip
