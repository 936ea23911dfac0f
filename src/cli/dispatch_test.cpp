#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fakes.hpp"
#include "cli/command.hpp"
#include "cli/help/command_tree.hpp"

namespace sb::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Action declare_echo(App& app) {
  auto text = std::make_shared<std::string>();
  auto count = std::make_shared<int>(1);
  app.add_option("--text", *text, "What to print")->required();
  app.add_option("--count", *count, "How often");
  return [text, count](Context& context) {
    for (int i = 0; i < *count; ++i) context.out("<" + *text + ">");
    return kExitOk;
  };
}

Action declare_pair(App& app) {
  app.require_subcommand(1);
  App* start = app.add_subcommand("start", "Begin");
  app.add_subcommand("step", "Continue");
  return [&app, start](Context& context) {
    context.out(app.got_subcommand(start) ? "start" : "step");
    return kExitNegative;
  };
}

Action declare_raw(App&) {
  return [](Context& context) {
    for (const std::string& argument : context.arguments) context.out(argument + ";");
    return kExitOk;
  };
}

struct RunOutput {
  int code = 0;
  std::string output;
  std::string errors;
};

RunOutput run_in(const std::vector<CommandRow>& table, const std::vector<std::string>& arguments,
                 bool on_terminal = false, const Environment& environment = {}) {
  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process([](const sb::Command&) { return ProcessResult{}; });
  FakeStreams streams;
  streams.on_terminal = on_terminal;
  const int code = run(table, arguments, {files, clock, random, process, environment, streams});
  return {code, streams.output, streams.errors};
}

RunOutput run_with(const std::vector<std::string>& arguments, bool on_terminal = false,
                   const Environment& environment = {}) {
  const std::vector<CommandRow> table = {
      {"echo", "Print a text", "signalbox echo --text hello", "", declare_echo},
      {"pair", "Two in one", "signalbox pair start", "", declare_pair},
      {"raw", "Read everything itself", "signalbox raw --any thing", "decisions", declare_raw, Parsing::kRaw},
  };
  return run_in(table, arguments, on_terminal, environment);
}

TEST(Cli, HelpListsEveryCommandAndTheExitCodes) {
  const RunOutput ran = run_with({"--help"});
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_THAT(ran.output, HasSubstr("  echo  Print a text\n"));
  EXPECT_THAT(ran.output, HasSubstr("0 done, 1 negative result, 2 wrong use or bad input, 3 internal error"));
  EXPECT_EQ(ran.errors, "");
}

TEST(Cli, HelpOfACommandShowsItsExample) {
  const RunOutput ran = run_with({"echo", "--help"});
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_THAT(ran.output, HasSubstr("Usage: signalbox echo"));
  EXPECT_THAT(ran.output, HasSubstr("Example:\n  signalbox echo --text hello"));
  EXPECT_THAT(run_with({"pair", "start", "--help"}).output, HasSubstr("signalbox pair start"));
  EXPECT_THAT(run_with({"raw", "--help"}).output, HasSubstr("signalbox raw --any thing"));
}

TEST(Cli, EveryCommandHasASummaryAndAnExample) {
  for (const CommandRow& command : commands()) {
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_THAT(command.summary, Not(testing::EndsWith("."))) << command.name;
    EXPECT_THAT(command.example, HasSubstr("signalbox " + std::string(command.name)));
  }
}

// The words of an example as a shell passes them: quotes kept together, nothing after a redirection.
std::vector<std::string> words_of(std::string_view example) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : example) {
    if (quote == 0 && (c == '|' || c == '>')) break;
    if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
      quote = quote == 0 ? c : 0;
    } else if (c == ' ' && quote == 0) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

void expect_own_example(const CommandRow& command, const CommandTree& tree) {
  for (const CommandTree& sub : tree.subcommands) expect_own_example(command, sub);
  if (!tree.subcommands.empty()) return;
  SCOPED_TRACE(tree.name);
  ASSERT_THAT(tree.example + " ", StartsWith(tree.name + " "));
  if (command.parsing == Parsing::kRaw) return;
  std::vector<std::string> words = words_of(tree.example);
  words.erase(words.begin(), words.begin() + 2);
  App app("", "");
  const Action action = declare(command, app);  // owns what parse() writes to
  EXPECT_EQ(app.parse(words).kind, App::Parsed::Kind::kExitOk) << app.parse(words).message;
}

TEST(Cli, EverySubcommandHasAValidExampleOfItsOwn) {
  for (const CommandRow& command : commands()) expect_own_example(command, describe(command));
}

