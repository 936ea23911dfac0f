#include "engine/session/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/recall/session_list.hpp"
#include "engine/session/driver.hpp"
#include "engine/session/lineage.hpp"
#include "engine/session/pending_commands.hpp"
#include "engine/steps/deliveries.hpp"
#include "engine/transaction/session_events.hpp"
#include "store/paging.hpp"

namespace sb::engine {
namespace {

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

std::unexpected<Error> taken(const Summary& summary, std::string_view what, std::string_view has) {
  return refuse("PRECONDITION_FAILED", ErrorCode::kConflict,
                fmt::format("session {} already exists with another {}: {}", summary.id, what, has),
                "Start with another id, or without one");
}

}  // namespace

// In the order in which they use each other.
struct Sessions::Parts {
  store::Store& store;
  inbox::Inbox& inbox;
  Clock& clock;
  Random& random;
  CommandRunner& commands;
  const Surface surface;
  std::recursive_mutex mutex = {};
  SessionTokens tokens{store, clock, random, surface};
  PinnedPrograms programs = {};
  PendingCommands pending_commands{store, programs};
  SessionWriter writer{tokens, programs};
  SessionStopper stopper{writer, inbox, clock};
  ResponseWriter responses{tokens, inbox, surface};
  StepOpener opener{tokens, programs, writer, inbox, commands, clock, random, surface};
  Attempts attempts{opener, responses, inbox};
  Gates gates{attempts, opener, responses, programs, inbox};
  Decisions decisions{attempts, responses, inbox, commands};
  Joins joins{attempts, opener, stopper, responses, inbox};
  Deliveries deliveries{attempts, gates, decisions, joins, responses, programs, inbox, surface};

