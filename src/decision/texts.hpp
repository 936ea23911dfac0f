// The program's own sentences inside prompts, per locale (data/texts.yaml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::decision {

// The text under this key ("retry.1", "more_options", "none_of_these", ...); English where the locale has none.
// Asserts that the key exists.
std::string_view text(std::string_view locale, std::string_view key);
// The same with {name} replaced.
std::string text_with(std::string_view locale, std::string_view key, std::string_view name, std::string_view value);
bool has_locale(std::string_view locale);
const std::vector<std::string_view>& locales();  // en first
std::string_view texts_version();

}  // namespace sb::decision