TEST(Cli, HelpShowsTheExampleAndTheGuide) {
  const RunOutput ran = run_in(commands(), {"runs", "show", "--help"});
  EXPECT_THAT(ran.output, testing::EndsWith("Example:\n  signalbox runs show last\n\nGuide: signalbox help guide "
                                            "pipelines\n"));
  EXPECT_EQ(run_in(commands(), {"help", "runs", "show"}).output, ran.output);
}

TEST(Cli, EveryGuideThatACommandNamesExists) {
  for (const CommandRow& command : commands()) {
    if (command.guide.empty()) continue;
    const RunOutput ran = run_in(commands(), {"help", "guide", std::string(command.guide)});
    EXPECT_THAT(ran.output, StartsWith("# ")) << command.name;
  }
  EXPECT_THAT(run_in(commands(), {"help", "delivery"}).output, StartsWith("# "));
  EXPECT_THAT(run_in(commands(), {"help", "guide", "delivry"}).errors, HasSubstr("Did you mean \"delivery\"?"));
}

TEST(Cli, TheVersionIsPrintedForEachSpelling) {
  for (const char* spelling : {"--version", "-V", "version"}) {
    EXPECT_THAT(run_in(commands(), {spelling}).output, StartsWith("signalbox ")) << spelling;
  }
}

TEST(Cli, EveryCompletionScriptKnowsSubcommandsAndOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = run_in(commands(), {"completion", shell}).output;
    EXPECT_THAT(script, HasSubstr("signalbox workflow source")) << shell;
    EXPECT_THAT(script, HasSubstr("older-than")) << shell;
    EXPECT_THAT(script, HasSubstr("gemini-cli")) << shell;
  }
}

TEST(Cli, WrongUseExitsTwoAndSuggestsAFix) {
  EXPECT_EQ(run_with({}).code, kExitUsage);
  const RunOutput command = run_with({"ehco"});
  EXPECT_EQ(command.code, kExitUsage);
  EXPECT_EQ(command.errors, "signalbox: unknown command \"ehco\". Did you mean \"echo\"? See signalbox --help.\n");
  const RunOutput option = run_with({"echo", "--text", "a", "--cuont", "2"});
  EXPECT_EQ(option.code, kExitUsage);
  EXPECT_EQ(option.errors,
            "signalbox echo: unknown option \"--cuont\". Did you mean \"--count\"? See signalbox echo --help.\n");
  const RunOutput subcommand = run_with({"pair", "stpe"});
  EXPECT_EQ(subcommand.code, kExitUsage);
  EXPECT_EQ(subcommand.errors,
            "signalbox pair: unknown subcommand \"stpe\". Did you mean \"step\"? See signalbox pair --help.\n");
  for (const auto& wrong : std::vector<std::vector<std::string>>{
           {"echo"}, {"echo", "--text"}, {"echo", "--text", "a", "--count", "x"}, {"pair"}, {"pair", "start", "y"}}) {
    const RunOutput ran = run_with(wrong);
    EXPECT_EQ(ran.code, kExitUsage) << testing::PrintToString(wrong);
    EXPECT_THAT(ran.errors, StartsWith("signalbox ")) << testing::PrintToString(wrong);
    EXPECT_EQ(ran.output, "");
  }
}

TEST(Cli, AnOptionValueIsPassedUnchanged) {
  for (const char* text : {"", "-", "-1", "--help", "{}", "[]", "[a,b]", "%%", "a b", "\"q\"", "'", "++", "--", "ю"}) {
    const RunOutput ran = run_with({"echo", "--text", text});
    EXPECT_EQ(ran.code, kExitOk) << text << ": " << ran.errors;
    EXPECT_EQ(ran.output, "<" + std::string(text) + ">");
  }
}

TEST(Cli, ACommandReturnsItsOwnExitCode) {
  EXPECT_EQ(run_with({"pair", "start"}).code, kExitNegative);
  EXPECT_EQ(run_with({"pair", "step"}).output, "step");
}

TEST(Cli, ARawCommandGetsItsArgumentsUnchanged) {
  EXPECT_EQ(run_with({"raw", "--x", "-y", "--help"}).output, "--x;-y;--help;");
}

Environment set_to(const std::string& name, const std::string& value) {
  std::map<std::string, std::string, std::less<>> variables;
  variables[name] = value;
  return Environment(variables);
}

TEST(Cli, ColourOnlyOnATerminalThatWantsIt) {
  EXPECT_THAT(run_with({"--help"}, false).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_with({"--help"}, true).output, HasSubstr("\x1b[1m"));
  EXPECT_THAT(run_with({"--help"}, true, set_to("NO_COLOR", "1")).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_with({"--help"}, true, set_to("TERM", "dumb")).output, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace sb::cli
