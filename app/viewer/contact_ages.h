// ContactAges: since when contacts push without a break. Engines forget a contact with its step.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "gpu/model/interaction.h"

namespace stickslip {

/// A contact is recognised by its name, and is 0 s old in the first of the observed frames in which it
/// pushes. One that is open has no age yet; one without a name, or that began to push unobserved, has none
/// that is known.
class ContactAges {
 public:
  /// Nothing pushed before the next frame.
  void clear() {
    since_.clear();
    missed_ = false;
  }
  /// What pushes in the next frame began in frames that were not observed.
  void miss() {
    since_.clear();
    missed_ = true;
  }
  /// Sets `age` of the contacts of a later frame, or of the same one again. `time` [s]: of the frame.
  void observe(double time, std::span<ContactRecord> contacts);
  /// Goes on from contacts that have their ages.
  void restore(double time, std::span<const ContactRecord> contacts);

 private:
  // [s] by name, of those that pushed in the last frame; not a number: it is not known.
  std::unordered_map<std::uint64_t, double> since_;
  bool missed_ = false;
};

}  // namespace stickslip
