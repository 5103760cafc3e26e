// Stands in for Thrust's header of the same name: what gpu/core uses of it.
#pragma once

namespace thrust {
template <class T>
struct counting_iterator {
  T first;
  T operator[](std::size_t i) const { return first + static_cast<T>(i); }
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) {
  return {first};
}
}  // namespace thrust
