// `{{name}}` and `{{name.path}}` in prompts, titles, guidance and fragments, filled in when a step is shown.
//
// Pure. Grammar: `\{\{(?!wr\.)[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\}\}`; anything else stays as it is. `.length` of a list or
// text is its length. What is not set shows as `[unset: path]`; where a middle part is no object, the mark also says
// what it is, with at most 60 characters of it. Objects and lists are shown as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::workflow {

std::string fill_in(std::string_view text, const Value& context);

// The same on one line, for titles: runs of white space in what was filled in become one blank.
std::string fill_in_line(std::string_view text, const Value& context);

// The first names of all places in the text, each once.
std::vector<std::string> names_in(std::string_view text);

}  // namespace sb::workflow
