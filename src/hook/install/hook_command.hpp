// The command by which a client calls our hook.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sb::hook {

// As one sh word.
std::string shell_quoted(std::string_view text);

// The program, if the command is only a path that ends in /signalbox-hook, perhaps with `--client WORD`.
std::optional<std::string> hook_program_in(std::string_view command);
bool is_signalbox_command(std::string_view command);

}  // namespace sb::hook
