#include "pipeline/run/driver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kRunCheckMs = 200;
constexpr std::int64_t kDependencyMs = 60'000;
constexpr std::string_view kDepends = "the ticket depends on";

// Identified by path and content, so that the same file is recognised and a changed one is not.
std::string used_mark(const HomeDirectories& homes, const std::string& path, const std::string& bytes) {
  return join_path(join_path(homes.data, "pitches/used"), sha256_hex(fmt::format("{}\n{}", path, bytes)));
}

}  // namespace

std::string unused_pitch(const Files& files, const HomeDirectories& homes, const std::string& workspace) {
  for (const std::string& file : kPitchFiles) {
    const std::string path = join_path(workspace, file);
    if (files.kind(path) != FileKind::kFile) continue;
    const auto bytes = files.read(path, limits::kTicketBytes);
    if (!bytes || files.kind(used_mark(homes, path, *bytes)) != FileKind::kFile) return file;
  }
  return {};
}

RunDriver::RunDriver(CoordinatorParts& parts, std::string run, WaitLimits wait_limits)
    : parts_(parts),
      log_(parts.home.home().store(), parts.seams.clock),
      run_(std::move(run)),
      wait_limits_(wait_limits) {}

Status RunDriver::load() {
  state_ = SB_TRY(log_.state(run_));
  return {};
}

// No other process drives it; others only append a person's request to stop, which does not change what happened.
Status RunDriver::append(std::string type, Value payload, std::vector<std::string> blobs) {
  auto done = log_.append(run_, state_.events, type, payload, blobs);
  for (int tries = 0; tries < 5 && !done && done.error().code == ErrorCode::kConflict; ++tries) {
    SB_TRY(load());
    done = log_.append(run_, state_.events, type, payload, blobs);
  }
  if (!done) {
    Error error = done.error();
    error.message = fmt::format("run {} stops: cannot write `{}` to the log: {}", run_, type, error.message);
    if (error.remedy.empty()) error.remedy = fmt::format("Fix this, then: signalbox runs resume {}", run_);
    return std::unexpected(std::move(error));
  }
  SB_TRY(load());
  if (parts_.on_event) parts_.on_event(state_, {state_.events, state_.updated_at, std::move(type), std::move(payload)});
  return {};
}

DriveStatus RunDriver::suspend(std::string why) {
  state_.waits_for = std::move(why);
  return DriveStatus::kSuspend;
}

// Resumed: changes since then are logged, and pending waits are retried now. Not where the server named the time,
// unless other settings may point to another server.
Status RunDriver::record_resume() {
  if (!state_.outcome.empty() || state_.events == 1) return {};
  SB_TRY(append("resumed", Value::object({{"pid", static_cast<std::int64_t>(::getpid())}})));
  if (!state_.tree.path.empty()) remove_interrupted_writes(parts_.seams, state_.tree);
  const bool is_changed = state_.settings_hash != parts_.settings.hash;
  if (is_changed) {
    SB_TRY(append("settings_changed", Value::object({{"hash", parts_.settings.hash}, {"was", state_.settings_hash}})));
  }
  SB_TRY(compare_workflows());
  const bool may_ask = is_changed || !state_.is_parked_by_retry_after;
  if (state_.parked_until != 0 && may_ask) SB_TRY(append("woken", Value::object()));
  return {};
}

// Sessions that have started keep their settings. A file that cannot be read now may not be needed any more; a phase
// that needs it reports the error.
Status RunDriver::compare_workflows() {
  const auto catalog = open_run_catalog(parts_.seams, parts_.home.home().homes(), state_.workspace);
  if (!catalog) return {};
  const auto known = state_.workflows;
  for (const auto& [id, was] : known) {
    const auto entry = catalog->find(id);
    if (!entry) continue;
    const auto compiled = catalog->compile(**entry);
    if (compiled) SB_TRY(note_workflow(id, compiled->back()->hash));
  }
  return {};
}

Status RunDriver::note_workflow(const std::string& workflow, const std::string& hash) {
  const auto known = state_.workflows.find(workflow);
  if (known == state_.workflows.end() || known->second == hash) return {};
  return append("workflow_changed", Value::object({{"workflow", workflow}, {"hash", hash}, {"was", known->second}}));
}

Result<RunState> RunDriver::drive() {
  auto driven = drive_until_blocked();
  if (!driven) halt(driven.error());
  return driven;
}

// Later readers must see why no process drives the run. If even that cannot be logged, the driving process reports the
// error, and the run's state does not change.
void RunDriver::halt(const Error& error) {
  if (state_.events == 0) return;  // no such run, or it cannot be read
  (void)append("halted", Value::object({{"reason", error.to_string()}}));
}

