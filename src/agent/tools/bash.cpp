// The Bash tool: runs commands in the work tree, in bubblewrap where that works.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/limits.hpp"
#include "agent/tools/plain_text.hpp"
#include "agent/tools/work_tool_parts.hpp"
#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "guard/shell/command_effects.hpp"
#include "guard/shell/shell_script.hpp"
#include "sandbox/enclosed_run.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kCommandBytes = 128u << 10;  // the system accepts no longer argument

// The installed program. A program of the same name in the work tree may be the one under development.
bool is_signalbox(std::string_view word, const std::string& root) {
  const std::string name = base_name(word);
  if (name != "signalbox" && name != "signalbox-hook") return false;
  return word.find('/') == std::string_view::npos || (word.starts_with('/') && !is_within(word, root));
}

bool runs_signalbox(std::string_view script, const std::string& root, int depth = 0) {
  constexpr std::array<std::string_view, 12> kBefore = {"env",     "timeout", "nohup", "exec",   "command", "nice",
                                                        "builtin", "sudo",    "xargs", "setsid", "time",    "stdbuf"};
  constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "zsh", "eval"};
  for (const guard::ShellCommand& command : guard::read_shell(script).commands) {
    bool is_shell = false;
    for (const guard::ShellWord& word : command.words) {
      const std::string name = base_name(word.text);
      if (is_signalbox(word.text, root)) return true;
      if (is_shell && depth < 4 && runs_signalbox(word.text, root, depth + 1)) return true;
      is_shell = is_shell || std::ranges::find(kShells, name) != kShells.end();
      const bool continues = is_shell || word.text.starts_with('-') || word.text.find('=') != std::string::npos ||
                             word.text.find_first_not_of("0123456789smhd.") == std::string::npos ||
                             std::ranges::find(kBefore, name) != kBefore.end();
      if (!continues) break;
    }
  }
  return false;
}

// Commands that are denied to every agent in every step. The sandbox prevents them; this check explains the reason to
// the agent and logs the attempt.
std::string forbidden_effect(const std::string& command, const std::string& root) {
  if (runs_signalbox(command, root)) {
    return "Agents may not run signalbox: submit work with complete_step and ask people with ask.";
  }
  for (const guard::CommandEffect& effect : guard::effects_of(command)) {
    if (effect.effect != guard::Effect::kRepository && effect.effect != guard::Effect::kOutside) continue;
    return fmt::format(
        "Agents may not run `{}`: Signalbox itself commits, pushes and merges what is in the work "
        "tree. Leave the changes there.",
        effect.name);
  }
  return {};
}

// A protected file that the command line visibly writes to. Writes that cannot be seen in the command text are
// prevented by the sandbox.
std::string written_outside(const WorkToolParts& parts, const std::string& command, const std::string& folder) {
  for (const guard::CommandEffect& effect : guard::effects_of(command)) {
    for (const guard::Target& target : effect.targets) {
      if (!target.is_known || target.is_pattern || target.path.starts_with("/dev/")) continue;
      const std::string whole =
          lexically_normal(target.path.starts_with('/') ? target.path : join_path(folder, target.path));
      if (!is_within(whole, parts.place.root) && !is_within(whole, "/tmp")) return whole;
    }
  }
  return {};
}

bool names_path(std::string_view command, const std::string& path, const std::string& except) {
  for (std::size_t at = command.find(path); at != std::string_view::npos; at = command.find(path, at + 1)) {
    const std::string_view rest = command.substr(at + path.size());
    const bool continues = !rest.empty() && (std::isalnum(static_cast<unsigned char>(rest[0])) || rest[0] == '-' ||
                                             rest[0] == '_' || rest[0] == '.');
    if (!continues && !command.substr(at).starts_with(except)) return true;
  }
  return false;
}

std::string named_hidden(const WorkToolParts& parts, const std::string& command) {
  const std::string home = parts.place.seams.environment.get("HOME").value_or("/");
  for (const std::string& hidden : parts.place.hidden) {
    if (names_path(command, hidden, parts.place.root)) return hidden;
    if (!is_within(hidden, home) || hidden.size() <= home.size()) continue;
    const std::string rest = hidden.substr(home.size());
    for (const std::string_view start : {"~", "$HOME", "${HOME}"}) {
      if (names_path(command, std::string(start) + rest, parts.place.root)) return hidden;
    }
  }
  return {};
}

