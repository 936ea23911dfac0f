// When two values are the same to JSON Schema, and of which type a value is. Pure.
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {

// Equal values have equal texts, and only they: 1 and 1.0, members in any order.
std::string exact_text(const Value& value);

// One value compared with several others. Keeps a reference to it.
class ValueComparison {
 public:
  explicit ValueComparison(const Value& value);

  bool equals(const Value& other) const;
  std::size_t bytes() const { return text_.size(); }  // what comparing costs; 0 for a plain value

 private:
  const Value& value_;
  std::string text_;  // of a list or object
};

bool is_multiple(double number, double of);

// A whole number is an integer however it is written: draft-07 takes 1.0 for 1.
bool has_type(const Value& value, SchemaType type);

}  // namespace sb::workflow
