#include <algorithm>

#include "app/viewer/hover.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/theme.h"
#include "gpu/model/element_group.h"
#include "gpu/model/tet10.h"

namespace stickslip {

namespace {

/// The colour of the marks in the scene, and its name in that of all text, which can be read on the panel.
void draw_state(ShownState state) {
  const float line = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + 0.4f * line, at.y + 0.55f * line}, 0.33f * line,
                                              theme::rgb(contact_color(state)));
  ImGui::Dummy({0.8f * line, line});
  ImGui::SameLine();
  text_colored(theme::text, name_of(state));
  if (state == ShownState::unconverged) tooltip("Its own error, below, exceeds the tolerance of the step");
}

/// The cone, seen from the side, and the force in it: normal upward, friction to the right.
void draw_cone(const ContactRecord& contact, ShownState state) {
  const float width = ImGui::GetContentRegionAvail().x, height = em(14);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, height});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, theme::plot_background, 3);
  const ImVec2 apex{at.x + 0.5f * width, at.y + 0.92f * height};
  const float friction = norm(contact.friction), normal = contact.normal_force;
  const float tall = 0.8f * height, wide = 0.45f * width;
  // Cone and force fit, at the same scale along both axes.
  const float per_newton = std::min(
      normal > 0 ? tall / normal : tall,
      std::max(contact.mu * normal, friction) > 0 ? wide / std::max(contact.mu * normal, friction) : wide);
  const float rim_y = apex.y - per_newton * normal, rim_x = per_newton * contact.mu * normal;
  list.AddTriangleFilled(apex, {apex.x - rim_x, rim_y}, {apex.x + rim_x, rim_y}, theme::bar_background);
  list.AddLine(apex, {apex.x - rim_x, rim_y}, theme::dim_text);
  list.AddLine(apex, {apex.x + rim_x, rim_y}, theme::dim_text);
  list.AddLine({apex.x, at.y + 0.05f * height}, apex, theme::plot_grid);
  const ImVec2 tip{apex.x + per_newton * friction, rim_y};
  const ImU32 color = theme::rgb(contact_color(state));
  list.AddLine(apex, tip, color, 2);
  list.AddCircleFilled(tip, 3.5f, color);
  tooltip(
      "The friction cone from the side: the normal force upward, friction to the right. On the edge the "
      "contact "
      "slides, or is about to");
}

void draw_pressure(const ContactRecord& contact, float column) {
  if (contact.area > 0)
    value_row("Pressure", column, "%s on %.3g mm2", si_text(contact.pressure(), "Pa").c_str(),
              1e6 * static_cast<double>(contact.area));
  else value_row("Pressure", column, "no area: a point or a line");
  tooltip("Normal force over the contact's share of the touching surface");
}

/// What the contact solver of a velocity-level step has of a contact.
void draw_solve_of_contact(PanelContext& context, const ContactRecord& contact, float column) {
  const Settings& settings = context.simulation.settings();
  const double dt = settings.params.dt;
  value_row("Impulse", column, "r_N %s, r_T %s", si_text(dt * contact.normal_force, "N s").c_str(),
            si_text(dt * norm(contact.friction), "N s").c_str());
  tooltip("The multipliers of the contact problem: the forces times the time step");
  for (const std::string_view name : penalty_rows(settings, context.view.contact->scene().model)) {
    const ParamInfo& info = *find_param(lab_param_table(), name);
    value_row(name.data(), column, "%s", value_text(info, get_param(&settings.contact_params, info)).c_str());
    tooltip(std::string(info.meaning));
  }
  const bool warm = settings.contact_params.warm_start;
  value_row("Warm start", column, "%s",
            !warm              ? "off"
            : contact.age > 0  ? "from the impulse of the step before"
            : contact.age == 0 ? "a new contact: from zero"
                               : "on");
}

void draw_track_button(PanelContext& context, bool tracked) {
  const Action& track = action_table()[static_cast<std::size_t>(ActionId::track_selected)];
  if (ImGui::SmallButton(tracked ? "Untrack" : "Track")) context.act(track.id);
  tooltip(std::string(track.meaning) + "  [" + shortcut(track.id) + "]");
}

