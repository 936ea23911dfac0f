// Shared by hosts that are a tool of an agent program: they show labels and return them.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/render.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision::hosts {

Value tool_option(std::string_view label, std::string description);

// Tools require a description; a profile that explains nothing sends an empty one.
std::string description_of(const Option& option, const Profile& profile, ShownFields& shown);

// Records what the labels show, and whether they have ordinals.
void note_labels(const ShownLabels& labels, const Profile& profile, Rendered& rendered, ShownFields& shown);

// Sets the marked text of a question in the tool call.
void set_tool_question(Rendered& rendered, std::size_t index);

// Labels as one text, joined by commas if many may be chosen; anything else is free text.
HostAnswer read_labels(const AnswerShape& shape, std::string_view text);

// Labels as one text or as a list.
HostAnswer read_label_value(const AnswerShape& shape, const Value& value);

}  // namespace sb::decision::hosts
