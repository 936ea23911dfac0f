#include "hook/events/auto_decide.hpp"

#include <algorithm>

#include "decision/door.hpp"
#include "gstack/log_text.hpp"
#include "hook/events/question_record.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::hook {
namespace {

decision::Door door_of(std::string_view id, const CallQuestion& question) {
  const std::vector<std::string_view> texts(question.strings.begin(), question.strings.end());
  return decision::classify_door({.question_id = id, .texts = texts}).door;
}

// The ids anywhere in the question.
GstackMarkers markers_of(const CallQuestion& question) {
  GstackMarkers all;
  for (const std::string& text : question.strings) {
    const GstackMarkers found = gstack_markers_in(text);
    all.ids.insert(all.ids.end(), found.ids.begin(), found.ids.end());
    all.is_clear = all.is_clear && found.is_clear;
  }
  return all;
}

// A choice of one among at least two distinguishable options.
bool is_plain_choice(const CallQuestion& question) {
  const bool is_single = question.multi_select == MultiSelect::kFalse || question.multi_select == MultiSelect::kAbsent;
  if (!is_single || !question.rows.empty() || question.options.size() < 2) return false;
  std::vector<std::string> labels;
  for (const CallOption& option : question.options) labels.push_back(gstack::without_recommended_mark(option.label));
  std::ranges::sort(labels);
  return !labels.front().empty() && std::ranges::adjacent_find(labels) == labels.end();
}

// The id of the planned option with this label.
Result<std::string> option_id(const inbox::PlannedPrompt& prompt, std::string_view label) {
  for (const inbox::Choice& choice : prompt.options) {
    if (gstack::without_recommended_mark(choice.label) == label) return choice.id;
  }
  return fail(ErrorCode::kInvalid, "the recommended option is not in the planned prompt");
}

Status close_prompt(const inbox::PlannedPrompt& prompt, const DecidedQuestion& decided, const Seams& seams) {
  const auto home = SB_TRY(open_home(seams, store::Access::kReadWrite));
  const inbox::DecisionState state = SB_TRY(home->inbox().load(prompt.decision));
  const auto declaration = inbox::asked_declaration(state.opened, seams.files, seams.environment);
  if (!declaration) return fail(ErrorCode::kUnsupported, "the planned question was declared for another version");
  decision::HostAnswer chosen;
  chosen.result = decision::HostAnswerKind::kSelected;
  chosen.option_ids = {SB_TRY(option_id(prompt, decided.option))};
  SB_TRY(home->inbox().walk_prompt(prompt.nonce, *declaration,
                                   {.given = std::move(chosen),
                                    .from = {inbox::Channel::kProgram, ""},
                                    .raw = decided.option,
                                    .resolved_by = inbox::ResolvedBy::kPreference,
                                    .reader = std::string(to_string(inbox::Channel::kProgram))}));
  return {};
}

Status log_decided(const HookEvent& event, const CallQuestion& question, std::size_t index,
                   const DecidedQuestion& decided, const gstack::PreferencePaths& place, const Seams& seams) {
  Value record = question_record(event, question, index);
  record.set("question_id", decided.id);
  record.set("user_choice", decided.option);
  record.set("recommended", decided.option);
  record.set("source", "auto-decided");
  return append_record(seams, place, std::move(record));
}

}  // namespace

Result<std::optional<std::vector<DecidedQuestion>>> decide_by_preference(
    const std::vector<CallQuestion>& questions, std::span<const std::optional<PlannedQuestion>> planned,
    const Files& files, const gstack::PreferencePaths& place) {
  std::vector<DecidedQuestion> decided;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const CallQuestion& question = questions[i];
    const bool is_planned = i < planned.size() && planned[i];
    if (!is_plain_choice(question)) return std::nullopt;
    const GstackMarkers markers = markers_of(question);
    if (markers.ids.size() != 1 || !markers.is_clear) return std::nullopt;
    // For a planned prompt, the plan decides, regardless of the call.
    const std::string& id = markers.ids.front();
    if (is_planned && gstack_markers_in(planned[i]->prompt.question).ids != markers.ids) return std::nullopt;
    const auto stored = SB_TRY(gstack::find_preference(files, place, id, gstack::PreferenceScope::kProjectThenGlobal));
    if (!stored) return std::nullopt;
    const std::vector<std::string> recommended = recommended_in(question);
    decision::QuestionFacts facts;
    facts.markers = static_cast<int>(markers.ids.size());
    facts.recommendations = static_cast<int>(recommended.size());
    facts.select = question.is_many() ? decision::SelectMode::kMany : decision::SelectMode::kOne;
    facts.door = door_of(id, question);
    facts.needs_person = is_planned && (planned[i]->needs_person() || !planned[i]->prompt.is_open);
    const decision::Verdict verdict =
        decision::may_auto_decide(decision::preference_verdict(id, facts.door, *stored), facts);
    if (!verdict.may_auto_decide()) return std::nullopt;
    decided.push_back({id, recommended.front(), verdict.stored});
  }
  if (decided.empty()) return std::nullopt;
  return decided;
}

Result<std::vector<bool>> record_decided(const HookEvent& event, const std::vector<CallQuestion>& questions,
                                         std::span<const std::optional<PlannedQuestion>> planned,
                                         const std::vector<DecidedQuestion>& decided,
                                         const gstack::PreferencePaths& place, const HookContext& hook_context) {
  const Seams& seams = hook_context.seams;
  const std::string marker = place.auto_decided_marker(event.session, event.tool_use_id);
  SB_TRY(seams.files.make_directories(place.session(event.session), 0700));
  SB_TRY(seams.files.write_atomic(marker, "", 0600));
  std::vector<bool> holds;
  for (std::size_t i = 0; i < decided.size(); ++i) {
    const bool is_planned = i < planned.size() && planned[i];
    const Status closed = is_planned ? close_prompt(planned[i]->prompt, decided[i], seams) : Status();
    const Status logged = closed ? log_decided(event, questions[i], i, decided[i], place, seams) : closed;
    if (!logged) hook_context.log.add(logged.error());
    holds.push_back(closed && (is_planned || logged));
  }
  if (std::ranges::find(holds, true) == holds.end()) SB_TRY(seams.files.remove(marker));
  return holds;
}

}  // namespace sb::hook
