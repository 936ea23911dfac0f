// The open step of a session, as far as an observer of the agent needs it: what may be changed, what output is
// required, what it waits for. The engine writes one row per session, in the commit that opens the step, and removes it
// when the session ends; hooks read it without knowing workflows. A session without a row restricts nothing.
//
// Collection `open-steps`, key WORKSPACE/SESSION, where WORKSPACE is the first 16 hex digits of the SHA-256 of the
// folder's path. Value, JSON; members in brackets may be absent:
//   {v: 1, session, workspace, workflow, [goal], step, title, number, of, [writes: [globs…]], [read_only: true],
//    [out_of_scope: [entries…]], [owes], [waiting], [decision], [parent], [autonomous: true], [context], [visible:
//    [keys…]], token, at}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "store/store.hpp"

namespace sb::guard {

inline constexpr std::string_view kOpenSteps = "open-steps";

struct OpenStep {
  std::string session, workspace, workflow;
  std::string goal;  // its beginning, one line
  std::string step, title;
  int number = 0, of = 0;                          // its position among the steps that an agent submits
  std::optional<std::vector<std::string>> writes;  // globs, relative to the workspace; an empty list: nothing
  bool commands_read_only = false;
  std::vector<std::string>
      out_of_scope;             // sentences, paths and globs: what they name is refused throughout the session
  std::string required_output;  // one line: what a submission is checked for
  std::string waiting;          // why it cannot be submitted now: gate, decision, …; or empty
  std::string decision;         // the inbox id of the decision waited for
  std::string parent;           // the session that started this one
  bool is_autonomous = false;
  std::string context;  // the hash of the blob with its branch's context values; empty in rows of older versions
  std::optional<std::vector<std::string>> visible;  // the only keys of it that the agent may see; absent: all
  std::string token;                                // to continue with; empty for an imported session
  TimestampMs at = 0;

  bool operator==(const OpenStep&) const = default;
};

std::string open_step_key(std::string_view workspace, std::string_view session);
std::string to_row(const OpenStep& step);
Result<OpenStep> open_step_from(std::string_view row);  // kCorrupt

// In this folder, most recently started first.
Result<std::vector<OpenStep>> open_steps_in(store::Snapshot& snapshot, std::string_view workspace, int limit);
Result<std::optional<OpenStep>> find_open_step(store::Snapshot& snapshot, std::string_view workspace,
                                               std::string_view session);

// The paths and globs named in a sentence: the whole sentence if it is one word that looks like a path, else every part
// in backticks that does. "Export to spreadsheets." names none. Pure.
std::vector<std::string> paths_named(std::string_view text);
// Whether the sentence contains the path as a separate word, with or without quotes. Pure.
bool names_path(std::string_view sentence, std::string_view path);
// The words of a sentence that look like files, with or without quotes: `old.c`, `src/old.c`. Pure.
std::vector<std::string> files_named(std::string_view sentence);

}  // namespace sb::guard
