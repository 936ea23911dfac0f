#include "pipeline/git/git.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "base/text/unicode.hpp"

namespace sb::pipeline {
namespace {

constexpr std::size_t kErrorBytes = 600;  // of git's output in an error
constexpr std::size_t kSecretBytes = 6;   // shorter ones would redact half of every text
constexpr std::size_t kTokenBytes = 16;   // a user's name is shorter
constexpr std::string_view kSecretName = "SIGNALBOX_GIT_SECRET";

// Nothing of the repository is executed: no hooks, no monitors, no `ext::` transports; no prompts.
constexpr std::array<const char*, 11> kSettings = {"core.hooksPath=/dev/null",
                                                   "core.fsmonitor=false",
                                                   "core.askPass=",
                                                   "core.quotePath=false",
                                                   "protocol.ext.allow=never",
                                                   "gc.auto=0",
                                                   "maintenance.auto=0",
                                                   "advice.detachedHead=false",
                                                   "submodule.recurse=false",
                                                   "push.recurseSubmodules=no",
                                                   "color.ui=false"};

// What a transport may need from the user: key agents, proxies, certificates.
constexpr std::array<const char*, 14> kForRemotes = {
    "SSH_AUTH_SOCK", "https_proxy",   "HTTPS_PROXY",  "http_proxy",     "all_proxy",      "ALL_PROXY",       "no_proxy",
    "NO_PROXY",      "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH_COMMAND", "USER"};

constexpr std::array<std::string_view, 4> kLfsCommands = {"git-lfs clean -- %f", "git-lfs smudge -- %f",
                                                          "git-lfs smudge --skip -- %f", "git-lfs filter-process"};

// The last part of a name of the configuration: `filter.NAME.clean`, where NAME may contain dots.
std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

std::map<std::string, std::string> environment_for(const Seams& seams, const GitCall& call, bool has_ssh_command) {
  std::map<std::string, std::string> clean = {
      {"PATH", seams.environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin")},
      {"HOME", seams.environment.get("HOME").value_or("/")},
      {"LC_ALL", "C.UTF-8"},
      {"LANGUAGE", "C"},
      {"GIT_TERMINAL_PROMPT", "0"},
      {"GIT_ASKPASS", ""},
      {"SSH_ASKPASS", ""},
      {"GCM_INTERACTIVE", "never"},
      {"GIT_LITERAL_PATHSPECS", "1"},
      {"GIT_NO_REPLACE_OBJECTS", "1"},
      {"GIT_LFS_SKIP_SMUDGE", "1"},
      {"GIT_EDITOR", "false"},
      {"GIT_PAGER", "cat"},
  };
  if (const auto config = seams.environment.get("XDG_CONFIG_HOME")) clean["XDG_CONFIG_HOME"] = *config;
  if (call.is_remote) {
    for (const char* name : kForRemotes) {
      if (const auto value = seams.environment.get(name)) clean[name] = *value;
    }
    // ssh would prompt on the terminal otherwise.
    if (!has_ssh_command && !clean.contains("GIT_SSH_COMMAND")) clean["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes";
  }
  if (!call.secret.empty()) clean[std::string(kSecretName)] = call.secret.value;
  for (const auto& [name, value] : call.environment) clean[name] = value;
  return clean;
}

void add_secret(std::vector<std::string>& words, const std::string& origin) {
  const std::string name = fmt::format("credential.{}.helper=", origin);
  // The first entry empties the list of helpers, so that none of the user's is used.
  words.insert(words.end(), {"-c", name, "-c",
                             fmt::format("{}!f() {{ test \"$1\" = get && echo username=x-access-token "
                                         "&& echo \"password=${}\"; }}; f",
                                         name, kSecretName)});
}

// `https://name:word@host` without the part before the host.
std::string without_credentials(std::string text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const std::size_t end = std::min(text.find_first_of("/ \t\n'\"", at + 3), text.size());
    const std::size_t sign = text.rfind('@', end);
    if (sign != std::string::npos && sign > at + 2 && sign < end) text.erase(at + 3, sign - at - 2);
  }
  return text;
}

std::string without_secret(std::string text, const std::string& secret) {
  if (secret.empty()) return text;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "***");
  }
  return text;
}

bool is_noise(std::string_view line) {
  return line.empty() || line.starts_with("hint:") || line.starts_with("Preparing worktree") ||
         line.starts_with("Updating files") || line.starts_with("To ") || line.starts_with("Done") ||
         line.starts_with("HEAD is now") || line.starts_with("warning:");
}

// Git's output on one line.
std::string git_message(const ProcessResult& exit, const std::string& secret) {
  std::string text = without_credentials(without_secret(exit.errors + exit.output, secret));
  std::ranges::replace(text, '\t', ' ');
  std::string line;
  for (std::size_t at = 0; at < text.size() && line.size() < kErrorBytes;) {
    const std::size_t end = std::min(text.find_first_of("\n\r", at), text.size());
    std::string_view part = std::string_view(text).substr(at, end - at);
    at = end + 1;
    while (part.starts_with(' ')) part.remove_prefix(1);
    for (const std::string_view word : {"fatal: ", "error: "}) {
      if (part.starts_with(word)) part.remove_prefix(word.size());
    }
    if (!is_noise(part)) line += (line.empty() ? "" : "; ") + shown(part);
  }
  return shortened(line, kErrorBytes);
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

// What the repository here says about its own damage, and what to do; waiting does not help. Empty: it does not.
std::string_view remedy_of_damage(const std::string& errors) {
  std::string here;  // a remote may be damaged too
  for (const std::string_view line : split(errors, '\n')) {
    if (!line.starts_with("remote: ")) here += std::string(line) + "\n";
  }
  if (has_any(here, {"index file corrupt", "index file smaller", "bad index"})) {
    return "Set the index aside there and make it again, which changes none of your files: "
           "i=$(git rev-parse --git-path index); mv $i $i.damaged; git reset. Then resume";
  }
  if (has_any(here, {"loose object", "packed object", "object file"}) && has_any(here, {"corrupt", "is empty"})) {
    return "List the damaged objects with git fsck, restore .git/objects from a backup or another clone, then resume";
  }
  if (has_any(here, {"No such ref: HEAD"})) {
    return "The branch that HEAD names is damaged. Write its last commit into its file below .git/refs again; its log "
           "below .git/logs ends with it";
  }
  if (has_any(here, {"bad config line", "unexpected line in", "unterminated line in", "bad shallow line",
                     "bad object HEAD", "bad ref for"})) {
    return "Repair the named file of the repository, then resume";
  }
  return {};
}

Error error_of(const ProcessResult& exit, const GitCall& call) {
  const std::string what = call.words.empty() ? "" : call.words.front();
  const std::string_view all = exit.errors;
  const auto error = [&](ErrorCode code, std::string remedy, bool retry = false) {
    std::string said = git_message(exit, call.secret.value);
    if (said.empty()) said = fmt::format("exit code {}", exit.code);
    return Error{code, fmt::format("git {}: {}", what, said), std::move(remedy), {}, retry};
  };
  if (has_any(all, {"No space left on device", "Disk quota exceeded", "File too large", "Read-only file system",
                    "unable to write", "unable to create", "Out of diskspace", "couldn't write", "could not write",
                    "write error"}) ||
      exit.code == 128 + 25) {  // SIGXFSZ
    return error(ErrorCode::kIo, "Free disk space or make the disk writable, then resume");
  }
  if (has_any(all, {"Authentication failed", "could not read Username", "could not read Password",
                    "Permission denied (publickey", "error: 403", "error: 401", "HTTP 403"})) {
    return error(ErrorCode::kForbidden, "Check the forge's token, and whether you can push there yourself");
  }
  if (has_any(exit.errors + exit.output, {"[rejected]", "[remote rejected]", "rejected by remote"})) {
    return error(ErrorCode::kConflict, "");
  }
  if (has_any(all, {"dubious ownership"})) return error(ErrorCode::kForbidden, "");
  if (has_any(all, {"not a git repository"}) && !call.is_remote) {
    return error(ErrorCode::kNotFound, "Choose a folder in a git repository, or create one: git init");
  }
  if (const std::string_view remedy = remedy_of_damage(exit.errors); !remedy.empty()) {
    return error(ErrorCode::kCorrupt, std::string(remedy));
  }
  if (call.is_remote && has_any(all, {"couldn't find remote ref"})) return error(ErrorCode::kNotFound, "");
  // The server answered that there is no such repository: waiting does not help.
  if (call.is_remote &&
      has_any(all, {"does not appear to be a git repository", "epository not found", "' not found"})) {
    return error(ErrorCode::kInvalid, "Check the remote's address: git remote -v");
  }
  if (call.is_remote) return error(ErrorCode::kUnavailable, "Check the connection to the remote", true);
  if (has_any(all, {"already exists", "is already checked out", "already used by worktree", "cannot lock ref"})) {
    return error(ErrorCode::kConflict, "");
  }
  return error(ErrorCode::kInvalid, "");
}

// Damage is named with its folder: git names files as seen from there.
Error placed(Error error, const std::string& directory) {
  if (error.code == ErrorCode::kCorrupt) error.message = fmt::format("in {}: {}", shown(directory), error.message);
  return error;
}

// The git folder of a checkout, or the folder itself if it is one; empty: there is none.
std::string git_folder_of(const Files& files, std::string folder) {
  for (; folder.size() > 1; folder = parent_path(folder)) {
    const std::string entry = join_path(folder, ".git");
    if (files.kind(entry) == FileKind::kDirectory) return entry;
    const auto has = [&](std::string_view name) { return files.kind(join_path(folder, name)) != FileKind::kMissing; };
    if (has("commondir") || (has("objects") && has("refs"))) return folder;
    if (files.kind(entry) != FileKind::kFile) continue;
    const std::string text = without_trailing_newlines(files.read(entry, 64 << 10).value_or(""));
    if (!text.starts_with("gitdir: ")) return {};
    return text.substr(8).starts_with('/') ? text.substr(8) : join_path(folder, text.substr(8));
  }
  return {};
}

// Of the repository, without which git does not take it for one. `folder`: its git folder, or a linked work tree's.
std::optional<Error> missing_folder(const Files& files, const std::string& folder) {
  const std::string link = join_path(folder, "commondir");
  std::string common = folder;
  if (files.kind(link) == FileKind::kFile) {
    const std::string to = without_trailing_newlines(files.read(link, 64 << 10).value_or(""));
    common = lexically_normal(to.starts_with('/') ? to : join_path(folder, to));
    if (files.kind(common) != FileKind::kDirectory) common = link;
  }
  for (const char* name : {"objects", "refs"}) {
    if (files.kind(join_path(common, name)) == FileKind::kDirectory) continue;
    return Error{ErrorCode::kCorrupt,
                 common == link ? fmt::format("{} is damaged: it does not lead to the repository", shown(link))
                                : fmt::format("{} is damaged: its folder {} is missing", shown(common), name),
                 "Restore it from a backup, or clone the repository again next to it",
                 {}};
  }
  return std::nullopt;
}

// Git reports a damaged HEAD as "not a git repository"; nothing: that is not what is wrong.
std::optional<Error> damaged_head(const Files& files, const std::string& directory) {
  const std::string folder = git_folder_of(files, directory);
  if (folder.empty()) return std::nullopt;
  const std::string path = join_path(folder, "HEAD");
  const auto text = files.read(path, 4096);
  const std::string head = without_trailing_newlines(text.value_or(""));
  const bool is_hash =
      (head.size() == 40 || head.size() == 64) && head.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (head.starts_with("ref: refs/") || is_hash) return missing_folder(files, folder);
  const std::string what = text ? "is damaged: it names neither a branch nor a commit" : "is missing";
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("{} {}", shown(path), what),
      fmt::format("Restore it with the branch you were on, for example: echo 'ref: refs/heads/main' > {}", shown(path)),
      {}};
}

}  // namespace