Result<RunState> RunDriver::drive_until_blocked() {
  SB_TRY(load());
  SB_TRY(parts_.forge.set_run(run_, pushed_commit()));
  SB_TRY(record_resume());
  SB_TRY(retry_close());
  SB_TRY(restore_work_tree());
  for (;;) {
    if (!should_continue()) {
      suspend("it was interrupted");
      return state_;
    }
    SB_TRY(reopen());
    const RunAction action = next_action(state_, parts_.settings, parts_.forge.kind().is_hosted);
    const DriveStatus next = SB_TRY(std::visit([&](const auto& one) { return act(one); }, action));
    if (next == DriveStatus::kSuspend) return state_;
  }
}

Status RunDriver::compare_ticket(const Ticket& now) {
  SB_TRY(load());
  const std::string hash = now.hash();
  if (!state_.outcome.empty() || hash == state_.ticket_hash || hash == state_.ticket.hash()) return {};
  const auto is_merge = [](const RunState::DeliveryRecord& made) {
    return made.step == DeliveryStep::kMerge && made.done.passed;
  };
  if (std::ranges::any_of(state_.deliveries, is_merge)) return {};  // its request is delivered
  for (const RunQuestion& asked : state_.asked) {
    if (asked.question == "ticket_changed" && asked.packet["more"].string_at("hash") == hash) return {};
  }
  return open_question({.question = "ticket_changed",
                        .reason = "the ticket has changed since the run started",
                        .more = Value::object({{"ticket", now.to_value()}, {"hash", hash}})});
}

Result<DriveStatus> RunDriver::act(const ChooseMode&) {
  RouteFacts facts{.goal = state_.goal, .ticket = state_.ticket, .trigger = state_.trigger, .wanted = state_.wanted};
  facts.has_pitch = !unused_pitch(parts_.seams.files, parts_.home.home().homes(), state_.workspace).empty();
  const Route made = route(facts);
  SB_TRY(append("routed", Value::object({{"mode", to_string(made.mode)},
                                         {"reasons", Value::array(made.reasons)},
                                         {"touches_ui", made.touches_ui}})));
  return DriveStatus::kContinue;
}

Result<std::string> RunDriver::missing_dependency() const {
  std::vector<std::string> missing = state_.ticket.depends_on;
  store::PageRequest request{.limit = sb::limits::kStorePageRows, .after = ""};
  while (!missing.empty()) {
    const RunLog::Page page = SB_TRY(log_.list(request));
    for (const Value& row : page.runs) {
      // Tickets of other projects may have the same name.
      const bool is_merged_here =
          row.string_at("status") == "merged" && row.string_at("repository") == state_.repository;
      if (is_merged_here) std::erase(missing, row.string_at("ticket").value_or(""));
    }
    if (page.facts.next.empty()) break;
    request.after = page.facts.next;
  }
  return missing.empty() ? std::string() : missing.front();
}

Result<DriveStatus> RunDriver::act(const CreateWorkTree&) {
  if (const std::string missing = SB_TRY(missing_dependency()); !missing.empty()) {
    return park(parts_.seams.clock.now_ms() + kDependencyMs,
                fmt::format("{} {}, which no run of this repository has merged", kDepends, missing));
  }
  const std::string place = join_path(parts_.home.home().homes().data, "work-trees");
  const WorkTree tree = SB_TRY(make_work_tree(parts_.seams, {.repository = state_.repository,
                                                             .place = place,
                                                             .run = run_,
                                                             .strategy = parts_.settings.strategy,
                                                             .base = parts_.settings.base,
                                                             .remote = parts_.settings.forge.remote,
                                                             .prefix = parts_.settings.prefix,
                                                             .secret = parts_.forge.push_secret(),
                                                             .secret_host = parts_.forge.push_host()}));
  SB_TRY(copy_pitch(tree));
  SB_TRY(append("tree_made", Value::object({{"path", tree.path},
                                            {"branch", tree.branch},
                                            {"base", tree.base},
                                            {"commit", tree.base_commit},
                                            {"git_dir", tree.git_dir}})));
  return DriveStatus::kContinue;
}

// The pitch that routed here may exist only in the workspace, never committed.
Status RunDriver::copy_pitch(const WorkTree& tree) {
  if (!state_.route || state_.route->mode != RunMode::kImplement || tree.path == state_.workspace) return {};
  const auto pitch = SB_TRY(find_pitch(parts_.seams.files, state_.workspace));
  if (!pitch) return {};
  const std::string to = join_path(tree.path, pitch->path);
  SB_TRY(parts_.seams.files.make_directories(parent_path(to)));
  return parts_.seams.files.write_atomic(to, pitch->text);
}

