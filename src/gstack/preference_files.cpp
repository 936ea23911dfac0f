#include "gstack/preference_files.hpp"

#include <fmt/format.h>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "decision/door.hpp"
#include "gstack/project_slug.hpp"

namespace sb::gstack {
namespace {

constexpr std::string_view kEmptyFile = "{}\n";

std::string project_file(const PreferencePaths& place, std::string_view slug, std::string_view name) {
  return join_path(join_path(join_path(place.root, "projects"), slug), name);
}

// The bytes of a file, or nothing when it does not exist.
Result<std::optional<std::string>> read_if_there(const Files& files, const std::string& path) {
  auto bytes = files.read(path, limits::kDocumentBytes);
  if (bytes) return std::optional(std::move(*bytes));
  if (bytes.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (files.kind(path) == FileKind::kDirectory) {
    return fail(ErrorCode::kIo, "is a folder, not a preferences file", "Move it elsewhere; nothing was changed",
                {path, "", 0, 0});
  }
  return std::unexpected(std::move(bytes).error());
}

Result<Value> parse_preferences(const std::string& path, std::string_view bytes) {
  auto parsed = parse_json(bytes);
  if (parsed) return parsed;
  return fail(ErrorCode::kCorrupt, fmt::format("is not JSON ({})", parsed.error().message),
              "Fix it, or start over with --clear, which keeps a backup; nothing was changed", {path, "", 0, 0});
}

Result<Value> read_object(const Files& files, const std::string& path) {
  const auto bytes = SB_TRY(read_if_there(files, path));
  return bytes ? parse_preferences(path, *bytes) : Value::object();
}

// Like the above, but requires an object: anything added to another value would be lost.
Result<Value> read_for_change(const Files& files, const std::string& path) {
  Value preferences = SB_TRY(read_object(files, path));
  if (preferences.is_object()) return preferences;
  return fail(ErrorCode::kCorrupt,
              fmt::format("must be an object of question ids, but is {}", kind_name(preferences.kind())),
              "Fix it, or start over with --clear, which keeps a backup; nothing was changed", {path, "", 0, 0});
}

// Held by every process that changes the project's preferences.
Result<std::shared_ptr<void>> hold(Files& files, const PreferencePaths& place) {
  SB_TRY(files.make_directories(place.project()));
  return files.lock(join_path(place.project(), ".question-preferences.lock"));
}

bool suppresses(const std::optional<std::string>& stored) {
  const auto preference = stored ? decision::parse_preference(*stored) : std::nullopt;
  return preference && *preference != decision::Preference::kAlwaysAsk;
}

Value event_of(const PreferenceChange& change, TimestampMs now) {
  Value event = Value::object({{"ts", to_rfc3339(now)},
                               {"event_type", "preference-set"},
                               {"question_id", change.question_id},
                               {"preference", decision::to_string(change.preference)},
                               {"source", change.source}});
  if (!change.free_text.empty()) event.set("free_text", change.free_text);
  return event;
}

}  // namespace

std::string PreferencePaths::project() const {
  return join_path(join_path(root, "projects"), slug);
}
std::string PreferencePaths::preferences() const {
  return project_file(*this, slug, "question-preferences.json");
}
std::string PreferencePaths::legacy_preferences() const {
  return legacy_slug.empty() ? "" : project_file(*this, legacy_slug, "question-preferences.json");
}
std::string PreferencePaths::global_preferences() const {
  return join_path(root, "global-question-preferences.json");
}
std::string PreferencePaths::events() const {
  return project_file(*this, slug, "question-events.jsonl");
}
std::string PreferencePaths::log() const {
  return project_file(*this, slug, "question-log.jsonl");
}
std::string PreferencePaths::session(std::string_view session_id) const {
  return join_path(join_path(root, "sessions"), path_component(session_id));
}

std::string PreferencePaths::auto_decided_marker(std::string_view session_id, std::string_view tool_use_id) const {
  return join_path(session(session_id), ".auto-decided-" + path_component(tool_use_id));
}

Result<std::string> working_directory(const Files& files, const Environment& environment) {
  const auto here = files.canonical(".");
  const auto named = environment.get("PWD");
  if (named && named->starts_with('/')) {
    const auto there = files.canonical(*named);
    if (!here || (there && *there == *here)) return *named;
  }
  return here;
}

Result<std::string> state_root(const Files& files, const Environment& environment) {
  for (const char* name : {"GSTACK_STATE_ROOT", "GSTACK_HOME"}) {
    if (const auto set = environment.get(name)) return *set;
  }
  if (const auto home = environment.get("HOME")) {
    const std::string gstack = join_path(*home, ".gstack");
    if (files.kind(gstack) == FileKind::kDirectory) return gstack;
  }
  return join_path(SB_TRY(homes(environment)).data, "gstack");
}

Result<PreferencePaths> preference_paths(Files& files, const Environment& environment, const std::string& directory) {
  PreferencePaths place;
  place.root = SB_TRY(state_root(files, environment));
  // GSTACK_STATE_ROOT moves the stored state, not the slug cache of folders.
  const std::string cache_root = environment.get("GSTACK_HOME").value_or(place.root);
  place.slug = SB_TRY(project_slug(files, environment, cache_root, directory));
  const std::string legacy = basename_slug(directory);
  if (legacy != place.slug && !environment.get("GSTACK_PROJECT_SLUG")) place.legacy_slug = legacy;
  return place;
}

Result<std::optional<std::string>> find_preference(const Files& files, const PreferencePaths& place,
                                                   std::string_view question_id, PreferenceScope scope) {
  const bool has_own = files.kind(place.preferences()) != FileKind::kMissing;
  const bool with_global = scope == PreferenceScope::kProjectThenGlobal;
  for (const std::string& path : {has_own ? place.preferences() : place.legacy_preferences(),
                                  with_global ? place.global_preferences() : std::string()}) {
    if (path.empty()) continue;
    const Value preferences = SB_TRY(read_object(files, path));
    if (auto stored = decision::stored_preference(preferences, question_id)) return stored;
  }
  return std::nullopt;
}

Result<Value> read_preferences(const Files& files, const PreferencePaths& place) {
  return read_object(files, place.preferences());
}

Status make_preference_file(Files& files, const PreferencePaths& place) {
  if (files.kind(place.preferences()) != FileKind::kMissing) return {};
  const auto held = SB_TRY(hold(files, place));
  if (files.kind(place.preferences()) != FileKind::kMissing) return {};
  return files.write_atomic(place.preferences(), kEmptyFile);
}

Status set_preference(Files& files, const PreferencePaths& place, const PreferenceChange& change, TimestampMs now) {
  const auto held = SB_TRY(hold(files, place));
  const auto before = SB_TRY(read_if_there(files, place.preferences()));
  Value preferences = SB_TRY(read_for_change(files, place.preferences()));
  preferences.set(change.question_id, decision::to_string(change.preference));
  SB_TRY(files.write_atomic(place.preferences(), to_pretty_json(preferences)));
  const Status appended = files.append(place.events(), to_json(event_of(change, now)) + "\n");
  if (!appended) {
    // A preference without an event could not be explained to the user.
    (void)(before ? files.write_atomic(place.preferences(), *before) : files.remove(place.preferences()));
  }
  return appended;
}

Result<bool> clear_preference(Files& files, const PreferencePaths& place, std::string_view question_id) {
  const auto held = SB_TRY(hold(files, place));
  const bool held_here = SB_TRY(find_preference(files, place, question_id, PreferenceScope::kProject)).has_value();
  Value preferences = SB_TRY(read_for_change(files, place.preferences()));
  const bool is_new = files.kind(place.preferences()) == FileKind::kMissing;
  if (is_new) SB_TRY(files.write_atomic(place.preferences(), kEmptyFile));
  if (!preferences.find(question_id)) return held_here;
  preferences.erase(question_id);
  SB_TRY(files.write_atomic(place.preferences(), to_pretty_json(preferences)));
  return true;
}

Status clear_preferences(Files& files, const PreferencePaths& place) {
  const auto held = SB_TRY(hold(files, place));
  const auto bytes = SB_TRY(read_if_there(files, place.preferences()));
  if (bytes && !parse_json(*bytes)) SB_TRY(files.write_atomic(place.preferences() + ".broken", *bytes));
  return files.write_atomic(place.preferences(), kEmptyFile);
}

PreferenceCounts count_preferences(const Value& preferences) {
  PreferenceCounts counts;
  if (!preferences.is_object()) return counts;
  for (const auto& [id, value] : preferences.members()) {
    const auto stored = decision::stored_preference(preferences, id);
    const auto preference = stored ? decision::parse_preference(*stored) : std::nullopt;
    const bool may_be_inert = suppresses(stored);
    ++counts.total;
    ++(!preference                                       ? counts.other
       : may_be_inert && decision::is_one_way_id(id)     ? counts.inert_one_way
       : may_be_inert && decision::is_split_id(id)       ? counts.inert_split
       : *preference == decision::Preference::kAlwaysAsk ? counts.always_ask
       : *preference == decision::Preference::kNeverAsk  ? counts.never_ask
                                                         : counts.ask_only_one_way);
  }
  return counts;
}

}  // namespace sb::gstack