void draw_contact(PanelContext& context) {
  const ContactProbe& probe = *context.view.contact;
  const ContactRecord& contact = probe.contact();
  const float column = em(16);
  const std::string names = probe.name_a() + " and " + probe.name_b();
  const bool fits = ImGui::CalcTextSize(names.c_str()).x <= ImGui::GetContentRegionAvail().x - em(18);
  text_colored(theme::text, fit_text(names, ImGui::GetContentRegionAvail().x - (fits ? em(18) : 0)));
  if (!fits) ImGui::NewLine();
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(16));
  draw_track_button(context, context.view.tracked.find(probe).has_value());
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(8));
  if (ImGui::SmallButton("Clear")) return context.view.contact.reset();
  const ShownState state = shown_state(contact, context.window.error_limit);
  value_row("State", column, "%s", "");
  ImGui::SameLine(column);
  if (probe.is_gone()) text_colored(theme::dim_text, "ended; it last had");
  else draw_state(state);
  const double d_hat = context.simulation.settings().params.d_hat;
  const bool velocity = context.simulation.settings().params.solver == SolverKind::velocity;
  const bool rigid = velocity || !context.view.contact->scene().model.bodies.empty();
  if (rigid) value_row("Gap", column, "%s", si_text(contact.gap, "m").c_str());
  else value_row("Gap", column, "%s, %.3g of d_hat", si_text(contact.gap, "m").c_str(), contact.gap / d_hat);
  value_row("Normal force", column, "%s", si_text(contact.normal_force, "N").c_str());
  draw_pressure(contact, column);
  value_row("Friction", column, "%s, %.0f%% of its cone", si_text(norm(contact.friction), "N").c_str(),
            100 * static_cast<double>(contact.cone_share));
  if (const float size = norm(contact.friction); size > 0) {
    const Vec3f along = (1 / size) * contact.friction;
    value_row("its direction", column, "%.3f, %.3f, %.3f", along[0], along[1], along[2]);
    tooltip("Unit vector along the friction force on the first of the two, in the scene's axes");
  }
  value_row("mu", column, "%.3g", static_cast<double>(contact.mu));
  tooltip("Largest friction over the normal force, in the direction of friction");
  draw_cone(contact, state);
  if (contact.rolling_share > 0)
    value_row("Rolling moment", column, "%s, %.0f%% of its bound",
              si_text(contact.rolling_moment, "N m").c_str(),
              100 * static_cast<double>(contact.rolling_share));
  if (velocity) {
    draw_solve_of_contact(context, contact, column);
  } else if (contact.augmented)
    value_row("Multiplier", column, "%s, %.0f%% of the force", si_text(contact.multiplier, "N").c_str(),
              contact.normal_force > 0 ? 100 * contact.multiplier / contact.normal_force : 0.0f);
  else value_row("Multiplier", column, "none");
  if (const std::optional<StepValueText> used = step_value(contact)) {
    value_row(used->name, column, "%s", used->value.c_str());
    tooltip(used->meaning);
  }
  value_row("Slip speed", column, "%s", si_text(contact.slip_speed, "m/s").c_str());
  if (contact.error >= 0) {
    value_row("Error", column, "%s", si_text(contact.error, "m/s").c_str());
    tooltip(
        "By how much the impulse misses Coulomb's law (e_c); the residual is made of these. A barrier acts "
        "at a distance, which counts");
  }
  if (contact.age >= 0) {
    value_row("Age", column, "%s", si_text(contact.age, "s").c_str());
    tooltip("For how long it pushes without a break, counted from the first step after contacts were shown");
  }
  value_row("At", column, "%.3f, %.3f, %.3f m", contact.point[0], contact.point[1], contact.point[2]);
}

/// "a rigid body of 2 shapes, asleep"
std::string kind_of(const ObjectProbe& probe) {
  const Body& body = *probe.body();
  std::string kind = body.moves ? "rigid" : body.motion >= 0 ? "rigid, follows its script" : "stands still";
  const int shapes = body.shape_end - body.shape_begin;
  if (shapes > 1) kind += ", " + std::to_string(shapes) + " shapes";
  if (probe.asleep()) kind += ", asleep";
  return kind;
}

/// The names as choices; `index` is that of the chosen one.
template <class Names>
std::size_t choose(const char* id, float width, const Names& names, std::size_t index) {
  ImGui::SetNextItemWidth(width);
  if (!begin_choices(id, std::string(names[index]))) return index;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (ImGui::Selectable(names[k].data(), k == index)) index = k;
  ImGui::EndCombo();
  return index;
}

/// Kind and axis of the joint that is added next, and the button that says where.
void draw_joint_choice(PanelContext& context, float column) {
  JointChoice& joint = context.view.joint;
  const Action& add = action_table()[static_cast<std::size_t>(ActionId::joint_selected)];
  const char* label = context.view.tied_from ? "To here" : "From here";
  const float button = ImGui::CalcTextSize("From here").x + 2 * ImGui::GetStyle().FramePadding.x;
  row_label(
      "Joint", column,
      "Kind and axis of the next joint. normal: across the face that is clicked last; x, y, z: along the "
      "scene's axes");
  const auto [kinds, axes] = choice_widths(joint_kind_names, joint_axis_names, button);
  joint.kind = static_cast<JointKind>(
      choose("##joint", kinds, joint_kind_names, static_cast<std::size_t>(joint.kind)));
  ImGui::SameLine();
  ImGui::BeginDisabled(!joint.has_axis());
  joint.axis = static_cast<JointAxis>(
      choose("##joint axis", axes, joint_axis_names, static_cast<std::size_t>(joint.axis)));
  ImGui::EndDisabled();
  if (!joint.has_axis()) tooltip("Only hinges and sliders have an axis");
  same_line_within(button);
  if (ImGui::SmallButton(label)) context.act(add.id);
  tooltip(std::string(add.meaning) + "  [" + shortcut(add.id) + "]");
}

