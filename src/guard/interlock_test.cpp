#include "guard/interlock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text/path_glob.hpp"

namespace sb::guard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

OpenStep step() {
  OpenStep open;
  open.session = "s-1";
  open.workspace = "/w";
  open.workflow = "wr.x";
  open.step = "plan";
  open.title = "Plan it";
  open.token = "ct_1";
  return open;
}

OpenStep with_writes(std::vector<std::string> globs, bool read_only = false) {
  OpenStep open = step();
  open.writes = std::move(globs);
  open.commands_read_only = read_only;
  return open;
}

std::string edit(const OpenStepChain& chain, const std::string& place) {
  return refuse_edit(chain, {{place}, ""}).value_or("");
}

std::string run(const OpenStepChain& chain, std::string_view line) {
  const PathResolver resolve = [](const std::string& path) {
    return PathForms{{lexically_normal(path.starts_with('/') ? path : join_path("/w", path))}, ""};
  };
  return refuse_command(chain, line, "/tmp", resolve).value_or("");
}

TEST(Interlock, WritesNoneRefusesEveryEditAndSaysHowToContinue) {
  const OpenStepChain chain{with_writes({})};
  EXPECT_THAT(edit(chain, "/w/src/a.cpp"),
              AllOf(HasSubstr("changing src/a.cpp was refused"), HasSubstr("\"Plan it\" (plan) of wr.x"),
                    HasSubstr("change no file"), HasSubstr("continue_workflow"), HasSubstr("ct_1")));
  EXPECT_NE(edit(chain, "/elsewhere/x"), "");
}

TEST(Interlock, GlobsAllowWhatTheyCover) {
  const OpenStepChain chain{with_writes({"src/**", "*.md", "/srv/shared/**"})};
  EXPECT_EQ(edit(chain, "/w/src/deep/a.cpp"), "");
  EXPECT_EQ(edit(chain, "/w/README.md"), "");
  EXPECT_EQ(edit(chain, "/srv/shared/x"), "");
  for (const char* place : {"/w/docs/a.md", "/w/srcs/a", "/w", "/wide/src/a", "/srv/x", "/", "/w/SRC/a"}) {
    EXPECT_NE(edit(chain, place), "") << place;
  }
  // A path with two forms must be allowed in both.
  EXPECT_TRUE(refuse_edit(chain, {{"/w/src/a", "/etc/passwd"}, ""}));
}

TEST(Interlock, WithoutDeclarationsNothingIsRefused) {
  const OpenStepChain chain{step()};
  EXPECT_FALSE(has_interlock(chain));
  EXPECT_EQ(edit(chain, "/anywhere"), "");
  EXPECT_EQ(run(chain, "rm -rf / && git push"), "");
}

TEST(Interlock, ReadOnlyAllowsOnlyKnownReaders) {
  const OpenStepChain chain{with_writes({}, true)};
  EXPECT_EQ(run(chain, "git log | head && ls > /dev/null"), "");
  EXPECT_THAT(run(chain, "rm x"), HasSubstr("`rm` was refused because it changes something"));
  EXPECT_THAT(run(chain, "make test"), HasSubstr("`make` was refused: it is not known to be read-only"));
  EXPECT_THAT(run(chain, "eval $X"), HasSubstr("not literal"));
  EXPECT_NE(run(chain, "echo x > /tmp/y"), "");
  // Even a file that Edit may change: the step allows only read-only commands.
  EXPECT_NE(run({with_writes({"x"}, true)}, "echo a > x"), "");
  OpenStep only_commands = step();
  only_commands.commands_read_only = true;
  EXPECT_NE(run({only_commands}, "touch x"), "");
  EXPECT_EQ(edit({only_commands}, "/w/x"), "");
}

TEST(Interlock, WritesNoneRefusesChangesAndAllowsTests) {
  const OpenStepChain chain{with_writes({})};
  for (const char* line : {"make test", "npm test > /tmp/log 2>&1", "python3 -m pytest -q", "cargo test | tail -3"}) {
    EXPECT_EQ(run(chain, line), "") << line;
  }
  for (const char* line : {"rm x", "echo > x", "git commit -m x", "git checkout .", "npm install", "make test > out",
                           "echo > /etc/x", "echo > $OUT", "echo > /tmp/../w/x", "f() { rm x; }; f"}) {
    EXPECT_NE(run(chain, line), "") << line;
  }
}

