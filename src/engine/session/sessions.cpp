#include "engine/session/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/session/parts.hpp"

namespace sb::engine {
namespace {

// Codes for agents are in capitals; other rules are names of faults in documents.
bool is_agent_code(std::string_view rule) {
  return !rule.empty() && rule.front() >= 'A' && rule.front() <= 'Z';
}

template <class T>
Answered<T> answered(Result<T> result) {
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

Status check_start(const Starting& starting) {
  SB_TRY(check_text("the goal", starting.goal, limits::kGoalBytes));
  if (is_blank(starting.goal)) return fail(ErrorCode::kInvalid, "the goal is empty", "Say what is to be done");
  if (!starting.id.empty()) {
    const auto bytes = session_bytes(starting.id);
    if (!bytes || session_id_of(*bytes) != starting.id) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is no session's id", quote_json(starting.id)),
                  "An id is s- and 26 characters");
    }
  }
  SB_TRY(check_text("the workspace's path", starting.workspace, limits::kTextBytes));
  return check_text("the path of the workflow's file", starting.origin.file, limits::kTextBytes);
}

std::string_view code_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kLimit:
    case ErrorCode::kUnsupported:
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

Answered<Answer> Sessions::start(const Starting& starting) {
  const std::scoped_lock lock(parts_->mutex);
  if (starting.bundle.empty()) {
    return answered<Answer>(fail(ErrorCode::kInvalid, "there is no workflow to start", "Name one"));
  }
  if (const Status fits = check_start(starting); !fits) return answered<Answer>(std::unexpected(fits.error()));
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<Answer> {
    SB_TRY(parts_->keys.load_or_make(transaction, parts_->random, parts_->clock.now_ms()));
    if (auto before = SB_TRY(started_before(transaction, starting))) return std::move(*before);
    Birth birth;
    for (const auto& compiled : starting.bundle) {
      SB_TRY(put_json_blob(transaction, compiled->pinned));
      // Read back as every later turn reads it: what is pinned has its members by name.
      birth.program = SB_TRY(parts_->program(transaction, compiled->hash));
    }
    birth.id = starting.id.empty() ? make_id("s-", parts_->clock.now_ms(), parts_->random) : starting.id;
    birth.origins = {starting.origin};
    birth.origins.insert(birth.origins.end(), starting.borrowed.begin(), starting.borrowed.end());
    birth.goal = starting.goal;
    birth.context = starting.context;
    birth.workspace = starting.workspace;
    birth.repository = starting.repository;
    birth.git_branch = starting.git_branch;
    birth.git_head = starting.git_head;
    birth.is_autonomous = starting.is_autonomous;
    birth.references = starting.references;
    if (!starting.parent.empty()) SB_TRY(parts_->descend(transaction, birth, starting.parent));
    const Born born = SB_TRY(parts_->give_birth(transaction, birth));
    return parts_->answer_for(transaction, *birth.program, born.summary, born.node, Occasion::kStart, born.warnings,
                              starting.references);
  }));
}

Answered<Answer> Sessions::go_on(const Continuing& continuing) {
  std::unique_lock lock(parts_->mutex);
  if (continuing.intent == Continuing::Intent::kRehydrate) {
    if (!continuing.answer) return rehydrate(continuing.token);
    return answered<Answer>(
        fail(ErrorCode::kInvalid, "rehydrating only shows the step again; it takes no answer", "Leave the intent out"));
  }
  return answered([&]() -> Result<Answer> {
    const Token token = SB_TRY(parts_->token(continuing.token, {Purpose::kContinue, Purpose::kResume}));
    SB_TRY(check_text("notes", continuing.submission.notes, limits::kNotesBytes));
    const bool has_output = continuing.intent == Continuing::Intent::kAdvance || carries_output(continuing.submission);
    Submission submission = continuing.submission;
    // A command may take minutes, so it runs before the transaction; a token that is used already runs nothing.
    const auto due = has_output ? SB_TRY(parts_->command_due(token)) : std::nullopt;
    if (due) {
      // Nor do other sessions wait for it.
      lock.unlock();
      submission.command = parts_->commands.run(due->command, due->workspace, due->origins);
      lock.lock();
    }
    if (submission.command && submission.command->was_cancelled) {
      return fail(ErrorCode::kUnavailable, "the call was cancelled while the step's command ran; nothing was delivered",
                  "Deliver the step again with the same token");
    }
    return parts_->store.write([&](store::Transaction& transaction) -> Result<Answer> {
      auto turn = Turn::of(transaction, token.session, parts_->clock.now_ms());
      if (!turn && turn.error().code == ErrorCode::kNotFound) return refuse("TOKEN_UNKNOWN_NODE", turn.error());
      if (!turn) return std::unexpected(turn.error());
      if (continuing.answer) SB_TRY(parts_->relay(*turn, token, *continuing.answer));
      Answer answer = SB_TRY(parts_->go_on(*turn, token, submission, has_output));
      SB_TRY(parts_->finish(*turn));
      return answer;
    });
  }());
}

