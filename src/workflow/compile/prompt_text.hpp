// `{{name}}` and `{{name.path}}` in prompts, titles, guidance and fragments, filled in when a step is shown.
//
// Pure. Grammar: `\{\{(?!wr\.)[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\}\}`; anything else stays as it is. `.length` of a list or
// string is its length. An unset value shows as `[unset: path]`; if a middle part is not an object, the mark also says
// what it is, with at most 60 characters of it. Objects and lists are shown as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::workflow {

// What a single-braced `{name}` is.
enum class Braces {
  kText,       // itself
  kIfSet,      // filled in if the context has a text, number or boolean of that name
  kArguments,  // always an argument, as in routines: filled in or `[unset: name]`; `\{name}` is a literal `{name}`
};

std::string fill_in(std::string_view text, const Value& context, Braces braces = Braces::kText);

// The same on one line, for titles: each run of white space in filled-in values becomes one space.
std::string fill_in_line(std::string_view text, const Value& context, Braces braces = Braces::kText);

// The paths of all `{{…}}` placeholders in the text, each once, in order.
std::vector<std::string> paths_in(std::string_view text);
// Their first names, each once.
std::vector<std::string> names_in(std::string_view text);

// The name of a `{name}` whose brace opens at `at`; empty if it is something else, such as `{{name}}` or JSON.
std::string_view argument_name_at(std::string_view text, std::size_t at);

}  // namespace sb::workflow
