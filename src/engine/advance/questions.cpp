#include "engine/advance/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "decision/declaration/written_profile.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using decision::Declaration;

// All of it is in one section, which is limited to limits::kTextBytes.
constexpr std::size_t kShownNotesBytes = 7u << 10;
constexpr std::size_t kShownArtifactBytes = 1'500;
constexpr std::size_t kShownArtifacts = 3;
constexpr std::size_t kShownValueBytes = 500;
constexpr std::size_t kShownContextBytes = 2'500;
constexpr std::size_t kShownReasonBytes = 1u << 10;

const decision::Profiles& profiles() {
  static const decision::Profiles all = decision::with_written_profile("workflow");
  return all;
}

std::string question_name(std::string_view what, const SessionNode& asked) {
  const std::string slug = decision::slug_of(asked.node.position.step).substr(0, 32);
  return fmt::format("{}-{}-{}-{}", what, slug, asked.node.number, asked.node.attempt);
}

Checked<Declaration> declare(Value root) {
  Document document{"the question", to_json(root), std::move(root)};
  return decision::parse_declaration(document, profiles(), decision::Author::kWorkflow);
}

std::string shown(std::string_view text, std::size_t budget) {
  if (text.size() <= budget) return std::string(text);
  const std::string_view start = utf8_prefix(text, budget);
  return fmt::format("{}\n[{} of {} bytes shown; signalbox session show prints all]", start, start.size(), text.size());
}

// The keys a delivery sets, one per line as JSON, sorted by name, so that the same delivery always reads the same.
std::string shown_context(const Value& context) {
  std::map<std::string_view, const Value*> by_name;
  for (const Value::Member& member : context.members()) by_name[member.name] = &member.value;
  std::string lines;
  std::size_t kept = 0;
  for (const auto& [name, value] : by_name) {
    const std::string json = to_canonical_json(*value);
    const std::string_view start = utf8_prefix(json, kShownValueBytes);
    std::string line = fmt::format("\n{}: {}", quote_json(name), value->is_null() ? "(removed)" : start);
    if (start.size() < json.size()) line += fmt::format("… [{} of {} bytes shown]", start.size(), json.size());
    if (lines.size() + line.size() > kShownContextBytes) break;
    lines += line;
    ++kept;
  }
  if (kept < by_name.size()) {
    lines += fmt::format("\n{} of {} keys shown; signalbox session show prints all", kept, by_name.size());
  }
  return lines;
}

std::string where(const SessionNode& asked) {
  const std::string attempt = asked.node.attempt > 1 ? fmt::format("\nAttempt {}", asked.node.attempt) : "";
  return fmt::format("{}: {}{}\nGoal: {}\nSession {}", asked.summary.workflow_name, asked.node.title, attempt,
                     shown(asked.summary.goal, 500), asked.summary.id);
}

Value option(std::string_view id, std::string_view label) {
  return Value::object({{"id", id}, {"label", label}});
}

// Choosing it keeps the session where it is, or ends it: that needs no signature.
Value safe_option(std::string_view id, std::string_view label) {
  return Value::object({{"id", id}, {"label", label}, {"safe", true}});
}

Value plain_question(const SessionNode& asked, std::string_view name, std::string_view instruction,
                     std::string context) {
  return Value::object({{"decision", question_name(name, asked)},
                        {"profile", "workflow"},
                        {"instruction", instruction},
                        {"sections", Value::object({{"context", std::move(context)}})}});
}

// Turns the items of a context list into options: strings, or {id, label, …}.
Value options_from(const Value& items) {
  Value options = Value::array();
  if (!items.is_array()) return options;
  for (const Value& item : items.items()) {
    if (!item.is_object()) {
      options.push_back(item.is_string() ? item : Value(to_json(item)));
      continue;
    }
    Value made = Value::object();
    for (const std::string_view name : {"id", "label", "description", "recommended"}) {
      if (const Value* member = item.find(name)) made.set(name, *member);
    }
    if (made.find("label") == nullptr) {
      if (const auto title = item.string_at("title"))
        made.set("label", *title);
      else if (const auto id = item.string_at("id"))
        made.set("label", *id);
    }
    options.push_back(std::move(made));
  }
  return options;
}

// The item a chosen option was made from.
const Value* item_of(const Value* items, const Value& options, std::string_view id) {
  if (items == nullptr || !items->is_array()) return nullptr;
  for (std::size_t i = 0; i < items->size() && i < options.size(); ++i) {
    const Value& made = options.items()[i];
    const std::string own =
        made.is_string() ? decision::slug_of(made.as_string())
                         : made.string_at("id").value_or(decision::slug_of(made.string_at("label").value_or("")));
    if (own == id) return &items->items()[i];
  }
  return nullptr;
}

Value value_of_choice(const Value* items, const Value& options, const std::string& id) {
  const Value* item = item_of(items, options, id);
  if (item == nullptr) return id;
  if (!item->is_object()) return *item;
  if (const Value* value = item->find("value")) return *value;
  return id;
}

void without_two_way(Value& question) {
  if (question.string_at("door") == "two-way") question.erase("door");
}

void without_safe(Value& question) {
  if (!question["options"].is_array()) return;
  Value options = Value::array();
  for (Value option : question["options"].items()) {
    if (option.is_object()) option.erase("safe");
    options.push_back(std::move(option));
  }
  question.set("options", std::move(options));
}

}  // namespace

