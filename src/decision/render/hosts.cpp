#include "decision/render/hosts.hpp"

#include <algorithm>
#include <vector>

namespace sb::decision {
namespace {

std::string either(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

int cap_of(const Host& host, const Profile& profile) {
  const int own = host.limits.options;
  return own == 0 ? profile.max_options : std::min(own, profile.max_options);
}

const Host* host_named(std::string_view name, HostTable table) {
  const auto found = std::ranges::find(table, name, &Host::name);
  return found == table.end() ? nullptr : *found;
}

std::string host_names(HostTable table) {
  std::vector<std::string_view> names;
  for (const Host* host : table) names.push_back(host->name);
  return either(names);
}

std::string hosts_with(bool Host::* property, HostTable table) {
  std::vector<std::string_view> names;
  for (const Host* host : table) {
    if (host->*property) names.push_back(host->name);
  }
  return either(names);
}

}  // namespace sb::decision
