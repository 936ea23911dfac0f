// Finds the named command, parses its options with CLI11 and runs it. Only that command is declared, to keep the start
// fast.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/document/reader.hpp"
#include "cli/command.hpp"
#include "cli/examples.hpp"
#include "cli/help/help_text.hpp"

namespace sb::cli {
namespace {

bool asks_for_help(std::string_view argument) {
  return argument == "--help" || argument == "-h";
}

// `Did you mean "flow"? `, or nothing.
std::string suggestion(std::string_view wrong, std::span<const std::string> known) {
  const std::string nearest = nearest_name(wrong, known);
  return nearest.empty() ? "" : fmt::format("Did you mean \"{}\"? ", nearest);
}

int wrong_use(Context& context, std::string_view where, std::string_view message, std::string_view hint = {}) {
  context.err(fmt::format("{}: {}. {}See {} --help.\n", where, message, hint, where));
  return kExitUsage;
}

int unexpected_argument(Context& context, const App::Parsed& parsed) {
  const std::string_view kind = parsed.message.starts_with("-") ? "option"
                                : parsed.known.empty()          ? "argument"
                                                                : "subcommand";
  return wrong_use(context, parsed.where, fmt::format("unknown {} {}", kind, quote_json(parsed.message)),
                   suggestion(parsed.message, parsed.known));
}

// Moves the exact options and their values out of the arguments. The last of several wins, as with CLI11.
Status take_exact_options(const CommandRow& command, Context& context) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < context.arguments.size(); ++i) {
    const std::string& argument = context.arguments[i];
    bool is_exact = false;
    for (const std::string_view name : command.exact_options) {
      const std::string option = fmt::format("--{}", name);
      if (argument == option) {
        if (i + 1 == context.arguments.size())
          return fail(ErrorCode::kInvalid, fmt::format("{} needs a value", option));
        context.exact[std::string(name)] = context.arguments[++i];
      } else if (argument.starts_with(option + "=")) {
        context.exact[std::string(name)] = argument.substr(option.size() + 1);
      } else {
        continue;
      }
      is_exact = true;
      break;
    }
    if (!is_exact) rest.push_back(argument);
  }
  context.arguments = std::move(rest);
  return {};
}

int run_declared(const CommandRow& command, Context& context) {
  App app(std::string(command.summary), fmt::format("signalbox {}", command.name));
  const Action action = declare(command, app);
  if (const Status taken = take_exact_options(command, context); !taken) {
    return wrong_use(context, app.name(), taken.error().message);
  }
  if (command.parsing == Parsing::kRaw) {
    if (context.arguments.size() == 1 && asks_for_help(context.arguments.front())) {
      context.out(help_text(app.innermost()));
      return kExitOk;
    }
    return action(context);
  }
  const App::Parsed parsed = app.parse(context.arguments);
  switch (parsed.kind) {
    case App::Parsed::Kind::kExitOk:
      return action(context);
    case App::Parsed::Kind::kHelp:
      context.out(help_text(app.innermost()));
      return kExitOk;
    case App::Parsed::Kind::kUnexpected:
      return unexpected_argument(context, parsed);
    case App::Parsed::Kind::kError:
      break;
  }
  return wrong_use(context, parsed.where, parsed.message);
}

int dispatch(const std::vector<CommandRow>& commands, Context& context) {
  if (context.arguments.empty()) {
    context.err(overview(commands, false));
    return kExitUsage;
  }
  const std::string name = context.arguments.front();
  if (asks_for_help(name)) {
    context.out(overview(commands, context.has_colour));
    return kExitOk;
  }
  if (name == "--version" || name == "-V" || name == "version") {
    context.out("signalbox " SIGNALBOX_VERSION "\n");
    return kExitOk;
  }
  const auto command = std::ranges::find(commands, name, &CommandRow::name);
  if (command == commands.end()) {
    std::vector<std::string> known;
    for (const CommandRow& each : commands) known.emplace_back(each.name);
    const std::string_view kind = name.starts_with("-") ? "option" : "command";
    return wrong_use(context, "signalbox", fmt::format("unknown {} {}", kind, quote_json(name)),
                     suggestion(name, known));
  }
  context.arguments.erase(context.arguments.begin());
  return run_declared(*command, context);
}

std::string footer(std::string_view example, std::string_view guide) {
  std::string text = example.empty() ? std::string() : fmt::format("Example:\n  {}\n", example);
  if (!guide.empty()) text += fmt::format("\nGuide: signalbox help guide {}\n", guide);
  return text;
}

// Each subcommand has an example of its own.
void set_footers(const App& app, const std::string& called, std::string_view guide) {
  for (App* sub : app.subcommands()) {
    const std::string name = called + " " + sub->name();
    sub->set_footer(footer(example_of(name), guide));
    set_footers(*sub, name, guide);
  }
}

}  // namespace

std::string overview(const std::vector<CommandRow>& commands, bool has_colour) {
  const auto heading = [&](std::string_view text) {
    return has_colour ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text);
  };
  std::string text = "Signalbox: decisions between coding agents and people, declared, answered and recorded.\n\n";
  text +=
      heading("Usage:") + "  signalbox COMMAND [OPTIONS]\n  signalbox --help | --version\n\n" + heading("Commands:");
  std::size_t width = 0;
  for (const CommandRow& command : commands) width = std::max(width, command.name.size());
  for (const CommandRow& command : commands) {
    text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  }
  text += "\n" + heading("Exit codes:") +
          "  0 done, 1 negative result, 2 wrong use or bad input, 3 internal error\n\n"
          "See signalbox help COMMAND for one command and an example, signalbox help guide for the guides.\n";
  return text;
}

Action declare(const CommandRow& command, App& app) {
  Action action = command.declare(app);
  app.set_footer(footer(command.example, command.guide));
  set_footers(app, std::string(command.name), command.guide);
  return action;
}

int report(const Context& context, const Error& error) {
  context.err(fmt::format("signalbox: {}\n", error.to_string()));
  return exit_code_for(error.code);
}

int report(const Context& context, const Faults& faults) {
  int code = kExitUsage;
  for (const Error& fault : faults) code = std::max(code, report(context, fault));
  return code;
}

bool wants_colour(const Streams& streams, const Environment& environment) {
  return streams.is_terminal(Stream::kOutput) && !environment.get("NO_COLOR") && environment.get("TERM") != "dumb";
}

int run(const std::vector<CommandRow>& commands, const std::vector<std::string>& arguments, const Seams& seams) {
  Context context{seams, arguments, wants_colour(seams.streams, seams.environment), {}};
  const int code = dispatch(commands, context);
  const Status written = seams.streams.flush();
  return written ? code : report(context, written.error());
}

}  // namespace sb::cli
