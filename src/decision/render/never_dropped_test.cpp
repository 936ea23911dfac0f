// The main property of this program: over random declarations, caps, profiles, hosts and locales, every declared option
// is reachable in some prompt, none is merged or renamed, and each id is recovered from the host's answer.
//
// SB_SEED reproduces a run, SB_CASES sets the number of cases.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "decision/render/host_answer.hpp"
#include "decision/render/random_declarations.hpp"
#include "decision/render/render.hpp"
#include "decision/render/simulated_host.hpp"

namespace sb::decision {
namespace {

Value random_decision(Dice& dice, const std::string& profile) {
  const int count = random_count(dice);
  Value decision = Value::object({{"decision", "which"},
                                  {"profile", profile},
                                  {"locale", dice.one_in(2) ? "en" : "ru"},
                                  {"instruction", "Which of these?"},
                                  {"options", random_options(dice, count, false)}});
  if (dice.one_in(4)) decision.set("label", dice.one_in(2) ? "D3.2" : "D10.revise-10");
  if (dice.one_in(4)) decision.set("question_id", "review-which");
  if (dice.one_in(3)) {
    decision.set("select", "many");
    if (dice.one_in(3)) decision.set("min", dice.between(1, std::min(count, 3)));
  }
  return decision;
}

// The positions of a choice that contains `place` and has the size the question asks for.
std::vector<std::size_t> choice_with(Dice& dice, const Prompt& prompt, std::size_t place, std::size_t size) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const bool is_own = !prompt.options[i].role.empty();
    if (i != place && !is_own) places.push_back(i);
  }
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[dice.below(i)]);
  places.resize(std::min(places.size(), size - 1));
  places.push_back(place);
  std::ranges::sort(places);
  return places;
}

bool is_unchanged(const std::string& seen, const Option& option, const Rendered& rendered, const Prompt& prompt) {
  if (rendered.shape.host == &hosts::kRequestUserInput && prompt.select.mode == SelectMode::kMany) {
    return seen.find(option.label) != std::string::npos;
  }
  const std::size_t paren = seen.find(") ");
  const std::string bare = paren != std::string::npos && paren < 3 ? seen.substr(paren + 2) : seen;
  for (const std::string& each : {seen, bare}) {
    if (each == option.label || (option.recommended && each == option.label + " (recommended)")) return true;
  }
  return false;
}

// Empty, or the error.
std::string check_prompt(Dice& dice, const Decision& decision, const Prompt& prompt, const Profile& profile,
                         const Host& host, std::map<std::string, int>& found, bool& leads_on) {
  const auto rendered = render(prompt, profile, host, {.nonce = "n0nce"});
  if (!rendered) return rendered.error().to_string();
  const auto shape = shape_from_value(to_value(rendered->shape));
  if (!shape || !(*shape == rendered->shape)) return "the shape does not round-trip";
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  leads_on = is_many;
  for (std::size_t place = 0; place < prompt.options.size(); ++place) {
    const Option& option = prompt.options[place];
    if (!option.role.empty()) {
      const HostAnswer answer = parse_answer(*shape, pick(*rendered, prompt, {place}));
      if (answer.result != (is_many ? HostAnswerKind::kNone : HostAnswerKind::kMore))
        return "the pager's option is lost";
      leads_on = true;
      continue;
    }
    if (!decision.find(option.id) || decision.find(option.id)->label != option.label) return "an option was made up";
    if (!is_unchanged(seen_at(*rendered, prompt, place), option, *rendered, prompt)) {
      return fmt::format("{} is shown as {}", option.label, seen_at(*rendered, prompt, place));
    }
    const std::size_t size = is_many ? static_cast<std::size_t>(dice.between(prompt.select.min, prompt.select.max)) : 1;
    const auto places = choice_with(dice, prompt, place, size);
    std::vector<std::string> expected;
    for (const std::size_t each : places) expected.push_back(prompt.options[each].id);
    const HostAnswer answer = parse_answer(*shape, pick(*rendered, prompt, places));
    if (answer.result != HostAnswerKind::kSelected || answer.option_ids != expected) {
      return fmt::format("{} is read back as {} {} {}", fmt::join(expected, " "), to_string(answer.result),
                         fmt::join(answer.option_ids, " "), answer.reason);
    }
    ++found[option.id];
  }
  return "";
}

