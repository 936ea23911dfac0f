// What was shown, as far as it is needed to read an answer back to option ids.
//
// Made by render(), kept with the planned prompt (to_value / shape_from_value), used by parse_answer(). Values only.
#pragma once

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/render/hosts.hpp"

namespace sb::decision {

// What choosing an entry means: a declared option, the next page, none of this page, or (of a yes/no row) no.
enum class EntryKind { kOption, kMore, kNone, kNo };

struct ShownOption {
  std::string id;
  std::string label;  // as declared
  std::string shown;  // as the host shows it, and answers with it
  EntryKind entry = EntryKind::kOption;

  bool operator==(const ShownOption&) const = default;
};

struct ShownQuestion {
  std::string key;   // the host's own name for the question; empty where it has none
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
  std::vector<std::string> commands;   // text: what stops instead of answering
  std::vector<std::string> elsewhere;  // labels of declared options on other pages
  bool has_none = false;               // no to every row means "none of these", which has no row of its own
  // One, except where a host without multi-select is asked yes or no about each option.
  std::vector<ShownQuestion> questions;
  Value requested_schema;  // elicitation, form mode; null elsewhere

  bool operator==(const AnswerShape&) const;
};

Value to_value(const AnswerShape& shape);
Result<AnswerShape> shape_from_value(const Value& value, HostTable table = hosts::kAll);

}  // namespace sb::decision
