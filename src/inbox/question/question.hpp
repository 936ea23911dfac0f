// What of a declaration the inbox needs in order to show it, read an answer to it and check that answer, kept with the
// decision so that no later version of a file, profile or program changes what was asked.
//
// A single decision is one part with an empty key; a flow has a part a step; a chain has a part an option, each
// answered with include, defer or cut. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::inbox {

enum class QuestionShape { kDecision, kFlow, kChain };

struct Choice {
  std::string id;
  std::string label;
};

struct Part {
  std::string key;
  std::string title;
  decision::Select select;
  std::vector<Choice> options;
  std::vector<decision::Field> fields;     // of a form
  std::vector<std::string> required_keys;  // of a chain's option
  std::vector<std::string> conflicting_keys;
  bool shipped = false;

  const Choice* find(std::string_view id) const;
};

struct Question {
  QuestionShape shape = QuestionShape::kDecision;
  std::string id;    // as declared: drop-table
  std::string text;  // all of it as a person reads it before answering: context, note, options
  std::vector<Part> parts;
  std::vector<std::string> default_ids;
  std::string typed_confirmation;  // what must be typed beside the choice

  const Part* find(std::string_view key) const;
};

Question question_of(const decision::Declaration& declaration);
Value to_value(const Question& question);
Result<Question> question_from(const Value& value);

// What a person or host gave: ids for a single decision, or values by key (a string or a list of strings each), or, for
// text and form, values {"text": …} or {field: …}.
struct AnswerInput {
  std::vector<std::string> options;
  Value values = Value::object();
};

// The same in declared order, or kInvalid saying what is wrong: unknown id, too many or too few, one twice, a key
// missing, an empty answer.
Result<AnswerInput> check_answer(const Question& question, const AnswerInput& given);

// For chains: kInvalid when something is included without what it needs, or together with what it excludes. A person
// led through the chain may waive a need; whoever answers in one line may not.
Status check_dependencies(const Question& question, const AnswerInput& given);

// `keep`, `a,b`, or for flows and chains `key=id,key2=a+b`; for text, the text itself; for forms `field=value,…` with
// commas doubled inside a value.
Result<AnswerInput> parse_choice(const Question& question, std::string_view text);

}  // namespace sb::inbox
