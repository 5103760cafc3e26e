// Part of the report panel for what the judge says of a step, whatever made it.
#include <cmath>
#include <cstdio>
#include <string>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

std::string value_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "-";
  if (unit != "1") return si_text(value, std::string(unit).c_str());
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return text;
}

/// "barrier_energy" as "Barrier energy".
std::string title_of(std::string_view name) {
  std::string title(name);
  for (char& c : title)
    if (c == '_') c = ' ';
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

void row(const std::string& title, const std::string& text, const std::string& meaning) {
  value_row(title.c_str(), em(16), "%s", text.c_str());
  tooltip(meaning);
}

}  // namespace

void draw_judgement(const StepReport& report) {
  if (!report.judgement) {
    ImGui::TextDisabled("Explicit penalty forces follow no law.");
    return;
  }
  const StepJudgement& judgement = *report.judgement;
  for (const JudgementInfo& info : judgement_table())
    row(title_of(info.name), value_text(judgement.*info.value, info.unit), std::string(info.meaning));
  const LawCheck& law = judgement.law;
  row("Friction work", si_text(law.friction_work, "J"), "sum of r_T . u_T: at most zero where the law holds");
  row("Complementarity", si_text(law.complementarity, "J"), "largest r_N u_N of contacts that open");
  row("Slip error", si_text(law.slip, "J"), "friction that does not oppose sliding in full");
  row("Outside the cone", si_text(law.cone, "N s"), "largest friction impulse beyond mu r_N");
  row("Momentum error", si_text(law.momentum, "N s"), "that bodies gained and nothing gave them");
}

}  // namespace stickslip
