// The service that holds change requests. Every call can be repeated: it first checks whether it was already done, and
// reports that.
//
// `local`: a bare repository; the request is a branch and a note, merging is a fast-forward. `github`: the REST API.
// Both pass the tests in forge_conformance.hpp.
//
// Errors: kUnavailable with is_retryable (an outage, a rate limit: retry_after_ms()), kForbidden (the token), kConflict
// (rejected: protected branch, not mergeable, changed in the meantime), kInvalid (an invalid response).
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
  std::string id = {};  // once known; lists may lag behind
};
struct ChangeRequestSpec {
  std::string run;  // marks the request as Signalbox's
  std::string branch, base, commit, title, body;
  std::string id = {};  // as in ChangeRequestRef
};
struct ChangeRequest {
  std::string id, url;
  std::string commit;  // the branch's head on the forge
  enum class State { kOpen, kMerged, kClosed } state = State::kOpen;
  std::string merged_as = {};
  std::string merged_base = {};  // the head of the base that contains it
  bool already_existed = false;  // from open_or_update(): it was opened before
};
struct CheckReport {
  std::string name;
  std::string said = {}, url = {};  // its message, and the page with details
};
struct RequestChecks {
  enum class State { kNone, kPending, kPassed, kFailed, kStopped } state = State::kNone;
  std::vector<CheckReport> failed = {};
  std::vector<CheckReport> stopped = {};  // cancelled, out of date, waiting for an action: no result
};

class Forge {
 public:
  virtual ~Forge() = default;
  virtual const ForgeKind& kind() const = 0;
  // For `git push`; empty if none is needed. Only sent to push_host().
  virtual std::string push_secret() const { return {}; }
  virtual std::string push_host() const { return {}; }
  // How long the last kUnavailable asks to wait; 0: unknown.
  virtual std::int64_t retry_after_ms() const { return 0; }
  // The following calls belong to this run, which last pushed `commit` (empty: nothing yet). Used by recordings.
  virtual Status set_run(const std::string& run, const std::string& commit) {
    static_cast<void>(run), static_cast<void>(commit);
    return {};
  }

  // Before any work: checks that the repository exists and that the token has the permissions for delivery.
  virtual Status check_access() { return {}; }
  virtual Result<std::optional<ChangeRequest>> find(const ChangeRequestRef& name) = 0;
  // An existing request keeps its title and text if people can edit them.
  virtual Result<ChangeRequest> open_or_update(const ChangeRequestSpec& spec) = 0;
  virtual Result<RequestChecks> checks(const ChangeRequest& request) = 0;
  // Only while its head is `commit`. Do not rely on the result: ask find() whether it is merged.
  virtual Status merge(const ChangeRequest& request, const std::string& commit, const std::string& title) = 0;
  // After a rejected merge: whether the reason is that the base has commits that the request's branch lacks.
  virtual Result<bool> needs_update(const ChangeRequest& request) = 0;
  virtual Status comment(const ChangeRequest& request, const std::string& mark, const std::string& text) = 0;
  virtual Result<Ticket> ticket(const std::string& url_or_id) = 0;
  virtual Status close_ticket(const Ticket& ticket, const std::string& comment) = 0;
};

}  // namespace sb::pipeline
