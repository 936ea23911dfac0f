// Where change requests live. Every call may be made again: it looks first whether it was done before, and says so.
//
// `local`: a bare repository; the request is a branch and a note, merging is a fast-forward. `github`: the REST API.
// Both pass tests in forge_conformance.hpp.
//
// Errors: kUnavailable with is_retryable (an outage, a rate limit: retry_after_ms()), kForbidden (the token), kConflict
// (it refused: protected branch, not mergeable, changed meanwhile), kInvalid (what came back is no answer).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "pipeline/forge/forges.hpp"
#include "pipeline/plan/ticket.hpp"

namespace sb::pipeline {

struct ChangeRequestRef {
  std::string branch, run;
  std::string id = {};  // once it is known; what is listed may lag behind
};
struct ChangeRequestSpec {
  std::string run;  // marks the request as ours
  std::string branch, base, commit, title, body;
  std::string id = {};  // as in ChangeRequestRef
};
struct ChangeRequest {
  std::string id, url;
  std::string commit;  // the branch's head as the forge has it
  enum class State { kOpen, kMerged, kClosed } state = State::kOpen;
  std::string merged_as = {};
  std::string merged_base = {};  // the base's head that has it
  bool already_existed = false;  // of open_or_update(): it was opened before
};
struct CheckReport {
  std::string name;
  std::string said = {}, url = {};  // its own words, and where more of them are
};
struct RequestChecks {
  enum class State { kNone, kPending, kPassed, kFailed, kStopped } state = State::kNone;
  std::vector<CheckReport> failed = {};
  std::vector<CheckReport> stopped = {};  // cancelled, out of date, waiting for an action: nothing is known
};

class Forge {
 public:
  virtual ~Forge() = default;
  virtual const ForgeKind& kind() const = 0;
  // For `git push`; empty where none is needed. Only ever sent to push_host().
  virtual std::string push_secret() const { return {}; }
  virtual std::string push_host() const { return {}; }
  // How long the newest kUnavailable asks to wait; 0: it did not say.
  virtual std::int64_t retry_after_ms() const { return 0; }
  // Calls from now on are made for this run, which pushed `commit` last (empty: nothing yet). Only for who records.
  virtual Status set_run(const std::string& run, const std::string& commit) {
    static_cast<void>(run), static_cast<void>(commit);
    return {};
  }

  // Before any work is spent: whether the repository is there and the token may do what delivery will need.
  virtual Status check_access() { return {}; }
  virtual Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) = 0;
  // A request that is there keeps its title and text where people can edit them.
  virtual Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) = 0;
  virtual Result<RequestChecks> checks(const ChangeRequest& request) = 0;
  // Only while its head is `commit`. What it says is not believed: ask find() whether it is merged.
  virtual Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) = 0;
  // After a merge was refused: whether it is because the base has what the request's branch does not have.
  virtual Result<bool> needs_update(const ChangeRequest& request) = 0;
  virtual Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) = 0;
  virtual Result<Ticket> ticket(const std::string& url_or_id) = 0;
  virtual Status close_ticket(const Ticket& ticket, const std::string& comment) = 0;
};

}  // namespace sb::pipeline
