// Readers for the parts of a declaration, shared by the readers of decisions, flows and chains. Internal to this
// folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/document/reader.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

struct ReadContext {
  const Profiles& profiles;
  Author author;
};

// Whether a decision is alone or a step of a flow.
enum class Placement { kStandalone, kInFlow };

// Reads everything of a decision except its id. `profile` and `locale` come from the enclosing declaration.
void read_decision(Fields& fields, Placement placement, const Profile& profile, const ReadContext& context,
                   Decision& decision);
Flow read_flow(Fields& fields, const Profile& profile, const ReadContext& context);
Chain read_chain(Fields& fields, const Profile& profile);

// `profile:`, or the fallback when it is not given. Nothing, and a fault, when there is no such profile.
const Profile* read_profile_name(Fields& fields, const Profiles& profiles, std::string_view fallback);
// `locale:`; if not given, that of the text's letters: Russian for Cyrillic, Japanese for kana, Chinese for Han letters
// without kana, else English.
std::string read_locale(Fields& fields, std::string_view sample_text);
// An id: [a-z0-9-]+, at most `max` characters.
std::string read_id(Fields& fields, std::string_view name, std::size_t max = limits::kIdBytes);
std::optional<TimestampMs> read_time(Fields& fields, std::string_view name);

// One line of displayable text: not blank, no line break, no control character, in NFC.
std::optional<std::string> read_line(const Reader& reader);
std::optional<std::string> read_line(Fields& fields, std::string_view name, Need need = Need::kOptional);
// Text that may have several lines.
std::string read_text(Fields& fields, std::string_view name);

void check_instruction(const Reader& reader, const std::string& instruction, const Profile& profile);
void check_label(const Reader& reader, const std::string& label, const Profile& profile);

}  // namespace sb::decision