TEST(Interlock, GlobsApplyToCommandsToo) {
  const OpenStepChain chain{with_writes({"src/**"})};
  for (const char* line : {"rm src/a", "rm src/*.o", "mkdir -p src/x", "sed -i s/a/b/ src/a", "git commit -am x",
                           "npm ci", "cp docs/a src/b", "cd src && rm a", "make"}) {
    EXPECT_EQ(run(chain, line), "") << line;
  }
  for (const char* line : {"rm docs/a", "rm *.o", "rm src/../docs/a", "cp src/a docs/b", "git checkout main",
                           "mv docs/a src/b", "rm $X", "cd docs && rm a", "rm -rf ."}) {
    EXPECT_NE(run(chain, line), "") << line;
  }
}

TEST(Interlock, OutOfScopeIsRefusedWhateverTheStepAllows) {
  OpenStep open = step();
  open.out_of_scope = {"src/legacy/**", "README.md"};
  const OpenStepChain chain{open};
  EXPECT_TRUE(has_interlock(chain));
  EXPECT_THAT(edit(chain, "/w/src/legacy/a.c"), HasSubstr("src/legacy/** is out of scope"));
  EXPECT_NE(edit(chain, "/w/SRC/Legacy/a.c"), "");
  EXPECT_NE(edit(chain, "/w/README.md"), "");
  EXPECT_EQ(edit(chain, "/w/src/a.c"), "");
  EXPECT_EQ(edit(chain, "/x/src/legacy/a.c"), "");
  for (const char* line : {"rm src/legacy/a.c", "echo > README.md", "rm -rf src", "rm -rf src/*", "rm -rf ."}) {
    EXPECT_NE(run(chain, line), "") << line;
  }
  EXPECT_EQ(run(chain, "cat README.md; rm src/a.c; make; cp a.c src/; mkdir -p src"), "");
}

TEST(Interlock, APatternIsRefusedOnlyForWhatItCanMatch) {
  OpenStep open = with_writes({"src/**", "docs/*.txt"});
  open.out_of_scope = {"src/legacy/**", "src/gen-*/x.c", "docs/private"};
  const OpenStepChain chain{open};
  for (const char* line : {"sed -i s/a/b/ src/*.c", "rm src/*.o", "cp -t src README.md", "touch docs/*.txt",
                           "rm src/new/*", "rm src/a?", "touch /tmp/*.log", "rm -rf src/b*", "chmod +x src/*.sh"}) {
    EXPECT_EQ(run(chain, line), "") << line;
  }
  for (const char* line :
       {"sed -i s/a/b/ src/legacy/*.c", "sed -i s/a/b/ src/*/a.c", "rm -rf src/*", "rm -rf s*", "rm -rf src/LEG*",
        "touch docs/p*/a", "touch src/gen*/*.c", "rm -rf /*", "rm src/[l]egacy/a"}) {
    EXPECT_THAT(run(chain, line), HasSubstr("out of scope")) << line;
  }
  for (const char* line : {"sed -i s/a/b/ *.md", "touch docs/*.md", "touch docs/*.tx?", "rm src/*/../../README.md"}) {
    EXPECT_THAT(run(chain, line), AllOf(HasSubstr("was refused"), Not(HasSubstr("out of scope for")))) << line;
  }
  const OpenStepChain one_letter{with_writes({"src/?.c", "lib/[!a]*"})};
  EXPECT_EQ(run(one_letter, "rm src/?.c"), "");
  EXPECT_NE(run(one_letter, "rm src/*.c"), "");
  EXPECT_NE(run(one_letter, "rm lib/*"), "");
}

TEST(Interlock, CommandsWithinTheGlobsAreAllowed) {
  const OpenStepChain chain{with_writes({"src/**"})};
  for (const char* line :
       {"chmod +x src/a.c", "chmod 755 src/a.c", "chmod -R u+w src", "chown a src/a", "mkdir -m 755 src/d",
        "truncate -s 0 src/a.c", "touch -d now src/a.c", "touch -r README.md src/a.c", "(cd src && touch a)",
        "(cd /tmp && touch a)", "git checkout -b x", "git switch -c x", "gh pr create", "prettier --write src"}) {
    EXPECT_EQ(run(chain, line), "") << line;
  }
  for (const char* line : {"chmod +x README.md", "touch -r src/a README.md", "(cd docs && touch a)",
                           "(cd src); touch a", "black .", "touch src/{a,b}.c", "git checkout -b x main"}) {
    EXPECT_NE(run(chain, line), "") << line;
  }
}