Answered<Answer> Sessions::rehydrate(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<Answer> {
    const Token token = SB_TRY(parts_->token(text, {Purpose::kContinue, Purpose::kResume, Purpose::kCheckpoint}));
    return parts_->store.read([&](store::Snapshot& snapshot) -> Result<Answer> {
      const auto summary = SB_TRY(read_summary(snapshot, token.session));
      const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
      if (!node) {
        return refuse("TOKEN_UNKNOWN_NODE", Error{ErrorCode::kNotFound,
                                                  fmt::format("session {} is not here any more", token.session),
                                                  parts_->remedy(NextStep::kFindSession),
                                                  {},
                                                  false});
      }
      return show(snapshot, *summary, *node);
    });
  }());
}

Result<Answer> Sessions::show(store::Snapshot& snapshot, const Summary& summary, const Node& node) {
  const auto program = SB_TRY(parts_->program(snapshot, summary.hash));
  std::vector<std::string> notices;
  if (node.number != summary.tip) notices.push_back(delivered_before_notice(summary));
  if (summary.status == SessionStatus::kStopped) {
    notices.push_back(fmt::format("This session was stopped: {}.", summary.stopped_reason));
  }
  const Value started = SB_TRY(read_event(snapshot, summary.id, 1, "session_started"));
  return parts_->answer_for(snapshot, *program, summary, node, Occasion::kRehydrate, std::move(notices),
                            started["references"]);
}

Answered<Checkpoint> Sessions::checkpoint(std::string_view text) {
  const std::scoped_lock lock(parts_->mutex);
  return answered([&]() -> Result<Checkpoint> {
    const Token token = SB_TRY(parts_->token(text, {Purpose::kCheckpoint, Purpose::kContinue}));
    return parts_->store.write([&](store::Transaction& transaction) -> Result<Checkpoint> {
      auto turn = Turn::of(transaction, token.session, parts_->clock.now_ms());
      const auto node = turn ? turn->node(token.node) : std::unexpected(turn.error());
      if (!node && node.error().code == ErrorCode::kNotFound) return refuse("TOKEN_UNKNOWN_NODE", node.error());
      if (!node) return std::unexpected(node.error());
      if (!(*node)->is_checkpoint) SB_TRY(turn->emit("checkpointed", Value::object({{"node", token.node}})));
      const int attempt = turn->known(token.node).attempt;
      SB_TRY(parts_->finish(*turn));
      return Checkpoint{token.session, token.node, parts_->mint(Purpose::kResume, token.session, token.node, attempt),
                        parts_->mint(Purpose::kContinue, token.session, token.node, attempt)};
    });
  }());
}

Answered<Answer> Sessions::rewind(std::string_view session, NodeNo number, std::string reason) {
  const std::scoped_lock lock(parts_->mutex);
  if (const Status fits = check_text("the reason", reason, limits::kTextBytes); !fits) {
    return answered<Answer>(std::unexpected(fits.error()));
  }
  return answered(parts_->store.write([&](store::Transaction& transaction) -> Result<Answer> {
    SB_TRY(parts_->keys.load_or_make(transaction, parts_->random, parts_->clock.now_ms()));
    Turn turn = SB_TRY(Turn::of(transaction, session, parts_->clock.now_ms()));
    const NodeNo wanted = number == 0 ? turn.summary().tip : number;
    const Node node = *SB_TRY(turn.node(wanted));
    if (wanted != turn.summary().tip || turn.summary().status == SessionStatus::kStopped) {
      SB_TRY(turn.emit("rewound", Value::object({{"node", wanted}, {"attempt", node.attempt}, {"reason", reason}})));
      SB_TRY(parts_->finish(turn));
    }
    return show(transaction, turn.summary(), turn.known(wanted));
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
      return fail(ErrorCode::kNotFound, fmt::format("there is no session {}", quote_json(session)),
                  "signalbox session list shows them");
    }
    return std::move(*found);
  });
}

Result<std::string> Sessions::resolve(std::string_view name) {
  constexpr std::size_t kPrefixLength = 6;
  return parts_->store.read([&](store::Snapshot& snapshot) -> Result<std::string> {
    const auto unknown = [&] {
      return fail(ErrorCode::kNotFound,
                  fmt::format("there is no session {}", quote_json(name.substr(0, limits::kIdBytes))),
                  "signalbox session list shows them");
    };
    if (name.size() < kPrefixLength || name.size() > limits::kIdBytes || !is_utf8(name) || name.contains('\0')) {
      return unknown();
    }
    const auto rows = SB_TRY(snapshot.list(kSessions, {.prefix = std::string(name), .limit = 2}));
    if (rows.empty()) return unknown();
    if (rows.size() > 1) {
      return fail(ErrorCode::kInvalid, fmt::format("several sessions begin with {}", quote_json(name)),
                  "Give more of the id");
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
    Delivered delivered = SB_TRY(parts_->delivered(snapshot, session, attempt.output_seq));
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
    if (!tip) return fail(ErrorCode::kCorrupt, fmt::format("node {} of {} is not there", summary.tip, summary.id));
    return parts_->mint(Purpose::kResume, summary.id, tip->number, tip->attempt);
  });
}

Status Sessions::rotate_keys(bool retire_old) {
  const std::scoped_lock lock(parts_->mutex);
  return parts_->store.write([&](store::Transaction& transaction) -> Status {
    SB_TRY(parts_->keys.rotate(transaction, parts_->random, parts_->clock.now_ms(), retire_old));
    return retire_old ? parts_->mint_open_steps_anew(transaction) : Status();
  });
}

}  // namespace sb::engine
