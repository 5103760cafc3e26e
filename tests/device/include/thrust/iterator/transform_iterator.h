// Stands in for Thrust's header of the same name: what gpu/core uses of it.
#pragma once

#include <cstddef>

namespace thrust {
template <class Iterator, class F>
struct transform_iterator {
  Iterator base;
  F f;
  auto operator[](std::size_t i) const { return f(base[i]); }
};
template <class Iterator, class F>
transform_iterator<Iterator, F> make_transform_iterator(Iterator base, F f) {
  return {base, f};
}
}  // namespace thrust