  // The answer for a session that is resumed at this node.
  Result<SessionResponse> show(store::Snapshot& snapshot, const Summary& summary, const Node& node);
  // The answer of the session that already has this id; nothing if there is none.
  Result<std::optional<SessionResponse>> find_started(store::Snapshot& snapshot, const StartRequest& start_request);
};

Sessions::Sessions(store::Store& store, inbox::Inbox& inbox, Clock& clock, Random& random, CommandRunner& commands,
                   Surface surface)
    : parts_(new Parts{store, inbox, clock, random, commands, surface}) {}
Sessions::~Sessions() = default;

Result<SessionResponse> Sessions::Parts::show(store::Snapshot& snapshot, const Summary& summary, const Node& node) {
  const auto program = SB_TRY(programs.get(snapshot, summary.hash));
  std::vector<std::string> notices;
  if (node.number != summary.tip) notices.push_back(already_delivered_notice(summary));
  if (summary.status == SessionStatus::kStopped) {
    notices.push_back(fmt::format("This session was stopped: {}.", summary.stopped_reason));
  }
  const Value started = SB_TRY(read_event(snapshot, summary.id, 1, "session_started"));
  return responses.open(
      snapshot, {*program, summary, node},
      {.reason = RenderReason::kRehydrate, .notices = std::move(notices), .references = started["references"]});
}

Result<std::optional<SessionResponse>> Sessions::Parts::find_started(store::Snapshot& snapshot,
                                                                     const StartRequest& start_request) {
  if (start_request.id.empty()) return std::nullopt;
  const auto summary = SB_TRY(read_summary(snapshot, start_request.id));
  if (!summary) return std::nullopt;
  if (summary->workflow_id != start_request.bundle.back()->definition.id) {
    return taken(*summary, "workflow", summary->workflow_id);
  }
  if (summary->goal != start_request.goal) return taken(*summary, "goal", quote_json(summary->goal));
  if (summary->parent_session != start_request.parent) {
    return taken(*summary, "parent", summary->parent_session.empty() ? "none" : summary->parent_session);
  }
  const auto tip = SB_TRY(read_node(snapshot, summary->id, summary->tip));
  if (!tip) return fail(ErrorCode::kCorrupt, fmt::format("node {} of {} is missing", summary->tip, summary->id));
  return SB_TRY(show(snapshot, *summary, *tip));
}

SessionResult<SessionResponse> Sessions::start(const StartRequest& start_request) {
  const std::scoped_lock lock(parts_->mutex);
  if (start_request.bundle.empty()) {
    return answered<SessionResponse>(fail(ErrorCode::kInvalid, "no workflow given", "Name one"));
  }
  if (const Status fits = check_start(start_request); !fits)
    return answered<SessionResponse>(std::unexpected(fits.error()));
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<SessionResponse> {
    SB_TRY(parts_->tokens.load_or_make(transaction));
    if (auto before = SB_TRY(parts_->find_started(transaction, start_request))) return std::move(*before);
    NewSession new_session;
    for (const auto& compiled : start_request.bundle) {
      SB_TRY(put_json_blob(transaction, compiled->pinned));
      // Read back as every later turn reads it: the members of pinned JSON are sorted by name.
      new_session.program = SB_TRY(parts_->programs.get(transaction, compiled->hash));
    }
    new_session.id = start_request.id;
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
    new_session.run = start_request.run;
    new_session.references = start_request.references;
    new_session.out_of_scope = start_request.out_of_scope;
    if (!start_request.parent.empty()) {
      SB_TRY(attach_to_parent(transaction, new_session, start_request.parent, parts_->surface));
    }
    const CreatedSession created = SB_TRY(parts_->opener.create_session(transaction, new_session));
    return parts_->responses.open(
        transaction, {*new_session.program, created.summary, created.node},
        {.reason = RenderReason::kStart, .notices = created.warnings, .references = start_request.references});
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
    const SessionToken token = SB_TRY(parts_->tokens.read(request.token, {Purpose::kContinue, Purpose::kResume}));
    SB_TRY(check_text("notes", request.submission.notes, limits::kNotesBytes));
    const bool delivers = request.intent == ContinueRequest::Intent::kAdvance || request.submission.has_output();
    Submission submission = request.submission;
    // A command may take minutes, so it runs before the transaction; for a used token nothing runs.
    const auto due = delivers ? SB_TRY(parts_->pending_commands.find(token)) : std::nullopt;
    if (due) {
      SB_TRY(parts_->store.read(
          [&](store::Snapshot& snapshot) { return engine::check_driver(snapshot, due->session, parts_->surface); }));
      // Other sessions do not wait for it either.
      lock.unlock();
      const Summary& session = due->session;
      if (!due->command.empty()) {
        submission.command =
            parts_->commands.run(due->command, session.workspace, due->origins, request.should_continue);
      }
      auto changed = due->hands_over
                         ? parts_->commands.changed_files(session.workspace, session.git_head, session.started_at)
                         : std::nullopt;
      if (changed) submission.changes = {std::move(*changed), session.workspace, due->was_gap_reported};
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
      SB_TRY(engine::check_driver(transaction, update->summary(), parts_->surface));
      if (request.answer) SB_TRY(relay(parts_->inbox, *update, token, *request.answer));
      SessionResponse answer = SB_TRY(parts_->deliveries.continue_session(*update, token, submission, delivers));
      SB_TRY(parts_->writer.finish(*update));
      return answer;
    });
  }());
}

SessionResult<SessionResponse> Sessions::rehydrate(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<SessionResponse> {
    const SessionToken token =
        SB_TRY(parts_->tokens.read(text, {Purpose::kContinue, Purpose::kResume, Purpose::kCheckpoint}));
    return parts_->store.read([&](store::Snapshot& snapshot) -> Result<SessionResponse> {
      const auto summary = SB_TRY(read_summary(snapshot, token.session));
      const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
      if (!node) {
        return refuse("TOKEN_UNKNOWN_NODE", ErrorCode::kNotFound,
                      fmt::format("session {} no longer exists", token.session),
                      remedy_for(RemedyKind::kFindSession, parts_->surface));
      }
      SB_TRY(engine::check_driver(snapshot, *summary, parts_->surface));
      SB_TRY(check_newest_event(snapshot, token.session));
      return parts_->show(snapshot, *summary, *node);
    });
  }());
}

