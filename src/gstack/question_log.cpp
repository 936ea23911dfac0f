#include "gstack/question_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/gstack_literals.hpp"
#include "decision/preference.hpp"
#include "gstack/log_text.hpp"

namespace sb::gstack {
namespace {

using decision::gstack_words;
using decision::is_gstack_word;

constexpr std::size_t kTailLines = 100;
constexpr std::size_t kTailBytes = 1u << 20;

std::unexpected<Error> invalid_event(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

// A string member, truncated and on one line. It may be absent, but not of another type.
Status tidy_text(Value& event, std::string_view name, std::size_t max_units) {
  const Value* value = event.find(name);
  if (!value) return {};
  if (!value->is_string()) return invalid_event(fmt::format("{} must be a string", name));
  event.set(name, one_line(cut_utf16(value->as_string(), max_units)));
  return {};
}

Status require_text(Value& event, std::string_view name, std::size_t max_units) {
  const auto text = event.string_at(name);
  if (!text || text->empty()) return invalid_event(fmt::format("{} required", name));
  return tidy_text(event, name, max_units);
}

Status check_ids(Value& event, LogRules rules) {
  const auto is_kebab = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  };
  const auto skill = event.string_at("skill");
  if (!skill || !is_kebab(*skill)) return invalid_event("invalid skill, must be lower-case letters, digits and -");
  auto id = event.string_at("question_id");
  if (id && rules == LogRules::kOwn) {
    std::ranges::transform(*id, id->begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    event.set("question_id", *id);
  }
  if (!id || !decision::is_question_id(*id)) {
    return invalid_event("invalid question_id, must be lower-case letters, digits and -, at most 64");
  }
  return {};
}

Status check_choice_of(const Value& event, std::string_view name, std::string_view list) {
  const Value* value = event.find(name);
  if (!value || (value->is_string() && is_gstack_word(list, value->as_string()))) return {};
  return invalid_event(fmt::format("invalid {}, must be one of: {}", name, gstack_words(list)));
}

std::optional<std::int64_t> whole_number(const Value& value) {
  if (value.is_integer()) return value.as_integer();
  if (value.is_number() && std::abs(value.as_number()) < 1e9 && std::trunc(value.as_number()) == value.as_number()) {
    return static_cast<std::int64_t>(value.as_number());
  }
  if (!value.is_string()) return std::nullopt;
  // Shell callers quote everything.
  const std::string& text = value.as_string();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status check_options_count(Value& event, LogRules rules) {
  const Value* value = event.find("options_count");
  if (!value) return {};
  constexpr std::int64_t least = 0;  // a free-text question has no options (GAP-10)
  const std::int64_t most = rules == LogRules::kOwn ? static_cast<std::int64_t>(limits::kOptions) : 26;
  const auto count = whole_number(*value);
  if (!count || *count < least || *count > most) {
    return invalid_event(fmt::format("options_count must be an integer from {} to {}", least, most));
  }
  event.set("options_count", *count);
  return {};
}

void set_followed(Value& event) {
  const auto choice = event.string_at("user_choice");
  const auto recommended = event.string_at("recommended");
  if (!choice || !recommended || *choice == decision::gstack_literals()["unknown_choice"].as_string()) return;
  event.set("followed_recommendation", without_recommended_mark(*choice) == without_recommended_mark(*recommended));
}

Status check_tool_use_id(const Value& event) {
  const Value* id = event.find("tool_use_id");
  if (!id || (id->is_string() && cut_utf16(id->as_string(), 128).size() == id->as_string().size())) return {};
  return invalid_event("tool_use_id must be a string of at most 128 characters");
}

bool is_screened_field(std::string_view name) {
  return name == "question_summary" || name == "user_choice" || name == "recommended" || name == "free_text";
}

bool any_instruction_like(const Value& event) {
  return std::ranges::any_of(event.members(), [](const Value::Member& member) {
    return is_screened_field(member.name) && member.value.is_string() &&
           decision::is_instruction_like(member.value.as_string());
  });
}

// What identifies an event; nothing where it cannot be determined.
std::optional<std::string> identity(const Value& event) {
  const auto source = event.string_at("source");
  const auto call = event.string_at("tool_use_id");
  const auto id = event.string_at("question_id");
  if (!source || !call || call->empty() || !id) return std::nullopt;
  return to_json(Value(Value::Array{*source, *call, *id, event["question_index"]}));
}

bool is_in_tail(std::string_view tail, const std::string& wanted) {
  for (std::size_t lines = 0; lines < kTailLines && !tail.empty();) {
    if (tail.ends_with('\n')) {
      tail.remove_suffix(1);
      continue;
    }
    const std::size_t start = tail.rfind('\n') + 1;  // npos + 1 is 0
    const auto event = parse_json(tail.substr(start));
    if (event && event->is_object() && identity(*event) == wanted) return true;
    tail = tail.substr(0, start);
    ++lines;
  }
  return false;
}

}  // namespace

Result<Value> checked_question_event(Value event, LogRules rules, TimestampMs now) {
  if (!event.is_object()) return invalid_event("invalid JSON: the event must be an object");
  SB_TRY(check_ids(event, rules));
  SB_TRY(check_choice_of(event, "source", "log_sources"));
  if (!event.find("source")) event.set("source", "agent");
  SB_TRY(check_tool_use_id(event));
  SB_TRY(tidy_text(event, "free_text", 300));
  SB_TRY(require_text(event, "question_summary", 200));
  if (rules == LogRules::kGstack && decision::is_instruction_like(event["question_summary"].as_string())) {
    return invalid_event(
        "question_summary reads like an instruction to a model (instruction-like: injection); nothing was logged");
  }
  SB_TRY(check_choice_of(event, "category", "categories"));
  SB_TRY(check_choice_of(event, "door_type", "door_types"));
  SB_TRY(check_options_count(event, rules));
  SB_TRY(require_text(event, "user_choice", 64));
  SB_TRY(tidy_text(event, "recommended", 64));
  set_followed(event);
  SB_TRY(tidy_text(event, "session_id", 64));
  if (const auto ts = event.string_at("ts"); !ts || ts->empty()) event.set("ts", to_rfc3339(now));
  if (rules == LogRules::kOwn && any_instruction_like(event)) event.set("screened", "instruction-like");
  return event;
}

std::string question_log_line(const Value& event) {
  const bool is_screened = event.find("screened") != nullptr;
  std::string line = "{";
  for (const auto& [name, value] : event.members()) {
    if (line.size() > 1) line += ',';
    line += quote_json(name) + ":";
    const bool may_instruct = is_screened && is_screened_field(name) && value.is_string();
    line += may_instruct ? quote_screened(value.as_string()) : to_json(value);
  }
  return line + "}";
}

Result<LogResult> append_question_event(Files& files, const PreferencePaths& place, const Value& checked) {
  SB_TRY(files.make_directories(place.project()));
  const auto held = SB_TRY(files.lock(join_path(place.project(), ".question-log.lock")));
  auto tail = files.read_tail(place.log(), kTailBytes);
  if (!tail && tail.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(tail).error());
  const std::string before = tail ? std::move(*tail) : "";
  if (const auto wanted = identity(checked); wanted && is_in_tail(before, *wanted)) return LogResult::kDuplicate;
  // A line truncated by a crash must not swallow this one.
  const bool is_torn = !before.empty() && !before.ends_with('\n');
  SB_TRY(files.append(place.log(), (is_torn ? "\n" : "") + question_log_line(checked) + "\n"));
  return LogResult::kAppended;
}

}  // namespace sb::gstack
