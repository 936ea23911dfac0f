#include "engine/session/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/session/parts.hpp"

namespace sb::engine {
namespace {

// Codes for agents are in capitals; other rules name faults in documents.
bool is_agent_code(std::string_view rule) {
  return !rule.empty() && rule.front() >= 'A' && rule.front() <= 'Z';
}

template <class T>
SessionResult<T> answered(Result<T> result) {
  if (result) return std::move(*result);
  return std::unexpected(session_error(std::move(result).error()));
}

Status check_text(std::string_view what, std::string_view text, std::size_t limit) {
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, fmt::format("{} is not UTF-8", what), "Send UTF-8 text");
  if (text.size() > limit) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; at most {} are allowed", what, text.size(), limit),
                "Shorten it");
  }
  return {};
}

Status check_start(const StartRequest& start_request) {
  SB_TRY(check_text("the goal", start_request.goal, limits::kGoalBytes));
  if (is_blank(start_request.goal)) return fail(ErrorCode::kInvalid, "the goal is empty", "Say what to do");
  if (!start_request.id.empty()) {
    const auto bytes = session_bytes(start_request.id);
    if (!bytes || session_id_from_bytes(*bytes) != start_request.id) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid session id", quote_json(start_request.id)),
                  "An id is s- and 26 characters");
    }
  }
  SB_TRY(check_text("the workspace path", start_request.workspace, limits::kTextBytes));
  return check_text("the path of the workflow file", start_request.origin.file, limits::kTextBytes);
}

std::string_view code_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kLimit:
      return "VALIDATION_ERROR";
    case ErrorCode::kNotFound:
      return "NOT_FOUND";
    case ErrorCode::kConflict:
    case ErrorCode::kForbidden:
      return "PRECONDITION_FAILED";
    case ErrorCode::kUnavailable:
      return "TOKEN_SESSION_LOCKED";
    case ErrorCode::kCorrupt:
      return "SESSION_NOT_HEALTHY";
    case ErrorCode::kUnsupported:
      return error.rule == "newer_version" ? "SESSION_NOT_HEALTHY" : "VALIDATION_ERROR";
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return "INTERNAL_ERROR";
  }
  return "INTERNAL_ERROR";
}

}  // namespace

bool carries_output(const Submission& submission) {
  return !submission.notes.empty() || !submission.artifacts.empty() ||
         (submission.context.is_object() && submission.context.size() > 0);
}

SessionError session_error(Error error) {
  const std::string code(is_agent_code(error.rule) ? error.rule : code_for(error));
  return {code, std::move(error), {}};
}

Sessions::Sessions(store::Store& store, inbox::Inbox& inbox, Clock& clock, Random& random, CommandRunner& commands,
                   Surface surface)
    : parts_(new Parts{store, inbox, clock, random, commands, surface, {}, {}, {}, {}}) {}
Sessions::~Sessions() = default;

SessionResult<SessionResponse> Sessions::start(const StartRequest& start_request) {
  const std::scoped_lock lock(parts_->mutex);
  if (start_request.bundle.empty()) {
    return answered<SessionResponse>(fail(ErrorCode::kInvalid, "no workflow given", "Name one"));
  }
  if (const Status fits = check_start(start_request); !fits)
    return answered<SessionResponse>(std::unexpected(fits.error()));
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<SessionResponse> {
    SB_TRY(parts_->keys.load_or_make(transaction, parts_->random, parts_->clock.now_ms()));
    if (auto before = SB_TRY(find_started(transaction, start_request))) return std::move(*before);
    NewSession new_session;
    for (const auto& compiled : start_request.bundle) {
      SB_TRY(put_json_blob(transaction, compiled->pinned));
      // Read back as every later turn reads it: the members of pinned JSON are sorted by name.
      new_session.program = SB_TRY(parts_->program(transaction, compiled->hash));
    }
    new_session.id =
        start_request.id.empty() ? make_id("s-", parts_->clock.now_ms(), parts_->random) : start_request.id;
    new_session.origins = {start_request.origin};
    new_session.origins.insert(new_session.origins.end(), start_request.included_origins.begin(),
                               start_request.included_origins.end());
    new_session.goal = start_request.goal;
    new_session.context = start_request.context;
    new_session.workspace = start_request.workspace;
    new_session.repository = start_request.repository;
    new_session.git_branch = start_request.git_branch;
    new_session.git_head = start_request.git_head;
    new_session.is_autonomous = start_request.is_autonomous;
    new_session.references = start_request.references;
    if (!start_request.parent.empty()) SB_TRY(parts_->attach_to_parent(transaction, new_session, start_request.parent));
    const CreatedSession born = SB_TRY(parts_->create_session(transaction, new_session));
    return parts_->answer_for(transaction, *new_session.program, born.summary, born.node, RenderReason::kStart,
                              born.warnings, start_request.references);
  }));
}

