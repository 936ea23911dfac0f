// Words of tickets and agents on their way to a forge, where some of them act: `Fixes #7` closes an issue once it is
// merged, `@name` calls a person. Pure.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/forge/forges.hpp"
#include "pipeline/plan/ticket.hpp"

namespace sb::pipeline {

// The same to read, but nothing in it is a reference, a mention or a closing word before an issue's address: a
// zero-width space (U+200B) stands inside each. Holds in Markdown and in commit messages, where quoting does not help.
// The run's own ticket, written out as `owner/name#7` or as its address, stays what it is.
std::string without_references(std::string_view text, const Ticket& own, const ForgeKind& forge);

}  // namespace sb::pipeline
