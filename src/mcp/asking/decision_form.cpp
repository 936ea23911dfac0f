#include "mcp/asking/decision_form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/render/form.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/render.hpp"

namespace sb::mcp {
namespace {

using decision::Decision;
using decision::Declaration;
using decision::HostAnswer;
using decision::HostAnswerKind;
using decision::Profile;
using decision::Prompt;
using decision::SelectMode;

constexpr std::string_view kReason = "reason";
constexpr std::string_view kConfirmation = "confirmation";
constexpr int kReasonLength = 4'000;  // characters; even the longest fit into sb::limits::kTextBytes

std::unexpected<Error> unsupported(std::string_view why) {
  return fail(ErrorCode::kUnsupported, fmt::format("a form cannot show {}", why), "Answer it in the inbox");
}

// Whether the renderer's message omits, or squeezes into one line, what a person should read.
bool is_cut(const decision::Rendered& rendered, const Prompt& prompt, const Profile& profile) {
  const bool hides_marks = profile.recommended == decision::RecommendedMark::kHidden;
  const bool loses = std::ranges::any_of(rendered.omitted_fields, [&](const std::string& field) {
    return field != "pager_label" && !(field == "recommended" && hides_marks);
  });
  const decision::Sections& sections = prompt.sections;
  const auto has_lines = [](const std::string& text) { return text.contains('\n'); };
  return loses || has_lines(sections.context) || has_lines(sections.eli10) || has_lines(sections.stakes) ||
         has_lines(sections.safety_notice);
}

// The options of a field in the form used before revision 2025-11-25.
Value as_legacy_enum(Value property) {
  Value ids = Value::array();
  Value names = Value::array();
  for (const Value& option : property["oneOf"].items()) {
    ids.push_back(option["const"]);
    names.push_back(option["title"]);
  }
  property.erase("oneOf");
  property.set("enum", std::move(ids));
  property.set("enumNames", std::move(names));
  return property;
}

std::string row_name(const std::string& field, const std::string& id) {
  return fmt::format("{}:{}", field, id);
}

std::string page_name(std::string_view name, const Prompt& prompt) {
  return prompt.page == 1 ? std::string(name) : fmt::format("{} ({})", name, prompt.page);
}

FormAnswer without(FormAnswer::Kind kind) {
  return {.kind = kind};
}

FormAnswer invalid(std::string problem) {
  return {.kind = FormAnswer::Kind::kInvalid, .problem = std::move(problem)};
}

// Stores the ids of one question where the inbox expects them. Pages of one question add up.
void add_choice(const std::string& part, bool is_many, const std::vector<std::string>& ids, inbox::AnswerInput& given) {
  if (part.empty()) {
    given.options.insert(given.options.end(), ids.begin(), ids.end());
    return;
  }
  if (!is_many) return given.values.set(part, ids.front());
  Value all = given.values[part].is_array() ? given.values[part] : Value::array();
  for (const std::string& id : ids) all.push_back(id);
  given.values.set(part, std::move(all));
}

}  // namespace

std::string DecisionForm::Item::inner_name() const {
  return shape.select.mode == SelectMode::kMany   ? "choices"
         : shape.select.mode == SelectMode::kText ? "text"
                                                  : "choice";
}

Result<DecisionForm> DecisionForm::of(const Declaration& declaration, const inbox::Question& question,
                                      const Options& options) {
  DecisionForm form;
  const Profile& profile = declaration.profile;
  if (const Decision* decision = declaration.decision()) {
    if (decision->select.mode == SelectMode::kUrl) return unsupported("a question answered on a web page");
    const auto pages = prompts_of(*decision, profile, declaration.hash);
    const bool is_many = decision->select.mode == SelectMode::kMany;
    if (options.page < 1 || options.page > static_cast<int>(is_many ? 1 : pages.size())) {
      return fail(ErrorCode::kNotFound, fmt::format("the question has no page {}", options.page));
    }
    for (const Prompt& page : pages) {
      if (!is_many && page.page != options.page) continue;
      const std::string name = is_many ? page_name("choices", page) : std::string();
      SB_TRY(form.add(page, profile, options.revision, "", name));
    }
  } else if (const decision::Flow* flow = declaration.flow()) {
    form.needs_whole_text_ = true;
    for (const decision::FlowStep& step : flow->steps) {
      const auto pages = prompts_of(*flow, step, profile, declaration.hash);
      const bool is_many = step.decision.select.mode == SelectMode::kMany;
      if (pages.size() > 1 && !is_many) return unsupported("a flow in which one question has several pages");
      for (Prompt page : pages) {
        if (page.header.empty()) page.header = step.title;
        SB_TRY(form.add(page, profile, options.revision, step.key(), page_name(step.key(), page)));
      }
    }
  } else {
    return unsupported("a chain");
  }
  if (form.needs_whole_text_) form.message_ = question.text;
  SB_TRY(form.add_extra_fields(question, options.takes_reason));
  form.render_hash_ = sha256_hex(to_canonical_json(form.params()));
  return form;
}

Status DecisionForm::add(const Prompt& prompt, const Profile& profile, Revision revision, std::string part,
                         std::string name) {
  const decision::Rendered rendered = SB_TRY(render(prompt, profile, decision::hosts::kElicitation));
  Item item{std::move(part), std::move(name), false, rendered.shape};
  const SelectMode mode = item.shape.select.mode;
  if (item.name.empty() && mode != SelectMode::kForm) item.name = item.inner_name();
  item.is_rows = mode == SelectMode::kMany && revision < Revision::k2025_11_25;
  // Only the full text says how many may be chosen, where the schema cannot.
  needs_whole_text_ = needs_whole_text_ || item.is_rows || is_cut(rendered, prompt, profile);
  if (!message_.empty()) message_ += "\n\n";
  message_ += rendered.payload.string_at("message").value_or("");
  const Value& schema = item.shape.requested_schema;
  if (mode == SelectMode::kForm) {
    properties_ = schema["properties"];
    if (schema["required"].is_array()) required_ = schema["required"];
  } else {
    Value property = schema["properties"][item.inner_name()];
    if (!item.part.empty()) property.set("description", prompt.instruction);
    add_field(item, std::move(property), revision);
  }
  items_.push_back(std::move(item));
  return {};
}

void DecisionForm::add_field(const Item& item, Value property, Revision revision) {
  if (!item.is_rows) {
    const bool is_legacy = revision < Revision::k2025_11_25 && property.find("oneOf") != nullptr;
    properties_.set(item.name, is_legacy ? as_legacy_enum(std::move(property)) : std::move(property));
    required_.push_back(item.name);
    return;
  }
  for (const Value& option : property["items"]["anyOf"].items()) {
    Value row = Value::object({{"type", "boolean"}, {"title", option["title"]}});
    if (const Value* description = property.find("description")) row.set("description", *description);
    properties_.set(row_name(item.name, option["const"].as_string()), std::move(row));
  }
}

Status DecisionForm::add_extra_fields(const inbox::Question& question, bool takes_reason) {
  has_reason_ = takes_reason && properties_.find(kReason) == nullptr;
  if (has_reason_) {
    properties_.set(kReason, Value::object({{"type", "string"},
                                            {"title", "Reason"},
                                            {"description", "Optional; passed to the requester"},
                                            {"maxLength", kReasonLength}}));
  }
  typed_confirmation_ = question.typed_confirmation;
  if (typed_confirmation_.empty()) return {};
  if (properties_.find(kConfirmation) != nullptr) return unsupported("a field named like the typed confirmation");
  const std::string words = fmt::format("Type {} to continue", printable(typed_confirmation_));
  properties_.set(
      kConfirmation,
      Value::object({{"type", "string"}, {"title", "Confirmation"}, {"description", words}, {"minLength", 1}}));
  required_.push_back(kConfirmation);
  return {};
}

Value DecisionForm::params(std::string_view problem) const {
  Value schema = Value::object({{"type", "object"}, {"properties", properties_}});
  if (required_.size() > 0) schema.set("required", required_);
  std::string message = message_;
  while (message.ends_with('\n')) message.pop_back();
  if (!problem.empty()) message = fmt::format("Not accepted: {}.\n\n{}", problem, message);
  return Value::object({{"mode", "form"}, {"message", std::move(message)}, {"requestedSchema", std::move(schema)}});
}

// The part of the content that belongs to one question, as the renderer's own form would have it.
Result<Value> DecisionForm::content_for(const Item& item, const Value& content) const {
  Value inner = Value::object();
  if (item.shape.select.mode == SelectMode::kForm) {
    for (const Value::Member& member : content.members()) {
      const bool is_ours =
          (member.name == kConfirmation && !typed_confirmation_.empty()) || (member.name == kReason && has_reason_);
      if (!is_ours) inner.set(member.name, member.value);
    }
    return inner;
  }
  if (!item.is_rows) {
    if (const Value* value = content.find(item.name)) inner.set(item.inner_name(), *value);
    return inner;
  }
  Value ids = Value::array();
  bool has_any = false;
  for (const decision::ShownOption& option : item.shape.questions.front().options) {
    const Value* row = content.find(row_name(item.name, option.shown));
    if (row == nullptr) continue;
    if (!row->is_bool()) {
      return fail(ErrorCode::kInvalid, row_name(item.name, option.shown) + ": must be true or false");
    }
    has_any = true;
    if (row->as_bool()) ids.push_back(option.shown);
  }
  if (has_any) inner.set(item.inner_name(), std::move(ids));
  return inner;
}

// Nothing if it was answered; the answer is then in `given`.
std::optional<FormAnswer> DecisionForm::read_item(const Item& item, const Value& content,
                                                  inbox::AnswerInput& given) const {
  const Result<Value> inner = content_for(item, content);
  if (!inner) return invalid(inner.error().message);
  const HostAnswer answer = parse_answer(item.shape, Value::object({{"action", "accept"}, {"content", *inner}}));
  const bool is_many = item.shape.select.mode == SelectMode::kMany;
  switch (answer.result) {
    case HostAnswerKind::kSelected:
    case HostAnswerKind::kNone:
      add_choice(item.part, is_many, answer.option_ids, given);
      return std::nullopt;
    case HostAnswerKind::kFilled:
      given.values = answer.fields;
      return std::nullopt;
    case HostAnswerKind::kMore:
      return without(FormAnswer::Kind::kMore);
    case HostAnswerKind::kEmpty:
      if (items_.size() == 1) return without(FormAnswer::Kind::kEmpty);
      return invalid(item.name + ": is missing");
    case HostAnswerKind::kInvalid:
      return invalid(answer.reason);
    default:
      return invalid("it could not be parsed");
  }
}

FormAnswer DecisionForm::read_content(const Value& content) const {
  for (const Value::Member& member : content.members()) {
    if (properties_.find(member.name) == nullptr) return invalid(member.name + ": is not a field of this form");
  }
  FormAnswer answer{.kind = FormAnswer::Kind::kAnswered};
  for (const Item& item : items_) {
    if (auto other = read_item(item, content, answer.given)) return std::move(*other);
  }
  if (!typed_confirmation_.empty() && content.string_at(kConfirmation) != typed_confirmation_) {
    return invalid(fmt::format("{}: does not match the text to type", kConfirmation));
  }
  if (const Value* reason = content.find(kReason); has_reason_ && reason != nullptr) {
    const Status fits = decision::check_property(properties_[kReason], *reason);
    if (!fits) return invalid(fmt::format("{}: {}", kReason, fits.error().message));
    if (!is_blank(reason->as_string())) answer.remark = reason->as_string();
  }
  return answer;
}

FormAnswer DecisionForm::read(const Value& result) const {
  const std::string action = result.string_at("action").value_or("");
  if (action == "decline") return without(FormAnswer::Kind::kDeclined);
  if (action == "cancel") return without(FormAnswer::Kind::kCancelled);
  if (action != "accept") return invalid("action: must be accept, decline or cancel");
  const Value& content = result["content"];
  if (content.is_null()) return without(FormAnswer::Kind::kEmpty);
  if (!content.is_object()) return invalid("content: must be an object");
  if (content.size() == 0) return without(FormAnswer::Kind::kEmpty);
  return read_content(content);
}

}  // namespace sb::mcp
