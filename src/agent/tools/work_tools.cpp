#include "agent/tools/work_tools.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/tools/plain_text.hpp"
#include "agent/tools/work_tool_parts.hpp"
#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/git_origin.hpp"
#include "base/text/path_glob.hpp"
#include "inbox/config.hpp"

namespace sb::agent {
namespace {

// Built-in agents submit with complete_step and hold no token.
std::string in_our_words(std::string text) {
  constexpr std::string_view kTheirs = "continue_workflow", kOurs = "complete_step";
  for (std::size_t at = text.find(kTheirs); at != std::string::npos; at = text.find(kTheirs, at + kOurs.size())) {
    text.replace(at, kTheirs.size(), kOurs);
  }
  return text;
}

Result<guard::OpenStepChain> open_steps(const WorkTreeAccess& place) {
  if (!place.steps) return guard::OpenStepChain{};
  guard::OpenStepChain chain = SB_TRY(place.steps());
  for (guard::OpenStep& step : chain) {
    step.token.clear();
    if (const auto real = place.seams.files.canonical(step.workspace)) step.workspace = *real;
  }
  return chain;
}

WorkTreeAccess with_real_root(WorkTreeAccess place) {
  if (auto real = place.seams.files.canonical(place.root)) place.root = std::move(*real);
  return place;
}

std::string step_unknown(const Error& error) {
  return "cannot determine which step is open: " + error.to_string();
}

}  // namespace

void SeenFiles::record(const std::string& path, const std::string& hash) {
  const std::lock_guard lock(mutex_);
  seen_[path] = hash;
}

std::optional<std::string> SeenFiles::hash_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = seen_.find(path);
  return found == seen_.end() ? std::nullopt : std::optional(found->second);
}

WorkToolParts::WorkToolParts(WorkTreeAccess given)
    : place(with_real_root(std::move(given))),
      fence({.root = place.root,
             .readable = place.readable,
             .is_writable = place.is_writable,
             .only = place.only,
             .hidden = place.hidden}),
      redactor(place.secrets) {}

std::string WorkToolParts::relative(const std::string& path) const {
  if (!is_within(path, place.root) || path.size() <= place.root.size()) return as_utf8(path);
  return as_utf8(std::string_view(path).substr(place.root.size() + 1));
}

std::string WorkToolParts::text(std::string_view bytes) const {
  return redactor.clean(as_utf8(bytes));
}

sandbox::Place WorkToolParts::reached() const {
  static const std::vector<std::string> kNone;
  const std::string git = join_path(place.root, ".git");
  const bool writes = place.is_writable && !place.only;
  sandbox::Place reached{.workspace = place.root,
                         .is_writable = writes && !place.writable_folders,
                         .readable = place.readable,
                         .sealed = {git},
                         .hidden = place.hidden};
  // A folder behind a link would be one outside.
  for (const std::string& folder : writes ? place.writable_folders.value_or(kNone) : kNone) {
    if (place.seams.files.canonical(folder).value_or("") == folder) reached.writable.push_back(folder);
  }
  if (place.only) {
    reached.hidden.push_back(git);
  } else {
    for (std::string& folder : git_folders(place.seams.files, place.root)) {
      reached.readable.push_back(std::move(folder));
    }
  }
  for (std::string& path : excluded_paths(place.root).value_or(std::vector<std::string>())) {
    reached.hidden.push_back(std::move(path));
  }
  return reached;
}

std::string WorkToolParts::edit_denial(const FencedPath& at, const std::string& given) const {
  const auto chain = open_steps(place);
  if (!chain) return step_unknown(chain.error());
  const std::string whole = given.starts_with('/') ? given : place.root + "/" + given;
  guard::PathForms places{.paths = {at.path()}, .blocked_reason = {}};
  if (const std::string normal = lexically_normal(whole); normal != at.path()) places.paths.push_back(normal);
  const auto why = guard::refuse_edit(*chain, places);
  return why ? in_our_words(*why) : "";
}

std::string WorkToolParts::command_denial(const std::string& command, const std::string& folder) const {
  const auto chain = open_steps(place);
  if (!chain) return step_unknown(chain.error());
  const auto resolve = [&](const std::string& path) { return places_of(path, folder); };
  const auto why = guard::refuse_command(*chain, command, "/tmp", resolve);
  return why ? in_our_words(*why) : "";
}

