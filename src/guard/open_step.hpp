// The open step of a session, as far as whoever watches an agent from outside must know it: what may be touched, what
// is owed, who is waited for. The engine writes one row a session, in the commit that opens the step, and removes it
// when the session ends; hooks read it without knowing workflows. A session without a row holds nobody back.
//
// Collection `open-steps`, key WORKSPACE/SESSION, where WORKSPACE is the first 16 hex digits of the SHA-256 of the
// folder's path. Value, JSON; members in brackets may be absent:
//   {v: 1, session, workspace, workflow, [goal], step, title, number, of, [writes: [globs…]], [read_only: true],
//    [out_of_scope: [globs…]], [owes], [waiting], [decision], [parent], [autonomous: true], token, at}
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
  int number = 0, of = 0;                          // its place among the steps somebody delivers
  std::optional<std::vector<std::string>> writes;  // globs, relative to the workspace; none of them: nothing
  bool commands_read_only = false;
  std::vector<std::string> out_of_scope;  // globs, refused throughout the session
  std::string required_output;            // one line: what delivering it will be checked for
  std::string waiting;                    // why it cannot be delivered right now: gate, decision, …; or empty
  std::string decision;                   // whom for: the inbox's id
  std::string parent;                     // the session that started this one
  bool is_autonomous = false;
  std::string token;  // to continue with; of a session that came from elsewhere, empty
  TimestampMs at = 0;

  bool operator==(const OpenStep&) const = default;
};

std::string open_step_key(std::string_view workspace, std::string_view session);
std::string to_row(const OpenStep& step);
Result<OpenStep> open_step_from(std::string_view row);  // kCorrupt

// Of the folder, the last started first.
Result<std::vector<OpenStep>> open_steps_in(store::Snapshot& snapshot, std::string_view workspace, int limit);
Result<std::optional<OpenStep>> find_open_step(store::Snapshot& snapshot, std::string_view workspace,
                                               std::string_view session);

// The paths and globs a sentence names: the whole of it when it is one word that looks like a path, else what stands in
// backticks and looks so. "Export to spreadsheets." names none. Pure.
std::vector<std::string> paths_named(std::string_view text);

}  // namespace sb::guard
