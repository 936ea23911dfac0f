#include <fmt/format.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "engine/recall/recall.hpp"
#include "engine/session/parts.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

std::string_view code_of(TokenFault fault) {
  switch (fault) {
    case TokenFault::kNotAToken:
    case TokenFault::kMangled:
      return "TOKEN_INVALID_FORMAT";
    case TokenFault::kVersion:
      return "TOKEN_UNSUPPORTED_VERSION";
    case TokenFault::kUnknownKey:
    case TokenFault::kRetiredKey:
    case TokenFault::kForged:
      return "TOKEN_BAD_SIGNATURE";
  }
  return "TOKEN_INVALID_FORMAT";
}

std::string_view name_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::kContinue:
      return "continue token (ct_)";
    case Purpose::kCheckpoint:
      return "checkpoint token (ck_)";
    case Purpose::kResume:
      return "resume token (st_)";
  }
  return "";
}

workflow::Origin origin_from(const Value& value) {
  workflow::Origin origin;
  // An unknown kind counts as a project's: the kind whose commands need the user's trust.
  origin.kind = workflow::SourceKind::kProject;
  for (const auto kind : {workflow::SourceKind::kBundled, workflow::SourceKind::kUser, workflow::SourceKind::kManaged,
                          workflow::SourceKind::kNamed}) {
    if (value.string_at("kind") == workflow::to_string(kind)) origin.kind = kind;
  }
  origin.folder = value.string_at("folder").value_or("");
  origin.file = value.string_at("file").value_or("");
  origin.digest = value.string_at("digest").value_or("");
  return origin;
}

// Where a session's workflow came from; for a child session, that of the root session, because its commands are pinned
// with it.
Result<std::vector<workflow::Origin>> origins_of(store::Snapshot& snapshot, Summary summary) {
  for (int up = 0; !summary.parent_session.empty() && up <= limits::kChildDepth; ++up) {
    auto parent = SB_TRY(read_summary(snapshot, summary.parent_session));
    if (!parent) return fail(ErrorCode::kCorrupt, fmt::format("the parent of session {} is missing", summary.id));
    summary = std::move(*parent);
  }
  const Value started = SB_TRY(read_event(snapshot, summary.id, 1, "session_started"));
  std::vector<workflow::Origin> all;
  if (started["origins"].is_array()) {
    for (const Value& origin : started["origins"].items()) all.push_back(origin_from(origin));
  }
  if (all.empty()) all.push_back(origin_from({}));
  return all;
}

}  // namespace

std::unexpected<Error> refuse(std::string_view code, Error error) {
  error.rule = code;
  return std::unexpected(std::move(error));
}

Result<std::shared_ptr<const Program>> Sessions::Parts::program(store::Snapshot& snapshot, std::string_view hash) {
  if (const auto found = programs.find(hash); found != programs.end()) return found->second;
  constexpr std::string_view kPrefix = "sha256:";
  const std::string_view hex = hash.starts_with(kPrefix) ? hash.substr(kPrefix.size()) : hash;
  const Value pinned = SB_TRY(read_json_blob(snapshot, hex));
  auto made = std::make_shared<const Program>(SB_TRY(workflow::read_pinned(pinned)));
  programs.emplace(hash, made);
  return made;
}

Result<SessionToken> Sessions::Parts::token(std::string_view text, std::initializer_list<Purpose> allowed) {
  const auto find = [&](std::uint16_t id) { return keys.find(id); };
  auto token = read_token(text, find);
  const auto is_stale = [&] {
    return !token && (token.error().fault == TokenFault::kUnknownKey || token.error().fault == TokenFault::kRetiredKey);
  };
  // Another process may have added or retired a key since: a retired one must not be accepted for long.
  constexpr std::int64_t kKeysFreshMs = 1'000;
  const TimestampMs now = clock.now_ms();
  if (keys.empty() || is_stale() || now - keys_read_ms >= kKeysFreshMs || now < keys_read_ms) {
    SB_TRY(store.read([&](store::Snapshot& snapshot) { return keys.load(snapshot); }));
    keys_read_ms = now;
    token = read_token(text, find);
  }
  if (!token) {
    Error error = token.error().error;
    if (is_stale() || token.error().fault == TokenFault::kNotAToken) {
      error.remedy += (error.remedy.empty() ? "" : ". ") + remedy(RemedyKind::kFindSession);
    }
    return refuse(code_of(token.error().fault), std::move(error));
  }
  if (std::ranges::find(allowed, token->purpose) == allowed.end()) {
    return refuse("TOKEN_SCOPE_MISMATCH", Error{ErrorCode::kInvalid,
                                                fmt::format("a {} cannot be used here", name_of(token->purpose)),
                                                fmt::format("Use a {}", name_of(*allowed.begin())),
                                                {},
                                                false});
  }
  return *token;
}