std::string shown(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    std::size_t length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    length = std::min(length, bytes.size() - at);
    const std::string_view piece = bytes.substr(at, length);
    std::size_t place = 0;
    if (byte < 0x20 || byte == 0x7f || !is_utf8(piece)) {
      text += fmt::format("\\x{:02x}", byte);
      length = 1;
    } else if (const char32_t c = next_code_point(piece, place); is_invisible(c) || (c >= 0x80 && c < 0xa0)) {
      text += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
    } else {
      text += piece;
    }
    at += length;
  }
  return text;
}

std::unexpected<Error> cannot_remove(std::string_view path, const Error& error) {
  const auto reason = error.message.rfind(": ");
  return fail(ErrorCode::kIo,
              fmt::format("cannot remove {}: {}", shown(path),
                          reason == std::string::npos ? error.message : error.message.substr(reason + 2)));
}

std::string host_of_url(std::string_view url) {
  if (!url.starts_with("https://") && !url.starts_with("http://")) return {};
  url.remove_prefix(url.find("://") + 3);
  url = url.substr(0, url.find('/'));
  if (const std::size_t sign = url.rfind('@'); sign != url.npos) url.remove_prefix(sign + 1);
  if (url.starts_with('[')) return std::string(url.substr(0, std::min(url.find(']') + 1, url.size())));
  return std::string(url.substr(0, url.find(':')));
}

