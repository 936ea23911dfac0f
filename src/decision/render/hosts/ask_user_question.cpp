// Claude Code's AskUserQuestion: returns labels, free text, or one of several kinds of non-answer.
#include "base/text/unicode.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/hosts/question_tool.hpp"
#include "decision/render/readers.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

void draft_ask_user_question(const Prompt& prompt, const Profile& profile, const RenderOptions&, Rendered& rendered,
                             ShownFields& shown) {
  const std::string header = drafts::header_of(prompt, kAskUserQuestion.limits.header, shown);
  std::string question = drafts::question_of(prompt, profile, header, shown);
  if (const std::string hint = drafts::page_hint(prompt); !hint.empty()) question += "\n\n" + hint;
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  ShownLabels labels = shown_labels(prompt, profile);
  note_labels(labels, profile, rendered, shown);
  Value options = Value::array();
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    Value option = tool_option(labels.options[i].shown, description_of(prompt.options[i], profile, shown));
    const bool has_preview = !is_many && drafts::explains(profile) && !prompt.options[i].preview.empty();
    if (has_preview) {
      option.set("preview", prompt.options[i].preview);
      shown.add("preview");
    }
    options.push_back(std::move(option));
  }
  Value call = Value::object(
      {{"question", question}, {"header", header}, {"options", std::move(options)}, {"multiSelect", is_many}});
  rendered.payload = Value::object({{"questions", Value(Value::Array{std::move(call)})},
                                    {"metadata", Value::object({{"source", prompt.decision_id}})}});
  rendered.header = header;
  rendered.shape.questions.push_back({"", question, is_many, std::move(labels.options)});
}

std::string folded(std::string_view text) {
  if (!is_utf8(text)) return {};
  const std::string source = case_fold(text);
  std::string out;
  bool is_gap = false;
  for (std::size_t at = 0; at < source.size();) {
    const char32_t c = next_code_point(source, at);
    if (is_space(c)) {
      is_gap = !out.empty();
      continue;
    }
    if (is_gap) out += ' ';
    is_gap = false;
    append_code_point(out, c);
  }
  return out;
}

bool carries(std::string_view text, const std::string& nonce) {
  return !nonce.empty() && text.find(marker_of(nonce)) != std::string_view::npos;
}

// The member for this question in a map by question text: exact, by marker, or ignoring case and white space.
const Value* by_question(const Value& map, const AnswerShape& shape) {
  if (!map.is_object()) return nullptr;
  const std::string& text = shape.questions.front().text;
  if (const Value* exact = map.find(text)) return exact;
  for (const Value::Member& member : map.members()) {
    if (carries(member.name, shape.nonce)) return &member.value;
  }
  for (const Value::Member& member : map.members()) {
    if (folded(member.name) == folded(text)) return &member.value;
  }
  return nullptr;
}

bool is_about(const Value& item, const AnswerShape& shape) {
  const auto question = item.string_at("question");
  if (!question) return false;
  const std::string& text = shape.questions.front().text;
  return *question == text || carries(*question, shape.nonce) || folded(*question) == folded(text);
}

const Value* first_of(const Value& item, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Value* value = item.find(name);
    if (value && !value->is_null()) return value;
  }
  return nullptr;
}

// One record of an array of answers, as some versions of the tool return them.
HostAnswer read_record(const AnswerShape& shape, const Value& record) {
  if (record.is_string()) return read_labels(shape, record.as_string());
  const Value* typed = first_of(record, {"free_text", "other_text"});
  if (typed && typed->is_string() && !typed->as_string().empty()) return free_text(typed->as_string());
  const Value* value = first_of(record, {"option_label", "label", "user_answer", "choice", "answer"});
  return value ? read_label_value(shape, *value) : without_answer(HostAnswerKind::kEmpty);
}

const Value* record_for(const Value& list, const AnswerShape& shape) {
  for (const Value& item : list.items()) {
    if (is_about(item, shape)) return &item;
  }
  const bool is_only_one = list.size() == 1 && !list.items().front().find("question");
  return is_only_one ? &list.items().front() : nullptr;
}

HostAnswer read_answers(const AnswerShape& shape, const Value& given) {
  const Value& answers = given["answers"];
  if (answers.is_object()) {
    if (const Value* value = by_question(answers, shape)) return read_label_value(shape, *value);
    const bool is_only_one = answers.size() == 1 && given["questions"].is_array() && given["questions"].size() == 1;
    return is_only_one ? read_label_value(shape, answers.members().front().value)
                       : without_answer(HostAnswerKind::kEmpty);
  }
  if (answers.is_array()) {
    const Value* record = record_for(answers, shape);
    return record ? read_record(shape, *record) : without_answer(HostAnswerKind::kEmpty);
  }
  if (!answers.is_null()) return invalid("shape");
  const Value& questions = given["questions"];
  if (!questions.is_array()) return invalid("shape");
  const Value* record = record_for(questions, shape);
  const bool is_answered = record && first_of(*record, {"user_answer", "answer", "choice"});
  return is_answered ? read_record(shape, *record) : without_answer(HostAnswerKind::kEmpty);
}

// Why a question was not answered, if the host reports it.
std::optional<HostAnswerKind> unanswered(const Value& annotation) {
  const std::string kind = annotation.string_at("unanswered").value_or("");
  if (kind == "skipped") return HostAnswerKind::kSkipped;
  // A person who writes in the chat instead has closed the dialog, not skipped the question.
  if (kind == "dismissed" || kind == "replied_in_chat") return HostAnswerKind::kDismissed;
  return std::nullopt;
}

HostAnswer read_ask_user_question(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_object()) return invalid("shape");
  // The dialog timed out without a person: the content of `answers` is not a person's.
  const Value& away = given["afkTimeoutMs"];
  if (!away.is_null()) return without_answer(HostAnswerKind::kTimedOut);
  const Value* annotation = by_question(given["annotations"], shape);
  const std::string response = given.string_at("response").value_or("");
  const auto why = annotation ? unanswered(*annotation) : std::nullopt;
  HostAnswer answer = why ? without_answer(*why) : read_answers(shape, given);
  // Typed text takes precedence over a choice: the person had more to say than a label.
  if (!response.empty()) answer = is_utf8(response) ? free_text(response) : invalid("encoding");
  if (annotation) answer.notes = annotation->string_at("notes").value_or("");
  return answer;
}

}  // namespace

constinit const Host kAskUserQuestion = {
    .name = "ask_user_question",
    .limits = {.questions = 4, .options = 4, .header = 12},
    .shows_irreversible_note = true,
    // Claude Code sends an empty answer if nothing is chosen, and an empty answer is not an answer.
    .accepts_none = false,
    .answers_with_label = true,
    .draft = draft_ask_user_question,
    .set_question = set_tool_question,
    .read = read_ask_user_question,
};

}  // namespace sb::decision::hosts
