// A model whose replies stand in a file: for demonstrations, tests and simulation. JSON Lines, one reply a line; blank
// lines and lines that begin with # are passed over.
//
//   {"when": {"workflow": "wr.coding-task", "step": "build", "role": "reviewer", "contains": ["text"], "lacks": ["x"]},
//    "expect": {"contains": [...], "lacks": [...]},
//    "content": [blocks] or "text", "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5},
//    "delay_ms": 0, "repeat": true, "error": {"kind": "overloaded", "message": "…", "retry_after_ms": 100}}
//
// All but one of content and error may be absent. The first line that is not used up and whose `when` holds is the
// reply. `contains` and `lacks` (a text or several) look at every text that is sent; an `expect` that does not hold is
// kScript. A tool_use without an id gets `toolu_LINE_INDEX`; a stop_reason that is not given follows from the content.
// A line with `repeat` is never used up.
//
// What is used: the reply's mark names its line, and whoever keeps the turn puts a row RUN/MARK into `script-used`. A
// line with an error has no turn; its row is written here, when it is used.
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

// Which lines the runs of this process have used: one for everybody who works on a run, so that sessions at the same
// time do not take the same line. The rows of a run are read when it is first asked for. Thread-safe.
class UsedLines {
 public:
  explicit UsedLines(store::Store& store) : store_(store) {}

  // `find` says which line is wanted, 0 for none, knowing which are used up; no other session takes one meanwhile. A
  // taker who comes again (same session, same request) gets the line it had. Lines of `keeps` are not used up.
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
  // Written down now: no turn will do it.
  Status record_used(const LineClaim& claim, int line);

 private:
  struct Run {
    std::set<std::string> used;                               // SCRIPT/LINE
    std::map<std::string, std::pair<std::string, int>> last;  // of SCRIPT/SESSION: the request and its line
  };
  Result<Run*> run_of(const std::string& run);

  store::Store& store_;
  std::mutex mutex_;
  std::map<std::string, Run> runs_;
};

// `label` is the model's name in the settings. kInvalid names file and line of everything that is wrong in the script.
struct ScriptParts {
  const Files& files;
  Clock& clock;
  std::shared_ptr<UsedLines> used;
  std::string run;
};
Result<std::unique_ptr<Model>> make_scripted_model(const std::string& label, const std::string& path,
                                                   ScriptParts parts);

}  // namespace sb::agent
