// `session list`, `resume`, `export`, `import`, `verify`, `prune`, `gc`, `rotate-keys`: finding and maintaining
// sessions.
#include "engine/upkeep/upkeep.hpp"

#include <fmt/format.h>

#include <limits>

#include "agent/secrets/redact.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "cli/paging.hpp"
#include "cli/session/session_commands.hpp"
#include "cli/session/summary_line.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "engine/answer/session_view.hpp"
#include "engine/recall/find_session.hpp"
#include "engine/recall/session_list.hpp"
#include "engine/session/workspace_facts.hpp"
#include "runs/known_secrets.hpp"

namespace sb::cli {
namespace {

using HomePointer = std::unique_ptr<inbox::Home>;

constexpr std::size_t kShortestSecret = 6;

struct UpkeepOptions {
  std::string id, query, workspace, file, older_than;
  bool wants_all = false, wants_json = false, same_workspace = false, include_open = false, dry_run = false;
  bool revoke_old = false, wants_best = false, may_rewrite = false;
  store::PageRequest page = {};
};

// For reading: falls back to read-only access if the home is not writable. Nothing if no session was ever started.
Result<HomePointer> open_if_there(const Context& context) {
  Result<HomePointer> home = inbox::Home::open(context.seams, store::Access::kReadWrite);
  if (home || home.error().code != ErrorCode::kIo) return home;
  home = inbox::Home::open(context.seams, store::Access::kReadOnly);
  if (!home && home.error().code == ErrorCode::kNotFound) return HomePointer();
  return home;
}

Result<HomePointer> open_for_writing(const Context& context) {
  return inbox::Home::open(context.seams, store::Access::kReadWrite);
}

Result<HomePointer> open_with_sessions(const Context& context) {
  HomePointer home = SB_TRY(open_if_there(context));
  if (home) return home;
  return fail(ErrorCode::kNotFound, "no session was ever started here");
}

engine::ProgressCallback shown_by(ProgressLine& line) {
  return [&line](std::int64_t done, std::int64_t) { line.at(static_cast<int>(done)); };
}

void warn_damaged(const Context& context, const std::string& id) {
  context.err(fmt::format(
      "warning: the record of session {} is damaged; signalbox store repair writes it again from its events\n", id));
}

std::string list_command(const UpkeepOptions& options) {
  std::string command = "signalbox session list";
  if (options.wants_all) command += " --all";
  if (options.page.limit != store::PageRequest().limit) command += fmt::format(" --limit {}", options.page.limit);
  return command;
}

Result<int> list(Context& context, const UpkeepOptions& options) {
  const HomePointer home = SB_TRY(open_if_there(context));
  const auto scope = options.wants_all ? engine::SessionScope::kAll : engine::SessionScope::kOpen;
  engine::SessionPage page;
  if (home) page = SB_TRY(engine::list_sessions(home->store(), scope, options.page));
  for (const std::string& id : page.damaged) warn_damaged(context, id);
  if (options.wants_json) {
    Value items = Value::array();
    for (const engine::Summary& summary : page.sessions) items.push_back(engine::session_value(summary));
    context.out(to_json(page_value("sessions", std::move(items), page.facts)) + "\n");
    return kExitOk;
  }
  for (const engine::Summary& summary : page.sessions) context.out(session_line(summary) + "\n");
  context.out(more_line(page.facts, list_command(options)));
  if (page.sessions.empty()) {
    context.out(options.wants_all ? "There are no sessions.\n" : "No session is open. Use --all to list ended ones.\n");
  }
  return kExitOk;
}

void print_candidates(const Context& context, const engine::ResumeMatches& found,
                      const std::vector<std::string>& tokens, bool has_words) {
  if (found.candidates.empty()) {
    context.out("No matching session.\n");
  } else if (has_words && !found.has_direct_match()) {
    context.out("No open session matches. Open sessions of this project:\n");
  }
  for (std::size_t i = 0; i < found.candidates.size(); ++i) {
    const engine::ResumeCandidate& candidate = found.candidates[i];
    context.out(fmt::format("{}\n    {}, in {}\n", session_line(candidate.summary), printable(candidate.why),
                            printable(candidate.summary.workspace)));
    context.out(fmt::format("    signalbox session continue {}\n", tokens[i]));
  }
  if (found.eligible > found.candidates.size()) {
    context.out(fmt::format("Showing {} of {} sessions. Add words or use the id to find others.\n",
                            found.candidates.size(), found.eligible));
  }
}

Result<engine::ResumeQuery> query_for(const Context& context, const UpkeepOptions& options) {
  if (!is_utf8(options.query)) return fail(ErrorCode::kInvalid, "the query is not UTF-8");
  engine::ResumeQuery query{.text = options.query};
  query.workspace = SB_TRY(workspace_of(context, options.workspace));
  const engine::GitState git = engine::git_state(context.seams.files, query.workspace);
  query.repository = git.repository;
  query.git_branch = git.branch;
  query.git_head = git.head;
  query.same_workspace_only = options.same_workspace;
  return query;
}

Result<int> resume(Context& context, const UpkeepOptions& options) {
  const engine::ResumeQuery query = SB_TRY(query_for(context, options));
  const auto home = SB_TRY(SessionHome::open(context.seams));
  const engine::ResumeMatches found = SB_TRY(engine::find_resumable(home->home().store(), query));
  for (const std::string& id : found.damaged) warn_damaged(context, id);
  if (found.driven) SB_TRY(home->sessions().check_driver(*found.driven));
  std::vector<std::string> tokens;
  for (const engine::ResumeCandidate& candidate : found.candidates) {
    tokens.push_back(SB_TRY(home->sessions().token_for(candidate.summary)));
  }
  // If nothing matches, the project's sessions are listed instead; none of them is picked for a user who asked for
  // another one.
  const bool is_meant = !tokens.empty() && (query.text.empty() || found.has_direct_match());
  if (options.wants_best && !is_meant && !tokens.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("no session matches {}", quote_json(query.text)),
                "Run signalbox session resume without --best to list this project's sessions");
  }
  if (options.wants_best && !tokens.empty()) {
    const auto answer = home->sessions().rehydrate(tokens.front());
    return answer ? print_answer(context, *answer, options.wants_json)
                  : print_error(context, answer.error(), options.wants_json);
  }
  if (!options.wants_json) {
    print_candidates(context, found, tokens, !query.text.empty());
  } else {
    Value candidates = Value::array();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Value one = engine::candidate_value(found.candidates[i]);
      one.set("resumeToken", tokens[i]);
      candidates.push_back(std::move(one));
    }
    context.out(to_json(Value::object({{"candidates", candidates}, {"totalEligible", found.eligible}})) + "\n");
  }
  return found.candidates.empty() ? kExitNegative : kExitOk;
}

