// `signalbox help [COMMAND…]`, `signalbox help guide [NAME]`: the help of a command, or a guide.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "cli/help/guides.hpp"
#include "cli/help/manual.hpp"

namespace sb::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  std::string manual_folder;
};

int list_guides(const Context& context) {
  const std::vector<Guide> all = guides();
  std::size_t width = 0;
  for (const Guide& guide : all) width = std::max(width, guide.name.size());
  context.out("Guides; show one with signalbox help guide NAME:\n");
  for (const Guide& guide : all) context.out(fmt::format("  {:<{}}  {}\n", guide.name, width, guide.title));
  return kExitOk;
}

int show_guide(const Context& context, const std::string& name) {
  std::vector<std::string> names;
  for (const Guide& guide : guides()) {
    if (guide.name == name) {
      context.out(guide.text);
      return kExitOk;
    }
    names.push_back(guide.name);
  }
  const std::string nearest = nearest_name(name, names);
  return report(context, Error(ErrorCode::kInvalid, fmt::format("there is no guide {}", quote_json(name)),
                               nearest.empty() ? "List them with signalbox help guide"
                                               : fmt::format("Did you mean \"{}\"?", nearest)));
}

// The help of `mcp install`, as `signalbox mcp install --help` prints it.
int show_command(const Context& context, std::vector<std::string> words) {
  words.push_back("--help");
  return run(commands(), words, context.seams);
}

Status write_manual(const Context& context, const std::string& folder) {
  Files& files = context.seams.files;
  SB_TRY(files.make_directories(folder));
  SB_TRY(files.write_atomic(folder + "/signalbox.1", manual_overview(commands())));
  for (const CommandRow& command : commands()) {
    const std::string path = fmt::format("{}/signalbox-{}.1", folder, command.name);
    SB_TRY(files.write_atomic(path, manual_page(describe(command))));
  }
  return {};
}

int help(const Context& context, const HelpOptions& options) {
  const std::vector<std::string>& words = options.words;
  if (!options.manual_folder.empty()) {
    const Status written = write_manual(context, options.manual_folder);
    return written ? kExitOk : report(context, written.error());
  }
  if (words.empty()) {
    context.out(overview(commands(), context.has_colour));
    return kExitOk;
  }
  if (words.front() == "guide") return words.size() == 1 ? list_guides(context) : show_guide(context, words[1]);
  const bool is_command = std::ranges::find(commands(), words.front(), &CommandRow::name) != commands().end();
  const auto is_named = [&](const Guide& guide) { return guide.name == words.front(); };
  if (!is_command && std::ranges::any_of(guides(), is_named)) return show_guide(context, words.front());
  return show_command(context, words);
}

}  // namespace

Action declare_help(App& app) {
  auto options = std::make_shared<HelpOptions>();
  app.add_option("COMMAND", options->words, "A command and its subcommand; or guide and its name, or guide alone");
  app.add_option("--man-pages", options->manual_folder, "Write the manual pages of all commands into this folder");
  return [options](Context& context) { return help(context, *options); };
}

}  // namespace sb::cli
