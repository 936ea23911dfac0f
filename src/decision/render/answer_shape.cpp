#include "decision/render/answer_shape.hpp"

#include <array>

#include "base/limits.hpp"

namespace sb::decision {
namespace {

constexpr std::array<std::string_view, 4> kEntryNames = {"option", "more", "none", "no"};
constexpr std::array<std::string_view, 5> kModeNames = {"one", "many", "text", "form", "url"};

template <std::size_t N>
std::optional<std::size_t> index_in(const std::array<std::string_view, N>& names, const Value& value) {
  if (!value.is_string()) return std::nullopt;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == value.as_string()) return i;
  }
  return std::nullopt;
}

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "a stored prompt has a bad " + std::string(what));
}

Result<std::string> string_of(const Value& object, std::string_view name) {
  auto text = object.string_at(name);
  if (!text || text->size() > limits::kDocumentBytes) return damaged(name);
  return std::move(*text);
}

Result<std::vector<std::string>> strings_of(const Value& object, std::string_view name) {
  const Value& value = object[name];
  if (!value.is_array()) return damaged(name);
  std::vector<std::string> strings;
  for (const Value& item : value.items()) {
    if (!item.is_string()) return damaged(name);
    strings.push_back(item.as_string());
  }
  return strings;
}

Result<int> count_of(const Value& object, std::string_view name) {
  const Value& value = object[name];
  if (!value.is_integer() || value.as_integer() < 0 || value.as_integer() > static_cast<int>(limits::kOptions)) {
    return damaged(name);
  }
  return static_cast<int>(value.as_integer());
}

Result<ShownQuestion> question_of(const Value& value, int max_options) {
  const Value& many = value["many"];
  const Value& options = value["options"];
  if (!many.is_bool()) return damaged("many");
  if (!options.is_array() || options.size() > static_cast<std::size_t>(max_options)) return damaged("options");
  ShownQuestion question{SB_TRY(string_of(value, "key")), SB_TRY(string_of(value, "text")), many.as_bool(), {}};
  for (const Value& option : options.items()) {
    const auto entry = index_in(kEntryNames, option["entry"]);
    if (!entry) return damaged("entry");
    question.options.push_back({SB_TRY(string_of(option, "id")), SB_TRY(string_of(option, "label")),
                                SB_TRY(string_of(option, "shown")), static_cast<EntryKind>(*entry)});
  }
  return question;
}

}  // namespace

bool AnswerShape::operator==(const AnswerShape& other) const {
  return to_value(*this) == to_value(other);
}

Value to_value(const AnswerShape& shape) {
  Value questions = Value::array();
  for (const ShownQuestion& question : shape.questions) {
    Value options = Value::array();
    for (const ShownOption& option : question.options) {
      options.push_back(Value::object({{"id", option.id},
                                       {"label", option.label},
                                       {"shown", option.shown},
                                       {"entry", kEntryNames[static_cast<std::size_t>(option.entry)]}}));
    }
    questions.push_back(Value::object(
        {{"key", question.key}, {"text", question.text}, {"many", question.is_many}, {"options", std::move(options)}}));
  }
  return Value::object({{"host", shape.host->name},
                        {"nonce", shape.nonce},
                        {"label", shape.label},
                        {"locale", shape.locale},
                        {"select", kModeNames[static_cast<std::size_t>(shape.select.mode)]},
                        {"min", shape.select.min},
                        {"max", shape.select.max},
                        {"commands", Value::array(shape.commands)},
                        {"elsewhere", Value::array(shape.elsewhere)},
                        {"has_none", shape.has_none},
                        {"questions", std::move(questions)},
                        {"requested_schema", shape.requested_schema}});
}

Result<AnswerShape> shape_from_value(const Value& value, HostTable table) {
  const Host* host = host_named(value.string_at("host").value_or(""), table);
  if (!host) return damaged("host");
  const auto mode = index_in(kModeNames, value["select"]);
  if (!mode) return damaged("select");
  const Value& questions = value["questions"];
  const HostLimits& limits = host->limits;
  if (!questions.is_array() || questions.size() > static_cast<std::size_t>(limits.questions)) {
    return damaged("questions");
  }
  AnswerShape shape{
      .host = host,
      .nonce = SB_TRY(string_of(value, "nonce")),
      .label = SB_TRY(string_of(value, "label")),
      .locale = SB_TRY(string_of(value, "locale")),
      .select = {static_cast<SelectMode>(*mode), SB_TRY(count_of(value, "min")), SB_TRY(count_of(value, "max"))},
      .commands = SB_TRY(strings_of(value, "commands")),
      .elsewhere = SB_TRY(strings_of(value, "elsewhere")),
      .has_none = value["has_none"] == Value(true),
      .questions = {},
      .requested_schema = value["requested_schema"]};
  const int max_options = limits.options > 0 ? limits.options : static_cast<int>(limits::kOptions);
  for (const Value& question : questions.items()) shape.questions.push_back(SB_TRY(question_of(question, max_options)));
  return shape;
}

}  // namespace sb::decision