class Bash final : public Tool {
 public:
  explicit Bash(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall& call) const override { return guard::effects_of(text_of(call, "command")).empty(); }
  std::string what(const ToolCall& call) const override {
    std::string command = parts_->text(text_of(call, "command"));
    std::ranges::replace(command, '\n', ' ');
    return shortened(command, 200);
  }

  ToolResult run(const ToolCall& call, const ToolRun& run) override {
    const std::string command = text_of(call, "command");
    if (command.find('\0') != std::string::npos) return tool_error("The command contains a NUL character.");
    if (command.size() > kCommandBytes)
      return tool_error("The command is too long; put it into a script and run the script.");
    if (const std::string why = redaction_denial(command); !why.empty()) return tool_denied(why);
    const std::string given = text_of(call, "cwd");
    const auto folder = parts_->fence.for_reading(given.empty() ? parts_->place.root : given);
    if (!folder) return from_error(folder.error());
    if (parts_->place.seams.files.kind(folder->path()) != FileKind::kDirectory)
      return tool_error("cwd is not a folder.");
    if (const std::string why = forbidden_effect(command, parts_->place.root); !why.empty()) return tool_denied(why);
    if (const std::string hidden = named_hidden(*parts_, command); !hidden.empty()) {
      return tool_denied(fmt::format("Agents may not access {}.", hidden));
    }
    if (const std::string file = written_outside(*parts_, command, folder->path()); !file.empty()) {
      return tool_denied(fmt::format("{} is outside the work tree, {}.", file, parts_->place.root));
    }
    if (const std::string why = parts_->command_denial(command, folder->path()); !why.empty()) return tool_denied(why);
    const std::int64_t wanted = number_of(call, "timeout_s", limits::kBashMs / 1000) * 1000;
    const std::int64_t time = run.left_ms > 0 ? std::min(wanted, run.left_ms) : wanted;
    const WorkTreeAccess& access = parts_->place;
    const auto exit = sandbox::run_enclosed(access.seams, access.homes, access.sandbox, place_for(folder->path()),
                                            command_for(command, time, run));
    if (!exit) return tool_error(exit.error().to_string());
    return result_of(*exit, time);
  }

 private:
  Command command_for(const std::string& line, std::int64_t time_ms, const ToolRun& run) const {
    return {.argv = {"/bin/bash", "-c", line},
            .environment = sandbox::clean_environment(parts_->place.seams.environment),
            .timeout_ms = time_ms,
            .max_output_bytes = limits::kToolResultBytes,
            .keep_tail = true,
            .kill_descendants = true,
            .should_continue = run.should_continue,
            .on_output = run.on_output};
  }

  sandbox::Place place_for(const std::string& folder) const {
    sandbox::Place reached = parts_->reached();
    reached.directory = folder;
    return reached;
  }

  ToolResult result_of(const ProcessResult& exit, std::int64_t time_ms) const {
    std::string text = parts_->text(exit.output);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    if (!exit.errors.empty()) text += "[stderr]\n" + parts_->text(exit.errors);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text = elide_middle(text, limits::kToolResultBytes);
    if (exit.was_cancelled) return tool_error(text + "[killed: the session was stopped]");
    if (exit.timed_out) return tool_error(text + fmt::format("[killed: time limit of {} s]", time_ms / 1000));
    if (exit.code == 0) return tool_success(text.empty() ? "[no output]" : text);
    // grep, diff and test exit with 1 when they find nothing.
    if (exit.code == 1 && exit.errors.empty()) {
      return tool_success(text +
                          "[exit 1 and nothing on stderr: for grep, diff or test that means no match, not a failure]");
    }
    return tool_error(text + fmt::format("[exit {}]", exit.code));
  }

  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Bash",
      .description =
          "Runs a command with bash in the work tree (or cwd, a folder in it). stdin is empty. "
          "It is killed with all its child processes after timeout_s seconds (at most 300). Do not deliver "
          "(commit, push, open pull requests).",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false, "required": ["command"],
        "properties": {"command": {"type": "string", "minLength": 1},
                       "cwd": {"type": "string"},
                       "timeout_s": {"type": "integer", "minimum": 1, "maximum": 300}}})")};
};

}  // namespace

std::unique_ptr<Tool> make_bash(SharedParts parts) {
  return std::make_unique<Bash>(std::move(parts));
}

}  // namespace sb::agent
