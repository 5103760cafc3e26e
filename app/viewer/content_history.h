// The objects, pins and joints that a running scene has had, to which it can return.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "app/viewer/scene_content.h"

namespace stickslip {

/// Contents of a scene, numbered from that with which it was loaded: its text, and the objects that were in
/// it but not in the next one, or elsewhere there, as they were when they left. Large texts and states are
/// kept up to a limit.
class ContentHistory {
 public:
  static constexpr std::size_t kMost = std::size_t{64} << 20;  // [byte]

  /// Starts with a scene as it was loaded.
  void begin(const Scene& scene);
  int present() const { return present_; }
  /// The scene with the content of this number. Throws InputError: it is not kept, or there is none.
  std::shared_ptr<const Scene> at(int number, const Scene& scene) const;
  /// Objects of `to` that are not in `from`, or start elsewhere there, and were in content `number` get the
  /// state that they left with.
  void put_back(int number, const Model& from, const Model& to, State& state) const;
  /// Objects come back as at the scene's start: after a reset, with which the states of before have nothing
  /// to do.
  void forget_states();
  /// The run goes on from `from` in this state with `to`, the content of this number, or a new one.
  void go_on(std::optional<int> number, const Model& from, const State& state, const Scene& to);

 private:
  struct Content {
    std::optional<std::string> text;  // none: no longer kept
    std::map<std::string, ObjectState> left;
  };
  static std::size_t size(const Content& content);
  void forget_old();

  std::vector<Content> contents_;
  bool changed_ = false;                  // Scene::changed of the first
  std::shared_ptr<const State> resumed_;  // and Scene::resumed
  int present_ = 0;
};

}  // namespace stickslip
