// Renders a decision as a form for an MCP client's own dialog, and parses the answer into ids. Pure.
//
// A single decision is the form that decision/render makes; a flow is one form with one field per step, so that the
// user sees everything before submitting. The message is the renderer's if that shows everything, otherwise the full
// text of the question as the inbox shows it. No choice field has a default: a recommendation never takes effect by
// itself.
//
//   one      {choice: {oneOf: [{const: ID, title: LABEL}...]}}
//            before 2025-11-25: {choice: {enum: [...], enumNames: [...]}}
//   many     {choices: {items: {anyOf: [...]}}}
//            before 2025-11-25 a yes or no per option: {"choices:ID": {type: boolean}...}
//   pages    of one: a form each, whose last entry opens the next page (FormAnswer::kMore)
//            of many: a field each, "choices (2)"...
//   text     {text: ...}
//   form     its own fields
//   flow     the same as one and many, under the steps' keys
//   besides  {reason: ...} if a reason may be given, {confirmation: ...} if a text must be typed
//
// The answer is not trusted: an unexpected member, a value of the wrong kind or an id that was not offered makes it
// kInvalid, whatever else it contains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decision/prompt.hpp"
#include "decision/render/answer_shape.hpp"
#include "inbox/question/question.hpp"
#include "mcp/peer/revision.hpp"

namespace sb::mcp {

struct FormAnswer {
  enum class Kind {
    kAnswered,  // given, remark
    kMore,      // the next page was requested
    kDeclined,
    kCancelled,
    kEmpty,
    kInvalid  // `problem` says why, using the form's field names
  } kind = Kind::kInvalid;
  inbox::AnswerInput given = {};
  std::string remark = {};
  std::string problem = {};
};

class DecisionForm {
 public:
  struct Options {
    Revision revision = Revision::k2025_11_25;
    int page = 1;
    bool takes_reason = false;
  };
  // kUnsupported if no form can show it: a chain (it guides a person through its questions), a url, a secret, a flow
  // with a step of more options than its profile shows on one page. kNotFound: no such page.
  static Result<DecisionForm> of(const decision::Declaration& declaration, const inbox::Question& question,
                                 const Options& options);

  // The parameters of elicitation/create; `problem`: what was wrong with the previous answer.
  Value params(std::string_view problem = {}) const;
  // SHA-256 (hex) of what is shown.
  const std::string& render_hash() const { return render_hash_; }
  FormAnswer read(const Value& result) const;

 private:
  // One question of the form.
  struct Item {
    std::string part;                  // the step's key; empty for a single decision
    std::string name;                  // of its field; empty for the fields of a form
    bool is_rows = false;              // multiple choice, as one checkbox per option
    decision::AnswerShape shape = {};  // as made by the renderer, with the renderer's field name
    std::string inner_name() const;
  };

  Status add(const decision::Prompt& prompt, const decision::Profile& profile, Revision revision, std::string part,
             std::string name);
  void add_field(const Item& item, Value property, Revision revision);
  Status add_extra_fields(const inbox::Question& question, bool takes_reason);
  Result<Value> content_for(const Item& item, const Value& content) const;
  std::optional<FormAnswer> read_item(const Item& item, const Value& content, inbox::AnswerInput& given) const;
  FormAnswer read_content(const Value& content) const;

  std::vector<Item> items_;
  std::string message_;
  bool needs_whole_text_ = false;
  Value properties_ = Value::object();
  Value required_ = Value::array();
  bool has_reason_ = false;
  std::string typed_confirmation_;
  std::string render_hash_;
};

}  // namespace sb::mcp