GitSecret secret_for(std::string_view url, const std::string& secret, const std::string& host) {
  url = url.substr(0, url.find('\n'));
  if (host.empty() || host_of_url(url) != host) return {};
  const std::size_t begin = url.find("://") + 3;
  std::string_view place = url.substr(begin, std::min(url.find('/', begin), url.size()) - begin);
  if (const std::size_t sign = place.rfind('@'); sign != place.npos) place.remove_prefix(sign + 1);
  return {secret, std::string(url.substr(0, begin)) + std::string(place)};
}

std::vector<std::string> secrets_in_configuration(const Seams& seams, const std::string& directory) {
  Git git(seams, directory);
  const auto listed = git.run(GitCall{.words = {"config", "--list", "-z"}, .accepted_codes = {0, 1, 128}});
  std::vector<std::string> secrets;
  const auto add = [&](std::string_view value) {
    if (value.size() >= kSecretBytes) secrets.emplace_back(value);
  };
  std::string_view rest = listed ? std::string_view(listed->output) : std::string_view();
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::string_view name = entry.substr(0, entry.find('\n'));
    const std::string_view value = entry.substr(std::min(name.size() + 1, entry.size()));
    // Names can contain addresses too: url.https://TOKEN@host/.insteadof
    for (const std::string_view text : {name, value}) {
      for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
        std::string_view place = text.substr(at + 3);
        place = place.substr(0, place.find_first_of("/ \t\n"));
        const std::size_t sign = place.rfind('@');
        if (sign == place.npos) continue;
        const std::string_view user = place.substr(0, sign);
        const std::size_t colon = user.find(':');
        if (colon != user.npos) add(user.substr(colon + 1));
        if (const std::string_view first = user.substr(0, colon); first.size() >= kTokenBytes) add(first);
      }
    }
    if (name.ends_with(".extraheader")) {
      const std::size_t blank = value.find_last_of(" \t");
      add(value.substr(blank == value.npos ? 0 : blank + 1));
    }
  }
  return secrets;
}

