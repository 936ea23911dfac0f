#include "cli/help/help_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kWidth = 100;     // of a line
constexpr std::size_t kMaxColumn = 28;  // where descriptions start at the latest

struct HelpRow {
  std::string left, right;
};

// `right` in lines of at most kWidth, each below the first one's start.
std::string wrapped(std::string_view right, std::size_t column) {
  std::string text;
  std::size_t used = column;
  for (const std::string_view word : split(right, ' ')) {
    if (used > column && used + 1 + word.size() > kWidth) {
      text += "\n" + std::string(column, ' ');
      used = column;
    }
    if (used > column) {
      text += ' ';
      ++used;
    }
    text += word;
    used += word.size();
  }
  return text;
}

std::string section(std::string_view title, const std::vector<HelpRow>& rows) {
  if (rows.empty()) return {};
  std::size_t column = 0;
  for (const HelpRow& row : rows) column = std::max(column, row.left.size() + 4);
  column = std::min(column, kMaxColumn);
  std::string text = fmt::format("\n{}:\n", title);
  for (const HelpRow& row : rows) {
    std::string left = "  " + row.left;
    if (left.size() + 2 > column) {
      left += "\n" + std::string(column, ' ');
    } else {
      left.resize(column, ' ');
    }
    text += left + wrapped(row.right, column) + "\n";
  }
  return text;
}

std::string usage(const App& app) {
  std::string line = "Usage: " + app.full_name();
  const std::vector<App*> subcommands = app.subcommands();
  const std::vector<OptionFacts> options = app.options();
  if (!subcommands.empty()) line += " COMMAND";
  if (std::ranges::any_of(options, [](const OptionFacts& option) { return !option.is_positional; }))
    line += " [options]";
  for (const OptionFacts& option : options) {
    if (!option.is_positional) continue;
    line += option.is_required ? " " + option.names.front() : fmt::format(" [{}]", option.names.front());
  }
  return line + "\n";
}

}  // namespace

std::string option_notes(const OptionFacts& option) {
  std::vector<std::string> notes;
  if (option.is_required && !option.is_positional) notes.emplace_back("required");
  if (!option.choices.empty()) notes.push_back(fmt::format("one of: {}", fmt::join(option.choices, ", ")));
  if (!option.default_value.empty()) notes.push_back("default: " + option.default_value);
  return notes.empty() ? std::string() : fmt::format(" ({})", fmt::join(notes, "; "));
}

std::string help_text(const App& app) {
  std::vector<HelpRow> commands, arguments, options;
  for (const App* sub : app.subcommands()) commands.push_back({sub->name(), sub->summary()});
  for (const OptionFacts& option : app.options()) {
    std::string left = fmt::format("{}", fmt::join(option.names, ", "));
    if (!option.value.empty() && !option.is_positional) left += " " + option.value;
    (option.is_positional ? arguments : options).push_back({std::move(left), option.help + option_notes(option)});
  }
  std::string text = app.summary() + "\n\n" + usage(app) + section("Commands", commands) +
                     section("Arguments", arguments) + section("Options", options);
  if (!app.footer().empty()) text += "\n" + app.footer();
  return text;
}

}  // namespace sb::cli
