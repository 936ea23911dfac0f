// `signalbox completion bash|zsh|fish`: prints the shell's completion script.
#include "cli/help/completion_script.hpp"

namespace sb::cli {

Action declare_completion(App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "The shell")->one_of({"bash", "zsh", "fish"})->required();
  return [shell](Context& context) {
    std::vector<CommandTree> all;
    for (const CommandRow& command : commands()) all.push_back(describe(command));
    context.out(*shell == "bash" ? bash_completion(all) : *shell == "zsh" ? zsh_completion(all) : fish_completion(all));
    return kExitOk;
  };
}

}  // namespace sb::cli
