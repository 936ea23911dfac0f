#include "engine/command/command_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "engine/command/changed_files.hpp"
#include "inbox/config.hpp"
#include "inbox/hidden_paths.hpp"
#include "inbox/operators/trust.hpp"
#include "sandbox/enclosed_run.hpp"

namespace sb::engine {
namespace {

// The project's folder, which is what gets trusted, from the folder of its workflows.
std::string project_of(const workflow::Origin& origin) {
  std::string folder = origin.folder.empty() ? parent_path(origin.file) : origin.folder;
  for (const std::string_view tail : {"/.signalbox/workflows", "/.workrail/workflows", "/workflows"}) {
    if (!folder.ends_with(tail)) continue;
    folder.erase(folder.size() - tail.size());
    break;
  }
  return folder.empty() ? "/" : folder;
}

std::string shell_word(std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789/._-+,:@%") == std::string_view::npos;
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool holds_command(const Value& value, const std::string& command) {
  if (value.is_array()) {
    return std::ranges::any_of(value.items(), [&](const Value& item) { return holds_command(item, command); });
  }
  if (!value.is_object()) return false;
  return std::ranges::any_of(value.members(), [&](const Value::Member& member) {
    const bool is_it = member.name == "command" && member.value.is_string() && member.value.as_string() == command;
    return is_it || holds_command(member.value, command);
  });
}

bool has_command(const std::string& name, const std::string& bytes, const std::string& command) {
  const auto document = parse_document(name, bytes);
  return document && holds_command(document->root, command);
}

// The record is JSON, but a program may print anything.
std::string as_text(std::string bytes) {
  if (is_utf8(bytes)) return bytes;
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 1;
    while (length < 4 && at + length < bytes.size() &&
           (static_cast<unsigned char>(bytes[at + length]) & 0xC0) == 0x80) {
      ++length;
    }
    const std::string_view piece = std::string_view(bytes).substr(at, length);
    if (is_utf8(piece)) {
      text += piece;
    } else {
      text.append(length, '?');
    }
    at += length;
  }
  return text;
}

}  // namespace

std::string SandboxedCommandRunner::refusal(const std::string& command, const workflow::Origin& origin) const {
  if (origin.kind != workflow::SourceKind::kProject) return {};
  const std::string trust = fmt::format("signalbox trust {}", shell_word(project_of(origin)));
  const auto real = seams_.files.canonical(origin.file);
  const auto bytes = real ? seams_.files.read(*real, limits::kWorkflowBytes) : std::unexpected(real.error());
  // An edited file still counts if it contains exactly this command.
  if (!bytes || (sha256_hex(*bytes) != origin.digest && !has_command(origin.file, *bytes, command))) {
    return fmt::format(
        "{} has changed since the session started and no longer contains this command, so it is not trusted. Restore "
        "the file, or start a new session and have a person run: {}",
        origin.file, trust);
  }
  const auto trusted = inbox::TrustedFolders(seams_.files, homes_, operators_).trusted_home_of(*real);
  if (!trusted) return fmt::format("cannot check whether {} is trusted: {}", origin.file, trusted.error().to_string());
  if (*trusted) return {};
  return fmt::format("the project's files are not trusted. A person must review them and run: {}", trust);
}

bool SandboxedCommandRunner::may_claim_safety(std::span<const workflow::Origin> origins) const {
  const inbox::TrustedFolders folders(seams_.files, homes_, operators_);
  return std::ranges::all_of(origins, [&](const workflow::Origin& origin) {
    if (origin.kind == workflow::SourceKind::kBundled) return true;
    const auto real = seams_.files.canonical(origin.file);
    const auto bytes = real ? seams_.files.read(*real, limits::kWorkflowBytes) : std::unexpected(real.error());
    if (!bytes || sha256_hex(*bytes) != origin.digest) return false;
    return folders.may_claim_safety(*real).value_or(false);
  });
}

std::optional<std::vector<std::string>> SandboxedCommandRunner::changed_files(const std::string& workspace,
                                                                              const std::string& commit,
                                                                              TimestampMs since) {
  return engine::changed_files(seams_, workspace, commit, since);
}

const sandbox::Sandbox& SandboxedCommandRunner::users_sandbox() {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  if (!sandbox_) sandbox_ = inbox::find_users_sandbox(seams_, homes_);
  return *sandbox_;
}

CommandRun SandboxedCommandRunner::run(const std::string& command, const std::string& workspace,
                                       std::span<const workflow::Origin> origins,
                                       const std::function<bool()>& should_continue) {
  CommandRun run;
  run.command = command;
  if (command.find('\0') != std::string::npos) {
    run.not_run_reason = "the command contains a NUL character";
    return run;
  }
  for (const workflow::Origin& origin : origins) {
    if (run.not_run_reason.empty()) run.not_run_reason = refusal(command, origin);
  }
  if (!run.not_run_reason.empty()) return run;
  const auto folder = seams_.files.canonical(workspace);
  if (!folder || seams_.files.kind(*folder) != FileKind::kDirectory) {
    run.not_run_reason = fmt::format("the workspace {} is not a folder", quote_json(workspace));
    return run;
  }
  Command words{.argv = {"/bin/sh", "-c", command},
                .environment = sandbox::clean_environment(seams_.environment),
                .timeout_ms = limits_.time_ms,
                .max_output_bytes = limits_.output_bytes,
                .merge_stderr = true,
                .keep_tail = true,
                .kill_descendants = true,
                .should_continue = should_continue};
  const TimestampMs began = seams_.clock.now_ms();
  // A command that could replace `.git` could choose what git runs for the user, outside the sandbox.
  sandbox::Place place{.workspace = *folder,
                       .sealed = {join_path(*folder, ".git")},
                       .hidden = inbox::hidden_paths(seams_.files, seams_.environment, homes_, secret_files_)};
  auto exit = sandbox::run_enclosed(seams_, homes_, users_sandbox(), std::move(place), std::move(words));
  run.duration_ms = seams_.clock.now_ms() - began;
  if (!exit) {
    run.not_run_reason = exit.error().to_string();
    return run;
  }
  run.sandbox = users_sandbox().name();
  run.exit = exit->code;
  run.timed_out = exit->timed_out;
  run.was_cancelled = exit->was_cancelled;
  run.output_truncated = exit->output_truncated;
  run.output = as_text(std::move(exit->output));
  return run;
}

}  // namespace sb::engine
