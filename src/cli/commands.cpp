// The table of commands. A new one is a file beside this, its declare function here, and a line below.
#include "cli/command.hpp"
#include "cli/state_options.hpp"

namespace sb::cli {

Action declare_flow(CLI::App& app);
Action declare_hook(CLI::App& app);
Action declare_lint(CLI::App& app);
Action declare_pref(CLI::App& app);
Action declare_split(CLI::App& app);

const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = {
      {"flow", "Lead a person through a flow of questions, one call an answer",
       "signalbox flow start --def release.yaml", declare_flow, Parsing::kOptions, kStateOptions},
      {"hook", "Answer one hook event of an agent host, read from the input", "signalbox hook < event.json",
       declare_hook, Parsing::kRaw},
      {"lint", "Tell whether a text keeps the contract for asking people", "signalbox lint reply.txt", declare_lint},
      {"pref", "Read, check and change what you prefer to be asked", "signalbox pref --check ship-changelog-voice",
       declare_pref, Parsing::kRaw},
      {"split", "Decide many options one by one, none of them dropped",
       "signalbox split plan --def integrations.yaml --cap 4", declare_split, Parsing::kOptions, kStateOptions},
  };
  return table;
}

}  // namespace sb::cli
