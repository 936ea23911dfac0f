// Stored preferences: where the files are, and how they are read and changed. The layout and every byte are gstack's,
// so that both programs can use one folder.
//
//   ROOT/projects/SLUG/question-preferences.json   one object, question id to value; `{}` and a line feed when created,
//                                                  later two spaces of indentation and no line feed at the end
//   ROOT/projects/SLUG/question-events.jsonl       one line each time one is set: ts, event_type `preference-set`,
//                                                  question_id, preference, source, [free_text]
//   ROOT/projects/SLUG/question-log.jsonl          see question_log.hpp
//   ROOT/global-question-preferences.json          same format as the project's; for all projects, read only
//   ROOT/sessions/SESSION/                         markers of one session of a host
//
// ROOT is GSTACK_STATE_ROOT, else GSTACK_HOME, else ~/.gstack if it exists, else `gstack` in our data home. Changes are
// made under a lock and are atomic; an invalid file is never overwritten.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "decision/preference.hpp"

namespace sb::gstack {

struct PreferencePaths {
  std::string root;
  std::string slug;
  // The slug of the folder's name, where it differs: earlier programs stored files there. Read only while the project
  // has no file of its own, and never written: another project of that name may own it.
  std::string legacy_slug;

  std::string project() const;
  std::string preferences() const;
  std::string legacy_preferences() const;  // empty when there is none
  std::string global_preferences() const;
  std::string events() const;
  std::string log() const;
  std::string session(std::string_view session_id) const;  // always a folder below sessions/, whatever the id contains
  // Empty marker file of a call that was decided by preference.
  std::string auto_decided_marker(std::string_view session_id, std::string_view tool_use_id) const;
};

// The current folder as the user names it: PWD if it is correct.
Result<std::string> working_directory(const Files& files, const Environment& environment);

Result<std::string> state_root(const Files& files, const Environment& environment);
Result<PreferencePaths> preference_paths(Files& files, const Environment& environment, const std::string& directory);

enum class PreferenceScope { kProject, kProjectThenGlobal };

// The value stored for an id, as preference_verdict takes it. kCorrupt when a file that had to be read is not JSON, kIo
// when it cannot be read.
Result<std::optional<std::string>> find_preference(const Files& files, const PreferencePaths& place,
                                                   std::string_view question_id, PreferenceScope scope);

// The whole project file; an empty object where there is none. It may be any JSON.
Result<Value> read_preferences(const Files& files, const PreferencePaths& place);

// Creates the project's folder and, where there is none, its file.
Status make_preference_file(Files& files, const PreferencePaths& place);

struct PreferenceChange {
  std::string question_id;
  decision::Preference preference = decision::Preference::kAlwaysAsk;
  std::string source;
  std::string free_text;  // empty for none
};

// Stores it and appends its event; if either cannot be written, neither is.
Status set_preference(Files& files, const PreferencePaths& place, const PreferenceChange& change, TimestampMs now);

// Returns whether one was set before; none is set afterwards.
Result<bool> clear_preference(Files& files, const PreferencePaths& place, std::string_view question_id);
// A file that is not JSON is kept as question-preferences.json.broken.
Status clear_preferences(Files& files, const PreferencePaths& place);

struct PreferenceCounts {
  int total = 0, always_ask = 0, never_ask = 0, ask_only_one_way = 0, other = 0;
  int inert_one_way = 0;  // would skip a question that is one-way by its id, but has no effect
  int inert_split = 0;    // the same for questions of a chain
};
PreferenceCounts count_preferences(const Value& preferences);

}  // namespace sb::gstack