Checked<Declaration> gate_question(const SessionNode& asked, const AttemptOutput& delivered, bool needs_signature,
                                   std::string_view reason) {
  std::string context = where(asked);
  if (!reason.empty()) context += fmt::format("\n\n{}", shown(reason, kShownReasonBytes));
  if (!delivered.notes.empty()) context += fmt::format("\n\nDelivered:\n{}", shown(delivered.notes, kShownNotesBytes));
  const bool sets_keys = delivered.context_set.is_object() && delivered.context_set.size() > 0;
  if (sets_keys) context += fmt::format("\n\nSets in the context:{}", shown_context(delivered.context_set));
  const std::size_t count = delivered.artifacts.size();
  for (std::size_t i = 0; i < std::min(count, kShownArtifacts); ++i) {
    context += fmt::format("\n\nArtifact:\n{}", shown(to_canonical_json(delivered.artifacts[i]), kShownArtifactBytes));
  }
  if (count > kShownArtifacts) context += fmt::format("\n\n{} more artifacts", count - kShownArtifacts);
  Value question = plain_question(asked, "gate", "Accept the result of this step?", std::move(context));
  question.set("kind", "approval");
  question.set("options", Value(Value::Array{option(kApprove, "Approve"), safe_option(kReject, "Reject")}));
  question.set("digest", delivery_digest(delivered));
  if (needs_signature) question.set("gate", "human_approval");
  return declare(std::move(question));
}

// One object with a named member per part, so that no part's text can be mistaken for another part.
std::string delivery_digest(const AttemptOutput& delivered) {
  const Value all =
      Value::object({{"notes", delivered.notes},
                     {"artifacts", Value(Value::Array(delivered.artifacts))},
                     {"context", delivered.context_set.is_object() ? delivered.context_set : Value::object()}});
  return "sha256:" + sha256_hex(to_canonical_json(all));
}

Checked<Declaration> breaker_question(const SessionNode& asked, std::string_view what_happened) {
  Value question = plain_question(asked, "stuck", "This step keeps failing: what next?",
                                  fmt::format("{}\n\n{}", where(asked), shown(what_happened, kShownNotesBytes)));
  question.set("options", Value(Value::Array{option(kRetry, "Try again"), safe_option(kStop, "Stop the session")}));
  return declare(std::move(question));
}

Checked<Declaration> quorum_question(const SessionNode& asked, std::string_view what_happened) {
  Value question = plain_question(asked, "quorum", "Too few sessions succeeded: what next?",
                                  fmt::format("{}\n\n{}", where(asked), shown(what_happened, kShownNotesBytes)));
  question.set("options", Value(Value::Array{option(kContinueAnyway, "Continue without them"),
                                             safe_option(kStop, "Stop the session")}));
  return declare(std::move(question));
}

Checked<Declaration> step_question(const SessionNode& asked, const Value& context, bool is_author_trusted) {
  const workflow::DecisionStep& step = *asked.step().decision();
  Value question = step.declaration;
  const Value written = question["instruction"];
  question.set("decision", question_name("ask", asked));
  if (question.find("profile") == nullptr) question.set("profile", "workflow");
  if (const auto instruction = question.string_at("instruction")) {
    question.set("instruction", workflow::fill_in(*instruction, context, asked.braces()));
  }
  // What is filled in comes from an agent, so the author's `door: two-way` does not cover it.
  const bool is_as_written = step.options_from.empty() && question["instruction"] == written;
  if (!is_author_trusted || !is_as_written) without_two_way(question);
  if (!is_author_trusted) without_safe(question);
  if (step.options_from.empty()) return declare(std::move(question));
  const Value* items = workflow::look_up(context, step.options_from);
  question.set("options", options_from(items != nullptr ? *items : Value()));
  auto declared = declare(std::move(question));
  if (declared) return declared;
  for (Error& fault : declared.error()) {
    fault.message =
        fmt::format("the context key {} cannot be offered as options: {}", step.options_from, fault.message);
  }
  return declared;
}

bool claims_safety(const SessionNode& asked) {
  const Value& written = asked.step().decision()->declaration;
  const Value& options = written["options"];
  return written.string_at("door") == "two-way" ||
         (options.is_array() && std::ranges::any_of(options.items(), [](const Value& option) {
            return option.is_object() && option.find("safe") != nullptr;
          }));
}

std::optional<Declaration> declaration_of(const inbox::OpenedDecision& opened) {
  auto declared = declare(opened.source);
  if (!declared || declared->hash != opened.definition) return std::nullopt;
  return std::move(*declared);
}

Value chosen_value(const workflow::DecisionStep& step, const Value& context, const inbox::DecisionOutcome& outcome) {
  if (outcome.options.empty()) {
    const Value* text = outcome.values.find("text");
    return text != nullptr && outcome.values.size() == 1 ? *text : outcome.values;
  }
  const Value* items =
      step.options_from.empty() ? step.declaration.find("options") : workflow::look_up(context, step.options_from);
  const Value options = options_from(items != nullptr ? *items : Value());
  const Value* select = step.declaration.find("select");
  const bool is_many = select != nullptr && select->is_string() && select->as_string() == "many";
  if (!is_many) return value_of_choice(items, options, outcome.options.front());
  Value chosen = Value::array();
  for (const std::string& id : outcome.options) chosen.push_back(value_of_choice(items, options, id));
  return chosen;
}

}  // namespace sb::engine
