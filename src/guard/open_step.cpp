#include "guard/open_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"

namespace sb::guard {
namespace {

constexpr std::size_t kFolderDigits = 16;
constexpr std::size_t kLongestExtension = 8;

std::string folder_part(std::string_view workspace) {
  return sha256_hex(workspace).substr(0, kFolderDigits) + "/";
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// `main.cpp`, `.env`; not `end.` and not `v1.2`, which is more likely a version than a file.
bool has_extension(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view extension = word.substr(dot + 1);
  const bool is_plain = std::ranges::all_of(extension, is_letter_or_digit);
  const bool is_named = std::ranges::any_of(extension, [](char c) { return c > '9'; });
  return is_plain && is_named && !extension.empty() && extension.size() <= kLongestExtension;
}

bool looks_like_path(std::string_view word) {
  constexpr std::string_view kStrange = " \t\r\n\"'<>|;&$()";
  if (word.empty() || word.find_first_of(kStrange) != std::string_view::npos) return false;
  if (word.find("://") != std::string_view::npos || word.find_first_not_of("/.") == std::string_view::npos)
    return false;
  return word.find_first_of("/*") != std::string_view::npos || has_extension(word);
}

}  // namespace

std::string open_step_key(std::string_view workspace, std::string_view session) {
  return folder_part(workspace) + std::string(session);
}

std::string to_row(const OpenStep& step) {
  Value value = Value::object({{"v", 1},
                               {"session", step.session},
                               {"workspace", step.workspace},
                               {"workflow", step.workflow},
                               {"step", step.step},
                               {"title", step.title},
                               {"number", step.number},
                               {"of", step.of}});
  if (step.writes) value.set("writes", Value::array(*step.writes));
  if (step.commands_read_only) value.set("read_only", true);
  if (!step.out_of_scope.empty()) value.set("out_of_scope", Value::array(step.out_of_scope));
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) value.set(name, text);
  };
  add("goal", step.goal);
  add("owes", step.required_output);
  add("waiting", step.waiting);
  add("decision", step.decision);
  add("parent", step.parent);
  if (step.is_autonomous) value.set("autonomous", true);
  add("context", step.context);
  if (step.visible) value.set("visible", Value::array(*step.visible));
  value.set("token", step.token);
  value.set("at", step.at);
  return to_json(value);
}

Result<OpenStep> open_step_from(std::string_view row) {
  const Value value = SB_TRY(parse_stored(row));
  StoredReader stored(value, "the row of an open step");
  OpenStep step;
  step.session = stored.string("session");
  step.workspace = stored.string("workspace");
  step.workflow = stored.string("workflow");
  step.step = stored.string("step");
  step.title = stored.string("title");
  step.number = stored.small("number");
  step.of = stored.small("of");
  if (stored.has("writes")) step.writes = stored.strings("writes");
  step.commands_read_only = stored.optional_boolean("read_only");
  step.out_of_scope = stored.strings("out_of_scope");
  step.goal = stored.optional_string("goal");
  step.required_output = stored.optional_string("owes");
  step.waiting = stored.optional_string("waiting");
  step.decision = stored.optional_string("decision");
  step.parent = stored.optional_string("parent");
  step.is_autonomous = stored.optional_boolean("autonomous");
  step.context = stored.optional_string("context");
  if (stored.has("visible")) step.visible = stored.strings("visible");
  step.token = stored.string("token");
  step.at = stored.integer("at");
  SB_TRY(stored.done());
  return step;
}

Result<std::vector<OpenStep>> open_steps_in(store::Snapshot& snapshot, std::string_view workspace, int limit) {
  std::vector<OpenStep> steps;
  const store::Listing listing{.prefix = folder_part(workspace), .descending = true, .limit = limit};
  for (const store::Row& row : SB_TRY(snapshot.list(kOpenSteps, listing))) {
    OpenStep step = SB_TRY(open_step_from(row.value));
    if (step.workspace == workspace) steps.push_back(std::move(step));
  }
  return steps;
}

Result<std::optional<OpenStep>> find_open_step(store::Snapshot& snapshot, std::string_view workspace,
                                               std::string_view session) {
  const auto row = SB_TRY(snapshot.get(kOpenSteps, open_step_key(workspace, session)));
  if (!row) return std::nullopt;
  return SB_TRY(open_step_from(row->value));
}

std::vector<std::string> paths_named(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  const std::string_view word = text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  if (looks_like_path(word) && word.find('`') == std::string_view::npos) return {std::string(word)};
  std::vector<std::string> paths;
  for (std::size_t at = text.find('`'); at != std::string_view::npos;) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    const std::string_view quoted = text.substr(at + 1, end - at - 1);
    if (looks_like_path(quoted)) paths.emplace_back(quoted);
    at = text.find('`', end + 1);
  }
  return paths;
}

bool names_path(std::string_view sentence, std::string_view path) {
  const auto is_of_path = [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == '/' || (c & 0x80) != 0;
  };
  if (path.empty()) return false;
  for (std::size_t at = sentence.find(path); at != sentence.npos; at = sentence.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    const bool begins = at == 0 || (!is_of_path(sentence[at - 1]) && sentence[at - 1] != '.');
    // A full stop ends a sentence, or is part of the name.
    const bool continues = end + 1 < sentence.size() && sentence[end] == '.' && is_of_path(sentence[end + 1]);
    if (begins && !continues && (end == sentence.size() || !is_of_path(sentence[end]))) return true;
  }
  return false;
}

std::vector<std::string> files_named(std::string_view sentence) {
  constexpr std::string_view kAround = " \t\r\n`\"'()[],;:!?";
  std::vector<std::string> files;
  for (std::size_t at = sentence.find_first_not_of(kAround); at != sentence.npos;) {
    const std::size_t end = std::min(sentence.find_first_of(kAround, at), sentence.size());
    std::string_view word = sentence.substr(at, end - at);
    while (word.ends_with('.')) word.remove_suffix(1);
    if (has_extension(word) && looks_like_path(word)) files.emplace_back(word);
    at = sentence.find_first_not_of(kAround, end);
  }
  return files;
}

}  // namespace sb::guard
