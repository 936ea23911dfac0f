#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/lint/lint.hpp"
#include "gstack/log_text.hpp"
#include "gstack/project_slug.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/install/stop_projects.hpp"
#include "inbox/config.hpp"

namespace sb::hook {
namespace {

using decision::Finding;

constexpr std::size_t kLongestExcerpt = 120;

// How many times in a row the agent was sent back for one user message. Removed once a message passes.
class Streak {
 public:
  Streak(Files& files, const HomeDirectories& homes, const HookEvent& event)
      : files_(files),
        folder_(join_path(homes.state, "sent-back")),
        path_(join_path(folder_, gstack::path_component(event.session) + ".json")),
        prompt_(event.prompt) {}

  int count() const {
    const auto text = files_.read(path_, 4096);
    const auto kept = text ? parse_json(*text) : Result<Value>(Value());
    const bool is_same_prompt = kept && (*kept)["count"].is_integer() && kept->string_at("prompt") == prompt_;
    return is_same_prompt ? static_cast<int>(std::clamp<std::int64_t>((*kept)["count"].as_integer(), 0, 1'000)) : 0;
  }

  // A message whose count cannot be stored must not be sent back: the loop would never end.
  Status set(int count) {
    SB_TRY(files_.make_directories(folder_, 0700));
    return files_.write_atomic(path_, to_json(Value::object({{"count", count}, {"prompt", prompt_}})), 0600);
  }

  void end() {
    if (files_.kind(path_) != FileKind::kMissing) (void)files_.remove(path_);
  }

 private:
  Files& files_;
  std::string folder_;
  std::string path_;
  std::string prompt_;
};

// The newest open prompt for this folder, if any, as the lint context of the message.
Result<decision::LintContext> context_for(const std::string& folder, const Seams& seams) {
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  auto context = decision::reply_context(SB_TRY(inbox::load_config(seams.files, homes)).block_offers);
  const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return context;
  const auto open = SB_TRY(home->inbox().open_prompts(limits::kHookPrompts));
  const auto waiting = SB_TRY(newest_in(*home, folder, open, [](const auto&) { return true; }));
  if (!waiting) return context;
  context.scope = decision::LintScope::kIn;
  context.prompt_open = true;
  context.profile = waiting->decision.opened.source.string_at("profile").value_or("interaction");
  for (const inbox::Choice& choice : waiting->prompt.options) {
    context.declared.push_back({choice.id, gstack::without_recommended_mark(choice.label)});
  }
  return context;
}

std::string reason_for(const Finding& finding, std::string_view message) {
  const decision::RuleText& text = decision::rule_text(finding.rule);
  std::string reason = fmt::format("{}: {} {}", finding.rule, text.broken, text.fix);
  const std::string excerpt =
      cut_utf16(one_line(message.substr(finding.start, finding.end - finding.start)), kLongestExcerpt);
  if (!excerpt.empty()) reason += fmt::format(" Found: {}", quote_json(excerpt));
  return reason;
}

}  // namespace

Result<std::string> at_stop(const HookEvent& event, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const std::string folder = SB_TRY(folder_of(event, seams));
  if (!SB_TRY(is_stop_enabled(seams.files, homes, folder))) return "";
  Streak streak(seams.files, homes, event);
  const auto broken = decision::first_blocking(decision::lint(event.last_message, SB_TRY(context_for(folder, seams))));
  if (!broken) {
    streak.end();
    return "";
  }
  const int times = streak.count();
  if (!decision::may_reject_again(times)) {
    streak.end();
    hook_context.log.add(
        fmt::format("a message that breaks {} was accepted after being sent back {} times", broken->rule, times));
    return "";
  }
  SB_TRY(streak.set(times + 1));
  return to_json(Value::object({{"decision", "block"}, {"reason", reason_for(*broken, event.last_message)}}));
}

}  // namespace sb::hook
