#include "cli/help/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "cli/help/help_text.hpp"

namespace sb::cli {
namespace {

// Text as roff shows it unchanged: a backslash, a hyphen and a leading dot or quote are commands there.
std::string roff(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

std::string header(std::string_view page) {
  std::string name(page);
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return fmt::format(".TH {} 1 \"\" \"signalbox {}\" \"Signalbox\"\n", name, SIGNALBOX_VERSION);
}

std::string option_entry(const OptionFacts& option) {
  std::string names = fmt::format("\\fB{}\\fR", roff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (!option.value.empty() && !option.is_positional) names += fmt::format(" \\fI{}\\fR", roff(option.value));
  std::string text = fmt::format(".TP\n{}\n{}", names, roff(option.help));
  return text + roff(option_notes(option)) + "\n";
}

std::string synopsis(const CommandTree& command) {
  std::string line = fmt::format("\\fB{}\\fR", roff(command.name));
  bool has_options = false;
  for (const OptionFacts& option : command.options) has_options = has_options || !option.is_positional;
  if (has_options) line += " [\\fIoptions\\fR]";
  for (const OptionFacts& option : command.options) {
    if (!option.is_positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR", roff(option.names.front()));
    line += option.is_required ? " " + name : fmt::format(" [{}]", name);
  }
  return line + "\n";
}

// The synopses of what can be called: a command with subcommands can usually not be called without one.
std::string synopses(const CommandTree& command) {
  if (command.subcommands.empty()) return synopsis(command) + ".br\n";
  std::string text = command.options.empty() ? std::string() : synopsis(command) + ".br\n";
  for (const CommandTree& sub : command.subcommands) text += synopses(sub);
  return text;
}

std::string example(const CommandTree& command) {
  return command.example.empty() ? std::string()
                                 : fmt::format(".PP\nExample:\n.PP\n.nf\n    {}\n.fi\n", roff(command.example));
}

std::string details(const CommandTree& command) {
  std::string text;
  for (const CommandTree& sub : command.subcommands) {
    text += fmt::format(".SS \"{}\"\n{}.\n", roff(sub.name), roff(sub.summary));
    for (const OptionFacts& option : sub.options) text += option_entry(option);
    text += example(sub) + details(sub);
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandTree& command) {
  std::string page_name = command.name;
  replace_all(page_name, " ", "-");
  std::string text = header(page_name);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name), roff(command.summary));
  text += ".SH SYNOPSIS\n" + synopses(command);
  text += fmt::format(".SH DESCRIPTION\n{}.\n", roff(command.summary));
  if (!command.guide.empty()) {
    text += fmt::format(".PP\nThe guide: \\fBsignalbox help guide {}\\fR.\n", roff(command.guide));
  }
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  for (const OptionFacts& option : command.options) text += option_entry(option);
  text += example(command);
  if (!command.subcommands.empty()) text += ".SH COMMANDS\n" + details(command);
  text += ".SH EXIT STATUS\n0 done, 1 negative result, 2 wrong use or bad input, 3 internal error.\n";
  return text + ".SH SEE ALSO\n.BR signalbox (1)\n";
}

std::string manual_overview(const std::vector<CommandRow>& commands) {
  std::string text = header("signalbox");
  text +=
      ".SH NAME\nsignalbox \\- decisions between coding agents and people, declared, answered and recorded\n"
      ".SH SYNOPSIS\n\\fBsignalbox\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n.br\n"
      "\\fBsignalbox\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR\n.SH COMMANDS\n";
  for (const CommandRow& command : commands) {
    text += fmt::format(".TP\n.BR signalbox\\-{} (1)\n{}\n", roff(command.name), roff(command.summary));
  }
  text +=
      ".SH FILES\n.TP\n\\fI$SIGNALBOX_HOME\\fR\nEverything Signalbox stores and its configuration; without it, "
      "\\fI~/.local/share/signalbox\\fR and \\fI~/.config/signalbox\\fR.\n"
      ".TP\n\\fIsignalbox.yaml\\fR\nA project's settings, after \\fBsignalbox trust\\fR.\n"
      ".SH EXIT STATUS\n0 done, 1 negative result, 2 wrong use or bad input, 3 internal error.\n"
      ".SH SEE ALSO\n.BR signalbox\\-hook (1)\n.PP\nThe guides: \\fBsignalbox help guide\\fR.\n";
  return text;
}

}  // namespace sb::cli
