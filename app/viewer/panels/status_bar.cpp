#include <chrono>
#include <cstdio>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/step_text.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

using Activity = SimulationStatus::Activity;

struct Notice {
  std::string text;
  ImU32 color;
};

/// [s] since the activity began.
double busy_seconds(const SimulationStatus& status) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - status.since).count();
}

Notice notice_of(const SimulationStatus& status) {
  if (!status.error.empty()) return {"error", theme::bad};
  const double busy = busy_seconds(status);
  const std::string since = busy > 0.5 ? " for " + duration_text(busy) : "";
  if (status.activity == Activity::loading) return {"loading" + since, theme::warning};
  if (status.activity == Activity::stepping && !since.empty()) return {"in a step" + since, theme::warning};
  if (status.activity == Activity::switching) return {"changing the solver" + since, theme::warning};
  if (!status.loaded) return {"no scene", theme::dim_text};
  if (!status.tripped.empty()) return {"tripwire", theme::warning};
  return status.playing ? Notice{"playing", theme::good} : Notice{"paused", theme::accent};
}

std::string rates(const PanelContext& context) {
  const SimulationStatus& status = context.simulation.status();
  char text[96];
  std::string result = "picture " + duration_text(context.window.draw_seconds);
  if (context.window.frames_per_second > 0) {
    std::snprintf(text, sizeof text, ", %.0f per second", context.window.frames_per_second);
    result += text;
  }
  if (status.playing && status.steps_per_second > 0) {
    std::snprintf(text, sizeof text, "   %.1f steps per second", status.steps_per_second);
    result += text;
  }
  return result;
}

/// The log keeps every line; here news goes after a while, and errors stay.
bool is_old(const LogLine& line) {
  const double age = std::chrono::duration<double>(std::chrono::steady_clock::now() - line.at).count();
  return line.level < spdlog::level::err && age > (line.level == spdlog::level::warn ? 60 : 15);
}

/// A button, where a step or a change of the solver takes long.
void draw_stop(PanelContext& context) {
  constexpr double kLong = 1;  // [s]
  const SimulationStatus& status = context.simulation.status();
  if (!inactive_reason(ActionId::stop_step, context.simulation).empty() || busy_seconds(status) < kLong)
    return;
  const Action& action = action_table()[static_cast<std::size_t>(ActionId::stop_step)];
  ImGui::SameLine(0, em(1));
  if (ImGui::SmallButton(std::string(action.label).c_str())) context.act(ActionId::stop_step);
  tooltip(std::string(action.meaning) + " [" + shortcut(ActionId::stop_step) + "]");
}

/// Result of the last contact solve.
void draw_solve(const Simulation& simulation) {
  if (simulation.history().empty()) return;
  const StepReport& report = simulation.history().back();
  const ParamInfo& solver = *find_param(param_table(), "contact_solver");
  const std::string text = solve_text(report, param_text(&simulation.settings().params, solver));
  if (text.empty()) return;
  ImGui::SameLine(0, em(3));
  text_colored(missed_tolerance(report) ? theme::warning : theme::dim_text, text);
  tooltip(missed_tolerance(report)
              ? "The last contact solve ended before its tolerance: allow more iterations, a larger "
                "tolerance or another solver"
              : "Solver, contacts, nu = 3 contacts / dofs, and the judge's residual of the last step");
}

}  // namespace

void draw_status_bar(PanelContext& context) {
  const Notice notice = notice_of(context.simulation.status());
  text_colored(notice.color, notice.text);
  draw_stop(context);
  draw_solve(context.simulation);
  LogLine last = context.log.last();
  if (is_old(last)) last.text.clear();
  ImGui::SameLine(0, em(3));
  const char* const help = "F1 help";
  std::string right = rates(context) + "   " + help;
  // In a narrow window the solve comes first.
  if (ImGui::CalcTextSize(right.c_str()).x > ImGui::GetContentRegionAvail().x) right = help;
  const float right_width = ImGui::CalcTextSize(right.c_str()).x;
  const float room = ImGui::GetContentRegionAvail().x - right_width - em(4);
  const ImU32 color = last.level >= spdlog::level::err    ? theme::bad
                      : last.level == spdlog::level::warn ? theme::warning
                                                          : theme::dim_text;
  if (room > em(10)) {
    std::string line = last.text.substr(0, last.text.find('\n'));
    text_colored(color, fit_text(line, room));
    if (ImGui::IsItemClicked()) context.act(ActionId::toggle_log);
    tooltip(last.text + (last.text.empty() ? "" : "\n") + "Click for the log [" +
            shortcut(ActionId::toggle_log) + "]");
  }
  ImGui::SameLine(ImGui::GetContentRegionMax().x - right_width);
  text_colored(theme::dim_text, right);
}

}  // namespace stickslip
