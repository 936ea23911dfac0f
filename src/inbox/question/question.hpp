// The parts of a declaration that the inbox needs to show it, parse an answer and check that answer. Stored with the
// decision, so that no later version of a file, profile or program changes what was asked.
//
// A single decision is one part with an empty key; a flow has one part per step; a chain has one part per option, each
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
  bool safe = false;  // choosing it needs no signature
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
  bool has_safe() const;
};

struct Question {
  QuestionShape shape = QuestionShape::kDecision;
  std::string id;    // as declared: drop-table
  std::string text;  // the full text a person reads before answering: context, note, options
  std::vector<Part> parts;
  std::vector<std::string> default_ids;
  std::string typed_confirmation;  // text that must be typed in addition to the choice

  const Part* find(std::string_view key) const;
};

Question question_of(const decision::Declaration& declaration);
Value to_value(const Question& question);
Result<Question> question_from(const Value& value);
Value to_value(const Choice& choice);
Result<Choice> choice_from(const Value& value);

// A given answer: ids for a single decision, or values by key (each a string or a list of strings), or, for text and
// form, values {"text": …} or {field: …}.
struct AnswerInput {
  std::vector<std::string> options;
  Value values = Value::object();
};

// The same in declared order, or kInvalid naming the problem: unknown id, too many or too few, a duplicate, a missing
// key, an empty answer.
Result<AnswerInput> check_answer(const Question& question, const AnswerInput& given);

// For chains: kInvalid when an option is included without one it requires, or together with one it excludes. A person
// may leave that broken on purpose; then these pairs are recorded as waived.
Status check_dependencies(const Question& question, const AnswerInput& given);
Value broken_dependencies(const Question& question, const AnswerInput& given);  // [[dependant, required]…]

// `keep`, `a,b`, or for flows and chains `key=id,key2=a+b`; for text, the text itself; for forms `field=value,…` with
// commas doubled inside a value.
Result<AnswerInput> parse_choice(const Question& question, std::string_view text);

}  // namespace sb::inbox
