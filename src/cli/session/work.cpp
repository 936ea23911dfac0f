// `session start`, `continue`, `fork`, `checkpoint`, `stop`.
#include <fmt/format.h>

#include <optional>

#include "base/limits.hpp"
#include "cli/session/session_commands.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "engine/session/prepare.hpp"

namespace sb::cli {
namespace {

struct WorkOptions {
  std::string id, goal, workspace, token, reason;
  std::string notes_file, note;
  std::vector<std::string> artifacts, context;
  std::string context_file, decision;
  int node = 0;
  bool wants_json = false, is_autonomous = false, is_advance = false, is_rehydrate = false;
};

Result<std::string> text_of(const Context& context, const std::string& path, std::size_t limit) {
  if (path == "-") return context.streams().read_input(limit);
  return context.seams.files.read(path, limit);
}

Result<Value> json_of(const Context& context, const std::string& given, std::string_view what, std::size_t limit) {
  const bool is_inline = given.starts_with('{') || given.starts_with('[');
  auto read = is_inline ? Result<std::string>(given) : text_of(context, given, limit);
  if (!read && read.error().code == ErrorCode::kLimit) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} {} is larger than the limit of {} bytes", what, quote_json(given), limit),
                "See docs/limits.md");
  }
  const std::string text = SB_TRY(std::move(read));
  auto value = parse_json(text);
  if (value) return value;
  Error error = value.error();
  error.message = fmt::format("{} {}: {}", what, is_inline ? "given" : quote_json(given), error.message);
  return std::unexpected(error);
}

// K=V. V is parsed as JSON if it is JSON, else taken as text.
Status add_pair(Value& context, const std::string& pair) {
  const auto at = pair.find('=');
  if (at == std::string::npos || at == 0) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not KEY=VALUE", quote_json(pair)), "Write --context key=value");
  }
  const std::string text = pair.substr(at + 1);
  auto value = parse_json(text);
  context.set(pair.substr(0, at), value ? std::move(*value) : Value(text));
  return {};
}

Result<Value> context_of(const Context& context, const WorkOptions& options) {
  Value all = Value::object();
  if (!options.context_file.empty()) {
    // More than may be sent, so that a context that is slightly too large is reported as such and not as an unreadable
    // file.
    all = SB_TRY(json_of(context, options.context_file, "the context", limits::kContextBytes * 128));
    if (!all.is_object()) {
      return fail(ErrorCode::kInvalid, fmt::format("the context is {}, not an object", kind_name(all.kind())),
                  "Write {\"key\": value}");
    }
  }
  for (const std::string& pair : options.context) SB_TRY(add_pair(all, pair));
  return all;
}

Result<engine::Submission> submission_of(const Context& context, const WorkOptions& options) {
  engine::Submission submission;
  submission.notes = options.note;
  if (!options.notes_file.empty()) {
    auto text = text_of(context, options.notes_file, limits::kDocumentBytes);
    if (!text && text.error().code == ErrorCode::kNotFound) {
      text.error().remedy = "--notes takes a file, or - for stdin; --note takes the text itself";
    }
    submission.notes = SB_TRY(std::move(text));
  }
  for (const std::string& given : options.artifacts) {
    Value value = SB_TRY(json_of(context, given, "the artifact", limits::kArtifactBytes * 8));
    if (value.is_array()) {
      for (Value& item : value.items()) submission.artifacts.push_back(std::move(item));
    } else {
      submission.artifacts.push_back(std::move(value));
    }
  }
  submission.context = SB_TRY(context_of(context, options));
  return submission;
}

// With --json the first fault is the message and all are the details; else all are printed on stderr.
int print_refused(const Context& context, const engine::SessionError& error, const Faults& faults, bool wants_json) {
  return wants_json || faults.empty() ? print_error(context, error, wants_json) : report(context, faults);
}

int start(const Context& context, const WorkOptions& options) {
  const auto fail_with = [&](Error error) {
    return print_error(context, engine::session_error(std::move(error)), options.wants_json);
  };
  const auto workspace = workspace_of(context, options.workspace);
  if (!workspace) return fail_with(workspace.error());
  const auto catalog = open_catalog(context, {.workspace = *workspace});
  if (!catalog) return fail_with(catalog.error());
  auto given = context_of(context, options);
  if (!given) return fail_with(given.error());
  Faults faults;
  auto start_request = engine::prepare_start(context.seams.files, *catalog,
                                             {.workflow_id = options.id,
                                              .goal = options.goal,
                                              .workspace = *workspace,
                                              .context = std::move(*given),
                                              .is_autonomous = options.is_autonomous},
                                             &faults);
  if (!start_request) return print_refused(context, start_request.error(), faults, options.wants_json);
  auto home = SessionHome::open(context.seams);
  if (!home) return fail_with(home.error());
  const auto answer = (*home)->sessions().start(*start_request);
  if (!answer) return print_error(context, answer.error(), options.wants_json);
  return print_answer(context, *answer, options.wants_json);
}

int continue_session(const Context& context, const WorkOptions& options) {
  const auto fail_with = [&](Error error) {
    return print_error(context, engine::session_error(std::move(error)), options.wants_json);
  };
  auto submission = submission_of(context, options);
  if (!submission) return fail_with(submission.error());
  auto home = SessionHome::open(context.seams);
  if (!home) return fail_with(home.error());
  engine::ContinueRequest continuing;
  continuing.token = options.token;
  continuing.submission = std::move(*submission);
  if (options.is_advance) continuing.intent = engine::ContinueRequest::Intent::kAdvance;
  if (options.is_rehydrate) continuing.intent = engine::ContinueRequest::Intent::kRehydrate;
  const auto answer = (*home)->sessions().continue_session(continuing);
  if (!answer) return print_error(context, answer.error(), options.wants_json);
  return print_answer(context, *answer, options.wants_json);
}