namespace {

// Commands that may read or write files of a work tree: all that use the index too (write-tree looks at files that were
// changed in the same second).
bool may_filter(const GitCall& call) {
  constexpr std::array<std::string_view, 15> kNever = {"cat-file",     "rev-parse",    "merge-base",      "update-ref",
                                                       "config",       "remote",       "ls-tree",         "diff-tree",
                                                       "commit-tree",  "push",         "fetch",           "ls-remote",
                                                       "for-each-ref", "symbolic-ref", "check-ref-format"};
  return !call.words.empty() && std::ranges::find(kNever, call.words.front()) == kNever.end();
}

// Settings, as an environment, that turn off every filter in the output of `git config --list -z`.
std::map<std::string, std::string> settings_without_filters(std::string_view listed) {
  std::map<std::string, std::string> settings;
  std::vector<std::pair<std::string, std::string>> off;
  while (!listed.empty()) {
    const std::string_view entry = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(entry.size() + 1, listed.size()));
    const std::string_view name = entry.substr(0, entry.find('\n'));
    const std::string_view value = entry.substr(std::min(name.size() + 1, entry.size()));
    if (!name.starts_with("filter.")) continue;
    const std::string_view part = last_part(name);
    const bool runs = part == "clean" || part == "smudge" || part == "process";
    const bool is_lfs = name.starts_with("filter.lfs.") && std::ranges::count(name, '.') == 2;
    if (is_lfs && (!runs || std::ranges::find(kLfsCommands, value) != kLfsCommands.end())) continue;
    if (runs) off.emplace_back(name, "");
    if (part == "required") off.emplace_back(name, "false");
  }
  if (off.empty()) return settings;
  for (std::size_t i = 0; i < off.size(); ++i) {
    settings[fmt::format("GIT_CONFIG_KEY_{}", i)] = off[i].first;
    settings[fmt::format("GIT_CONFIG_VALUE_{}", i)] = off[i].second;
  }
  settings["GIT_CONFIG_COUNT"] = std::to_string(off.size());
  return settings;
}

}  // namespace

