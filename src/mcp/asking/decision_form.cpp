#include "mcp/asking/decision_form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/form.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/render.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/texts.hpp"

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

// A form has no row for other text, so the way back is an option of its own.
void add_back(Prompt& prompt) {
  decision::Option back;
  back.id = kPreviousPage;
  back.label = decision::text(prompt.locale, "form.back");
  prompt.options.insert(prompt.options.begin(), std::move(back));
}

bool has_option(const Decision& decision, std::string_view id) {
  return std::ranges::find(decision.options, id, &decision::Option::id) != decision.options.end();
}

// Where nothing may be chosen, a form has an entry that says so, as the last one.
void offer_none(Prompt& prompt) {
  prompt.select.min = 0;
  if (!prompt.options.empty() && entry_of(prompt, prompt.options.size() - 1) == decision::EntryKind::kNone) return;
  decision::Option none;
  none.id = decision::kNoneId;
  none.label = decision::text(prompt.locale, "none_of_these");
  none.role = "none";
  prompt.options.push_back(std::move(none));
}

// One page of a question of many, in a form that has all of them: nothing has to be chosen on it, so it needs no entry
// for that, unless a single option is left for the last page.
void make_field_of_form(Prompt& page) {
  if (page.pages == 1) return;
  if (page.options.size() > 2) page.options.pop_back();
  page.select.min = 0;
}

// How each entry is marked in texts too: a declared option with its number or letter, counted over all pages. Entries
// that only turn pages have none.
std::vector<std::string> marks_of(const Prompt& prompt, const Profile& profile, const Decision* declared) {
  std::vector<std::string> marks;
  std::size_t next = 0;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const bool is_own = entry_of(prompt, i) != decision::EntryKind::kOption || prompt.options[i].id == kPreviousPage;
    if (is_own && (declared != nullptr || prompt.pages > 1)) {
      marks.emplace_back();
      continue;
    }
    std::size_t index = next++;
    if (declared != nullptr) {
      const auto found = std::ranges::find(declared->options, prompt.options[i].id, &decision::Option::id);
      if (found != declared->options.end()) index = static_cast<std::size_t>(found - declared->options.begin());
    }
    marks.push_back(decision::ordinal_mark(profile.ordinals, index));
  }
  return marks;
}

void mark_titles(Value& property, const std::vector<std::string>& marks, const Profile& profile) {
  Value* items = property.find("items");
  Value* list = items != nullptr ? items->find("anyOf") : property.find("oneOf");
  if (list == nullptr || !list->is_array()) return;
  const auto title_at = [&](std::size_t i) { return list->items()[i].string_at("title").value_or(""); };
  // The renderer marks the entries by itself where two of them look the same.
  bool is_marked = true;
  for (std::size_t i = 0; i < list->size(); ++i) {
    is_marked = is_marked && title_at(i).starts_with(decision::ordinal_mark(profile.ordinals, i));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::string title = title_at(i);
    if (is_marked) title.erase(0, decision::ordinal_mark(profile.ordinals, i).size());
    list->items()[i].set("title", marks[i] + title);
  }
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

std::string row_name(const std::string& field, std::size_t index, const std::string& id) {
  return fmt::format("{}:{:02}:{}", field, index + 1, id);
}

std::string wrong_field(std::string_view locale, std::string_view field, std::string_view what) {
  return fmt::format("{}: {}", field, decision::text(locale, fmt::format("wrong.{}", what)));
}

// The words of a problem that the readers name by a code.
std::string problem_text(std::string_view locale, const std::string& reason) {
  if (reason == "arity") return std::string(decision::text(locale, "form.arity"));
  if (reason == "duplicate") return std::string(decision::text(locale, "form.duplicate"));
  return reason;
}

// A confirmation on one line; any other question as it is.
std::string question_line(const Prompt& prompt) {
  if (prompt.summary.empty()) {
    return prompt.label.empty() ? prompt.instruction : fmt::format("{} — {}", prompt.label, prompt.instruction);
  }
  std::string line = "Summary: ";
  for (const auto& [field, value] : prompt.summary) {
    line += fmt::format("{}{}: {}", line.ends_with(": ") ? "" : "; ", field, value);
  }
  return line;
}

std::string first_line_from(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  return begin == std::string_view::npos ? std::string() : std::string(first_line(text.substr(begin)));
}

// The first line that is not a heading; of notes that are only headings, the first one.
std::string first_words_of(std::string_view notes) {
  for (std::size_t at = 0; at < notes.size();) {
    const std::size_t end = std::min(notes.find('\n', at), notes.size());
    const std::string_view line = notes.substr(at, end - at);
    if (!is_blank(line) && !line.starts_with('#')) return std::string(line);
    at = end + 1;
  }
  const std::string heading = first_line_from(notes);
  return heading.substr(std::min(heading.find_first_not_of("# "), heading.size()));
}

// What was delivered, what is recommended, or what it is about: one short line.
std::string gist_of(const Prompt& prompt) {
  const decision::Sections& sections = prompt.sections;
  constexpr std::string_view kDelivered = "\nDelivered:\n";
  if (const std::size_t at = sections.context.find(kDelivered); at != std::string::npos) {
    return first_words_of(std::string_view(sections.context).substr(at + kDelivered.size()));
  }
  if (!prompt.irreversible_note.empty()) return first_line_from(prompt.irreversible_note);
  if (const std::string advice = decision::drafts::advice_of(prompt, ": "); !advice.empty()) return advice;
  for (const std::string* text : {&sections.net, &sections.stakes, &sections.eli10, &sections.context}) {
    if (!text->empty()) return first_line_from(*text);
  }
  return {};
}

// `Attempt 2` where the step was submitted more than once.
std::string attempt_in(const std::string& context) {
  const std::size_t at = context.find("\nAttempt ");
  return at == std::string::npos ? "" : first_line_from(std::string_view(context).substr(at));
}

constexpr std::size_t kShownColumns = 72;

std::string cut_line(const std::string& line) {
  const std::string plain = printable(line);
  if (count_code_points(plain) <= kShownColumns) return plain;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < kShownColumns; ++i) (void)next_code_point(plain, at);
  return plain.substr(0, at) + "…";
}

