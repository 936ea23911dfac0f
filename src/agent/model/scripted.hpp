// A model whose replies are in a file: for demonstrations, tests and simulation. JSON Lines, one reply per line; blank
// lines and lines that start with # are ignored.
//
//   {"when": {"workflow": "wr.coding-task", "step": "build", "role": "reviewer", "contains": ["text"], "lacks": ["x"]},
//    "expect": {"contains": [...], "lacks": [...]},
//    "content": [blocks] or "text", "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5},
//    "delay_ms": 0, "repeat": true, "error": {"kind": "overloaded", "message": "…", "retry_after_ms": 100}}
//
// Either content or error is required; everything else may be absent. The first unused line whose `when` holds is the
// reply. `contains` and `lacks` (a text or several) search every text that is sent; an `expect` that does not hold is
// kScript. A tool_use without an id gets `toolu_LINE_INDEX`; a missing stop_reason is derived from the content. A line
// with `repeat` is never used up.
//
// The reply's mark names its line, and the loop adds a row RUN/MARK to `script-used` when it stores the turn. A line
// with an error has no turn; its row is written here, when it is used.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/model/model.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "store/store.hpp"

namespace sb::agent {

inline constexpr std::string_view kScriptUsed = "script-used";

// The lines that runs of this process have used. Shared by all workers of a run, so that concurrent sessions do not
// take the same line. The rows of a run are read when it is first used. Thread-safe.
class UsedLines {
 public:
  explicit UsedLines(store::Store& store) : store_(store) {}

  // `find` chooses a line, or 0 for none, given which are used; no other session takes one in the meantime. A repeated
  // claim (same session, same request) gets the same line again. A line with `is_kept` is never used up.
  struct LineClaim {
    std::string run, script, session, request;
  };
  using IsUsed = std::function<bool(int line)>;
  struct Found {
    int line = 0;
    bool is_kept = false;
  };
  Result<int> take(const LineClaim& claim, const std::function<Found(const IsUsed&)>& find);
  void release(const LineClaim& claim, int line);
  // Stores it immediately, because no turn will.
  Status record_used(const LineClaim& claim, int line);

 private:
  struct Run {
    std::set<std::string> used;                               // SCRIPT/LINE
    std::map<std::string, std::pair<std::string, int>> last;  // by SCRIPT/SESSION: the request and its line
  };
  Result<Run*> run_of(const std::string& run);

  store::Store& store_;
  std::mutex mutex_;
  std::map<std::string, Run> runs_;
};

// `label` is the model's name in the settings. kInvalid names file and line of every fault in the script.
struct ScriptParts {
  const Files& files;
  Clock& clock;
  std::shared_ptr<UsedLines> used;
  std::string run;
};
Result<std::unique_ptr<Model>> make_scripted_model(const std::string& label, const std::string& path,
                                                   ScriptParts parts);

}  // namespace sb::agent