Result<std::map<std::string, std::string>> Git::without_filters() {
  if (!without_filters_) {
    std::vector<std::string> argv = {"git", "-C", directory_, "config", "--list", "-z"};
    GitCall look;
    if (!git_dir_.empty()) look.environment = {{"GIT_DIR", git_dir_}, {"GIT_WORK_TREE", directory_}};
    const auto listed = SB_TRY(seams_.process.run({.argv = std::move(argv),
                                                   .environment = environment_for(seams_, look, false),
                                                   .max_output_bytes = look.max_bytes}));
    // A configuration that cannot be read stops the command itself, with git's own message.
    without_filters_ = settings_without_filters(listed.code == 0 ? std::string_view(listed.output) : "");
  }
  return *without_filters_;
}

Result<ProcessResult> Git::run(const GitCall& call) {
  std::vector<std::string> argv = {"git", "-C", directory_};
  for (const char* setting : kSettings) argv.insert(argv.end(), {"-c", setting});
  for (const std::string& setting : call.settings) argv.insert(argv.end(), {"-c", setting});
  if (!call.secret.empty()) add_secret(argv, call.secret.origin);
  GitCall whole = call;
  if (may_filter(call)) {
    for (const auto& [name, value] : SB_TRY(without_filters())) whole.environment.emplace(name, value);
  }
  if (!git_dir_.empty()) {
    whole.environment.emplace("GIT_DIR", git_dir_);
    whole.environment.emplace("GIT_WORK_TREE", directory_);
  }
  if (call.is_remote && !has_ssh_command_) {
    const GitCall look{.words = {"config", "--get", "core.sshCommand"}, .accepted_codes = {0, 1}};
    has_ssh_command_ = SB_TRY(run(look)).code == 0;
  }
  argv.insert(argv.end(), call.words.begin(), call.words.end());
  // If we are killed, git must not continue to fill our work tree or index while the run is resumed: both would take
  // each other's locks. Other commands may finish: their effect is checked before they are repeated, and a push that is
  // cut off leaves locks in the remote.
  constexpr std::array<std::string_view, 8> kFilling = {"worktree",     "submodule", "add",      "read-tree",
                                                        "update-index", "restore",   "checkout", "clean"};
  const bool is_filling = std::ranges::find(kFilling, call.words.front()) != kFilling.end();
  auto exit = seams_.process.run({.argv = std::move(argv),
                                  .input = call.input,
                                  .environment = environment_for(seams_, whole, has_ssh_command_.value_or(false)),
                                  .timeout_ms = call.time_ms,
                                  .max_output_bytes = call.on_output ? 0 : call.max_bytes,
                                  .kill_descendants = is_filling,
                                  .on_output = call.on_output});
  if (!exit) return std::unexpected(std::move(exit).error());
  if (exit->code == 127 && exit->errors.starts_with("git: ")) {
    return fail(ErrorCode::kUnavailable, "cannot run git", "Install git");
  }
  if (exit->timed_out) {
    return std::unexpected(
        Error{ErrorCode::kUnavailable,
              fmt::format("git {} did not finish within {} s", call.words.front(), call.time_ms / 1000),
              "Check the connection to the remote",
              {},
              true});
  }
  if (std::ranges::find(call.accepted_codes, exit->code) == call.accepted_codes.end()) {
    Error error = error_of(*exit, call);
    if (error.code != ErrorCode::kNotFound) return std::unexpected(placed(std::move(error), directory_));
    return std::unexpected(damaged_head(seams_.files, git_dir_.empty() ? directory_ : git_dir_).value_or(error));
  }
  if (exit->output_truncated && !call.on_output) {
    return fail(ErrorCode::kLimit,
                fmt::format("git {} returned more than {} bytes", call.words.front(), call.max_bytes));
  }
  return exit;
}

