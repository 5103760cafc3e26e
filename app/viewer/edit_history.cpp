#include "app/viewer/edit_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip {
namespace {

/// Calls found(row, value before, value after) for each row in which the objects differ.
template <class Found>
void compare(std::span<const ParamInfo> table, const void* from, const void* to, const Found& found) {
  for (const ParamInfo& row : table) {
    const double before = get_param(from, row), after = get_param(to, row);
    if (before != after && !(std::isnan(before) && std::isnan(after))) found(row, before, after);
  }
}

void apply(const Command& edit, Settings& settings) {
  if (const auto* param = std::get_if<ParamEdit>(&edit)) apply_edit(*param, settings.params);
  if (const auto* contact = std::get_if<ContactParamEdit>(&edit))
    apply_edit(*contact, settings.contact_params);
  if (const auto* material = std::get_if<MaterialEdit>(&edit)) apply_edit(*material, settings.materials);
  if (const auto* plane = std::get_if<HalfSpaceEdit>(&edit)) apply_edit(*plane, settings.half_space_mu);
}

std::string name_of(const Command& edit) {
  if (const auto* param = std::get_if<ParamEdit>(&edit)) return std::string(param->name);
  if (const auto* contact = std::get_if<ContactParamEdit>(&edit)) return std::string(contact->name);
  if (const auto* material = std::get_if<MaterialEdit>(&edit))
    return std::string(material->name) + " of a material";
  return "mu of a half-space";
}

double value_of(const Command& edit) {
  if (const auto* param = std::get_if<ParamEdit>(&edit)) return param->value;
  if (const auto* contact = std::get_if<ContactParamEdit>(&edit)) return contact->value;
  if (const auto* material = std::get_if<MaterialEdit>(&edit)) return material->value;
  return std::get<HalfSpaceEdit>(edit).mu;
}

}  // namespace

std::vector<EditHistory::Change> EditHistory::difference(const Settings& from, const Settings& to) {
  std::vector<Change> changes;
  compare(param_table(), &from.params, &to.params, [&](const ParamInfo& row, double before, double after) {
    changes.push_back({ParamEdit{row.name, before}, ParamEdit{row.name, after}});
  });
  compare(lab_param_table(), &from.contact_params, &to.contact_params,
          [&](const ParamInfo& row, double before, double after) {
            changes.push_back({ContactParamEdit{row.name, before}, ContactParamEdit{row.name, after}});
          });
  for (std::size_t m = 0; m < std::min(from.materials.size(), to.materials.size()); ++m)
    compare(
        material_table(), &from.materials[m], &to.materials[m],
        [&, index = static_cast<int>(m)](const ParamInfo& row, double before, double after) {
          changes.push_back({MaterialEdit{index, row.name, before}, MaterialEdit{index, row.name, after}});
        });
  for (std::size_t p = 0; p < std::min(from.half_space_mu.size(), to.half_space_mu.size()); ++p)
    if (from.half_space_mu[p] != to.half_space_mu[p])
      changes.push_back({HalfSpaceEdit{p, from.half_space_mu[p]}, HalfSpaceEdit{p, to.half_space_mu[p]}});
  return changes;
}

bool EditHistory::same_settings(const Step& a, const std::vector<Change>& b) {
  return std::ranges::equal(a.changes, b,
                            [](const Change& x, const Change& y) { return supersedes(x.after, y.after); });
}

bool EditHistory::is_between(const Step& step, int before, int after) {
  const auto* from = std::get_if<GoToContent>(&step.changes.front().before);
  return from != nullptr && from->content == before &&
         std::get<GoToContent>(step.changes.front().after).content == after;
}

bool EditHistory::takes_back(const std::vector<Change>& changes, const Step& step) {
  if (!same_settings(step, changes)) return false;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (value_of(changes[i].after) != value_of(step.changes[i].before)) return false;
  return true;
}

void EditHistory::add(Step step) {
  steps_.resize(done_);
  if (steps_.size() == kMost) steps_.erase(steps_.begin());
  steps_.push_back(std::move(step));
  done_ = steps_.size();
}

