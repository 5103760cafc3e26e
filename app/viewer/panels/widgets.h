// Widgets that several panels share.
#pragma once

#include <imgui.h>

#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stickslip {

/// Width of `characters` average characters in the current font.
float em(float characters);

/// A dim label on the left, a value at `column` pixels.
void value_row(const char* label, float column, const char* format, ...) IM_FMTARGS(3);

/// A dim label with a tooltip for what follows it at `column` pixels in the same line.
void row_label(const char* label, float column, const std::string& meaning);

/// A column of a table that is as wide as its title and the widest of `texts`, `beside` pixels more. ImGui's
/// own fit is one picture late: it cuts what came since the picture before.
void fitted_column(const char* title, std::span<const std::string> texts, float beside = 0,
                   ImGuiTableColumnFlags flags = 0);

/// A collapsible part of a panel.
bool section(const char* title, bool open = true);
/// Goes on in the same line if what comes fits there: an item of this width [pixels], a button, a text, or a
/// check box or radio button with this label. Else in the next.
void same_line_within(float width);
void same_line_for_button(const char* label);
void same_line_for_text(const std::string& text);
void same_line_for(const char* label);
/// Whether the sections that were drawn so far are open, by title. What is set before a section is drawn for
/// the first time takes the place of its default.
std::map<std::string, bool>& open_sections();

/// A text field that filters a list: `text` keeps what is typed; `hint` is shown while it is empty.
void filter_field(const char* id, const char* hint, std::string& text);
/// Whether one of `texts` contains `filter`, whatever the case of letters; an empty filter passes everything.
bool passes_filter(std::string_view filter, std::initializer_list<std::string_view> texts);

/// As ImGui::BeginCombo, and Escape closes it.
bool begin_choices(const char* id, const std::string& shown);

/// [px] Widths of two choices beside each other that fill the line, with a button of the width `button` [px]
/// behind them if that fits: each has room for its longest name and its arrow, and a half of what is left.
std::array<float, 2> choice_widths(std::span<const std::string_view> first,
                                   std::span<const std::string_view> second, float button);

/// A wrapped tooltip for the last item, also if that item is disabled.
void tooltip(const std::string& text);
/// "1 iteration", "2 iterations": for words whose plural has an s.
std::string counted(long count, const char* what);

/// A button whose tooltip shows its key.
bool action_button(const char* label, const std::string& what, const std::string& key,
                   const ImVec2& size = {0, 0});

/// A slider over [0, 1], filled up to its position, with `text` on it. True while it is moved; with Alt it
/// moves a tenth as far as the pointer.
bool filled_slider(const char* id, float& position, const std::string& text);

void text_colored(ImU32 color, std::string_view text);

/// `text` shortened with dots to fit into `width` pixels.
std::string fit_text(const std::string& text, float width);

/// "12.3 ms", "1.25 s"
std::string duration_text(double seconds);
/// A number with an SI prefix from f to T: "1.2 mm", "3.4 kN"; with an exponent beyond them: "2.1e-18 N".
std::string si_text(double value, const char* unit);

}  // namespace stickslip
