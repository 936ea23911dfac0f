#include "started/sandbox.hpp"

#include <cstdlib>
#include <stdexcept>

#include "started/program.hpp"

namespace sb::test_program {
namespace {

std::string probe() {
  const char* path = std::getenv("PATH");
  ProgramResult ended;
  try {
    ended = start_program("bwrap", {"PATH=" + std::string(path ? path : "/usr/bin:/bin")},
                          {.arguments = {"--unshare-all", "--ro-bind", "/", "/", "true"}, .directory = "/"});
  } catch (const std::runtime_error&) {
    return "bubblewrap is not installed";
  }
  if (ended.code == 0) return {};
  const std::string first = ended.errors.substr(0, ended.errors.find('\n'));
  return first.empty() ? "bubblewrap does not work here" : first;
}

}  // namespace

const std::string& why_no_sandbox() {
  static const std::string why = probe();
  return why;
}

}  // namespace sb::test_program