void EditHistory::end_step() {
  if (!steps_.empty()) steps_.back().time = -std::numeric_limits<double>::infinity();
}

void EditHistory::observe(const ContentChange& change, double time) {
  if (!begun_) return;
  known_content_ = change.after;
  if (change.travels && travel(change.before, change.after)) return;
  add({{{GoToContent{change.before}, GoToContent{change.after}}}, time, change.what});
}

/// Goes over steps of the content, backwards or forwards, if they lead there without steps of settings
/// between.
bool EditHistory::travel(int from, int to) {
  const auto go_of = [](const Command& edit) { return std::get_if<GoToContent>(&edit); };
  std::size_t back = done_;
  for (int content = from; back > 0;) {
    const Change& change = steps_[back - 1].changes.front();
    if (go_of(change.after) == nullptr || go_of(change.after)->content != content) break;
    content = go_of(change.before)->content;
    --back;
    if (content == to) return done_ = back, true;
  }
  std::size_t on = done_;
  for (int content = from; on < steps_.size();) {
    const Change& change = steps_[on].changes.front();
    if (go_of(change.before) == nullptr || go_of(change.before)->content != content) break;
    content = go_of(change.after)->content;
    ++on;
    if (content == to) return done_ = on, true;
  }
  return false;
}

void EditHistory::settle(int content) {
  const int wanted = std::exchange(known_content_, content);
  if (content == wanted) return;
  const auto at = steps_.begin() + static_cast<std::ptrdiff_t>(done_);
  if (can_redo() && is_between(*at, wanted, content)) steps_.erase(at);  // undone in vain
  else if (can_undo() && is_between(*(at - 1), content, wanted)) steps_.erase(at - 1), --done_;
}

void EditHistory::observe(const Settings& now, double time, bool accepted) {
  if (!begun_ || now.materials.size() != known_.materials.size() ||
      now.half_space_mu.size() != known_.half_space_mu.size())
    return forget(now);
  std::vector<Change> changes = difference(known_, now);
  if (changes.empty()) return;
  known_ = now;
  const bool goes_on = done_ > 0 && done_ == steps_.size() && time - steps_.back().time < kSameEdit &&
                       same_settings(steps_.back(), changes);
  if (!accepted && done_ > 0 && done_ == steps_.size() && takes_back(changes, steps_.back())) {
    steps_.pop_back();
    done_ = steps_.size();
    return;
  }
  if (goes_on) {
    Step& last = steps_.back();
    for (std::size_t i = 0; i < changes.size(); ++i) last.changes[i].after = changes[i].after;
    last.time = time;
    return;
  }
  add({std::move(changes), time});
}

void EditHistory::forget(const Settings& now) {
  known_ = now;
  known_content_ = 0;
  begun_ = true;
  steps_.clear();
  done_ = 0;
}

/// What is undone or made again is no new step.
void EditHistory::follow(const std::vector<Command>& edits) {
  for (const Command& edit : edits)
    if (const auto* go = std::get_if<GoToContent>(&edit)) known_content_ = go->content;
    else apply(edit, known_);
}

std::vector<Command> EditHistory::undo() {
  std::vector<Command> edits;
  if (!can_undo()) return edits;
  for (const Change& change : steps_[--done_].changes) edits.push_back(change.before);
  follow(edits);
  return edits;
}

std::vector<Command> EditHistory::redo() {
  std::vector<Command> edits;
  if (!can_redo()) return edits;
  for (const Change& change : steps_[done_++].changes) edits.push_back(change.after);
  follow(edits);
  return edits;
}

std::string EditHistory::text(const Step& step) {
  if (!step.what.empty()) return step.what;
  return step.changes.size() == 1 ? name_of(step.changes.front().after)
                                  : std::to_string(step.changes.size()) + " settings";
}

std::string EditHistory::next_undo() const { return can_undo() ? text(steps_[done_ - 1]) : ""; }
std::string EditHistory::next_redo() const { return can_redo() ? text(steps_[done_]) : ""; }

}  // namespace stickslip
