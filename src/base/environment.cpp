#include "base/environment.hpp"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <vector>

#include "base/files.hpp"

namespace sb {

Environment Environment::of_process() {
  std::map<std::string, std::string, std::less<>> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(variables));
}

Environment Environment::take_from_process() {
  Environment taken = of_process();
  // Libraries and programs that we start still find every variable, in memory that no other process may read.
  // Never destroyed: libraries that were loaded later, such as gnutls, read it when the process exits.
  static auto& kept = *new std::vector<std::string>;
  static auto& entries = *new std::vector<char*>;
  for (char** entry = environ; entry && *entry; ++entry) {
    kept.emplace_back(*entry);
    ::explicit_bzero(*entry, kept.back().size());
  }
  for (std::string& entry : kept) entries.push_back(entry.data());
  entries.push_back(nullptr);
  environ = entries.data();
  ::prctl(PR_SET_DUMPABLE, 0);
  return taken;
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

Result<HomeDirectories> homes(const Environment& environment) {
  if (const auto home = environment.get("SIGNALBOX_HOME")) return HomeDirectories{*home, *home, *home};
  const auto home = environment.get("HOME");
  const auto place = [&](std::string_view variable, std::string_view fallback) -> std::string {
    const auto set = environment.get(variable);
    // The XDG specification says to ignore relative paths.
    if (set && set->starts_with('/')) return join_path(*set, "signalbox");
    return home ? join_path(join_path(*home, fallback), "signalbox") : std::string();
  };
  HomeDirectories result{place("XDG_CONFIG_HOME", ".config"), place("XDG_DATA_HOME", ".local/share"),
                         place("XDG_STATE_HOME", ".local/state")};
  if (result.config.empty() || result.data.empty() || result.state.empty()) {
    return fail(ErrorCode::kInvalid, "neither SIGNALBOX_HOME nor HOME is set",
                "Set SIGNALBOX_HOME to a folder you own");
  }
  return result;
}

}  // namespace sb