std::string page_name(std::string_view name, const Prompt& prompt) {
  return prompt.page == 1 ? std::string(name) : fmt::format("{}:p{:02}", name, prompt.page);
}

FormAnswer without(FormAnswer::Kind kind) {
  return {.kind = kind};
}

FormAnswer invalid(std::string problem) {
  return {.kind = FormAnswer::Kind::kInvalid, .problem = std::move(problem)};
}

}  // namespace

std::string DecisionForm::Item::inner_name() const {
  return shape.select.mode == SelectMode::kMany   ? "choices"
         : shape.select.mode == SelectMode::kText ? "text"
                                                  : "choice";
}

Result<DecisionForm> DecisionForm::of(const decision::Walk& walk, const inbox::Question& question,
                                      const Options& options) {
  DecisionForm form;
  const Declaration& declaration = walk.declaration();
  const Profile& profile = declaration.profile;
  // The entries that a form adds to the options are not limited by the profile: a form can hold them.
  Profile wide = profile;
  wide.max_options = static_cast<int>(sb::limits::kOptions);
  Prompt first;
  if (const Decision* decision = declaration.decision()) {
    if (decision->select.mode == SelectMode::kUrl) return unsupported("a question answered on a web page");
    const auto pages = prompts_of(*decision, profile, declaration.hash);
    const bool is_many = decision->select.mode == SelectMode::kMany;
    if (options.page < 1 || options.page > static_cast<int>(is_many ? 1 : pages.size())) {
      return fail(ErrorCode::kNotFound, fmt::format("the question has no page {}", options.page));
    }
    for (const Prompt& page : pages) {
      if (!is_many && page.page != options.page) continue;
      Prompt shown = for_person(page);
      if (is_many) make_field_of_form(shown);
      form.has_back_ = !is_many && page.page > 1 && !has_option(*decision, kPreviousPage);
      if (form.has_back_) add_back(shown);
      SB_TRY(form.add(shown, wide, options.revision, decision, is_many ? page_name("choices", page) : ""));
    }
    first = pages.front();
    form.select_ = decision->select;
  } else {
    form.is_walk_ = true;
    first = walk.is_held() ? walk.hold_prompt() : for_person(walk.prompt());
    const bool may_be_none = first.select.min == 0 || std::ranges::find(first.options, decision::kNoneId,
                                                                        &decision::Option::id) != first.options.end();
    if (first.select.mode == SelectMode::kMany && may_be_none) offer_none(first);
    decision::Walk before = walk;
    if (first.page > 1 && before.turn_to(first.page - 1)) add_back(first);
    // A brief has letters of its own on each page.
    const bool lists_options = decision::drafts::explains(profile);
    SB_TRY(form.add(first, wide, options.revision, lists_options || walk.is_held() ? nullptr : walk.step(), ""));
  }
  form.locale_ = first.locale;
  // A walk shows one question of several; the others are in the inbox.
  if (form.needs_whole_text_ && !form.is_walk_) form.message_ = question.text;
  form.message_ = form.headed(first, question, options.decision_id);
  SB_TRY(form.add_typed_confirmation(question));
  form.render_hash_ = sha256_hex(to_canonical_json(form.params()));
  return form;
}