Result<DriveStatus> RunDriver::act(const Escalate& escalate) {
  SB_TRY(append("escalated",
                Value::object({{"phase", escalate.phase}, {"round", escalate.round}, {"reason", escalate.reason}})));
  return DriveStatus::kContinue;
}

Result<DriveStatus> RunDriver::park(TimestampMs until, std::string reason, bool is_retry_after) {
  Value payload = Value::object({{"until", until}, {"reason", std::move(reason)}});
  if (is_retry_after) payload.set("told", true);
  SB_TRY(append("parked", std::move(payload)));
  return DriveStatus::kContinue;
}

Result<DriveStatus> RunDriver::act(const WaitUntil& wait) {
  Clock& clock = parts_.seams.clock;
  if (wait_limits_.parked_ms && wait.until - clock.now_ms() > *wait_limits_.parked_ms) {
    return suspend(fmt::format("it is parked until {}: {}", to_rfc3339(wait.until), state_.parked_reason));
  }
  if (state_.parked_reason.starts_with(kDepends) && wait.until - clock.now_ms() > wait_limits_.people_ms) {
    return suspend(state_.parked_reason);
  }
  while (should_continue()) {
    const std::int64_t left = wait.until - clock.now_ms();
    if (left <= 0) {
      SB_TRY(append("woken", Value::object()));
      return DriveStatus::kContinue;
    }
    const RunState now = SB_TRY(log_.state(run_));
    if (now.events != state_.events) {
      state_ = now;
      return DriveStatus::kContinue;
    }
    clock.sleep_ms(std::min(left, kRunCheckMs));
    if (wait_limits_.parked_ms) *wait_limits_.parked_ms -= std::min(left, kRunCheckMs);
  }
  return suspend(fmt::format("it was interrupted, parked until {}: {}", to_rfc3339(wait.until), state_.parked_reason));
}

// The workspace's pitch has been used: it must not turn the next run into an IMPLEMENT run. A pitch tracked by git is
// delivered with the change and only remembered; the checkout is not ours. Any other is moved to our home.
Result<DriveStatus> RunDriver::act(const ArchivePitch&) {
  Files& files = parts_.seams.files;
  const HomeDirectories& homes = parts_.home.home().homes();
  Value payload = Value::object();
  const std::string folder = join_path(join_path(homes.data, "pitches"), run_);
  Git git(parts_.seams, state_.workspace);
  for (const std::string& file : kPitchFiles) {
    const std::string from = join_path(state_.workspace, file);
    if (files.kind(from) != FileKind::kFile) continue;
    const std::string bytes = SB_TRY(files.read(from, limits::kTicketBytes));
    const std::string to = join_path(folder, base_name(parent_path(file)) + "-" + base_name(file));
    const std::string mark = used_mark(homes, from, bytes);
    SB_TRY(files.make_directories(folder));
    SB_TRY(files.make_directories(parent_path(mark)));
    SB_TRY(files.write_atomic(to, bytes));
    SB_TRY(files.write_atomic(mark, run_ + "\n"));
    const bool is_tracked =
        SB_TRY(git.run({.words = {"ls-files", "--error-unmatch", "--", file}, .accepted_codes = {0, 1}})).code == 0;
    if (!is_tracked) SB_TRY(files.remove(from));
    payload.set("path", from);
    payload.set("to", to);
  }
  SB_TRY(append("pitch_archived", std::move(payload)));
  return DriveStatus::kContinue;
}

std::string RunDriver::pushed_commit() const {
  std::string commit;
  for (const RunState::DeliveryRecord& made : state_.deliveries) {
    if (made.step == DeliveryStep::kPush && made.done.passed) commit = made.done.facts.string_at("commit").value_or("");
  }
  return commit;
}

Result<DriveStatus> RunDriver::act(const EndRun& end) {
  Value payload = Value::object({{"outcome", end.outcome}, {"reason", end.reason}});
  if (!state_.commit.empty()) payload.set("commit", state_.commit);
  if (!state_.request.empty()) payload.set("request", state_.request);
  if (!state_.url.empty()) payload.set("url", state_.url);
  if (!state_.tree.path.empty()) {
    remove_check_tree(parts_.seams, state_.repository, check_place(parts_.home.home().homes()), run_);
  }
  if (!state_.tree.path.empty() && parts_.settings.strategy != "read-only") {
    const Status removed = remove_work_tree(parts_.seams, state_.repository, state_.tree, pushed_commit());
    // It contains undelivered work, so it stays.
    if (!removed) payload.set("kept", Value::object({{"path", state_.tree.path}, {"why", removed.error().message}}));
  }
  SB_TRY(withdraw_questions());
  SB_TRY(append("ended", std::move(payload)));
  return DriveStatus::kContinue;
}

}  // namespace sb::pipeline