Result<std::string> Git::run(std::vector<std::string> words, const std::string& input) {
  return std::move(SB_TRY(run(GitCall{.words = std::move(words), .input = input})).output);
}

Result<std::optional<std::string>> Git::find_commit(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  ProcessResult exit =
      SB_TRY(run({.words = {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"},
                  .accepted_codes = {0, 1, 128}}));
  while (exit.output.ends_with('\n')) exit.output.pop_back();
  // A commit that cannot be read is not a missing one.
  if (exit.code == 128 && !remedy_of_damage(exit.errors).empty()) {
    return std::unexpected(placed(error_of(exit, {.words = {"rev-parse"}}), directory_));
  }
  if (exit.code != 0 || exit.output.empty()) return std::nullopt;
  return std::move(exit.output);
}

Result<std::string> Git::commit_of(const std::string& name) {
  auto found = SB_TRY(find_commit(name));
  if (!found) return fail(ErrorCode::kNotFound, fmt::format("{} is not a commit here", shown(name)));
  return std::move(*found);
}

Status Git::unlock(const std::string& ref) {
  const std::string common = SB_TRY(run({"rev-parse", "--path-format=absolute", "--git-common-dir"}));
  return seams_.files.remove(join_path(common.substr(0, common.find('\n')), ref + ".lock"));
}

Result<std::string> Git::remote_url(const std::string& remote) {
  ProcessResult url = SB_TRY(run({.words = {"remote", "get-url", remote}, .accepted_codes = {0, 2}}));
  if (url.code == 0) return without_trailing_newlines(std::move(url.output));
  // Git goes on without the rest of the file, and finds no remote.
  if (url.errors.find("key does not contain a section") != std::string::npos) {
    return fail(ErrorCode::kCorrupt, fmt::format("the repository's configuration is damaged: {}", git_message(url, "")),
                "Repair .git/config, then resume");
  }
  return std::string();
}

Result<bool> Git::has_object(const std::string& name) {
  return SB_TRY(run({.words = {"cat-file", "-e", name}, .accepted_codes = {0, 1, 128}})).code == 0;
}

Result<bool> Git::is_ancestor(const std::string& old, const std::string& young) {
  if (old == young) return true;
  return SB_TRY(run({.words = {"merge-base", "--is-ancestor", old, young}, .accepted_codes = {0, 1}})).code == 0;
}

}  // namespace sb::pipeline
