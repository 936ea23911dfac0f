// The program that types for other tests: it waits, types, and fails if the expected text does not appear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "started/program.hpp"

namespace sb::test_program {
namespace {

using ::testing::HasSubstr;

// Runs `script` with sh in a terminal.
ProgramResult in_terminal(std::vector<std::string> actions, const std::string& script) {
  actions.insert(actions.end(), {"--", "sh", "-c", script});
  return start_program(SB_TERMINAL, {"PATH=/usr/bin:/bin"}, {.arguments = actions, .directory = "/"});
}

TEST(Terminal, TypesWhenTheTextIsShown) {
  const ProgramResult ended = in_terminal({"wait", "Name?", "type", "Ann\n", "wait", "Age?", "type", "7\n"},
                                          "test -t 0 && test -t 1 || exit 9; sleep 0.3; echo Name?; read n; sleep 0.3; "
                                          "echo Age?; read a; echo $n is $a; exit 4");
  EXPECT_EQ(ended.code, 4) << ended.errors;
  EXPECT_EQ(ended.output, "Name?\nAnn\nAge?\n7\nAnn is 7\n");
}

// `stty` drops what was typed before it: letters typed before the prompt would be lost.
TEST(Terminal, LosesNothingToAProgramThatDropsEarlierInput) {
  const ProgramResult ended = in_terminal({"wait", "Name:", "type", "Ann\n"},
                                          "sleep 0.3; stty -echo; printf Name:; read n; stty echo; echo got $n");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.output, "Name:got Ann\n");
}

TEST(Terminal, WaitsForTextAfterWhatItFoundBefore) {
  const ProgramResult ended =
      in_terminal({"wait", "more?", "type", "y\n", "wait", "more?", "type", "n\n"},
                  "while echo more?; read x; [ $x = y ]; do sleep 0.1; done; echo ended with $x");
  EXPECT_THAT(ended.output, HasSubstr("ended with n"));
}

TEST(Terminal, SendsKeysSignalsSizesAndTheEnd) {
  EXPECT_EQ(in_terminal({"wait", "on", "type", "\x03"}, "echo on; exec sleep 60").code, 130);
  EXPECT_EQ(in_terminal({"wait", "on", "type", "\x04"}, "echo on; cat; exit 6").code, 6);
  EXPECT_EQ(in_terminal({"wait", "on", "signal", "15"}, "echo on; exec sleep 60").code, 143);
  EXPECT_EQ(in_terminal({"wait", "on", "close"}, "echo on; exec sleep 60").code, 129);
  EXPECT_THAT(in_terminal({"wait", "on", "size", "33", "type", "\n"}, "echo on; read x; stty size").output,
              HasSubstr("24 33"));
  EXPECT_THAT(in_terminal({"wait", "on", "run", "echo beside", "type", "\n"}, "echo on; read x").errors,
              HasSubstr("beside"));
}

TEST(Terminal, FailsWhenTheTextIsNotShown) {
  const ProgramResult ended = in_terminal({"wait", "Name?", "type", "Ann\n"}, "echo bye");
  EXPECT_EQ(ended.code, 99);
  EXPECT_THAT(ended.errors, HasSubstr("terminal: failed: wait Name?"));
  EXPECT_EQ(in_terminal({"wait", "on", "run", "exit 1"}, "echo on").code, 99);
  EXPECT_EQ(in_terminal({"await", "on"}, "echo on").code, 98);
  EXPECT_EQ(in_terminal({"wait"}, "echo on").code, 98);
}

}  // namespace
}  // namespace sb::test_program