TEST(Interlock, KnownWritersAreRefusedWhereNothingMayBeWritten) {
  const OpenStepChain chain{with_writes({})};
  for (const char* line : {"awk '{print > \"README.md\"}' a", "awk -i inplace 1 a", "prettier --write .", "black .",
                           "gofmt -w a.go", "clang-format -i a.c", "eslint --fix", "ruff check --fix", "cargo fmt",
                           "gh pr create", "terraform apply", "npx eslint --fix src", "sudo rm x"}) {
    EXPECT_NE(run(chain, line), "") << line;
  }
}

TEST(Interlock, ADanglingLinkIsReportedByName) {
  const PathForms nowhere{{"/w/src/dangling"}, "it is a dangling link"};
  EXPECT_THAT(refuse_edit({with_writes({"src/**"})}, nowhere).value_or(""),
              HasSubstr("changing src/dangling was refused: it is a dangling link."));
  EXPECT_FALSE(refuse_edit({step()}, nowhere));
  EXPECT_THAT(refuse_command({with_writes({"src/**"})}, "touch src/dangling", "/tmp",
                             [&](const std::string&) { return nowhere; })
                  .value_or(""),
              HasSubstr("`touch` on src/dangling was refused: it is a dangling link."));
}

TEST(Interlock, ARedirectionIsNotReportedAsACommand) {
  EXPECT_THAT(run({with_writes({})}, "echo > x"), HasSubstr("Signalbox: a redirection (`>`) on x was refused."));
  EXPECT_THAT(run({with_writes({}, true)}, "echo > x"),
              HasSubstr("a redirection (`>`) was refused because it changes something"));
}

TEST(Interlock, TheStepsOfParentSessionsApplyToo) {
  OpenStep around = with_writes({});
  around.session = "s-0";
  around.step = "review";
  around.out_of_scope = {"docs/"};
  EXPECT_THAT(edit({with_writes({"src/**"}), around}, "/w/src/a"), HasSubstr("review"));
  around.writes.reset();
  EXPECT_EQ(edit({with_writes({"src/**"}), around}, "/w/src/a"), "");
  EXPECT_THAT(edit({with_writes({"**"}), around}, "/w/docs/a"), HasSubstr("out of scope"));
}

TEST(Interlock, AFileThatASentenceNamesIsOutOfScopeAndTheSentenceIsTheReason) {
  OpenStep open;
  open.workspace = "/w";
  open.out_of_scope = {"Leave src/auth.c and the Makefile as they are.", "and/or is fine"};
  for (const char* place : {"/w/src/auth.c", "/w/Makefile"}) {
    EXPECT_THAT(edit({open}, place), HasSubstr("Leave src/auth.c and the Makefile as they are. is out of scope"));
  }
  for (const char* place : {"/w/src/auth.cpp", "/w/auth.c", "/w/and/or"}) {
    EXPECT_EQ(edit({open}, place).find("auth.c and"), std::string::npos) << place;
  }
  EXPECT_THAT(run({open}, "echo x > src/auth.c"), HasSubstr("out of scope"));
  EXPECT_THAT(run({open}, "rm -r src"), HasSubstr("out of scope"));
  EXPECT_THAT(run({open}, "rm src/*.c"), HasSubstr("out of scope"));
  for (const char* line : {"touch src/{auth,main}.c", "rm src/{auth.c,main.c}", "pushd src && rm auth.c",
                           "find src -name '*.c' -exec sed -i s/a/b/ {} +", "find . -exec rm {} \\;"}) {
    EXPECT_THAT(run({open}, line), HasSubstr("out of scope")) << line;
  }
  for (const char* line : {"touch lib/{auth,main}.c", "pushd lib && rm auth.c", "find lib -exec rm {} +",
                           "find src -exec grep auth {} +"}) {
    EXPECT_EQ(run({open}, line), "") << line;
  }
  EXPECT_EQ(run({open}, "rm -r lib"), "");
}

TEST(Interlock, TheReasonIsShortAndOnOneLine) {
  const OpenStepChain chain{with_writes(std::vector<std::string>(200, std::string(60, 'g')))};
  const std::string reason = edit(chain, "/w/" + std::string(3'000, 'x') + "\n\x1b[31m");
  EXPECT_LT(reason.size(), 1'500u);
  EXPECT_EQ(reason.find_first_of("\n\x1b"), std::string::npos);
}

}  // namespace
}  // namespace sb::guard
