// Rows, choices and legends of plots in a narrow window: every letter is drawn, inside the window.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"
#include "tests/app/undrawn_window.h"

namespace stickslip {
namespace {

/// What a picture of a window has in one colour.
struct DrawnLetters {
  int letters = 0;
  float right = 0, left = 1e9f;
};

class NarrowPanels : public ::testing::Test {
 protected:
  test::UndrawnWindow window_{1000, 1000};

  /// Letters have corners with texture coordinates of their own; all others share that of a white pixel.
  static DrawnLetters letters_of(float width, ImU32 color, const std::function<void()>& draw) {
    for (int picture = 0; picture < 2; ++picture) {  // sizes of a new window follow from its first picture
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize({width, 900});
      ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration);
      draw();
      ImGui::End();
      ImGui::Render();
    }
    DrawnLetters drawn;
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    const ImDrawData& data = *ImGui::GetDrawData();
    int corners = 0;
    for (int list = 0; list < data.CmdListsCount; ++list)
      for (const ImDrawVert& v : data.CmdLists[list]->VtxBuffer) {
        if (v.col != color || (v.uv.x == white.x && v.uv.y == white.y)) continue;
        ++corners;
        drawn.right = std::max(drawn.right, v.pos.x);
        drawn.left = std::min(drawn.left, v.pos.x);
      }
    drawn.letters = corners / 4;
    return drawn;
  }
};

TEST_F(NarrowPanels, AWideValueTakesMoreLines) {
  constexpr ImU32 kText = IM_COL32(1, 2, 3, 255);
  const auto row = [&] {
    ImGui::PushStyleColor(ImGuiCol_Text, kText);
    value_row("Speed", 80, "%s", "188.9 steps/s, 1.89 x real time, and more");
    ImGui::PopStyleColor();
  };
  const DrawnLetters wide = letters_of(900, kText, row), narrow = letters_of(200, kText, row);
  EXPECT_EQ(wide.letters, 34);
  EXPECT_EQ(narrow.letters, wide.letters) << "nothing is cut";
  EXPECT_LE(narrow.right, 200);
  EXPECT_GE(narrow.left, 80) << "below the value, not below its label";
}

TEST_F(NarrowPanels, ALegendTakesMoreRows) {
  const std::array<float, 3> x{0, 1, 2};
  const auto plot = [&] {
    std::vector<PlotSeries> lines;
    for (const char* name : {"stored", "work", "friction", "unexplained"})
      lines.push_back({name, theme::series[0], {0, 1, 2}});
    draw_plot("plot", {ImGui::GetContentRegionAvail().x, 120}, x, {"x"}, lines, {"y"});
  };
  // Without the ticks and the label of the x axis, which depend on the width.
  const auto named = [&](float width) { return letters_of(width, theme::dim_text, plot); };
  const DrawnLetters wide = named(900), narrow = named(150);
  EXPECT_LE(narrow.right, 150);
  const auto single = [&](float width) {
    return letters_of(width, theme::dim_text,
                      [&] {
                        std::vector<PlotSeries> lines{{"stored", theme::series[0], {0, 1, 2}}};
                        draw_plot("plot", {ImGui::GetContentRegionAvail().x, 120}, x, {"x"}, lines, {"y"});
                      })
        .letters;
  };
  constexpr int kNames = 6 + 4 + 8 + 11;
  EXPECT_EQ(wide.letters - single(900), kNames);
  EXPECT_GE(narrow.letters, kNames) << "nothing is cut";
}

TEST_F(NarrowPanels, AChoiceWithoutRoomForItsArrowHasItsText) {
  constexpr ImU32 kText = IM_COL32(1, 2, 3, 255);
  const auto choice = [&](float width) {
    return [width] {
      ImGui::PushStyleColor(ImGuiCol_Text, kText);
      ImGui::SetNextItemWidth(width);
      if (begin_choices("##choice", "displacement")) ImGui::EndCombo();
      ImGui::PopStyleColor();
    };
  };
  const float text = 12 * 7;  // [px] in ImGui's own font
  EXPECT_EQ(letters_of(400, kText, choice(200)).letters, 12);
  EXPECT_EQ(letters_of(400, kText, choice(text + 10)).letters, 12) << "nothing is cut";
}

TEST_F(NarrowPanels, TwoChoicesHaveTheirTextsAndArrows) {
  constexpr std::array<std::string_view, 2> kKinds{"ball", "displacement"}, kAxes{"x", "normal"};
  for (const float width : {400.f, 300.f, 240.f}) {
    std::array<float, 2> widths{};
    float room = 0, arrow = 0, padding = 0;
    letters_of(width, 0, [&] {
      room = ImGui::GetContentRegionAvail().x;
      arrow = ImGui::GetFrameHeight();
      padding = ImGui::GetStyle().FramePadding.x;
      widths = choice_widths(kKinds, kAxes, 70);
    });
    EXPECT_GE(widths[0], 12 * 7 + arrow + 2 * padding) << width;
    EXPECT_GE(widths[1], 6 * 7 + arrow + 2 * padding) << width;
    EXPECT_LE(widths[0] + widths[1], room) << width;
  }
}

TEST_F(NarrowPanels, AColumnHasRoomForATextAtOnce) {
  constexpr ImU32 kText = IM_COL32(1, 2, 3, 255);
  int picture = 0;
  const auto table = [&] {
    const std::vector<std::string> texts{++picture == 1 ? "-" : "100000.5"};
    ImGui::PushStyleColor(ImGuiCol_Text, kText);
    if (ImGui::BeginTable("table", 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollX)) {
      fitted_column("title", {});
      fitted_column("of", texts);
      ImGui::TableHeadersRow();
      ImGui::TableNextRow();
      ImGui::TableSetColumnIndex(1);
      ImGui::TextUnformatted(texts[0].c_str());
      ImGui::EndTable();
    }
    ImGui::PopStyleColor();
  };
  EXPECT_EQ(letters_of(900, kText, table).letters, 5 + 2 + 8) << "nothing is cut";
}

TEST_F(NarrowPanels, ALabelSaysWhatItsRowMeans) {
  ImVec2 label;
  const auto row = [&] {
    label = ImGui::GetCursorScreenPos();
    row_label("Quality", 80, "Shadows and light");
    ImGui::TextUnformatted("high");
  };
  const ImU32 color = ImGui::GetColorU32(ImGuiCol_Text);
  letters_of(400, color, row);
  const auto with_pointer_at = [&](float x) {
    ImGui::GetIO().MousePos = {x, label.y + 8};
    return letters_of(400, color, row).letters;
  };
  EXPECT_EQ(with_pointer_at(label.x + 200), 4) << "the value alone";
  EXPECT_EQ(with_pointer_at(label.x + 10), 4 + 15) << "and the tooltip, whose spaces are no letters";
}

TEST_F(NarrowPanels, LeaveHalfOfTheWidthAndKeepRoomForTheirTexts) {
  ImGui::NewFrame();
  const ViewState view;
  for (const float width : {500.f, 640.f, 800.f, 900.f, 1000.f, 1024.f, 1280.f, 1920.f}) {
    SCOPED_TRACE(width);
    const FreeArea free = free_area(width, 600, view);
    EXPECT_GE(free.right - free.left, width / 2);
    EXPECT_GE(free.left, width < 600 ? width / 2 - 1 : em(37)) << "the width at which texts have room";
    const bool beside = free.split == 0;
    EXPECT_EQ(free.right, beside ? width - free.left : width);
    if (!beside) {
      EXPECT_GT(free.split, 200);
      EXPECT_GT(free.panel_bottom - free.split, 200);
    }
  }
  EXPECT_EQ(free_area(800, 600, view).split > 0, true) << "one column";
  EXPECT_EQ(free_area(1280, 720, view).split, 0) << "a column on each side";
  ImGui::EndFrame();
}

}  // namespace
}  // namespace stickslip