SessionResult<SessionResponse> Sessions::continue_session(const ContinueRequest& request) {
  std::unique_lock lock(parts_->mutex);
  if (request.intent == ContinueRequest::Intent::kRehydrate) {
    if (!request.answer) return rehydrate(request.token);
    return answered<SessionResponse>(
        fail(ErrorCode::kInvalid, "rehydrating only shows the step again; it takes no answer", "Omit the intent"));
  }
  return answered([&]() -> Result<SessionResponse> {
    const SessionToken token = SB_TRY(parts_->token(request.token, {Purpose::kContinue, Purpose::kResume}));
    SB_TRY(check_text("notes", request.submission.notes, limits::kNotesBytes));
    const bool has_output = request.intent == ContinueRequest::Intent::kAdvance || carries_output(request.submission);
    Submission submission = request.submission;
    // A command may take minutes, so it runs before the transaction; for a used token nothing runs.
    const auto due = has_output ? SB_TRY(parts_->pending_command(token)) : std::nullopt;
    if (due) {
      // Other sessions do not wait for it either.
      lock.unlock();
      submission.command = parts_->commands.run(due->command, due->workspace, due->origins, request.should_continue);
      lock.lock();
    }
    if (submission.command && submission.command->was_cancelled) {
      return fail(ErrorCode::kUnavailable,
                  "the call was cancelled while the step's command was running; nothing was delivered",
                  "Deliver the step again with the same token");
    }
    return parts_->store.write([&](store::Transaction& transaction) -> Result<SessionResponse> {
      auto update = SessionUpdate::of(transaction, token.session, parts_->clock.now_ms());
      if (!update && update.error().code == ErrorCode::kNotFound) return refuse("TOKEN_UNKNOWN_NODE", update.error());
      if (!update) return std::unexpected(update.error());
      if (request.answer) SB_TRY(parts_->relay(*update, token, *request.answer));
      SessionResponse answer = SB_TRY(parts_->continue_session(*update, token, submission, has_output));
      SB_TRY(parts_->finish(*update));
      return answer;
    });
  }());
}

SessionResult<SessionResponse> Sessions::rehydrate(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<SessionResponse> {
    const SessionToken token =
        SB_TRY(parts_->token(text, {Purpose::kContinue, Purpose::kResume, Purpose::kCheckpoint}));
    return parts_->store.read([&](store::Snapshot& snapshot) -> Result<SessionResponse> {
      const auto summary = SB_TRY(read_summary(snapshot, token.session));
      const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
      if (!node) {
        return refuse("TOKEN_UNKNOWN_NODE", Error{ErrorCode::kNotFound,
                                                  fmt::format("session {} no longer exists", token.session),
                                                  parts_->remedy(RemedyKind::kFindSession),
                                                  {},
                                                  false});
      }
      SB_TRY(check_newest_event(snapshot, token.session));
      return show(snapshot, *summary, *node);
    });
  }());
}

