// Contacts and objects whose numbers are plotted over time.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/viewer/picking.h"

namespace stickslip {

/// Up to kMost tracked contacts and objects, and their numbers at the ends of steps. A contact is followed as
/// ContactProbe does.
class TrackedProbes {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kMostRows = 6000;  // older ones are forgotten

  enum class Kind { contact, object };
  struct Quantity {
    Kind kind;
    std::string_view title;  // with unit
  };
  /// Those of contacts, then those of objects.
  static constexpr std::array<Quantity, 9> kQuantities{{{Kind::contact, "Normal force r_N, N"},
                                                        {Kind::contact, "Friction |r_T|, N"},
                                                        {Kind::contact, "Gap, m"},
                                                        {Kind::contact, "Slip speed, m/s"},
                                                        {Kind::object, "Centre x, m"},
                                                        {Kind::object, "Centre y, m"},
                                                        {Kind::object, "Centre z, m"},
                                                        {Kind::object, "Speed, m/s"},
                                                        {Kind::object, "Kinetic energy, J"}}};
  using Values = std::array<double, kQuantities.size()>;  // NaN: of the other kind, or not known
  struct Row {
    int frame = 0;
    double time = 0;             // [s]
    std::vector<Values> values;  // per contact or object
  };

  /// False: there are kMost already, or it is tracked.
  bool track(const ContactProbe& contact);
  bool track(const ObjectProbe& object);
  void untrack(std::size_t index);
  void clear();

  bool empty() const { return tracked_.empty(); }
  std::size_t size() const { return tracked_.size(); }
  /// "box and ground", with a number where that is not unique.
  const std::string& name(std::size_t index) const { return tracked_[index].name; }
  Kind kind(std::size_t index) const;
  /// Of a picked contact or object.
  std::optional<std::size_t> find(const ContactProbe& contact) const;
  std::optional<std::size_t> find(const ObjectProbe& object) const { return find_object(object.object()); }
  std::optional<std::size_t> find_object(int object) const;

  /// The scene goes on with other objects: what is gone is no longer tracked.
  void go_on(const std::shared_ptr<const Scene>& scene);
  /// The end of a step. `restored`: it was observed before, perhaps, and no step led to it.
  void observe(const Snapshot& snapshot, std::span<const Vec3f> positions,
               const std::vector<Material>& materials, bool restored);
  /// In ascending order of frames, which may have gaps: those that were not observed.
  const std::deque<Row>& rows() const { return rows_; }
  /// The row of this frame, or null.
  const Row* at(int frame) const;

 private:
  struct Tracked {
    std::variant<ContactProbe, ObjectProbe> probe;
    std::string name;
  };
  void add(Tracked item);

  std::vector<Tracked> tracked_;
  std::deque<Row> rows_;
};

}  // namespace stickslip
