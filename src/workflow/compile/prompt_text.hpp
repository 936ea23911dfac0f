// `{{name}}` and `{{name.path}}` in prompts, titles, guidance and fragments, filled in when a step is shown.
//
// Pure. Grammar: `\{\{(?!wr\.)[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\}\}`; anything else stays as it is. `.length` of a list or
// string is its length. An unset value shows as `[unset: path]`; if a middle part is not an object, the mark also says
// what it is, with at most 60 characters of it. Objects and lists are shown as JSON.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::workflow {

// What a single-braced `{name}` is.
enum class Braces {
  kText,       // itself
  kIfSet,      // filled in if the context has a value of that name
  kArguments,  // always an argument, as in routines: filled in or `[unset: name]`; `\{name}` is a literal `{name}`
};

std::string fill_in(std::string_view text, const Value& context, Braces braces = Braces::kText);

// How much of the values is shown. Of a longer one the beginning, its size, and where the whole can be read.
struct FillBudget {
  std::size_t value_bytes = std::string::npos;
  std::size_t all_bytes = std::string::npos;  // of all values that one Filler fills in
  std::string where = {};                     // such as `signalbox session show s-1`; may be empty
};

// Fills in several texts within one budget. Refers to the context.
class Filler {
 public:
  Filler(const Value& context, Braces braces, FillBudget budget)
      : context_(context), braces_(braces), budget_(std::move(budget)) {}

  std::string fill(std::string_view text);
  std::string fill_line(std::string_view text);  // as fill_in_line
  // The keys of the context whose whole values have been filled in.
  const std::set<std::string, std::less<>>& shown_whole() const { return shown_whole_; }

 private:
  std::string placed(std::string_view name, std::string value);
  std::string placed_path(std::string_view path);
  std::string with_arguments(std::string_view text);

  const Value& context_;
  const Braces braces_;
  FillBudget budget_;
  std::set<std::string, std::less<>> shown_whole_;
};

// The same on one line, for titles: each run of white space becomes one space, and of each value at most 240 bytes are
// shown.
std::string fill_in_line(std::string_view text, const Value& context, Braces braces = Braces::kText);

// The paths of all `{{…}}` placeholders in the text, each once, in order.
std::vector<std::string> paths_in(std::string_view text);
// Their first names, each once.
std::vector<std::string> names_in(std::string_view text);

}  // namespace sb::workflow
