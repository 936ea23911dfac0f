// The names of the tests in a source file, as the compiler sees them: not in comments, strings or other words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::tree {

struct TestName {
  std::string suite;
  std::string name;
};

// The arguments of TEST, TEST_F, TEST_P and TYPED_TEST, in order, without those that are disabled.
std::vector<TestName> test_names(std::string_view source);

}  // namespace sb::tree