SessionResult<Checkpoint> Sessions::checkpoint(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<Checkpoint> {
    const SessionToken token = SB_TRY(parts_->tokens.read(text, {Purpose::kCheckpoint, Purpose::kContinue}));
    return parts_->store.write([&](store::Transaction& transaction) -> Result<Checkpoint> {
      auto update = SessionUpdate::of(transaction, token.session, parts_->clock.now_ms());
      const auto node = update ? update->node(token.node) : std::unexpected(update.error());
      if (!node && node.error().code == ErrorCode::kNotFound) return refuse("TOKEN_UNKNOWN_NODE", node.error());
      if (!node) return std::unexpected(node.error());
      SB_TRY(engine::check_driver(transaction, update->summary(), parts_->surface));
      if (!(*node)->is_checkpoint) SB_TRY(update->emit("checkpointed", Value::object({{"node", token.node}})));
      const int attempt = update->known(token.node).attempt;
      SB_TRY(parts_->writer.finish(*update));
      return Checkpoint{token.session, token.node,
                        parts_->tokens.mint(Purpose::kResume, token.session, token.node, attempt),
                        parts_->tokens.mint(Purpose::kContinue, token.session, token.node, attempt)};
    });
  }());
}

SessionResult<SessionResponse> Sessions::rewind(std::string_view session, NodeNo number, std::string reason) {
  const std::scoped_lock lock(parts_->mutex);
  if (const Status fits = check_text("the reason", reason, limits::kTextBytes); !fits) {
    return answered<SessionResponse>(std::unexpected(fits.error()));
  }
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<SessionResponse> {
    SB_TRY(parts_->tokens.load_or_make(transaction));
    SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, parts_->clock.now_ms()));
    SB_TRY(engine::check_driver(transaction, update.summary(), parts_->surface));
    const NodeNo wanted = number == 0 ? update.summary().tip : number;
    const Node node = *SB_TRY(update.node(wanted));
    if (wanted != update.summary().tip || update.summary().status == SessionStatus::kStopped) {
      SB_TRY(update.emit("rewound", Value::object({{"node", wanted}, {"attempt", node.attempt}, {"reason", reason}})));
      SB_TRY(parts_->writer.finish(update));
    }
    return parts_->show(transaction, update.summary(), update.known(wanted));
  }));
}

Status Sessions::stop(std::string_view session, std::string reason, std::string by) {
  const std::scoped_lock lock(parts_->mutex);
  SB_TRY(check_text("the reason", reason, limits::kTextBytes));
  return parts_->store.write(
      [&](store::Transaction& transaction) { return parts_->stopper.stop(transaction, session, reason, by); });
}

Status Sessions::check_lineage(std::string_view session) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.read([&](store::Snapshot& snapshot) -> Status {
    SB_TRY(parts_->tokens.load(snapshot));
    return engine::check_lineage(snapshot, parts_->tokens.keys(), session);
  });
}

Status Sessions::check_driver(const Summary& summary) {
  return parts_->store.read(
      [&](store::Snapshot& snapshot) { return engine::check_driver(snapshot, summary, parts_->surface); });
}

Status Sessions::drive(std::string_view session, const std::string& run) {
  const std::scoped_lock lock(parts_->mutex);
  const Summary now = SB_TRY(summary(session));
  if (now.run == run || now.is_taken_over) return {};
  return parts_->store.write([&](store::Transaction& transaction) -> Status {
    SB_TRY(parts_->tokens.load_or_make(transaction));
    SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, parts_->clock.now_ms()));
    SB_TRY(update.emit("driven", Value::object({{"run", run}})));
    return parts_->writer.finish(update);
  });
}

