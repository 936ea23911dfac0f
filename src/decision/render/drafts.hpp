// Helpers that hosts share to draft what they show.
#pragma once

#include <string>
#include <string_view>

#include "decision/render/render.hpp"
#include "decision/shown_fields.hpp"

namespace sb::decision::drafts {

// The prompt's name for errors, quoted.
std::string name_of(const Prompt& prompt);

// The error for a prompt that the host cannot show.
std::unexpected<Error> cannot_show(const Prompt& prompt, const Host& host, std::string_view why, std::string remedy);

// Whether the profile explains options at all, or shows only their labels (`interaction`).
bool explains(const Profile& profile);

// The chip above a question: the declared header, else the label, else a word; at most `limit` code points.
std::string header_of(const Prompt& prompt, int limit, ShownFields& shown);

// The instruction, preceded by the label if the header does not contain it.
std::string sentence_of(const Prompt& prompt, std::string_view header, ShownFields& shown);

// For a chain's own questions (narrow, conflict, final), the list of what is being agreed to: without it "Ship this
// scope?" would ask for a blank signature, so it is shown even if nothing else is explained. Empty for other kinds.
std::string agreement_text(const Prompt& prompt);

// The brief as the profile shows it: a profile that explains nothing omits sections, details and marks.
std::string brief_of(const Prompt& prompt, const Profile& profile, ShownFields& shown);

// The question as a tool shows it: that sentence, or the whole brief if the profile explains; followed by what must not
// be lost.
std::string question_of(const Prompt& prompt, const Profile& profile, std::string_view header, ShownFields& shown);

// What is recommended and why, after the word for it: `Recommended: Keep it: …`. Empty without a reason.
std::string advice_of(const Prompt& prompt, std::string_view separator);

// For tools, which let a person type another text: how to see the page before again. Empty on the first page.
std::string page_hint(const Prompt& prompt);

// Appends the marker to the question's first line.
void mark_question(std::string& question, std::string_view marker);

}  // namespace sb::decision::drafts
