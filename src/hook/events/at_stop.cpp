#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/lint/lint.hpp"
#include "gstack/log_text.hpp"
#include "guard/limits.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"
#include "hook/events/turn_note.hpp"
#include "hook/install/stop_projects.hpp"
#include "inbox/config.hpp"

namespace sb::hook {
namespace {

using decision::Finding;

constexpr std::size_t kLongestExcerpt = 120;

// The newest of the open prompts that waits in this folder. One that was shown before the person's last message was
// passed over, and so was what was planned for its decision before; after half a day no one waits.
Result<std::optional<PlannedQuestion>> waiting_in(const std::string& folder, const Value& passed, inbox::Home& home,
                                                  TimestampMs now) {
  const auto open = SB_TRY(home.inbox().open_prompts(limits::kHookPrompts));
  const auto is_passed = [&](const inbox::PlannedPrompt& prompt) {
    return passed.is_array() && std::ranges::find(passed.items(), Value(prompt.nonce)) != passed.items().end();
  };
  const auto waits = [&](const inbox::PlannedPrompt& prompt) {
    if (now - prompt.planned_at >= limits::kSessionMaxIdleMs) return false;
    return std::ranges::none_of(open, [&](const inbox::PlannedPrompt& other) {
      return other.decision == prompt.decision && other.ordinal >= prompt.ordinal && is_passed(other);
    });
  };
  return newest_in(home, folder, open, waits);
}

// The prompt that waits, if any, as the lint context of the message. `answered`: the profile of what the person
// answered since their last message, or null. `passed`: the prompts that they were shown before it, or null.
Result<decision::LintContext> context_for(const std::string& folder, const Value& answered, const Value& passed,
                                          const Seams& seams) {
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  auto context = decision::reply_context(SB_TRY(inbox::load_config(seams.files, homes)).block_offers);
  if (answered.is_string()) {
    // After a valid answer the next text is the result or the next question (execution silence).
    context.scope = decision::LintScope::kIn;
    context.phase = decision::LintPhase::kPostInput;
    context.profile = answered.as_string();
  }
  const auto home = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!home) return context;
  const auto waiting = SB_TRY(waiting_in(folder, passed, *home, seams.clock.now_ms()));
  if (!waiting) return context;
  context.scope = decision::LintScope::kIn;
  context.phase = decision::LintPhase::kAsk;
  context.prompt_open = true;
  context.profile = profile_of(waiting->decision);
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
  TurnNote streak(seams.files, homes, kSentBack, event);
  TurnNote answered(seams.files, homes, kAnswered, event);
  const Value passed = TurnNote(seams.files, homes, kShown, event).kept_before();
  const auto context = SB_TRY(context_for(folder, answered.kept(), passed, seams));
  const auto broken = decision::first_blocking(decision::lint(event.last_message, context));
  if (!broken) {
    streak.drop();
    answered.drop();
    return "";
  }
  const Value kept = streak.kept();
  const int times = kept.is_integer() ? static_cast<int>(std::clamp<std::int64_t>(kept.as_integer(), 0, 1'000)) : 0;
  if (!decision::may_reject_again(times)) {
    streak.drop();
    answered.drop();
    hook_context.log.add(
        fmt::format("a message that breaks {} was accepted after being sent back {} times", broken->rule, times));
    return "";
  }
  SB_TRY(streak.keep(times + 1));
  return to_json(Value::object({{"decision", "block"}, {"reason", reason_for(*broken, event.last_message)}}));
}

}  // namespace sb::hook
