// What the hosts share that are a tool of an agent program: they show labels and answer with them.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/render.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision::hosts {

Value tool_option(std::string_view label, std::string description);

// Tools demand a description; a profile that explains nothing sends an empty one.
std::string description_of(const Option& option, const Profile& profile, ShownFields& shown);

// Notes what the labels show, and that ordinals were put in front of them.
void note_labels(const ShownLabels& labels, const Profile& profile, Rendered& rendered, ShownFields& shown);

// Puts the marked text of a question into the tool's call.
void set_tool_question(Rendered& rendered, std::size_t index);

// Labels as one text, joined by commas where many may be chosen; anything else is free text.
HostAnswer read_labels(const AnswerShape& shape, std::string_view text);

// Labels as one text or as a list.
HostAnswer read_label_value(const AnswerShape& shape, const Value& value);

}  // namespace sb::decision::hosts
