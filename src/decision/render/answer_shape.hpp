// What was shown, as far as needed to map an answer back to option ids.
//
// Made by render(), stored with the planned prompt (to_value / shape_from_value), used by parse_answer(). Plain values.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/render/hosts.hpp"

namespace sb::decision {

// What choosing an entry means: a declared option, the next page, none of this page, or no (in a yes/no row).
enum class EntryKind { kOption, kMore, kNone, kNo };

struct ShownOption {
  std::string id;
  std::string label;  // as declared
  std::string shown;  // as the host shows and returns it
  EntryKind entry = EntryKind::kOption;

  bool operator==(const ShownOption&) const = default;
};

struct ShownQuestion {
  std::string key;   // the host's own name for the question; empty if it has none
  std::string text;  // as shown, with its marker
  bool is_many = false;
  std::vector<ShownOption> options;

  bool operator==(const ShownQuestion&) const = default;
};

struct AnswerShape {
  const Host* host = &hosts::kText;
  std::string nonce;
  std::string label;  // D3.2
  std::string locale = "en";
  Select select;
  std::vector<std::string> commands;   // text host: words that stop instead of answering
  std::vector<std::string> elsewhere;  // labels of declared options on other pages
  bool has_none = false;               // no to every row means "none of these", which has no row
  // One, or several if a host without multi-select asks yes or no about each option.
  std::vector<ShownQuestion> questions;
  Value requested_schema;  // of an elicitation in form mode; otherwise null

  bool operator==(const AnswerShape&) const;
};

Value to_value(const AnswerShape& shape);
Result<AnswerShape> shape_from_value(const Value& value, HostTable table = hosts::kAll);

}  // namespace sb::decision
