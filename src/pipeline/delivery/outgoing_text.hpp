// Defuses text of tickets and agents on its way to a forge, where some words act: `Fixes #7` closes an issue when
// merged, `@name` notifies a person. Pure.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/forge/forges.hpp"
#include "pipeline/plan/ticket.hpp"

namespace sb::pipeline {

// Reads the same, but nothing in it is a reference, a mention or a closing word before an issue's address: a zero-width
// space (U+200B) is inserted into each. Works in Markdown and in commit messages, where quoting does not help. The
// run's own ticket, written as `owner/name#7` or as its address, stays unchanged.
std::string without_references(std::string_view text, const Ticket& own, const ForgeKind& forge);

}  // namespace sb::pipeline
