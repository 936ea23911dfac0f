// `counts`, and `narrow` of an output contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

using testing::HasSubstr;

// A workflow whose second step has these members.
std::string with(const std::string& members) {
  return R"(
id: derived-test
name: Derived
description: Counts and narrows.
version: 1.0.0
steps:
  - {id: find, title: Find, prompt: Find them., captures: {found: {type: array}, isLate: {type: boolean}}}
  - id: report
    title: Report
    prompt: Report them.
)" + members;
}

struct Case {
  const char* members;
  const char* reported;  // empty: no fault
};

TEST(Counts, AreReadAndTheirFaultsReported) {
  const Case cases[] = {
      {"    counts: {left: {of: found}}\n", ""},
      {"    counts: {late: {of: found, where: {var: status, in: [late, lost]}}}\n", ""},
      {"    counts: {}\n", ""},
      {"    counts: [found]\n", "/steps/1/counts"},
      {"    counts: {left: found}\n", "/steps/1/counts/left"},
      {"    counts: {left: {}}\n", "of"},
      {"    counts: {left: {of: 3}}\n", "/steps/1/counts/left/of"},
      {"    counts: {left: {of: found, where: {var: 3}}}\n", "/steps/1/counts/left/where"},
      {"    counts: {left: {of: found, when: {var: a}}}\n", "unknown key \"when\""},
      {"    counts: {\"not a name\": {of: found}}\n", "is not a valid context key"},
      {"    counts: {left: {of: lost}}\n", "no step sets \"lost\""},
  };
  for (const Case& one : cases) {
    const std::string reported = definition_faults(with(one.members));
    if (*one.reported == '\0') {
      EXPECT_EQ(reported, "") << one.members;
    } else {
      EXPECT_THAT(reported, HasSubstr(one.reported)) << one.members;
    }
  }
}

TEST(Counts, AreKeysThatOtherStepsMayRead) {
  EXPECT_EQ(definition_faults(with("    counts: {left: {of: found}}\n"
                                   "  - {id: fix, title: Fix, prompt: 'Fix {{left}}.', runCondition: {var: left, "
                                   "gt: 0}}\n")),
            "");
}

TEST(Narrow, IsReadAndItsFaultsReported) {
  const auto narrowed = [](const std::string& list) {
    return with("    outputContract: {contractRef: wr.contracts.loop_control, narrow: " + list + "}\n");
  };
  const Case cases[] = {
      {"[{schema: {required: [loopId]}, message: Name the loop.}]", ""},
      {"[{when: {var: isLate, equals: true}, schema: {}, message: Late.}]", ""},
      {"[]", "/steps/1/outputContract/narrow"},
      {"{schema: {}, message: m}", "/steps/1/outputContract/narrow"},
      {"[{message: m}]", "schema"},
      {"[{schema: {}}]", "message"},
      {"[{schema: {type: nonsense}, message: m}]", "/steps/1/outputContract/narrow/0/schema"},
      {"[{schema: {$ref: 'http://elsewhere/x.json'}, message: m}]", "/steps/1/outputContract/narrow/0/schema"},
      {"[{schema: {}, message: m, if: 1}]", "unknown key \"if\""},
      {"[{when: {var: unknown, equals: 1}, schema: {}, message: m}]", "no step sets \"unknown\""},
  };
  for (const Case& one : cases) {
    const std::string reported = definition_faults(narrowed(one.members));
    if (*one.reported == '\0') {
      EXPECT_EQ(reported, "") << one.members;
    } else {
      EXPECT_THAT(reported, HasSubstr(one.reported)) << one.members;
    }
  }
}

}  // namespace
}  // namespace sb::workflow
