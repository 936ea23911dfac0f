// Renders a decision as a form for an MCP client's own dialog, and parses the answer into ids. Pure.
//
// A single decision is the form that decision/render makes; a flow or chain is one form per prompt of its walk
// (decision/walk), the confirmation included. No choice field has a default: a recommendation never takes effect by
// itself.
//
// Some clients show three lines of the message, each cut at the width of the window. So it begins with the question,
// the gist of what is to be decided, and the command that shows all of it; the full text follows for clients that show
// more. A message that is only the question is one line.
//
//   one      {choice: {oneOf: [{const: ID, title: LABEL}...]}}
//            before 2025-11-25: {choice: {enum: [...], enumNames: [...]}}
//   many     {choices: {items: {anyOf: [...]}}}, without minItems: Claude Code counts before it adds what Enter
//            chooses, and refuses that. Too few are asked for again
//            before 2025-11-25 a yes or no per option: {"choices:01:ID": {type: boolean, default: false}...}; the
//            number keeps the order in clients that sort fields by name, and without the default some send true
//   pages    of one: a form each, whose last entry opens the next page (FormAnswer::kMore), and whose first one, from
//            the second page on, the page before (FormAnswer::kBack)
//            of many: a field each, "choices:p02"..., which clients sort after "choices"; an empty one chooses nothing
//   none     of a walk, where nothing may be chosen: the last entry; an empty list or no checked box say the same
//   text     {text: ...}
//   form     its own fields
//   besides  {confirmation: ...} if a text must be typed
//   reason   {reason: ...}: a form of its own, after a rejection (reason_form)
//
// The answer is not trusted: an unexpected member, a value of the wrong kind or an id that was not offered makes it
// kInvalid, whatever else it contains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decision/prompt.hpp"
#include "decision/render/answer_shape.hpp"
#include "decision/walk/walk.hpp"
#include "inbox/question/question.hpp"
#include "mcp/peer/revision.hpp"

namespace sb::mcp {

// The id of the entry that shows the page before, on every page but the first.
inline constexpr std::string_view kPreviousPage = "previous-page";

struct FormAnswer {
  enum class Kind {
    kAnswered,  // given, remark
    kMore,      // the next page was requested
    kBack,      // the page before was requested
    kDeclined,
    kCancelled,
    kEmpty,
    kInvalid  // `problem` says why, using the form's field names
  } kind = Kind::kInvalid;
  inbox::AnswerInput given = {};
  decision::HostAnswer host = {};  // of a flow or chain: the answer to its open prompt
  std::string problem = {};
};

class DecisionForm {
 public:
  struct Options {
    Revision revision = Revision::k2025_11_25;
    int page = 1;                  // of a decision
    std::string decision_id = {};  // for the command that shows all of it
  };
  // kUnsupported if no form can show it: a url, a secret. kNotFound: no such page.
  static Result<DecisionForm> of(const decision::Walk& walk, const inbox::Question& question, const Options& options);

  // The parameters of elicitation/create; `problem`: what was wrong with the previous answer.
  Value params(std::string_view problem = {}) const;
  const std::string& locale() const { return locale_; }
  // SHA-256 (hex) of what is shown.
  const std::string& render_hash() const { return render_hash_; }
  FormAnswer read(const Value& result) const;

 private:
  // One question of the form.
  struct Item {
    std::string name;                  // of its field; empty for the fields of a form
    bool is_rows = false;              // multiple choice, as one checkbox per option
    decision::AnswerShape shape = {};  // as made by the renderer, with the renderer's field name
    std::string inner_name() const;
  };

  // `declared`: the decision whose options it shows, if it is not one that a chain makes.
  Status add(const decision::Prompt& prompt, const decision::Profile& profile, Revision revision,
             const decision::Decision* declared, std::string name);
  void add_field(const Item& item, Value property, Revision revision);
  Status add_typed_confirmation(const inbox::Question& question);
  std::string headed(const decision::Prompt& first, const inbox::Question& question, const std::string& id) const;
  Result<Value> content_for(const Item& item, const Value& content) const;
  std::optional<FormAnswer> read_item(const Item& item, const Value& content, inbox::AnswerInput& given) const;
  FormAnswer read_content(const Value& content) const;

  std::vector<Item> items_;
  std::string message_;
  std::string locale_;
  decision::Select select_;  // of a decision, over all its pages
  bool is_walk_ = false;
  bool has_back_ = false;  // of a decision: its first entry shows the page before
  bool needs_whole_text_ = false;
  Value properties_ = Value::object();
  Value required_ = Value::array();
  std::string typed_confirmation_;
  std::string render_hash_;
};

// The parameters of the form that asks why, and the reason in its answer; empty where none was given.
Value reason_form(std::string_view locale, std::string_view decision_id);
std::string reason_in(const Value& result);

}  // namespace sb::mcp
