#include "gstack/programs.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "decision/door.hpp"
#include "decision/preference.hpp"
#include "gstack/preference_files.hpp"
#include "gstack/preference_request.hpp"
#include "gstack/question_log.hpp"

namespace sb::gstack {
namespace {

constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kNotTheUser = 2;
constexpr std::string_view kAsk = "ASK_NORMALLY\n";

// One call of a program: its seams and the location of its files.
struct Call {
  std::string_view called_as;
  std::span<const std::string> arguments;
  const Seams& seams;
  PreferencePaths place = {};

  void out(std::string_view text) const { seams.streams.out(text); }
  int refuse(const Error& error) const {
    seams.streams.err(fmt::format("{}: {}\n", called_as, error.to_string()));
    return error.code == ErrorCode::kForbidden ? kNotTheUser : kRefused;
  }
  int refuse(std::string message) const {
    return refuse(Error{ErrorCode::kInvalid, std::move(message), "", {}, false});
  }
};

// The location, with the project's folder created: gstack's programs create it in every call. A failure to create it
// matters only to calls that then write.
Status find_place(Call& call) {
  const std::string directory = SB_TRY(working_directory(call.seams.files, call.seams.environment));
  call.place = SB_TRY(preference_paths(call.seams.files, call.seams.environment, directory));
  (void)call.seams.files.make_directories(call.place.project());
  return {};
}

int finish(const Call& call, int code) {
  const Status written = call.seams.streams.flush();
  return written ? code : call.refuse(written.error());
}

struct CheckArguments {
  std::string id;
  bool has_summary = false;
};

CheckArguments read_check_arguments(std::span<const std::string> arguments) {
  CheckArguments read;
  for (const std::string& argument : arguments) {
    if (argument == "--summary-stdin") {
      read.has_summary = true;
    } else if (read.id.empty()) {
      read.id = argument;
    }
  }
  return read;
}

int check(const Call& call) {
  const CheckArguments arguments = read_check_arguments(call.arguments.subspan(1));
  std::string summary;
  if (arguments.has_summary) {
    auto input = call.seams.streams.read_input(limits::kHookEventBytes);
    if (!input) {
      // An unread summary could contain anything.
      call.out(fmt::format("{}NOTE: the summary could not be read ({})\n", kAsk, input.error().message));
      return kDone;
    }
    summary = std::move(*input);
  }
  if (arguments.id.empty()) {
    call.out(kAsk);
    return kDone;
  }
  const auto stored = find_preference(call.seams.files, call.place, arguments.id, PreferenceScope::kProject);
  if (!stored) return call.refuse(stored.error());
  const std::string_view text = summary;
  const auto finding = decision::classify_door({.question_id = arguments.id, .texts = std::span(&text, 1)});
  const auto verdict = decision::preference_verdict(arguments.id, finding.door, *stored);
  call.out(verdict.may_auto_decide() ? "AUTO_DECIDE\n" : kAsk);
  if (const std::string note = verdict.note(); !note.empty()) call.out(fmt::format("NOTE: {}\n", note));
  return kDone;
}

int write(const Call& call) {
  // Created even when the request is rejected, as gstack does; if it cannot be created, storing reports that.
  (void)make_preference_file(call.seams.files, call.place);
  const auto change = read_preference_request(call.arguments.size() > 1 ? call.arguments[1] : "");
  if (!change) return call.refuse(change.error());
  const Status stored = set_preference(call.seams.files, call.place, *change, call.seams.clock.now_ms());
  if (!stored) return call.refuse(stored.error());
  call.out(fmt::format("OK: {} → {} (source: {})\n", change->question_id, decision::to_string(change->preference),
                       change->source));
  return kDone;
}

int read(const Call& call) {
  (void)make_preference_file(call.seams.files, call.place);
  const auto bytes = call.seams.files.read(call.place.preferences(), limits::kDocumentBytes);
  if (!bytes && bytes.error().code != ErrorCode::kNotFound) return call.refuse(bytes.error());
  call.out(bytes ? *bytes : "{}\n");
  return kDone;
}

int clear(const Call& call) {
  const std::string id = call.arguments.size() > 1 ? call.arguments[1] : "";
  if (id.empty()) {
    const Status cleared = clear_preferences(call.seams.files, call.place);
    if (!cleared) return call.refuse(cleared.error());
    call.out("OK: cleared all preferences\n");
    return kDone;
  }
  const auto was_there = clear_preference(call.seams.files, call.place, id);
  if (!was_there) return call.refuse(was_there.error());
  call.out(*was_there ? fmt::format("OK: cleared {}\n", id) : fmt::format("NOOP: no preference set for {}\n", id));
  return kDone;
}

int stats(const Call& call) {
  (void)make_preference_file(call.seams.files, call.place);
  const auto preferences = read_preferences(call.seams.files, call.place);
  if (!preferences) return call.refuse(preferences.error());
  if (!preferences->is_object()) {
    call.seams.streams.err(
        fmt::format("{}: {} is not an object, so it has no effect\n", call.called_as, call.place.preferences()));
  }
  const PreferenceCounts counts = count_preferences(*preferences);
  call.out(fmt::format("TOTAL: {}\nALWAYS_ASK: {}\nNEVER_ASK: {}\nASK_ONLY_ONE_WAY: {}\nINERT_ONE_WAY: {}\n",
                       counts.total, counts.always_ask, counts.never_ask, counts.ask_only_one_way,
                       counts.inert_one_way));
  if (counts.inert_split > 0) call.out(fmt::format("INERT_SPLIT: {}\n", counts.inert_split));
  if (counts.other > 0) call.out(fmt::format("OTHER: {}\n", counts.other));
  return kDone;
}

int run_command(Call& call) {
  const std::string command = call.arguments.empty() ? "" : call.arguments.front();
  if (command == "--help" || command == "-h") {
    call.out(question_preference_help(call.called_as));
    return kDone;
  }
  if (const Status found = find_place(call); !found) return call.refuse(found.error());
  if (command == "--check") return check(call);
  if (command == "--write") return write(call);
  if (command == "--read" || command.empty()) return read(call);
  if (command == "--clear") return clear(call);
  if (command == "--stats") return stats(call);
  return call.refuse(
      fmt::format("unknown subcommand {}; see {} --help", quote_json(command.substr(0, 80)), call.called_as));
}

int log_question(Call& call) {
  if (const Status found = find_place(call); !found) return call.refuse(found.error());
  if (call.arguments.empty()) return call.refuse("no event given: expected one JSON payload argument");
  const std::string& text = call.arguments.front();
  if (text.size() > limits::kInputBytes) {
    return call.refuse(fmt::format("the event is longer than {} bytes", limits::kInputBytes));
  }
  auto event = parse_json(text);
  if (!event) return call.refuse(fmt::format("invalid JSON: {}", event.error().message));
  auto checked = checked_question_event(std::move(*event), LogRules::kGstack, call.seams.clock.now_ms());
  if (!checked) return call.refuse(checked.error());
  const auto logged = append_question_event(call.seams.files, call.place, *checked);
  if (!logged) return call.refuse(logged.error());
  if (*logged == LogResult::kDuplicate) {
    call.out(fmt::format("DEDUP: already logged (source={}, tool_use_id duplicate)\n",
                         checked->string_at("source").value_or("")));
  }
  return kDone;
}

}  // namespace

std::string question_preference_help(std::string_view called_as) {
  return fmt::format(
      "Read, check and change your question preferences.\n\n"
      "  {0} --check ID [--summary-stdin]\n"
      "      Print ASK_NORMALLY or AUTO_DECIDE, and why a preference does not apply. A question summary on\n"
      "      standard input can only make it ask.\n"
      "  {0} --write JSON\n"
      "      Store a preference: question_id, preference, source, [free_text].\n"
      "  {0} [--read]\n"
      "      Print the project's preferences.\n"
      "  {0} --clear [ID]\n"
      "      Remove one preference, or all.\n"
      "  {0} --stats\n"
      "      Count the preferences.\n\n"
      "A preference is always-ask, never-ask or ask-only-for-one-way. Its source is plan-tune or inline-user:\n"
      "only you set preferences, never a file or a tool. Irreversible questions and the options of a chain are\n"
      "always asked, whatever is stored.\n\n"
      "Exit codes: 0 done, 1 rejected or unreadable, 2 not from the user.\n",
      called_as);
}

int run_question_preference(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams) {
  Call call{called_as, arguments, seams};
  return finish(call, run_command(call));
}

int run_question_log(std::string_view called_as, std::span<const std::string> arguments, const Seams& seams) {
  Call call{called_as, arguments, seams};
  return finish(call, log_question(call));
}

}  // namespace sb::gstack