// The first lines, then the rest of the message.
std::string DecisionForm::headed(const Prompt& first, const inbox::Question& question, const std::string& id) const {
  const std::string line = printable(question_line(first));
  std::string rest = without_trailing_newlines(message_);
  if (rest.starts_with(line)) rest.erase(0, line.size());
  while (rest.starts_with('\n')) rest.erase(0, 1);
  if (rest.empty() && first.summary.empty()) return line;
  std::string pointer = decision::text_with(first.locale, "form.all", "command",
                                            fmt::format("signalbox inbox show {}", id.empty() ? question.id : id));
  if (const std::string attempt = attempt_in(first.sections.context); !attempt.empty()) {
    pointer = fmt::format("{}. {}", attempt, pointer);
  }
  std::string head = line;
  if (const std::string gist = gist_of(first); !gist.empty()) head += "\n" + cut_line(gist);
  head += "\n" + pointer;
  return rest.empty() ? head : fmt::format("{}\n\n{}", head, rest);
}

Status DecisionForm::add(const Prompt& prompt, const Profile& profile, Revision revision, const Decision* declared,
                         std::string name) {
  const decision::Rendered rendered = SB_TRY(render(prompt, profile, decision::hosts::kElicitation));
  Item item{std::move(name), false, rendered.shape};
  const SelectMode mode = item.shape.select.mode;
  if (item.name.empty() && mode != SelectMode::kForm) item.name = item.inner_name();
  item.is_rows = mode == SelectMode::kMany && revision < Revision::k2025_11_25;
  // Only the full text says how many may be chosen, where the schema cannot.
  needs_whole_text_ = needs_whole_text_ || item.is_rows || is_cut(rendered, prompt, profile) ||
                      (declared != nullptr && prompt.pages > 1);
  if (!message_.empty()) message_ += "\n\n";
  message_ += rendered.payload.string_at("message").value_or("");
  const Value& schema = item.shape.requested_schema;
  if (mode == SelectMode::kForm) {
    properties_ = schema["properties"];
    if (schema["required"].is_array()) required_ = schema["required"];
  } else {
    Value property = schema["properties"][item.inner_name()];
    mark_titles(property, marks_of(prompt, profile, declared), profile);
    property.erase("minItems");
    if (property.find("title") == nullptr) property.set("title", decision::text(prompt.locale, "form.choice"));
    if (prompt.pages > 1) {
      property.set("title",
                   fmt::format("{} ({})", property["title"].as_string(),
                               decision::text_with(prompt.locale, "page_number", "page", std::to_string(prompt.page))));
    }
    add_field(item, std::move(property), revision);
    // On one page of several nothing has to be chosen.
    if (!item.is_rows && (mode != SelectMode::kMany || prompt.pages == 1)) required_.push_back(item.name);
  }
  items_.push_back(std::move(item));
  return {};
}

void DecisionForm::add_field(const Item& item, Value property, Revision revision) {
  if (!item.is_rows) {
    const bool is_legacy = revision < Revision::k2025_11_25 && property.find("oneOf") != nullptr;
    properties_.set(item.name, is_legacy ? as_legacy_enum(std::move(property)) : std::move(property));
    return;
  }
  std::size_t index = 0;
  for (const Value& option : property["items"]["anyOf"].items()) {
    Value row = Value::object({{"type", "boolean"}, {"title", option["title"]}, {"default", false}});
    properties_.set(row_name(item.name, index++, option["const"].as_string()), std::move(row));
  }
}

Status DecisionForm::add_typed_confirmation(const inbox::Question& question) {
  typed_confirmation_ = question.typed_confirmation;
  if (typed_confirmation_.empty()) return {};
  if (properties_.find(kConfirmation) != nullptr) return unsupported("a field named like the typed confirmation");
  properties_.set(
      kConfirmation,
      Value::object({{"type", "string"},
                     {"title", decision::text_with(locale_, "form.type", "words", printable(typed_confirmation_))},
                     {"minLength", 1}}));
  required_.push_back(kConfirmation);
  return {};
}

Value DecisionForm::params(std::string_view problem) const {
  Value schema = Value::object({{"type", "object"}, {"properties", properties_}});
  if (required_.size() > 0) schema.set("required", required_);
  std::string message = message_;
  while (message.ends_with('\n')) message.pop_back();
  if (!problem.empty())
    message = fmt::format("{}\n{}", decision::text_with(locale_, "form.problem", "problem", problem), message);
  return Value::object({{"mode", "form"}, {"message", std::move(message)}, {"requestedSchema", std::move(schema)}});
}