Status refuse_secrets(std::string_view line, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < kShortestSecret || line.find(secret) == line.npos) continue;
    return fail(ErrorCode::kForbidden, "the session contains one of your configured secrets, so it is not exported",
                "Replace that secret where it is valid and in your settings; then export the session");
  }
  return {};
}

Result<int> export_one(Context& context, const UpkeepOptions& options) {
  const HomePointer home = SB_TRY(open_with_sessions(context));
  const std::string id = SB_TRY(engine::find_session(home->store(), options.id));
  // Every line is part of a chain of hashes, so a secret cannot be taken out of it.
  const auto secrets = agent::secret_forms(runs::known_secrets(context.seams, workspace_of(context, "").value_or("")));
  SB_TRY(
      engine::export_session(home->store(), id, [&](std::string_view line) { return refuse_secrets(line, secrets); }));
  SB_TRY(engine::export_session(home->store(), id, [&](std::string_view line) -> Status {
    context.out(line);
    context.out("\n");
    return {};
  }));
  return kExitOk;
}

// The lines of a file that is in memory.
class FileLines {
 public:
  explicit FileLines(std::string text) : text_(std::move(text)) {}
  Result<std::optional<std::string>> next() {
    if (at_ >= text_.size()) return std::nullopt;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

Result<int> import_one(Context& context, const UpkeepOptions& options) {
  const bool is_input = options.file == "-";
  FileLines lines(is_input ? "" : SB_TRY(context.seams.files.read(options.file, limits::kImportBytes)));
  const HomePointer home = SB_TRY(open_for_writing(context));
  ProgressLine line(context, "events read");
  int read = 0;
  auto imported = engine::import_session(home->store(), [&]() -> Result<std::optional<std::string>> {
    line.at(++read);
    return is_input ? context.streams().read_line(limits::kExportLineBytes) : lines.next();
  });
  if (!imported) {
    imported.error().location.file = is_input ? "<stdin>" : options.file;
    return std::unexpected(std::move(imported).error());
  }
  context.out(options.wants_json ? to_json(Value::object({{"sessionId", *imported}})) + "\n"
                                 : fmt::format("Imported session {}.\n", *imported));
  return kExitOk;
}

Value to_value(const std::vector<engine::Damage>& damages) {
  Value list = Value::array();
  for (const engine::Damage& damage : damages) {
    list.push_back(Value::object({{"where", damage.where}, {"message", damage.message}}));
  }
  return list;
}

Result<int> verify(Context& context, const UpkeepOptions& options) {
  if (!options.id.empty() && options.wants_all) return fail(ErrorCode::kInvalid, "give an ID or --all, not both");
  const HomePointer home = options.id.empty() ? SB_TRY(open_if_there(context)) : SB_TRY(open_with_sessions(context));
  Value damaged = Value::array();
  const auto print_damages = [&](const std::string& id, const std::vector<engine::Damage>& damages) {
    if (damages.empty()) return;
    damaged.push_back(Value::object({{"sessionId", id}, {"damages", to_value(damages)}}));
    if (options.wants_json) return;
    for (const engine::Damage& damage : damages) {
      context.out(fmt::format("{}: {}: {}\n", id, printable(damage.where), printable(damage.message)));
    }
  };
  std::int64_t count = 0;
  if (!options.id.empty()) {
    const std::string id = SB_TRY(engine::find_session(home->store(), options.id));
    print_damages(id, SB_TRY(engine::verify_session(home->store(), id)));
    count = 1;
  } else if (home) {
    ProgressLine line(context, "sessions checked");
    count = SB_TRY(engine::verify_sessions(home->store(), print_damages, shown_by(line)));
  }
  const bool is_intact = damaged.size() == 0;
  if (options.wants_json) {
    context.out(to_json(Value::object({{"sessions", count}, {"damaged", damaged}})) + "\n");
  } else if (is_intact) {
    context.out(count == 1 ? "1 session verified.\n" : fmt::format("{} sessions verified.\n", count));
  } else {
    context.out(fmt::format("{} of {} sessions are damaged. What can be saved: signalbox store repair --dry-run\n",
                            damaged.size(), count));
  }
  return is_intact ? kExitOk : kExitNegative;
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{} KB", bytes / 1'000);
  return fmt::format("{} MB", bytes / 1'000'000);
}

// What prune and gc did, beyond the engine's part.
struct Upkept {
  engine::PruneResult pruned;
  std::int64_t decisions = 0;
  store::SpaceReport space = {};
};

void print_upkept(const Context& context, const Upkept& upkept, const UpkeepOptions& options) {
  const engine::PruneResult& pruned = upkept.pruned;
  if (options.wants_json) {
    Value value = Value::object({{"sessions", Value::array(pruned.sessions)},
                                 {"decisions", upkept.decisions},
                                 {"blobs", pruned.blobs},
                                 {"bytes", pruned.bytes},
                                 {"returnedBytes", upkept.space.released},
                                 {"unusedBytes", upkept.space.unused},
                                 {"dryRun", options.dry_run}});
    if (!pruned.not_collected.empty()) value.set("notCollected", pruned.not_collected);
    context.out(to_json(value) + "\n");
    return;
  }
  for (const std::string& id : pruned.sessions) context.out(id + "\n");
  const std::string_view would = options.dry_run ? "would be " : "";
  if (!options.older_than.empty()) {
    context.out(
        fmt::format("{} {}deleted; ", counted(static_cast<std::int64_t>(pruned.sessions.size()), "session"), would));
    if (upkept.decisions > 0) context.out(fmt::format("{} of their decisions {}closed; ", upkept.decisions, would));
  }
  context.out(fmt::format("{} {}removed, {}.\n", counted(pruned.blobs, "unused blob"), would, size_text(pruned.bytes)));
  if (!pruned.not_collected.empty()) {
    context.err(fmt::format("warning: unused blobs were kept, because damage hides what is in use: {}\n",
                            pruned.not_collected));
  }
  if (upkept.space.released > 0) {
    context.out(fmt::format("{} returned to the disk.\n", size_text(upkept.space.released)));
  }
  if (upkept.space.unused > 0) {
    context.out(
        fmt::format("{} in the store are unused and will be used again. To return them to the disk: signalbox "
                    "session gc --compact (other processes wait meanwhile)\n",
                    size_text(upkept.space.unused)));
  }
}

Status return_space(store::Store& store, const UpkeepOptions& options, Upkept& upkept) {
  if (options.dry_run) return {};
  upkept.space = SB_TRY(engine::return_space(
      store, options.may_rewrite ? std::numeric_limits<std::int64_t>::max() : engine::kMostRewrittenBytes));
  return {};
}

Result<int> prune(Context& context, const UpkeepOptions& options) {
  const std::int64_t age = SB_TRY(parse_duration_ms(options.older_than));
  const HomePointer home = SB_TRY(open_for_writing(context));
  ProgressLine line(context, "checked");
  const TimestampMs before = context.seams.clock.now_ms() - age;
  Upkept upkept;
  upkept.pruned = SB_TRY(engine::prune(home->store(), before, options.include_open, options.dry_run, shown_by(line)));
  upkept.decisions =
      SB_TRY(engine::close_orphaned_decisions(home->store(), home->inbox(), upkept.pruned.sessions, options.dry_run));
  SB_TRY(return_space(home->store(), options, upkept));
  print_upkept(context, upkept, options);
  return kExitOk;
}

Result<int> collect(Context& context, const UpkeepOptions& options) {
  const HomePointer home = SB_TRY(open_for_writing(context));
  ProgressLine line(context, "events checked");
  Upkept upkept{.pruned = SB_TRY(engine::collect_garbage(home->store(), options.dry_run, shown_by(line)))};
  SB_TRY(return_space(home->store(), options, upkept));
  print_upkept(context, upkept, options);
  return kExitOk;
}

Result<int> rotate_keys(Context& context, const UpkeepOptions& options) {
  const auto home = SB_TRY(SessionHome::open(context.seams));
  SB_TRY(home->sessions().rotate_keys(options.revoke_old));
  context.out(options.revoke_old ? "New tokens are signed with a new key; all older tokens are revoked.\n"
                                 : "New tokens are signed with a new key; older tokens stay valid.\n");
  return kExitOk;
}

using UpkeepAction = Result<int> (*)(Context&, const UpkeepOptions&);

Subcommand with(App* app, UpkeepAction run, std::shared_ptr<UpkeepOptions> options) {
  return {app, [run, options](Context& context) {
            const Result<int> code = run(context, *options);
            return code ? *code : report(context, code.error());
          }};
}

App* add(App& session, const std::string& name, const std::string& summary, UpkeepOptions& options) {
  App* sub = session.add_subcommand(name, summary);
  if (name != "export" && name != "rotate-keys") sub->add_flag("--json", options.wants_json, "Print JSON");
  return sub;
}

}  // namespace

std::vector<Subcommand> declare_session_upkeep(App& session) {
  auto options = std::make_shared<UpkeepOptions>();
  App* list_app = add(session, "list", "List open sessions, newest first", *options);
  list_app->add_flag("--all", options->wants_all, "Include ended sessions and child sessions");
  add_page_options(*list_app, options->page);

  App* resume_app = add(session, "resume", "Find a session and print how to continue it", *options);
  resume_app->add_option("QUERY", options->query, "Words from its goal or notes, a workflow, or its id");
  resume_app->add_option("--workspace", options->workspace, "The project's folder (default: the current folder)");
  resume_app->add_flag("--best", options->wants_best, "Print the step of the best match");
  resume_app->add_flag("--here", options->same_workspace, "Only sessions of this project");

  App* export_app = add(session, "export", "Print a session, one JSON event per line", *options);
  export_app->add_option("ID", options->id, "The session's id, or a prefix of it")->required();
  App* import_app = add(session, "import", "Import an exported session atomically", *options);
  import_app->add_option("FILE", options->file, "The exported file; - for stdin")->required();

  App* verify_app = add(session, "verify", "Check every record of a session; exit 1 if one is damaged", *options);
  verify_app->add_option("ID", options->id, "The session (default: all)");
  verify_app->add_flag("--all", options->wants_all, "All sessions");

  App* prune_app = add(session, "prune", "Delete old ended sessions and what only they used", *options);
  prune_app->add_option("--older-than", options->older_than, "Age since the last change: 30d, 12h")->required();
  prune_app->add_flag("--include-open", options->include_open, "Include sessions that have not ended");
  prune_app->add_flag("--dry-run", options->dry_run, "Only print what would be deleted");
  App* gc_app = add(session, "gc", "Remove stored blobs that no session uses", *options);
  gc_app->add_flag("--dry-run", options->dry_run, "Only print what would be removed");
  gc_app->add_flag("--compact", options->may_rewrite,
                   "Rewrite a large store of an older version so that it returns unused space; others wait meanwhile");
  App* keys_app = add(session, "rotate-keys", "Sign new tokens with a new key", *options);
  keys_app->add_flag("--revoke-old", options->revoke_old, "Revoke tokens signed with older keys");

  return {with(list_app, list, options),         with(resume_app, resume, options),
          with(export_app, export_one, options), with(import_app, import_one, options),
          with(verify_app, verify, options),     with(prune_app, prune, options),
          with(gc_app, collect, options),        with(keys_app, rotate_keys, options)};
}

}  // namespace sb::cli
