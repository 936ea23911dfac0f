// The parts of delivery that need the run's state.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kAgainMs = 30'000;
constexpr std::size_t kInternalFiles = 1'000;  // each is an argument of a command

void add_all(std::vector<std::string>& to, const Value& list) {
  if (!list.is_array()) return;
  for (const Value& item : list.items()) {
    if (item.is_string() && std::ranges::find(to, item.as_string()) == to.end()) to.push_back(item.as_string());
  }
}

// Every text gets a fair share of the space, so that none can push another one out.
std::string fitted(std::vector<std::string> texts, std::size_t bytes, const std::string& whole) {
  std::ranges::sort(texts, {}, &std::string::size);
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t share = (bytes - std::min(bytes, all.size())) / (texts.size() - i);
    const bool is_cut = texts[i].size() > share;
    all += all.empty() ? "" : "\n";
    all += is_cut ? fmt::format("{}\n[{} of {} bytes shown; all of it: {}]\n", utf8_prefix(texts[i], share), share,
                                texts[i].size(), whole)
                  : texts[i];
  }
  return all;
}

std::string bullets(std::string_view title, const Value& list) {
  if (!list.is_array() || list.items().empty()) return {};
  std::string text = fmt::format("\n\n{}\n", title);
  for (const Value& item : list.items()) {
    text += fmt::format("\n- {}", item.is_string() ? item.as_string() : to_json(item));
  }
  return text;
}

std::string body_of(const RunState& state) {
  std::string text = state.goal;
  if (!state.ticket.url.empty() || !state.ticket.id.empty()) {
    text += fmt::format("\n\nTicket: {}", state.ticket.url.empty() ? state.ticket.id : state.ticket.url);
  }
  if (const PhaseRecord* coding = state.newest(Phase::kCoding)) {
    const Value& artifact = coding->result.artifact;
    text += bullets("Decided:", artifact["keyDecisions"]);
    text += bullets("Known limitations:", artifact["knownLimitations"]);
    text += bullets("Tests added:", artifact["testsAdded"]);
    text += bullets("Phases with incomplete results:", Value(coding->result.degraded));
  }
  return text;
}

}  // namespace

DeliverySpec RunDriver::delivery_spec(int round) const {
  DeliverySpec spec;
  spec.run = run_;
  spec.goal = state_.goal;
  spec.tree = state_.tree;
  spec.repository = state_.repository;
  spec.check_place = check_place(parts_.home.home().homes());
  spec.round = round;
  spec.parent = state_.tree.base_commit;
  for (const RunState::DeliveryRecord& made : state_.deliveries) {
    const bool is_commit = made.step == DeliveryStep::kCommit || made.step == DeliveryStep::kUpdate;
    if (!is_commit || made.round >= round || !made.done.passed) continue;
    spec.parent = made.done.facts.string_at("commit").value_or(spec.parent);
  }
  for (const PhaseRecord& record : state_.phases) {
    if (record.phase == Phase::kShaping) {
      spec.out_of_scope.clear();
      add_all(spec.out_of_scope, record.result.artifact["outOfScope"]);
    }
    if (record.phase != Phase::kCoding && record.phase != Phase::kFix) continue;
    add_all(spec.files_changed, record.result.artifact["filesChanged"]);
    if (record.round > round) continue;
    spec.session = record.session;
    spec.at = record.ended_at;
  }
  spec.base = base_commit();
  spec.protected_paths = parts_.settings.protected_paths;
  spec.rule_paths = parts_.settings.tier0;
  const std::string inside = state_.workspace + "/";
  if (parts_.settings.soul.starts_with(inside)) spec.rule_paths.push_back(parts_.settings.soul.substr(inside.size()));
  spec.internal_paths = kPitchFiles;
  if (const std::string pitch = used_pitch(); !pitch.empty()) spec.retired_paths = {pitch};
  spec.checks = parts_.settings.checks;
  spec.setup = parts_.settings.setup;
  spec.checks_trusted = parts_.settings.checks_trusted;
  const std::string title = state_.ticket.title.empty() ? state_.goal : state_.ticket.title;
  spec.title = shortened(first_line(title), 200);
  spec.body = body_of(state_);
  spec.subject = round == 0 ? spec.title : fmt::format("{} (fix round {})", shortened(first_line(title), 160), round);
  spec.identity = parts_.settings.identity;
  spec.remote = parts_.settings.forge.remote;
  spec.ticket = state_.ticket;
  spec.request = state_.request;
  return spec;
}