Result<AttemptOutput> Sessions::Parts::delivered(store::Snapshot& snapshot, std::string_view session,
                                                 std::int64_t seq) {
  AttemptOutput out;
  if (seq == 0) return out;
  const auto events = SB_TRY(snapshot.events(session_stream(session), seq, 1));
  if (events.empty() || events.front().seq != seq) {
    return fail(ErrorCode::kCorrupt, fmt::format("event {} of session {} is missing", seq, session));
  }
  const Value payload = SB_TRY(parse_stored(events.front().payload));
  out.notes = payload.string_at("notes").value_or("");
  if (const Value* set = payload.find("context_set")) out.context_set = *set;
  if (const Value* removed = payload.find("removed"); removed != nullptr && removed->is_array()) {
    for (const Value& key : removed->items()) out.context_set.set(key.as_string(), Value());
  }
  const Value* artifacts = payload.find("artifacts");
  if (artifacts == nullptr || !artifacts->is_array()) return out;
  for (const Value& hash : artifacts->items()) {
    if (!hash.is_string())
      return fail(ErrorCode::kCorrupt, fmt::format("event {} of session {} is damaged", seq, session));
    out.artifacts.push_back(SB_TRY(read_json_blob(snapshot, hash.as_string())));
  }
  return out;
}

Result<std::optional<PendingCommand>> Sessions::Parts::pending_command(const SessionToken& token) {
  constexpr std::size_t kRemembered = 10'000;
  if (without_commands.contains(token.session)) return std::nullopt;
  return store.read([&](store::Snapshot& snapshot) -> Result<std::optional<PendingCommand>> {
    const auto summary = SB_TRY(read_summary(snapshot, token.session));
    const auto node = summary ? SB_TRY(read_node(snapshot, token.session, token.node)) : std::nullopt;
    if (!node) return std::nullopt;
    const auto program = SB_TRY(this->program(snapshot, summary->hash));
    if (!program->has_commands()) {
      if (without_commands.size() >= kRemembered) without_commands.clear();
      without_commands.insert(token.session);
      return std::nullopt;
    }
    if (node->attempt != token.attempt || node->kind != NodeKind::kStep) return std::nullopt;
    if (node->waiting && node->waiting->what != Waiting::Kind::kBreaker) return std::nullopt;
    const workflow::Step& step = program->step(node->position.step);
    if (step.command.empty()) return std::nullopt;
    return PendingCommand{step.command, summary->workspace, SB_TRY(origins_of(snapshot, *summary))};
  });
}

Result<std::string> Sessions::Parts::recall_from(store::Snapshot& snapshot, const Program& program,
                                                 std::string_view session, const Node& node) {
  std::map<NodeNo, Node> seen{{node.number, node}};
  const auto before = [&](NodeNo number) -> Result<std::optional<RecalledStep>> {
    const Node& current = seen.at(number);
    if (current.parent == 0) return std::nullopt;
    auto parent = SB_TRY(read_node(snapshot, session, current.parent));
    const auto attempt = SB_TRY(read_attempt(snapshot, session, current.parent, current.parent_attempt));
    if (!parent || !attempt) {
      return fail(ErrorCode::kCorrupt, fmt::format("node {} of session {} is missing", current.parent, session));
    }
    RecalledStep past;
    past.node = parent->number;
    past.parent = parent->parent;
    past.step_id = parent->position.step;
    if (const StepNo step = program.find(past.step_id); step != kNoStep) past.title = program.at(step).step->title;
    past.notes = SB_TRY(delivered(snapshot, session, attempt->output_seq)).notes;
    seen.clear();
    seen.emplace(parent->number, std::move(*parent));
    return past;
  };
  return recall(node.number, limits::kRecallBytes, before, node.depth);
}

Result<std::vector<ChildView>> Sessions::Parts::children_of(store::Snapshot& snapshot, const Node& node) {
  std::vector<ChildView> views;
  for (const Child& child : node.children) {
    ChildView view{child.id, child.workflow_id, child.goal, "", child.outcome, child.reason};
    if (!child.session.empty() && child.outcome.empty()) {
      const auto summary = SB_TRY(read_summary(snapshot, child.session));
      const auto tip = summary ? SB_TRY(read_node(snapshot, child.session, summary->tip)) : std::nullopt;
      if (tip && tip->kind != NodeKind::kEnd && summary->status != SessionStatus::kStopped) {
        view.token = mint(Purpose::kContinue, child.session, tip->number, tip->attempt);
      }
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace sb::engine
