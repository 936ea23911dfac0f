// Whether commands can run in a sandbox on this machine. Bubblewrap may be installed and still not be allowed to create
// namespaces, as in most containers.
//
//   if (const std::string why = test_program::why_no_sandbox(); !why.empty()) GTEST_SKIP() << why;
#pragma once

#include <string>

namespace sb::test_program {

// Empty: `bwrap --unshare-all --ro-bind / / true` works. Tried once per process, with the bwrap in PATH.
const std::string& why_no_sandbox();

}  // namespace sb::test_program