guard::PathForms WorkToolParts::places_of(const std::string& path, const std::string& folder) const {
  const std::string whole = path.starts_with('/') ? path : join_path(folder, path);
  guard::PathForms places{.paths = {lexically_normal(whole)}, .blocked_reason = {}};
  const auto at = fence.for_writing(whole);
  if (at && at->path() != places.paths.front()) places.paths.push_back(at->path());
  // A path outside is judged as written; the sandbox prevents writing to it.
  if (const auto real = place.seams.files.canonical(whole); !at && real) places.paths.push_back(*real);
  return places;
}

std::string interlock_denial(const WorkTreeAccess& place, const ToolCall& call) {
  const auto config = inbox::load_config(place.seams.files, place.homes);
  const guard::ToolChange change =
      guard::change_of(call.name, call.input, config ? config->file_tools : guard::FileTools{});
  if (change.kind == guard::ToolChange::Kind::kNothing) return "";
  const WorkToolParts parts(place);
  const auto chain = open_steps(parts.place);
  if (!chain) return step_unknown(chain.error());
  const std::string& root = parts.place.root;
  const std::string folder = change.folder.starts_with('/') ? change.folder : join_path(root, change.folder);
  const auto resolve = [&](const std::string& path) { return parts.places_of(path, folder); };
  const auto why = guard::refuse_change(*chain, change, "/tmp", resolve);
  return why ? in_our_words(*why) : "";
}

sandbox::Place reached_in(const WorkTreeAccess& place) {
  return WorkToolParts(place).reached();
}

ToolResult tool_success(std::string text, Value facts) {
  return {.text = std::move(text), .is_error = false, .facts = std::move(facts)};
}

ToolResult tool_error(std::string text) {
  return {.text = std::move(text), .is_error = true};
}

ToolResult tool_denied(std::string text) {
  return {.text = text, .is_error = true, .refused = text};
}

std::string redaction_denial(std::string_view text) {
  if (text.find(kRedactedMark) == std::string_view::npos) return {};
  return fmt::format(
      "This contains \"{}…]\": a secret that you wrote was removed from it, so it is not run. Agents do "
      "not need secrets; work without it.",
      kRedactedMark);
}

ToolResult from_error(const Error& error) {
  std::string text = error.message + ".";
  if (!error.remedy.empty()) text += " " + error.remedy + ".";
  return error.code == ErrorCode::kForbidden ? tool_denied(std::move(text)) : tool_error(std::move(text));
}

std::string text_of(const ToolCall& call, const char* name) {
  return call.input.string_at(name).value_or("");
}

std::int64_t number_of(const ToolCall& call, const char* name, std::int64_t otherwise) {
  const Value& value = call.input[name];
  return value.is_integer() ? value.as_integer() : otherwise;
}

bool flag_of(const ToolCall& call, const char* name) {
  const Value& value = call.input[name];
  return value.is_bool() && value.as_bool();
}

Value schema_of(const char* json) {
  auto document = parse_document("schema.json", json);
  SB_ASSERT(document);
  return std::move(document->root);
}

std::vector<std::string> restricted_paths() {
  return {"**", "!.signalbox/**", "!.workrail/**"};
}

std::optional<std::vector<std::string>> WorkToolParts::excluded_paths(const std::string& tree) const {
  std::vector<std::string> paths;
  if (!place.only) return paths;
  bool has_all = false;
  for (const std::string& glob : *place.only) {
    if (glob == "**") has_all = true;
    if (!glob.starts_with('!')) continue;
    std::string path = glob.substr(1);
    if (path.ends_with("/**")) path.resize(path.size() - 3);
    if (path.find_first_of("*?[{") != std::string::npos) return std::nullopt;
    if (auto real = place.seams.files.canonical(join_path(tree, path))) paths.push_back(std::move(*real));
  }
  if (!has_all) return std::nullopt;
  return paths;
}

Tools make_work_tools(WorkTreeAccess place, const std::vector<std::string>& allowed) {
  const bool writes = place.is_writable && !place.only;
  const auto parts = std::make_shared<const WorkToolParts>(std::move(place));
  Tools tools;
  const auto add = [&](std::string_view name, std::unique_ptr<Tool> (*make)(SharedParts)) {
    if (allowed.empty() || std::ranges::find(allowed, name) != allowed.end()) tools.push_back(make(parts));
  };
  // A role that may not write, or not read everything, gets a shell only if the sandbox can enforce that.
  const bool is_enclosed = parts->place.sandbox.works() && parts->excluded_paths(parts->place.root);
  if (writes || is_enclosed) add("Bash", make_bash);
  add("Read", make_read);
  if (writes) add("Write", make_write);
  if (writes) add("Edit", make_edit);
  add("Glob", make_glob);
  add("Grep", make_grep);
  return tools;
}

}  // namespace sb::agent