// The part of the content that belongs to one question, as the renderer's own form would have it.
Result<Value> DecisionForm::content_for(const Item& item, const Value& content) const {
  Value inner = Value::object();
  if (item.shape.select.mode == SelectMode::kForm) {
    for (const Value::Member& member : content.members()) {
      const bool is_ours = member.name == kConfirmation && !typed_confirmation_.empty();
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
  std::size_t index = 0;
  for (const decision::ShownOption& option : item.shape.questions.front().options) {
    const std::string name = row_name(item.name, index++, option.shown);
    const Value* row = content.find(name);
    if (row == nullptr) continue;
    if (!row->is_bool()) return fail(ErrorCode::kInvalid, wrong_field(locale_, name, "boolean"));
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
  switch (answer.result) {
    case HostAnswerKind::kSelected:
      if (has_back_ && answer.option_ids.front() == kPreviousPage) return without(FormAnswer::Kind::kBack);
      given.options.insert(given.options.end(), answer.option_ids.begin(), answer.option_ids.end());
      return std::nullopt;
    case HostAnswerKind::kNone:
      return std::nullopt;
    case HostAnswerKind::kFilled:
      for (const Value::Member& field : answer.fields.members()) {
        const bool is_blank_text = field.value.is_string() && is_blank(field.value.as_string());
        if (is_blank_text) return invalid(wrong_field(locale_, field.name, "empty"));
      }
      given.values = answer.fields;
      return std::nullopt;
    case HostAnswerKind::kMore:
      return without(FormAnswer::Kind::kMore);
    case HostAnswerKind::kEmpty:
      // A page on which nothing was chosen.
      if (items_.size() > 1) return std::nullopt;
      return without(FormAnswer::Kind::kEmpty);
    case HostAnswerKind::kInvalid:
      return invalid(problem_text(locale_, answer.reason));
    default:
      return invalid(std::string(decision::text(locale_, "form.unfit")));
  }
}

FormAnswer DecisionForm::read_content(const Value& content) const {
  for (const Value::Member& member : content.members()) {
    if (properties_.find(member.name) == nullptr) return invalid(wrong_field(locale_, member.name, "field"));
  }
  FormAnswer answer{.kind = FormAnswer::Kind::kAnswered};
  if (is_walk_) {
    const auto inner = content_for(items_.front(), content);
    if (!inner) return invalid(inner.error().message);
    answer.host = parse_answer(items_.front().shape, Value::object({{"action", "accept"}, {"content", *inner}}));
    if (answer.host.result == HostAnswerKind::kEmpty) return without(FormAnswer::Kind::kEmpty);
    if (answer.host.result != HostAnswerKind::kInvalid) return answer;
    return invalid(problem_text(locale_, answer.host.reason));
  }
  for (const Item& item : items_) {
    if (auto other = read_item(item, content, answer.given)) return std::move(*other);
  }
  const auto chosen = static_cast<int>(answer.given.options.size());
  if (items_.size() > 1 && (chosen < select_.min || chosen > select_.max)) {
    return chosen == 0 ? without(FormAnswer::Kind::kEmpty) : invalid(problem_text(locale_, "arity"));
  }
  if (!typed_confirmation_.empty() && content.string_at(kConfirmation) != typed_confirmation_) {
    return invalid(wrong_field(locale_, kConfirmation, "words"));
  }
  return answer;
}

FormAnswer DecisionForm::read(const Value& result) const {
  const std::string action = result.string_at("action").value_or("");
  if (action == "decline") return without(FormAnswer::Kind::kDeclined);
  if (action == "cancel") return without(FormAnswer::Kind::kCancelled);
  const auto unfit = [&] { return invalid(std::string(decision::text(locale_, "form.unfit"))); };
  if (action != "accept") return unfit();
  const Value& content = result["content"];
  if (content.is_null()) return without(FormAnswer::Kind::kEmpty);
  if (!content.is_object()) return unfit();
  if (content.size() == 0) return without(FormAnswer::Kind::kEmpty);
  return read_content(content);
}

Value reason_form(std::string_view locale, std::string_view decision_id) {
  const Value reason = Value::object({{"type", "string"},
                                      {"title", decision::text(locale, "form.reason")},
                                      {"minLength", 1},
                                      {"maxLength", kReasonLength}});
  return Value::object(
      {{"mode", "form"},
       {"message", fmt::format("{}\n{}", decision::text(locale, "form.why"),
                               decision::text_with(locale, "form.all", "command",
                                                   fmt::format("signalbox inbox show {}", decision_id)))},
       {"requestedSchema", Value::object({{"type", "object"},
                                          {"properties", Value::object({{std::string(kReason), reason}})},
                                          {"required", Value(Value::Array{Value(kReason)})}})}});
}

std::string reason_in(const Value& result) {
  if (result.string_at("action") != "accept") return {};
  const std::string text = result["content"].string_at(kReason).value_or("");
  return is_utf8(text) && !is_blank(text) && text.size() <= sb::limits::kTextBytes ? text : "";
}

}  // namespace sb::mcp