// The pitch of an IMPLEMENT run, relative to its work tree.
std::string RunDriver::used_pitch() const {
  if (!state_.route || state_.route->mode != RunMode::kImplement) return {};
  for (const std::string& file : kPitchFiles) {
    if (parts_.seams.files.kind(join_path(state_.tree.path, file)) == FileKind::kFile) return file;
  }
  return {};
}

// A round without changes is based on what the previous one delivered.
int RunDriver::delivered_round(const DeliverStep& step) const {
  if (step.step <= DeliveryStep::kRequest) return step.round;
  for (int round = step.round; round >= 0; --round) {
    const bool has_commit = state_.newest(DeliveryStep::kRequest, round) || state_.newest(DeliveryStep::kUpdate, round);
    if (has_commit) return round;
  }
  return step.round;
}

// The facts of the round whose commit is delivered, and of its request since.
Value RunDriver::facts_of(const DeliverStep& step) const {
  const int round = delivered_round(step);
  Value facts = Value::object();
  for (const RunState::DeliveryRecord& made : state_.deliveries) {
    if (made.done.facts.find("error") != nullptr) continue;
    const bool is_seen_since = made.round == step.round && made.step > DeliveryStep::kRequest;
    if (made.round == round || is_seen_since) facts.set(to_string(made.step), made.done.facts);
  }
  return facts;
}

DeliveryParts RunDriver::delivery_parts() {
  DeliveryParts delivery{.seams = parts_.seams, .forge = parts_.forge, .secrets = parts_.secrets, .run_check = {}};
  delivery.run_check = make_check_runner(parts_.seams, parts_.home.home().homes(), parts_.should_continue, nullptr,
                                         secret_files(parts_.settings));
  delivery.should_continue = parts_.should_continue;
  return delivery;
}

Result<DriveStatus> RunDriver::act(const DeliverStep& step) {
  DeliveryParts delivery = delivery_parts();
  SB_TRY(parts_.forge.set_run(run_, pushed_commit()));
  const auto done = deliver(step.step, delivery_spec(delivered_round(step)), facts_of(step), delivery);
  if (!should_continue()) return suspend("it was interrupted");
  if (!done) return refused(step, done.error());
  if (!done->passed && done->retry_at_ms > 0) {
    return park(done->retry_at_ms, fmt::format("{} is pending", to_string(step.step)));
  }
  Value findings = Value::array();
  for (const DeliveryFinding& finding : done->findings) findings.push_back(finding.to_value());
  SB_TRY(append("delivered", Value::object({{"step", to_string(step.step)},
                                            {"round", step.round},
                                            {"passed", done->passed},
                                            {"findings", std::move(findings)},
                                            {"facts", done->facts},
                                            {"was_there", done->already_existed},
                                            {"policy", to_value(policy_of(parts_.settings))}})));
  return DriveStatus::kContinue;
}

// An outage is waited for; what a person can fix becomes a finding for them; anything else stops the run here.
Result<DriveStatus> RunDriver::refused(const DeliverStep& step, const Error& error) {
  if (error.is_retryable) {
    const std::int64_t wait = parts_.forge.retry_after_ms();
    return park(parts_.seams.clock.now_ms() + (wait > 0 ? wait : kAgainMs), error.to_string(), wait > 0);
  }
  const bool is_local_step =
      step.step == DeliveryStep::kScope || step.step == DeliveryStep::kChecks || step.step == DeliveryStep::kSecrets;
  if (is_internal_failure(error.code) || is_local_step) {
    Error reported = error;
    reported.message = fmt::format("run {} stops at {}: {}", run_, to_string(step.step), error.message);
    if (reported.remedy.empty()) reported.remedy = fmt::format("Fix this, then: signalbox runs resume {}", run_);
    return std::unexpected(std::move(reported));
  }
  SB_TRY(note_refusal(step, error));
  return DriveStatus::kContinue;
}