Result<SessionResponse> Sessions::show(store::Snapshot& snapshot, const Summary& summary, const Node& node) {
  const auto program = SB_TRY(parts_->program(snapshot, summary.hash));
  std::vector<std::string> notices;
  if (node.number != summary.tip) notices.push_back(already_delivered_notice(summary));
  if (summary.status == SessionStatus::kStopped) {
    notices.push_back(fmt::format("This session was stopped: {}.", summary.stopped_reason));
  }
  const Value started = SB_TRY(read_event(snapshot, summary.id, 1, "session_started"));
  return parts_->answer_for(snapshot, *program, summary, node, RenderReason::kRehydrate, std::move(notices),
                            started["references"]);
}

SessionResult<Checkpoint> Sessions::checkpoint(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<Checkpoint> {
    const SessionToken token = SB_TRY(parts_->token(text, {Purpose::kCheckpoint, Purpose::kContinue}));
    return parts_->store.write([&](store::Transaction& transaction) -> Result<Checkpoint> {
      auto update = SessionUpdate::of(transaction, token.session, parts_->clock.now_ms());
      const auto node = update ? update->node(token.node) : std::unexpected(update.error());
      if (!node && node.error().code == ErrorCode::kNotFound) return refuse("TOKEN_UNKNOWN_NODE", node.error());
      if (!node) return std::unexpected(node.error());
      if (!(*node)->is_checkpoint) SB_TRY(update->emit("checkpointed", Value::object({{"node", token.node}})));
      const int attempt = update->known(token.node).attempt;
      SB_TRY(parts_->finish(*update));
      return Checkpoint{token.session, token.node, parts_->mint(Purpose::kResume, token.session, token.node, attempt),
                        parts_->mint(Purpose::kContinue, token.session, token.node, attempt)};
    });
  }());
}

SessionResult<SessionResponse> Sessions::rewind(std::string_view session, NodeNo number, std::string reason) {
  const std::scoped_lock lock(parts_->mutex);
  if (const Status fits = check_text("the reason", reason, limits::kTextBytes); !fits) {
    return answered<SessionResponse>(std::unexpected(fits.error()));
  }
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<SessionResponse> {
    SB_TRY(parts_->keys.load_or_make(transaction, parts_->random, parts_->clock.now_ms()));
    SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, parts_->clock.now_ms()));
    const NodeNo wanted = number == 0 ? update.summary().tip : number;
    const Node node = *SB_TRY(update.node(wanted));
    if (wanted != update.summary().tip || update.summary().status == SessionStatus::kStopped) {
      SB_TRY(update.emit("rewound", Value::object({{"node", wanted}, {"attempt", node.attempt}, {"reason", reason}})));
      SB_TRY(parts_->finish(update));
    }
    return show(transaction, update.summary(), update.known(wanted));
  }));
}

Status Sessions::stop(std::string_view session, std::string reason, std::string by) {
  const std::scoped_lock lock(parts_->mutex);
  SB_TRY(check_text("the reason", reason, limits::kTextBytes));
  return parts_->store.write(
      [&](store::Transaction& transaction) { return parts_->stop_in(transaction, session, reason, by); });
}

Result<Summary> Sessions::summary(std::string_view session) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<Summary> {
    auto found = SB_TRY(read_summary(snapshot, session));
    if (!found) {
      return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(session)),
                  "List sessions: signalbox session list");
    }
    SB_TRY(check_newest_event(snapshot, session));
    return std::move(*found);
  });
}

