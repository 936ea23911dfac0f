// `signalbox-forge-stand-in` as a process over a test's bare remote: the parts of GitHub that runs need. Killed with
// this object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "pipeline/place.hpp"

namespace sb::pipeline_tests {

inline constexpr const char* kForgeToken = "github_pat_standin0123456789abcdefghij";

class ForgeProcess {
 public:
  // `more`: --cut-request N before, --refuse-merge, …
  ForgeProcess(const std::string& program, const RunFixture& place, const std::vector<std::string>& more = {});
  ~ForgeProcess();
  ForgeProcess(const ForgeProcess&) = delete;
  ForgeProcess& operator=(const ForgeProcess&) = delete;

  // Lines of config.yaml that make a run use it.
  std::string settings() const;
  Value state() const;           // as in state.json
  std::size_t requests() const;  // received, by its log
  static Start with_token(std::vector<std::string> arguments);

 private:
  const RunFixture& place_;
  pid_t process_ = 0;
  std::string url_;
};

}  // namespace sb::pipeline_tests
