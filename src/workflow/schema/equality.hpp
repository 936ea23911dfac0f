// Equality and types of values as JSON Schema defines them. Pure.
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {

// Two values have the same text exactly if they are equal: 1 and 1.0, members in any order.
std::string exact_text(const Value& value);

// Compares one value with several others. Keeps a reference to it.
class ValueComparison {
 public:
  explicit ValueComparison(const Value& value);

  bool equals(const Value& other) const;
  std::size_t bytes() const { return text_.size(); }  // the cost of a comparison; 0 for a scalar

 private:
  const Value& value_;
  std::string text_;  // of a list or object
};

bool is_multiple(double number, double of);

// A whole number is an integer however it is written: in draft-07, 1.0 is 1.
bool has_type(const Value& value, SchemaType type);

}  // namespace sb::workflow
