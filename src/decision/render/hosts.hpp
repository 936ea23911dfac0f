// The table of hosts. Names, `--host`, its help and every dispatch are derived from it.
//
// To add a host, write hosts/<name>.cpp, which defines its row, and add the row to the two lists here.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "decision/render/host.hpp"

namespace sb::decision {

using HostTable = std::span<const Host* const>;

namespace hosts {

extern const Host kText, kBrief, kAskUserQuestion, kRequestUserInput, kElicitation;

inline constexpr std::array kAll = {&kText, &kBrief, &kAskUserQuestion, &kRequestUserInput, &kElicitation};

}  // namespace hosts

// Null if no host has that name.
const Host* host_named(std::string_view name, HostTable table = hosts::kAll);

// `text, brief or elicitation`: the names of all hosts, or of those that have the property.
std::string host_names(HostTable table = hosts::kAll);
std::string hosts_with(bool Host::* property, HostTable table = hosts::kAll);

}  // namespace sb::decision