Result<std::string> Sessions::resolve(std::string_view name) {
  constexpr std::size_t kPrefixLength = 6;
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<std::string> {
    const auto unknown = [&] {
      return fail(ErrorCode::kNotFound,
                  fmt::format("no such session: {}", quote_json(name.substr(0, limits::kIdBytes))),
                  "List sessions: signalbox session list");
    };
    if (name.size() < kPrefixLength || name.size() > limits::kIdBytes || !is_utf8(name) || name.contains('\0')) {
      return unknown();
    }
    const auto rows = SB_TRY(snapshot.list(kSessions, {.prefix = std::string(name), .limit = 2}));
    if (rows.empty()) return unknown();
    if (rows.size() > 1) {
      return fail(ErrorCode::kInvalid, fmt::format("several sessions start with {}", quote_json(name)),
                  "Give more characters of the id");
    }
    return rows.front().key;
  });
}

Result<std::vector<Summary>> Sessions::list(int limit, const std::optional<Summary>& after) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<std::vector<Summary>> {
    store::Listing listing{.by = store::Order::kSort, .descending = true, .limit = limit};
    if (after) {
      listing.after =
          store::Row{after->id, fmt::format("{:015}/{}", std::max<TimestampMs>(after->updated_at, 0), after->id), ""};
    }
    std::vector<Summary> all;
    for (const store::Row& row : SB_TRY(snapshot.list(kSessions, listing))) {
      all.push_back(SB_TRY(summary_from(SB_TRY(open_row(kSessions, row)))));
    }
    return all;
  });
}

Result<Node> Sessions::node(std::string_view session, NodeNo number) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<Node> {
    auto found = SB_TRY(read_node(snapshot, session, number));
    if (!found) return fail(ErrorCode::kNotFound, fmt::format("session {} has no node {}", session, number));
    return std::move(*found);
  });
}

Result<std::vector<Node>> Sessions::nodes(std::string_view session) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<std::vector<Node>> {
    std::vector<Node> all;
    store::Listing listing{.prefix = std::string(session) + "/", .limit = limits::kStorePageRows};
    for (;;) {
      const auto rows = SB_TRY(snapshot.list(kNodes, listing));
      for (const store::Row& row : rows) all.push_back(SB_TRY(node_from(SB_TRY(open_row(kNodes, row)))));
      if (rows.size() < static_cast<std::size_t>(listing.limit)) return all;
      listing.after = rows.back();
    }
  });
}

Result<std::optional<Attempt>> Sessions::attempt(std::string_view session, NodeNo node, int number) {
  return parts_->store.read([&](store::Snapshot& snapshot) { return read_attempt(snapshot, session, node, number); });
}

Result<Sessions::Output> Sessions::output(std::string_view session, const Attempt& attempt) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<Output> {
    AttemptOutput delivered = SB_TRY(parts_->delivered(snapshot, session, attempt.output_seq));
    return Output{std::move(delivered.notes), std::move(delivered.artifacts)};
  });
}

Result<Value> Sessions::context(const Node& node) {
  return parts_->store.read([&](store::Snapshot& snapshot) { return read_json_blob(snapshot, node.context); });
}

Result<std::shared_ptr<const Program>> Sessions::program(std::string_view hash) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.read([&](store::Snapshot& snapshot) { return parts_->program(snapshot, hash); });
}

Result<std::string> Sessions::token_for(const Summary& summary) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.write([&](store::Transaction& transaction) -> Result<std::string> {
    SB_TRY(parts_->keys.load_or_make(transaction, parts_->random, parts_->clock.now_ms()));
    const auto tip = SB_TRY(read_node(transaction, summary.id, summary.tip));
    if (!tip) return fail(ErrorCode::kCorrupt, fmt::format("node {} of {} is missing", summary.tip, summary.id));
    return parts_->mint(Purpose::kResume, summary.id, tip->number, tip->attempt);
  });
}

Status Sessions::rotate_keys(bool retire_old) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.write([&](store::Transaction& transaction) -> Status {
    SB_TRY(parts_->keys.rotate(transaction, parts_->random, parts_->clock.now_ms(), retire_old));
    return retire_old ? parts_->refresh_open_step_tokens(transaction) : Status();
  });
}

}  // namespace sb::engine
