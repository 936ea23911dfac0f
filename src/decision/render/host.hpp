// Where a decision can be shown, and how much each place holds.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decision/declaration/profile.hpp"

namespace sb::decision {

enum class Host { kText, kBrief, kAskUserQuestion, kRequestUserInput, kElicitation };

// What one call of a host can carry. 0: no limit of the host's own.
struct HostLimits {
  int questions = 1;
  int options = 0;
  int header = 0;  // code points
};

HostLimits limits_of(Host host);

// The most options one question may hold there: the smaller of the profile's cap and the host's.
int cap_of(Host host, const Profile& profile);

std::string_view to_string(Host host);  // as --host takes it: text, brief, ask_user_question, ...
std::optional<Host> host_named(std::string_view name);
const std::vector<Host>& all_hosts();

// Whether what is given to the host is JSON, or text for a person to read as it is.
bool is_structured(Host host);

}  // namespace sb::decision
