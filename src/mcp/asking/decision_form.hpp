// A decision as a form in an MCP client's own dialog, and what comes back read into ids. Pure.
//
// A single decision is the form that decision/render makes; a flow is one form with a field a step, so that what is
// submitted is seen as a whole. The message is the renderer's where that shows all there is, else the question's whole
// text as the inbox shows it. No field of a choice has a default: what is recommended never happens by itself.
//
//   one      {choice: {oneOf: [{const: ID, title: LABEL}...]}}
//            before 2025-11-25: {choice: {enum: [...], enumNames: [...]}}
//   many     {choices: {items: {anyOf: [...]}}}
//            before 2025-11-25 a yes or no per option: {"choices:ID": {type: boolean}...}
//   pages    of one: a form each, whose last entry leads on (FormAnswer::kMore)
//            of many: a field each, "choices (2)"...
//   text     {text: ...}
//   form     its own fields
//   flow     the same as one and many, under the steps' keys
//   besides  {reason: ...} where a reason may be given, {confirmation: ...} where words must be typed
//
// What comes back is not trusted: a member that was not asked for, a value of the wrong kind, an id that was not
// offered make it kInvalid, whatever else is in it.
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
    kMore,      // the next page is wanted
    kDeclined,
    kCancelled,
    kEmpty,
    kInvalid  // problem says why, in the form's own names
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
  // kUnsupported where no form carries it: a chain, which leads a person through its questions, a url, a secret, a
  // flow with a step of more options than its profile shows at once. kNotFound: no such page.
  static Result<DecisionForm> of(const decision::Declaration& declaration, const inbox::Question& question,
                                 const Options& options);

  // Of elicitation/create; `problem`: what was wrong with the answer before.
  Value params(std::string_view problem = {}) const;
  // SHA-256, hex, of what is shown.
  const std::string& render_hash() const { return render_hash_; }
  FormAnswer read(const Value& result) const;

 private:
  // One question of the form.
  struct Item {
    std::string part;                  // the step's key; empty for a single decision
    std::string name;                  // of its field; of a form's own fields empty
    bool is_rows = false;              // many, as a yes or no per option
    decision::AnswerShape shape = {};  // as the renderer made it, its field under the renderer's name
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