Status RunDriver::note_refusal(const DeliverStep& step, const Error& error) {
  const DeliveryFinding finding{"critical", error.to_string(), "", std::string(to_string(error.code))};
  return append("delivered", Value::object({{"step", to_string(step.step)},
                                            {"round", step.round},
                                            {"passed", false},
                                            {"findings", Value(Value::Array{finding.to_value()})},
                                            {"facts", Value::object({{"error", to_string(error.code)}})},
                                            {"was_there", false},
                                            {"policy", to_value(policy_of(parts_.settings))}}));
}

// A merged run is over even if closing the ticket failed; when it is resumed, closing is tried again.
Status RunDriver::retry_close() {
  const RunState::DeliveryRecord* failed = state_.failed_closing();
  if (state_.outcome.empty() || failed == nullptr) return {};
  const DeliverStep step{DeliveryStep::kClose, failed->round};
  DeliveryParts delivery = delivery_parts();
  const auto done = deliver(step.step, delivery_spec(delivered_round(step)), facts_of(step), delivery);
  if (!done) return note_refusal(step, done.error());
  return append("delivered", Value::object({{"step", to_string(step.step)},
                                            {"round", step.round},
                                            {"passed", true},
                                            {"findings", Value::array()},
                                            {"facts", done->facts},
                                            {"was_there", done->already_existed}}));
}

Status RunDriver::record_answer(const RunQuestion& asked, std::string choice, std::string remark) {
  const Value payload = Value::object({{"question", asked.question},
                                       {"decision", asked.decision},
                                       {"choice", std::move(choice)},
                                       {"by", parts_.forge.kind().name},
                                       {"remark", std::move(remark)}});
  SB_TRY(parts_.home.home().store().write([&](store::Transaction& transaction) -> Status {
    SB_TRY(parts_.home.home().inbox().discard_in(transaction, asked.decision));
    return log_.append_in(transaction, run_, state_.events, "decided", payload);
  }));
  SB_TRY(load());
  if (parts_.on_event) parts_.on_event(state_, {state_.events, state_.updated_at, "decided", payload});
  return {};
}

// A question is settled when someone acted by hand: a merged request counts as merged; for a closed one, that becomes
// the question. If the forge does not answer, nothing changes.
Result<bool> RunDriver::is_settled_by_forge(const RunQuestion& asked) {
  const bool is_merge = asked.question == "merge";
  const RunState::DeliveryRecord* last = state_.deliveries.empty() ? nullptr : &state_.deliveries.back();
  if (state_.request.empty() || last == nullptr || last->step < DeliveryStep::kRequestChecks) return false;
  const std::string about = state_.escalations.empty() ? "" : state_.escalations.back().phase;
  const bool is_delivery = asked.question == "escalation" && (about == "merge" || about == "delivery");
  if (!is_merge && !is_delivery) return false;
  const auto found = parts_.forge.find({.branch = state_.tree.branch, .run = run_, .id = state_.request});
  if (!found || !*found) return false;
  const ChangeRequest& request = **found;
  if (request.state == ChangeRequest::State::kMerged && request.commit == pushed_commit()) {
    if (!is_merge && last->done.passed) return false;
    SB_TRY(record_answer(asked, is_merge ? "merge" : "retry", "the request was merged in the meantime"));
    return true;
  }
  if (!is_merge || request.state == ChangeRequest::State::kOpen) return false;
  const bool is_closed = request.state == ChangeRequest::State::kClosed;
  const DeliveryFinding finding{
      "critical",
      is_closed ? "the change request was closed without merging"
                : fmt::format("the request was merged at {}, not at what was pushed", request.commit),
      "", is_closed ? "request_closed" : "merged_other"};
  SB_TRY(append("delivered", Value::object({{"step", to_string(DeliveryStep::kMerge)},
                                            {"round", last->round},
                                            {"passed", false},
                                            {"findings", Value(Value::Array{finding.to_value()})},
                                            {"facts", Value::object()},
                                            {"was_there", false}})));
  SB_TRY(record_answer(asked, is_closed ? "closed" : "merged", finding.summary));
  return true;
}