void draw_object(PanelContext& context) {
  const ObjectProbe& probe = *context.view.selection;
  const Object& object = probe.description();
  const auto material = static_cast<std::size_t>(object.material);
  const float column = em(16), size = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled(
      {at.x, at.y + 0.15f * size}, {at.x + 0.7f * size, at.y + 0.85f * size}, theme::rgb(object.color), 2);
  ImGui::Dummy({0.8f * size, size});
  ImGui::SameLine();
  // A name that has no room beside the buttons has a line of its own.
  const bool fits = ImGui::CalcTextSize(object.name.c_str()).x <= ImGui::GetContentRegionAvail().x - em(27);
  ImGui::TextUnformatted(
      fit_text(object.name, ImGui::GetContentRegionAvail().x - (fits ? em(27) : 0)).c_str());
  if (!fits) ImGui::NewLine();
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(26));
  draw_track_button(context, context.view.tracked.find(probe).has_value());
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(17));
  const Action& gizmo = action_table()[static_cast<std::size_t>(ActionId::toggle_gizmo)];
  if (ImGui::SmallButton(gizmo.label.data())) context.act(gizmo.id);
  tooltip(std::string(gizmo.meaning) + "  [" + shortcut(gizmo.id) + "]");
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(8));
  if (ImGui::SmallButton("Clear")) return context.view.selection.reset();
  value_row("Material", column, "%s", probe.scene()->model.material_names[material].c_str());
  if (const auto sharing =
          std::ranges::count(probe.scene()->model.objects, object.material, &Object::material);
      sharing > 1) {
    ImGui::SameLine();
    text_colored(theme::dim_text, "of " + counted(sharing, "object"));
    tooltip("Changes of it hold for all of these");
  }
  draw_material_of_selected(context.simulation, context.view.typed, object.material);
  const std::vector<Material>& materials = context.simulation.settings().materials;
  const std::int32_t nodes = object.node_end - object.node_begin, tets = object.tet_end - object.tet_begin;
  if (object.ten_node) value_row("Mesh", column, "%d nodes, %d ten-node tets", nodes, tets / kTet10Parts);
  else if (object.has_frames) value_row("Mesh", column, "%d nodes, %d frames", nodes, tets);
  else if (object.is_solid()) value_row("Mesh", column, "%d nodes, %d tets", nodes, tets);
  else if (object.is_rods()) {
    const RodCount count = count_rods(probe.scene()->model, object);
    value_row("Rods", column, "%d strands, %d segments", static_cast<int>(count.strands),
              static_cast<int>(count.segments));
  } else
    value_row("Mesh", column, "%d nodes, %d triangles", nodes, object.triangle_end - object.triangle_begin);
  if (probe.body()) value_row("Kind", column, "%s", kind_of(probe).c_str());
  if (const int pinned = count_pinned(probe.scene()->model, probe.object()); pinned > 0)
    value_row("Pins", column, "hold %d nodes", pinned);
  const double mass = probe.mass(materials);
  if (mass > 0) value_row("Mass", column, "%s", si_text(1e3 * mass, "g").c_str());
  else value_row("Mass", column, probe.body() ? "none that counts" : "none: a collider");
  const Vec<double, 3> center = probe.center();
  value_row("Centre", column, "%.3f, %.3f, %.3f m", center[0], center[1], center[2]);
  if (const auto velocity = probe.velocity()) {
    const Vec<double, 3>& v = *velocity;
    value_row("Velocity", column, "%.3f, %.3f, %.3f m/s", v[0], v[1], v[2]);
    value_row("Speed", column, "%s", si_text(norm(v), "m/s").c_str());
  } else {
    value_row("Velocity", column, "- until the next step");
    value_row("Speed", column, "-");
  }
  if (const auto spin = probe.spin())
    value_row("Spin", column, "%.3f, %.3f, %.3f rad/s", (*spin)[0], (*spin)[1], (*spin)[2]);
  value_row("Contacts", column, "%d: %d stick, %d slip", probe.contacts(), probe.sticking(),
            probe.slipping());
  value_row("Normal force", column, "%s, at most %s", si_text(probe.normal_force(), "N").c_str(),
            si_text(probe.largest_force(), "N").c_str());
  tooltip("Sum of the magnitudes over its contacts, and the largest of them");
  if (probe.body()) return draw_joint_choice(context, column);
  if (probe.augmented() > 0)
    value_row("Multipliers", column, "%d, at most %s", probe.augmented(),
              si_text(probe.largest_multiplier(), "N").c_str());
  else value_row("Multipliers", column, "none");
}

}  // namespace

void draw_selection_panel(PanelContext& context) {
  if (context.view.contact && section("Selected contact")) draw_contact(context);
  if (context.view.selection && section("Selected")) draw_object(context);
}

}  // namespace stickslip
