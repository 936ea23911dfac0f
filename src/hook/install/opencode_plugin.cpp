#include "hook/install/opencode_plugin.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "hook/install/installed_parts.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kPluginHead = "// signalbox hooks ";
constexpr std::string_view kPluginHeadEnd = ": `signalbox hook uninstall --client opencode` removes this file\n";
constexpr std::string_view kProgramLine = "const program = ";
constexpr std::string_view kPluginBegin = "import { spawnSync } from \"node:child_process\";\n\n";
constexpr std::string_view kPluginRest = R"js(;

function answer(event) {
  const input = JSON.stringify(event);
  const run = spawnSync(program, ["--client", "opencode"], { input, encoding: "utf8", timeout: 5000 });
  try {
    return JSON.parse(run.stdout);
  } catch {
    return {};
  }
}

export const Signalbox = async ({ directory }) => {
  const event = (name, call, input) => ({
    hook_event_name: name,
    session_id: call.sessionID,
    tool_use_id: call.callID,
    cwd: directory,
    tool_name: call.tool,
    tool_input: input ?? {},
  });
  return {
    "tool.execute.before": async (call, output) => {
      const { decision, reason } = answer(event("tool.execute.before", call, output.args));
      if (decision === "deny") throw new Error(reason);
    },
    "tool.execute.after": async (call, output) => {
      answer({ ...event("tool.execute.after", call, call.args), tool_response: output });
    },
  };
};
)js";

std::string head_of(std::string_view rest) {
  return fmt::format("{}{}{}", kPluginHead, sha256_hex(rest).substr(0, 12), kPluginHeadEnd);
}

std::unexpected<Error> not_ours(const std::string& path) {
  return fail(ErrorCode::kConflict, "this file is not from Signalbox, or was edited",
              "Move or remove it first; nothing was changed", {path, "", 0, 0});
}

}  // namespace

std::string plugin_text(const std::string& program) {
  const std::string rest = fmt::format("{}{}{}{}", kPluginBegin, kProgramLine, quote_json(program), kPluginRest);
  return head_of(rest) + rest;
}

std::optional<std::string> plugin_program(std::string_view text) {
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kPluginHead) || line == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(line + 1);
  if (text.substr(0, line + 1) != head_of(rest)) return std::nullopt;
  const std::size_t at = rest.find(kProgramLine);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + kProgramLine.size();
  const auto program = parse_json(rest.substr(begin, rest.find(";\n", begin) - begin));
  return program && program->is_string() ? std::optional(program->as_string()) : std::nullopt;
}

Result<InstallResult> install_plugin(const Seams& seams, const std::string& path, const std::string& program) {
  const auto before = SB_TRY(read_if_exists(seams.files, path));
  const std::string text = plugin_text(program);
  if (before == text) return InstallResult{.path = path};
  if (before && !plugin_program(*before)) return not_ours(path);
  if (const int folders = missing_folders(seams.files, path); !before && folders > 0) {
    InstallRecord installed;
    installed.add_number(kMadeFolders, folders);
    SB_TRY(save_install_record(seams.files, SB_TRY(homes(seams.environment)), path, installed));
  }
  SB_TRY(seams.files.make_directories(parent_path(path)));
  SB_TRY(seams.files.write_atomic(path, text));
  return InstallResult{.path = path, .is_changed = true};
}

Result<InstallResult> uninstall_plugin(const Seams& seams, const std::string& path) {
  const auto before = SB_TRY(read_if_exists(seams.files, path));
  if (!before) return InstallResult{.path = path};
  if (!plugin_program(*before)) return not_ours(path);
  SB_TRY(seams.files.remove(path));
  const HomeDirectories own = SB_TRY(homes(seams.environment));
  if (const auto installed = SB_TRY(find_install_record(seams.files, own, path))) {
    remove_folders(seams.files, path, installed->number(kMadeFolders).value_or(0));
    SB_TRY(remove_install_record(seams.files, own, path));
  }
  return InstallResult{.path = path, .is_changed = true};
}

}  // namespace sb::hook