std::string walk_decision(Dice& dice, const Decision& decision, const Declaration& declaration, const Host& host,
                          int cap) {
  const auto prompts = prompts_of(decision, declaration.profile, declaration.hash, cap);
  std::map<std::string, int> found;
  bool leads_on = true;
  for (const Prompt& prompt : prompts) {
    if (!leads_on) return fmt::format("page {} cannot be reached", prompt.page);
    const std::string fault = check_prompt(dice, decision, prompt, declaration.profile, host, found, leads_on);
    if (!fault.empty()) return fmt::format("page {} of {}: {}", prompt.page, prompt.pages, fault);
  }
  for (const Option& option : decision.options) {
    if (found[option.id] != 1) return fmt::format("{} is shown {} times", option.id, found[option.id]);
  }
  return "";
}

int random_cap(Dice& dice, const Host& host, const Profile& profile) {
  const int cap = cap_of(host, profile);
  return dice.one_in(2) ? cap : std::min(cap, dice.of(std::vector<int>{2, 3, 4, 5, 7}));
}

TEST(NeverDropped, EveryOptionIsReachableAndMapsBackToItsId) {
  const std::uint64_t seed = from_environment("SB_SEED", 20'261'115);
  const std::uint64_t wanted = wanted_cases();
  std::printf("SB_SEED=%llu SB_CASES=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(wanted));
  Dice dice(seed);
  const Profiles profiles = all_profiles();
  const auto ids = profiles.ids();
  for (std::uint64_t cases = 0; cases < wanted;) {
    const Value source = random_decision(dice, dice.of(ids));
    const Declaration declaration = declared_from(source, profiles);
    for (int round = 0; round < 2; ++round) {
      for (const Host* host : hosts::kAll) {
        const int cap = random_cap(dice, *host, declaration.profile);
        const std::string fault = walk_decision(dice, *declaration.decision(), declaration, *host, cap);
        ++cases;
        ASSERT_EQ(fault, "") << "SB_SEED=" << seed << " host " << host->name << " cap " << cap << "\n"
                             << to_json(source);
      }
    }
  }
}

// Answered by id under one profile, replayed under another: the same value, whatever the pages and labels look like.
TEST(NeverDropped, TwoProfilesGiveTheSameDecision) {
  Dice dice(from_environment("SB_SEED", 7));
  const Profiles profiles = all_profiles();
  for (int round = 0; round < 300; ++round) {
    Value source = random_decision(dice, "interaction");
    const Declaration first = declared_from(source, profiles);
    source.set("profile", dice.of(profiles.ids()));
    const Declaration second = declared_from(source, profiles);
    const Option& wanted = dice.of(first.decision()->options);
    for (const Declaration* each : {&first, &second}) {
      const Host& host = *dice.of(hosts::kAll);
      bool is_found = false;
      for (const Prompt& prompt :
           prompts_of(*each->decision(), each->profile, each->hash, cap_of(host, each->profile))) {
        const auto place = std::ranges::find(prompt.options, wanted.id, &Option::id);
        if (place == prompt.options.end()) continue;
        const auto rendered = render(prompt, each->profile, host);
        ASSERT_TRUE(rendered) << rendered.error().to_string();
        const std::size_t size = prompt.select.mode == SelectMode::kMany ? prompt.select.min : 1;
        const auto places = choice_with(dice, prompt, static_cast<std::size_t>(place - prompt.options.begin()), size);
        const HostAnswer answer = parse_answer(rendered->shape, pick(*rendered, prompt, places));
        ASSERT_EQ(answer.result, HostAnswerKind::kSelected) << to_json(source);
        is_found = std::ranges::find(answer.option_ids, wanted.id) != answer.option_ids.end();
      }
      EXPECT_TRUE(is_found) << to_json(source);
    }
  }
}

}  // namespace
}  // namespace sb::decision
