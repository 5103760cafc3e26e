#include "app/viewer/content_history.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "app/io/file/input_error.h"

namespace stickslip {
namespace {

const Object* find(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.objects, name, &Object::name);
  return found == model.objects.end() ? nullptr : &*found;
}

}  // namespace

void ContentHistory::begin(const Scene& scene) {
  contents_.assign(1, {scene.source, {}});
  changed_ = scene.changed;
  resumed_ = scene.resumed;
  present_ = 0;
}

std::shared_ptr<const Scene> ContentHistory::at(int number, const Scene& scene) const {
  const auto at = static_cast<std::size_t>(number);
  if (number < 0 || at >= contents_.size() || !contents_[at].text)
    throw InputError("the scene's content " + std::to_string(number) + " is not kept");
  auto other = with_text(scene, *contents_[at].text, number > 0 || changed_);
  if (number == 0) other->resumed = resumed_;
  return other;
}

void ContentHistory::forget_states() {
  for (Content& content : contents_) content.left.clear();
}

void ContentHistory::put_back(int number, const Model& from, const Model& to, State& state) const {
  const std::set<std::string> moved = moved_starts(from, to);
  for (const auto& [name, kept] : contents_.at(static_cast<std::size_t>(number)).left)
    if (const Object* object = find(to, name);
        object != nullptr && (moved.contains(name) || find(from, name) == nullptr))
      put_object(to, *object, kept, state);
}

void ContentHistory::go_on(std::optional<int> number, const Model& from, const State& state,
                           const Scene& to) {
  Content& before = contents_.at(static_cast<std::size_t>(present_));
  before.left.clear();
  std::set<std::string_view> stay;
  for (const Object& object : to.model.objects) stay.insert(object.name);
  for (const std::string& name : moved_starts(from, to.model)) stay.erase(name);
  for (const Object& object : from.objects)
    if (!stay.contains(object.name)) before.left.emplace(object.name, take_object(from, object, state));
  if (!number) contents_.push_back({to.source, {}});
  present_ = number.value_or(static_cast<int>(contents_.size()) - 1);
  forget_old();
}

std::size_t ContentHistory::size(const Content& content) {
  std::size_t bytes = content.text ? content.text->size() : 0;
  for (const auto& [name, state] : content.left) bytes += 2 * sizeof(Vec<double, 3>) * state.positions.size();
  return bytes;
}

/// The oldest go first, but for the present one.
void ContentHistory::forget_old() {
  std::size_t bytes = 0;
  for (const Content& content : contents_) bytes += size(content);
  for (std::size_t i = 0; i < contents_.size() && bytes > kMost; ++i) {
    if (static_cast<int>(i) == present_) continue;
    bytes -= size(contents_[i]);
    contents_[i] = {};
  }
}

}  // namespace stickslip
