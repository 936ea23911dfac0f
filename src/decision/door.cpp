#include "decision/door.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text/pattern.hpp"
#include "base/text/unicode.hpp"
#include "decision/data.hpp"
#include "decision/gstack_literals.hpp"

namespace sb::decision {
namespace {

const Value& door_lexicon() {
  static const Value root = [] {
    auto parsed = parse_json(data_file("one-way.json"));
    SB_ASSERT(parsed.has_value());
    return std::move(*parsed);
  }();
  return root;
}

// All patterns of one kind of group joined into one, because one pass over the text is cheaper than a hundred.
Pattern compile_groups(bool for_ascii, bool bounded) {
  std::string alternatives;
  for (const Value& group : door_lexicon()["groups"].items()) {
    if (group["ascii"].as_bool() != for_ascii || group["bounded"].as_bool() != bounded) continue;
    for (const Value& pattern : group["patterns"].items()) {
      alternatives += alternatives.empty() ? "" : "|";
      alternatives += pattern.as_string();
    }
  }
  // Not \b at the end: a pattern may end in a symbol (`checkout --`), after which no word ends.
  const std::string expression = bounded ? "(?<!\\w)(?:" + alternatives + ")(?:(?<!\\w)|(?!\\w))" : alternatives;
  auto compiled = Pattern::compile(expression, Pattern::kIgnoreCase);
  SB_ASSERT(compiled.has_value());
  return *compiled;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

// Full-width letters, invisible characters between letters and broken bytes hide a word from a pattern, but not from a
// reader.
std::string plain(std::string_view text) {
  std::string valid;
  if (is_utf8(text)) {
    valid = text;
  } else {
    for (const char c : text) valid += static_cast<unsigned char>(c) < 0x80 ? c : ' ';
  }
  std::string visible;
  const std::string normal = nfkc(valid);
  for (std::size_t at = 0; at < normal.size();) {
    const char32_t c = next_code_point(normal, at);
    if (!is_invisible(c)) append_code_point(visible, c);
  }
  return visible;
}

std::optional<std::string> first_match(const Pattern& pattern, std::string_view text) {
  const auto match = pattern.find(text);
  if (!match) return "";  // gave up; unexamined text counts as irreversible
  if (!*match) return std::nullopt;
  return std::string(text.substr((*match)->begin, (*match)->end - (*match)->begin));
}

std::optional<std::string> one_way_keyword(std::string_view text) {
  static const Pattern latin = compile_groups(true, true);
  if (is_ascii(text)) return first_match(latin, text);
  static const Pattern spaced = compile_groups(false, true);
  static const Pattern unspaced = compile_groups(false, false);
  const std::string readable = plain(text);
  for (const Pattern* pattern : {&latin, &spaced, &unspaced}) {
    if (auto keyword = first_match(*pattern, readable)) return keyword;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(DoorReason reason) {
  switch (reason) {
    case DoorReason::kDeclared:
      return "declared";
    case DoorReason::kRegistry:
      return "registry";
    case DoorReason::kSkillCategory:
      return "skill-category";
    case DoorReason::kKeyword:
      return "keyword";
    case DoorReason::kDefaultTwoWay:
      return "default-two-way";
  }
  return "";
}

DoorFinding classify_door(const DoorFacts& facts) {
  if (facts.declared == Door::kOneWay) return {Door::kOneWay, DoorReason::kDeclared, ""};
  if (is_one_way_id(facts.question_id)) return {Door::kOneWay, DoorReason::kRegistry, ""};
  if (!facts.skill.empty() && !facts.category.empty()) {
    const std::string pair = std::string(facts.skill) + ":" + std::string(facts.category);
    if (is_gstack_word("one_way_skill_categories", pair)) return {Door::kOneWay, DoorReason::kSkillCategory, ""};
  }
  for (const std::string_view text : facts.texts) {
    if (text.empty()) continue;
    if (auto keyword = one_way_keyword(text)) return {Door::kOneWay, DoorReason::kKeyword, std::move(*keyword)};
  }
  return {};
}

bool is_one_way_id(std::string_view question_id) {
  return !question_id.empty() && is_gstack_word("one_way_ids", question_id);
}

std::string_view door_lexicon_version() {
  static const std::string version = std::to_string(door_lexicon()["version"].as_integer());
  return version;
}

}  // namespace sb::decision
