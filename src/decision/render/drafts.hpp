// What the hosts share to draft what they show.
#pragma once

#include <string>
#include <string_view>

#include "decision/render/render.hpp"
#include "decision/shown_fields.hpp"

namespace sb::decision::drafts {

// How an error names the prompt, quoted.
std::string name_of(const Prompt& prompt);

// The error of a prompt that the host cannot show.
std::unexpected<Error> cannot_show(const Prompt& prompt, const Host& host, std::string_view why, std::string remedy);

// Whether the profile explains options at all, or shows only their labels (`interaction`).
bool explains(const Profile& profile);

// The chip above a question: the declared header, else the label, else a word; at most `limit` code points.
std::string header_of(const Prompt& prompt, int limit, ShownFields& shown);

// The instruction, with the label in front where the header does not carry it.
std::string sentence_of(const Prompt& prompt, std::string_view header, ShownFields& shown);

// Of a chain's own questions (narrow, conflict, final), the list of what is being agreed to: without it "Ship this
// scope?" asks for a signature on a blank sheet, so it is shown also where nothing else is explained. Empty for other
// kinds.
std::string agreement_text(const Prompt& prompt);

// The brief with what the profile shows of it: under one that explains nothing, no sections, details or marks.
std::string brief_of(const Prompt& prompt, const Profile& profile, ShownFields& shown);

// The question as a tool shows it: that sentence, or under a profile that explains the whole brief; and behind it what
// must not be lost.
std::string question_of(const Prompt& prompt, const Profile& profile, std::string_view header, ShownFields& shown);

// Puts the marker at the end of the question's first line.
void mark_question(std::string& question, std::string_view marker);

}  // namespace sb::decision::drafts