Status Sessions::take_over_in(store::Transaction& transaction, std::string_view session, const std::string& run,
                              const std::string& by) {
  const std::scoped_lock lock(parts_->mutex);
  SB_TRY(parts_->tokens.load_or_make(transaction));
  SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, parts_->clock.now_ms()));
  if (update.summary().is_taken_over || run.empty()) return {};
  if (update.summary().run.empty()) SB_TRY(update.emit("driven", Value::object({{"run", run}})));
  SB_TRY(update.emit("taken_over", Value::object({{"by", by}})));
  return parts_->writer.finish(update);
}

Status Sessions::return_to_run_in(store::Transaction& transaction, std::string_view session) {
  const std::scoped_lock lock(parts_->mutex);
  SB_TRY(parts_->tokens.load_or_make(transaction));
  SessionUpdate update = SB_TRY(SessionUpdate::of(transaction, session, parts_->clock.now_ms()));
  if (!update.summary().is_taken_over) return {};
  SB_TRY(update.emit("driven", Value::object({{"run", update.summary().run}})));
  return parts_->writer.finish(update);
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

Result<std::vector<Summary>> Sessions::list(int limit) {
  SessionPage page = SB_TRY(list_sessions(parts_->store, SessionScope::kAll, {.limit = limit}));
  return std::move(page.sessions);
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
    const store::Listing of_session{.prefix = std::string(session) + "/"};
    SB_TRY(store::each_row(snapshot, kNodes, of_session, [&](const store::Row& row) -> Status {
      all.push_back(SB_TRY(node_from(SB_TRY(open_row(kNodes, row)))));
      return {};
    }));
    return all;
  });
}

Result<std::optional<Attempt>> Sessions::attempt(std::string_view session, NodeNo node, int number) {
  return parts_->store.read([&](store::Snapshot& snapshot) { return read_attempt(snapshot, session, node, number); });
}

Result<Sessions::Output> Sessions::output(std::string_view session, const Attempt& attempt) {
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<Output> {
    AttemptOutput delivered = SB_TRY(read_output(snapshot, session, attempt.output_seq));
    return Output{std::move(delivered.notes), std::move(delivered.artifacts)};
  });
}

Result<Value> Sessions::artifact(std::string_view hash) {
  return parts_->store.read([&](store::Snapshot& snapshot) { return read_json_blob(snapshot, hash); });
}

Result<Value> Sessions::context(const Node& node) {
  return parts_->store.read([&](store::Snapshot& snapshot) { return read_json_blob(snapshot, node.context); });
}

Result<Value> Sessions::visible_context(const Summary& summary) {
  const Value held = SB_TRY(context(SB_TRY(node(summary.id, summary.tip))));
  return workflow::visible_context(SB_TRY(program(summary.hash))->definition(), held);
}

Result<std::shared_ptr<const Program>> Sessions::program(std::string_view hash) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.read([&](store::Snapshot& snapshot) { return parts_->programs.get(snapshot, hash); });
}

Result<std::string> Sessions::token_for(const Summary& summary) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.write([&](store::Transaction& transaction) -> Result<std::string> {
    SB_TRY(engine::check_driver(transaction, summary, parts_->surface));
    SB_TRY(parts_->tokens.load_or_make(transaction));
    const auto tip = SB_TRY(read_node(transaction, summary.id, summary.tip));
    if (!tip) return fail(ErrorCode::kCorrupt, fmt::format("node {} of {} is missing", summary.tip, summary.id));
    return parts_->tokens.mint(Purpose::kResume, summary.id, tip->number, tip->attempt);
  });
}

Status Sessions::rotate_keys(bool retire_old) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.write([&](store::Transaction& transaction) -> Status {
    SB_TRY(parts_->tokens.rotate(transaction, retire_old));
    return retire_old ? parts_->writer.renew_open_step_tokens(transaction) : Status();
  });
}

}  // namespace sb::engine
