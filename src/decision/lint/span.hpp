// A half-open range of bytes of the linted text.
#pragma once

#include <cstddef>

namespace sb::decision::linting {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool contains(std::size_t at) const { return begin <= at && at < end; }
  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};

}  // namespace sb::decision::linting