int fork(const Context& context, const WorkOptions& options) {
  const auto home = SessionHome::open(context.seams);
  if (!home) return report(context, home.error());
  const auto id = (*home)->sessions().resolve(options.id);
  if (!id) return print_error(context, engine::session_error(id.error()), options.wants_json);
  const auto answer = (*home)->sessions().rewind(*id, options.node, options.reason);
  if (!answer) return print_error(context, answer.error(), options.wants_json);
  return print_answer(context, *answer, options.wants_json);
}

int checkpoint(const Context& context, const WorkOptions& options) {
  const auto home = SessionHome::open(context.seams);
  if (!home) return report(context, home.error());
  const auto made = (*home)->sessions().checkpoint(options.token);
  if (!made) return print_error(context, made.error(), options.wants_json);
  if (options.wants_json) {
    context.out(to_json(Value::object({{"sessionId", made->session},
                                       {"checkpointNodeId", made->node},
                                       {"resumeToken", made->resume_token},
                                       {"continueToken", made->continue_token}})) +
                "\n");
  } else {
    context.out(
        fmt::format("Marked node {} of {}; return to it with {}\n", made->node, made->session, made->resume_token));
  }
  return kExitOk;
}

int stop(const Context& context, const WorkOptions& options) {
  const auto home = SessionHome::open(context.seams);
  if (!home) return report(context, home.error());
  const auto id = (*home)->sessions().resolve(options.id);
  if (!id) return print_error(context, engine::session_error(id.error()), options.wants_json);
  const std::string by = context.seams.environment.get("USER").value_or("a person");
  const Status done = (*home)->sessions().stop(*id, options.reason, by);
  if (!done) return report(context, done.error());
  context.out(fmt::format("{} is stopped\n", *id));
  return kExitOk;
}

using WorkAction = int (*)(const Context&, const WorkOptions&);

Subcommand subcommand(App& session, const std::string& name, const std::string& summary,
                      const std::shared_ptr<WorkOptions>& options, WorkAction run) {
  App* app = session.add_subcommand(name, summary);
  app->add_flag("--json", options->wants_json, "Print one JSON object, with the text in `text`");
  return {app, [options, run](Context& context) { return run(context, *options); }};
}

void add_context(App& app, WorkOptions& options) {
  app.add_option("--context", options.context, "Set KEY=VALUE; VALUE may be JSON; null removes the key")->once_each();
  app.add_option("--context-file", options.context_file, "A JSON object of keys to set");
}

}  // namespace

Subcommand declare_session_start(App& session) {
  auto options = std::make_shared<WorkOptions>();
  Subcommand made = subcommand(session, "start", "Start a workflow", options, start);
  made.app->add_option("ID", options->id, "The workflow's id")->required();
  made.app->add_option("--goal", options->goal, "What should be done")->required();
  made.app->add_option("--workspace", options->workspace, "The project's folder (default: the current folder)");
  made.app->add_flag("--autonomous", options->is_autonomous, "Unattended: an evaluator judges gates first");
  add_context(*made.app, *options);
  return made;
}

Subcommand declare_session_continue(App& session) {
  auto options = std::make_shared<WorkOptions>();
  Subcommand made = subcommand(session, "continue", "Deliver a step, or show its status", options, continue_session);
  made.app->add_option("TOKEN", options->token, "The last continue token")->required();
  made.app->add_option("--notes", options->notes_file, "A file with the step's notes; - for stdin");
  made.app->add_option("--note", options->note, "The notes themselves")->excludes({"--notes"});
  made.app->add_option("--artifact", options->artifacts, "A JSON file, or JSON itself; may be repeated")->once_each();
  add_context(*made.app, *options);
  made.app->add_flag("--advance", options->is_advance, "Deliver the step even without notes or artifacts");
  made.app->add_flag("--rehydrate", options->is_rehydrate, "Only show the step again")
      ->excludes({"--notes", "--note", "--artifact", "--context", "--context-file", "--advance"});
  return made;
}

Subcommand declare_session_fork(App& session) {
  auto options = std::make_shared<WorkOptions>();
  Subcommand made =
      subcommand(session, "fork", "Go back to a step; continuing from there starts a new branch", options, fork);
  made.app->add_option("ID", options->id, "The session")->required();
  made.app->add_option("--node", options->node, "The node's number in session show (default: the newest)")
      ->range(1, limits::kSessionNodes);
  made.app->add_option("--reason", options->reason, "Why, for the record");
  return made;
}

Subcommand declare_session_checkpoint(App& session) {
  auto options = std::make_shared<WorkOptions>();
  Subcommand made = subcommand(session, "checkpoint", "Mark the current node of a session, to return to it later",
                               options, checkpoint);
  made.app->add_option("TOKEN", options->token, "A checkpoint token")->required();
  return made;
}

Subcommand declare_session_stop(App& session) {
  auto options = std::make_shared<WorkOptions>();
  options->reason = "stopped from the command line";
  Subcommand made = subcommand(session, "stop", "End a session before its workflow ends", options, stop);
  made.app->add_option("ID", options->id, "The session")->required();
  made.app->add_option("--reason", options->reason, "Why, for the record");
  return made;
}

}  // namespace sb::cli
