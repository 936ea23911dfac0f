#include "hook/auto_decide.hpp"

#include <algorithm>

#include "decision/door.hpp"
#include "hook/question_record.hpp"
#include "inbox/event_text.hpp"

namespace sb::hook {
namespace {

decision::Door door_of(std::string_view id, const CallQuestion& question) {
  std::vector<std::string_view> texts{question.text, question.header};
  for (const CallOption& option : question.options) {
    texts.push_back(option.label);
    texts.push_back(option.description);
  }
  return decision::classify_door({.question_id = id, .texts = texts}).door;
}

// The id of the planned option with that label.
Result<std::string> option_id(const inbox::PlannedPrompt& prompt, std::string_view label) {
  for (const inbox::Choice& choice : prompt.options) {
    if (inbox::without_recommended_mark(choice.label) == label) return choice.id;
  }
  return fail(ErrorCode::kInvalid, "the recommended option is not one of the planned prompt");
}

}  // namespace

Result<std::optional<std::vector<DecidedQuestion>>> decide_by_preference(
    const std::vector<CallQuestion>& questions, std::span<const std::optional<Planned>> planned, const Files& files,
    const inbox::PreferencePlace& place) {
  std::vector<DecidedQuestion> decided;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const CallQuestion& question = questions[i];
    const GstackMarkers markers = gstack_markers_in(question.text);
    if (markers.ids.size() != 1 || !markers.is_clear) return std::nullopt;
    const std::string& id = markers.ids.front();
    const auto stored = SB_TRY(inbox::find_preference(files, place, id, inbox::PreferenceScope::kProjectThenGlobal));
    if (!stored) return std::nullopt;
    const bool is_planned = i < planned.size() && planned[i];
    const std::vector<std::string> recommended = recommended_in(question);
    decision::QuestionFacts facts;
    facts.markers = static_cast<int>(markers.ids.size());
    facts.recommendations = static_cast<int>(recommended.size());
    facts.select = question.is_many ? decision::SelectMode::kMany : decision::SelectMode::kOne;
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

Status record_decided(const HookEvent& event, const std::vector<CallQuestion>& questions,
                      std::span<const std::optional<Planned>> planned, const std::vector<DecidedQuestion>& decided,
                      const inbox::PreferencePlace& place, const Surroundings& around) {
  const Seams& seams = around.seams;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!planned[i]) continue;
    const auto desk = SB_TRY(open_desk(seams, store::Access::kReadWrite));
    const inbox::HostReply reply{.options = {SB_TRY(option_id(planned[i]->prompt, decided[i].option))},
                                 .free_text = {},
                                 .raw = decided[i].option,
                                 .from = {inbox::Channel::kProgram, ""},
                                 .resolved_by = inbox::ResolvedBy::kPreference};
    SB_TRY(desk->inbox().reply(planned[i]->prompt.nonce, reply));
  }
  for (std::size_t i = 0; i < decided.size(); ++i) {
    Value record = question_record(event, questions[i], i);
    record.set("question_id", decided[i].id);
    record.set("user_choice", decided[i].option);
    record.set("recommended", decided[i].option);
    record.set("source", "auto-decided");
    SB_TRY(append_record(seams, place, std::move(record)));
  }
  SB_TRY(seams.files.make_directories(place.session(event.session), 0700));
  return seams.files.write_atomic(place.auto_decided_marker(event.session, event.tool_use_id), "", 0600);
}

}  // namespace sb::hook
