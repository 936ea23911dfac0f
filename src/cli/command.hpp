// What a command of `signalbox` is, and what it receives.
//
// Each command has its own file: src/cli/decision/lint.cpp declares the options and runs the command,
// src/cli/commands.cpp lists it.
//
//   struct LintOptions { std::string profile = "interaction"; };
//
//   Action declare_lint(App& app) {
//     auto options = std::make_shared<LintOptions>();
//     app.add_option("--profile", options->profile, "Profile whose rules apply");
//     return [options](Context& context) { return run_lint(context, *options); };
//   }
//
// For subcommands, add them to `app`, call `require_subcommand(1)`, and ask `app.got_subcommand(start)` in the action.
// A command never throws and never calls exit; it returns one of the codes below.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/seams.hpp"
#include "cli/app.hpp"

namespace sb::cli {

// Exit codes of every command.
inline constexpr int kExitOk = 0;
inline constexpr int kExitNegative = 1;  // negative result: violations found, check failed, not answered
inline constexpr int kExitUsage = 2;     // wrong use or bad input
inline constexpr int kExitInternal = 3;

struct Context {
  Seams seams;
  std::vector<std::string> arguments;                     // as given, after the command's name
  bool has_colour = false;                                // the output is a terminal that wants colour
  std::map<std::string, std::string, std::less<>> exact;  // values of the command's exact options, by name

  Streams& streams() const { return seams.streams; }
  void out(std::string_view text) const { seams.streams.out(text); }
  void err(std::string_view text) const { seams.streams.err(text); }
  std::optional<std::string> exact_value(std::string_view name) const {
    const auto found = exact.find(name);
    return found == exact.end() ? std::nullopt : std::optional(found->second);
  }
};

using Action = std::function<int(Context&)>;

// A subcommand and its action.
struct Subcommand {
  App* app;
  Action action;
};

enum class Parsing {
  kOptions,  // by CLI11, as declared
  kRaw,      // the action reads Context::arguments itself; only a single --help or -h is handled before it
};

struct CommandRow {
  std::string_view name;
  std::string_view summary;  // one line, no full stop
  std::string_view example;  // one line that can be pasted
  std::string_view guide;    // the page in docs/ that explains it; empty if there is none
  Action (*declare)(App& app);
  Parsing parsing = Parsing::kOptions;
  // Options whose value is taken byte for byte, whatever it looks like (`--input -x`, `--input ""`). They never reach
  // CLI11, which would read some of them as options; they are declared to it only for the help.
  std::vector<std::string_view> exact_options = {};
};

// Every command, in the order in which the help lists them.
const std::vector<CommandRow>& commands();

// What `signalbox --help` prints.
std::string overview(const std::vector<CommandRow>& commands, bool has_colour);

// Declares the command, with the examples of its subcommands; `app` must be new.
Action declare(const CommandRow& command, App& app);

// Prints `signalbox: ` and the error on stderr; returns the matching exit code.
int report(const Context& context, const Error& error);
int report(const Context& context, const Faults& faults);

// Runs `signalbox` with the arguments after argv[0]. Throws only what a command throws (out of memory).
int run(const std::vector<CommandRow>& commands, const std::vector<std::string>& arguments, const Seams& seams);

// True on a terminal, unless NO_COLOR or TERM=dumb is set.
bool wants_colour(const Streams& streams, const Environment& environment);

}  // namespace sb::cli
