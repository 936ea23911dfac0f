#include "decision/render/host.hpp"

#include <algorithm>

namespace sb::decision {

HostLimits limits_of(Host host) {
  switch (host) {
    case Host::kText:
      return {1, 7, 0};
    case Host::kBrief:
      return {1, 0, 0};
    case Host::kAskUserQuestion:
      return {4, 4, 12};
    case Host::kRequestUserInput:
      return {3, 3, 12};
    case Host::kElicitation:
      return {1, 0, 0};
  }
  return {};
}

int cap_of(Host host, const Profile& profile) {
  const int own = limits_of(host).options;
  return own == 0 ? profile.max_options : std::min(own, profile.max_options);
}

std::string_view to_string(Host host) {
  switch (host) {
    case Host::kText:
      return "text";
    case Host::kBrief:
      return "brief";
    case Host::kAskUserQuestion:
      return "ask_user_question";
    case Host::kRequestUserInput:
      return "request_user_input";
    case Host::kElicitation:
      return "elicitation";
  }
  return "";
}

const std::vector<Host>& all_hosts() {
  static const std::vector<Host> hosts = {Host::kText, Host::kBrief, Host::kAskUserQuestion, Host::kRequestUserInput,
                                          Host::kElicitation};
  return hosts;
}

std::optional<Host> host_named(std::string_view name) {
  for (const Host host : all_hosts()) {
    if (to_string(host) == name) return host;
  }
  return std::nullopt;
}

bool is_structured(Host host) {
  return host != Host::kText && host != Host::kBrief;
}

}  // namespace sb::decision
