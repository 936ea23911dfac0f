// The environment variables of the process, passed in so that tests can set them, and the home folders they define.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sb {

class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string, std::less<>> variables) : variables_(std::move(variables)) {}
  static Environment of_process();
  // The same, and no other process of the user can read it any more: neither what this process was started with (in
  // /proc/PID/environ) nor its memory. Once, at the start of main.
  static Environment take_from_process();

  // Nothing if unset or empty.
  std::optional<std::string> get(std::string_view name) const;
  const std::map<std::string, std::string, std::less<>>& all() const { return variables_; }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

// Where our files are. If SIGNALBOX_HOME is set, all three are that folder; otherwise the XDG folders
// ($XDG_CONFIG_HOME/signalbox, $XDG_DATA_HOME/signalbox, $XDG_STATE_HOME/signalbox).
struct HomeDirectories {
  std::string config;  // config.yaml, profiles/
  std::string data;    // signalbox.db, operators/
  std::string state;   // hook-errors.log
};
Result<HomeDirectories> homes(const Environment& environment);

}  // namespace sb