// The base of the change: where the run started, or what it was updated to.
std::string RunDriver::base_commit() const {
  std::string base = state_.tree.base_commit;
  for (const RunState::DeliveryRecord& made : state_.deliveries) {
    if (made.step == DeliveryStep::kUpdate && made.done.passed) base = made.done.facts.string_at("base").value_or(base);
  }
  return base;
}

// For people; if git fails, its error instead.
std::string RunDriver::diff_stat() {
  auto git = git_of_work_tree(parts_.seams, state_.tree);
  if (!git) return git.error().message;
  auto changes = git->changes(base_commit());
  if (!changes) return changes.error().message;
  std::string text;
  std::size_t count = 0;
  for (const Change& change : *changes) {
    if (is_internal(change, {.internal_paths = kPitchFiles})) continue;
    if (++count <= 30) text += fmt::format("{}{} {}", text.empty() ? "" : "\n", change.status, shown(change.path));
  }
  if (count > 30) text += fmt::format("\n… {} files in total", count);
  return text;
}

// The change to the files that judge later changes, for the person without whom it is not merged.
// What looks like a secret is redacted, and nothing can hide a line: neither attributes nor control characters.
void RunDriver::add_judge_hunks(QuestionContext& about) {
  const RunState::DeliveryRecord* scope = state_.newest_with_judges(std::numeric_limits<int>::max());
  if (scope == nullptr) return;
  const auto git = git_of_work_tree(parts_.seams, state_.tree);
  Git reader = git ? *git : Git(parts_.seams, state_.repository);
  const std::string tree = scope->done.facts.string_at("tree").value_or("");
  std::map<std::string, std::string> paths;  // by their names in facts
  for (const Change& change : reader.changes_between(base_commit(), tree).value_or(std::vector<Change>())) {
    for (const std::string& path : {change.old_path, change.path}) paths[shown(path)] = path;
  }
  std::vector<std::string> hunks;
  for (const Value& judge : scope->done.facts["judges"].items()) {
    const std::string file = judge.string_at("file").value_or("");
    const auto diff =
        reader.run(GitCall{.words = {"diff-tree", "-r", "-p", "--text", "--no-renames", "--no-ext-diff",
                                     "--no-textconv", "--no-color", base_commit(), tree, "--", paths[file]},
                           .max_bytes = limits::kDiffBytes});
    const std::string text = diff ? visible_text(diff->output, parts_.secrets) : diff.error().to_string();
    about.has_all_of_judges = about.has_all_of_judges && diff && !diff->output_truncated;
    hunks.push_back(fmt::format("{} ({}):\n{}", file, judge.string_at("why").value_or(""), text));
  }
  const std::string whole = fmt::format("git -C {} diff {} {}", state_.repository, base_commit(), tree);
  std::size_t bytes = hunks.size();  // the line feeds between them
  for (const std::string& hunk : hunks) bytes += hunk.size();
  about.has_all_of_judges = about.has_all_of_judges && bytes <= limits::kJudgeHunkBytes;
  about.judges = fitted(std::move(hunks), limits::kJudgeHunkBytes, whole);
}

Result<std::string> RunDriver::change_text(std::size_t max_bytes) {
  Git git = SB_TRY(git_of_work_tree(parts_.seams, state_.tree));
  // Notes that phases write for each other are not part of the change.
  std::vector<Change> internal = SB_TRY(git.changes(base_commit()));
  std::erase_if(internal, [](const Change& change) { return !is_internal(change, {.internal_paths = kPitchFiles}); });
  if (internal.size() > kInternalFiles) {
    return fail(ErrorCode::kLimit, fmt::format("the work tree contains {} note files", internal.size()),
                fmt::format("Remove unneeded ones from {}", state_.tree.path));
  }
  auto diff = git.diff(base_commit(), limits::kDiffBytes, internal);
  if (!diff && diff.error().code == ErrorCode::kLimit) {
    return fmt::format("The change is too large to show here. Its files:\n{}", diff_stat());
  }
  std::string text = shown(SB_TRY(std::move(diff)));
  if (text.size() > max_bytes) {
    text = fmt::format("{}\n[{} of {} bytes shown; read the files for the rest]\n{}", utf8_prefix(text, max_bytes),
                       max_bytes, text.size(), diff_stat());
  }
  return text.empty() ? std::string("No changes.") : text;
}

}  // namespace sb::pipeline
