// Random chains with random answers: no input causes a forbidden move, and nothing is decided without an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "decision/chain/test_driver.hpp"
#include "decision/lint/lint.hpp"

namespace sb::decision {
namespace {

using Generator = std::mt19937_64;

std::uint64_t first_seed() {
  const char* given = std::getenv("SB_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 20261115;
}

std::size_t below(Generator& random, std::size_t end) {
  return static_cast<std::size_t>(random() % end);
}

// Built directly: parsing YAML would take most of the time and is tested elsewhere.
Declaration random_chain(Generator& random, const Profiles& profiles) {
  Chain chain;
  chain.id = "random";
  chain.skill = "skill";
  chain.number = 1 + static_cast<int>(below(random, 20));
  chain.profile = below(random, 3) == 0 ? "interaction" : "gstack";
  chain.locale = below(random, 2) == 0 ? "en" : "ru";
  chain.relation = static_cast<Relation>(below(random, 3));
  const std::size_t count = 2 + below(random, 12);
  for (std::size_t i = 0; i < count; ++i) {
    ChainOption option;
    option.key = "K" + std::to_string(i);
    option.label = "Label " + std::to_string(i);
    option.eli10 = "About it.";
    option.recommended = static_cast<Bucket>(below(random, 3));
    option.reason = "of a reason";
    option.shipped = below(random, 10) == 0;
    // Requirements may point to any other option, including cycles; conflicts only where no requirement is possible.
    const bool is_linked = i > 0 && below(random, 3) == 0;
    if (is_linked) option.required_keys.push_back("K" + std::to_string(below(random, i)));
    if (i == 0 && below(random, 4) == 0) option.required_keys.push_back("K" + std::to_string(count - 1));
    if (!is_linked && i > 2 && below(random, 4) == 0) option.conflicting_keys.push_back("K1");
    chain.options.push_back(std::move(option));
  }
  Declaration declaration;
  declaration.profile = *profiles.find(chain.profile);
  declaration.hash = "hash";
  declaration.what = std::move(chain);
  return declaration;
}

std::string random_input(Generator& random, const Prompt& prompt, bool is_number) {
  static const std::vector<std::string> kNoise = {
      "a",   "A.", "option B", "",    "Z",      "7",      "why is that?", "continue", "K1",      "K3",    "none", "A,B",
      "1,2", "D",  "reset",    "3.2", "3.2: A", "more",   "\xff",         "back",     "hold it", "A , B", "1",    "E",
      "B",   "C",  "0",        "ok",  "x",      "D1.1: B"};
  if (below(random, 4) == 0) return kNoise[below(random, kNoise.size())];
  std::string input;
  const std::size_t times = prompt.select.mode == SelectMode::kMany ? 1 + below(random, 2) : 1;
  for (std::size_t i = 0; i < times; ++i) {
    const std::size_t index = below(random, prompt.options.size());
    if (!input.empty()) input += ',';
    input += is_number ? std::to_string(index + 1) : std::string(1, static_cast<char>('A' + index));
  }
  return input;
}

bool is_key(const Chain& chain, std::string_view text) {
  return std::ranges::find(chain.options, text, &ChainOption::key) != chain.options.end();
}

// Invariants between a turn and the next.
void check_move(const ChainModel& model, const ChainTurn& before, const std::string& input, const ChainTurn& after) {
  const bool is_resumed = input == "continue" || input == "reset" || is_key(model.chain, input) || is_label(input);
  if (before.state.is_held && after.event == ChainEvent::kNone) {
    EXPECT_TRUE(is_resumed) << "asked during a Hold after " << input;
  }
  if (before.state.is_held && after.state.is_held) {
    EXPECT_EQ(before.state.dispositions, after.state.dispositions);
  }
  if (after.event == ChainEvent::kHold && !before.state.is_held) {
    EXPECT_EQ(after.output, "");
  }
  const bool is_complete = first_undecided(after.state) == model.count();
  if (after.state.open == OpenPrompt::kFinal) {
    EXPECT_TRUE(is_complete) << "final with something undecided";
    EXPECT_FALSE(violation_to_ask(model, after.state)) << "final past a conflict";
  }
  if (after.event == ChainEvent::kDone) {
    EXPECT_TRUE(is_complete);
    EXPECT_EQ(after.values.size(), model.count());
    EXPECT_TRUE(open_violations(model, after.state).empty()) << "shipped an incoherent set";
    EXPECT_FALSE(before.state.is_held);
    const bool is_ordinary = !before.state.needs_final;
    EXPECT_TRUE(is_ordinary || before.state.open == OpenPrompt::kFinal) << "done without an explicit yes";
  }
  // A child's answer decides one option.
  const bool asks_option = before.state.open == OpenPrompt::kChild || before.state.open == OpenPrompt::kRevise;
  if (asks_option && !before.state.is_held && after.event == ChainEvent::kNone) {
    for (std::size_t i = 0; i < model.count(); ++i) {
      const bool is_same = before.state.dispositions[i] == after.state.dispositions[i];
      EXPECT_TRUE(is_same || i == before.state.option) << "answered one, decided another";
    }
  }
}

void check_prompt(const ChainModel& model, const ChainTurn& turn) {
  if (turn.state.end != ChainEnd::kNo) return;
  const auto prompt = chain_prompt(model, turn.state);
  EXPECT_LE(prompt.options.size(), static_cast<std::size_t>(turn.state.cap));
  EXPECT_GE(prompt.options.size(), 1u);
  EXPECT_FALSE(prompt.label.empty());
  EXPECT_TRUE(prompt.question_id.size() <= 64 && prompt.question_id.find("-split-") != std::string::npos);
  std::set<std::string> ids;
  for (const auto& option : prompt.options) ids.insert(option.id);
  EXPECT_EQ(ids.size(), prompt.options.size());
}

// Returns whether the chain ended in DONE.
bool walk(std::uint64_t seed, const Profiles& profiles) {
  Generator random(seed);
  const auto declaration = random_chain(random, profiles);
  const ChainModel model(declaration);
  const bool is_number = declaration.profile.grammar == Grammar::kStrictNumbers;
  auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 5)));
  EXPECT_TRUE(turn.has_value());
  for (int step = 0; step < 120 && turn->state.end == ChainEnd::kNo; ++step) {
    check_prompt(model, *turn);
    const auto reread = chain_state_from(to_value(turn->state), model);
    EXPECT_TRUE(reread.has_value()) << to_json(to_value(turn->state));
    if (!reread) return false;
    std::string input = random_input(random, chain_prompt(model, turn->state), is_number);
    if (turn->state.is_held && below(random, 2) == 0) input = "continue";
    auto next = chain_step(model, *reread, input);
    check_move(model, *turn, input, next);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "step " << step << ", input \"" << input << "\"\n" << turn->output;
      return false;
    }
    *turn = std::move(next);
  }
  return turn->event == ChainEvent::kDone;
}

TEST(ChainProperty, NoInputCausesAForbiddenMove) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  int done = 0;
  constexpr int kWalks = 600;
  for (int i = 0; i < kWalks; ++i) {
    done += walk(seed + static_cast<std::uint64_t>(i), profiles);
    ASSERT_FALSE(HasFailure()) << "SB_SEED=" << seed + static_cast<std::uint64_t>(i);
  }
  EXPECT_GT(done, kWalks / 4) << "the walks should often reach the end";
}

// A chain in which every answer is the last option except "hold": every question is asked and none repeats forever.
TEST(ChainProperty, AnsweringAlwaysReachesTheEnd) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  for (int i = 0; i < 300; ++i) {
    Generator random(seed + static_cast<std::uint64_t>(i));
    const auto declaration = random_chain(random, profiles);
    const ChainModel model(declaration);
    auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 5)));
    ASSERT_TRUE(turn.has_value());
    int steps = 0;
    while (turn->state.end == ChainEnd::kNo && steps < 400) {
      const auto prompt = chain_prompt(model, turn->state);
      std::size_t pick = below(random, prompt.options.size());
      if (turn->state.open == OpenPrompt::kFinal) pick = 0;
      if (prompt.options[pick].id == "hold" || prompt.options[pick].id == "narrow") pick = 0;
      auto next = chain_answer(model, turn->state, {prompt.options[pick].id});
      ASSERT_TRUE(next.has_value()) << next.error().to_string();
      *turn = std::move(*next);
      ++steps;
    }
    EXPECT_EQ(turn->event, ChainEvent::kDone) << "SB_SEED=" << seed + static_cast<std::uint64_t>(i);
  }
}

// For every option there are answers that show it to the person, whatever the cap and the profile.
TEST(ChainProperty, EveryOptionIsReachable) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  for (int i = 0; i < 500; ++i) {
    Generator random(seed + static_cast<std::uint64_t>(i));
    const auto declaration = random_chain(random, profiles);
    const ChainModel model(declaration);
    auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 5)));
    ASSERT_TRUE(turn.has_value());
    std::set<std::size_t> shown;
    for (int steps = 0; turn->state.end == ChainEnd::kNo && turn->state.open != OpenPrompt::kFinal && steps < 200;
         ++steps) {
      const auto prompt = chain_prompt(model, turn->state);
      if (turn->state.open == OpenPrompt::kChild) shown.insert(turn->state.option);
      for (const auto& option : prompt.options) {
        if (const auto index = declared_index(model, option)) shown.insert(*index);
      }
      // Continue with "more" if present, else with the first answer.
      const bool has_more = prompt.options.back().id == kMoreId;
      auto next = chain_answer(model, turn->state, {has_more ? std::string(kMoreId) : prompt.options[0].id});
      ASSERT_TRUE(next.has_value());
      *turn = std::move(*next);
    }
    EXPECT_EQ(shown.size(), model.count()) << "SB_SEED=" << seed + static_cast<std::uint64_t>(i);
  }
}

GstackShape shape_of_prompt(const Prompt& prompt, const ChainTurn& turn) {
  switch (prompt.kind) {
    case DecisionKind::kCherryPick:
      return GstackShape::kSplit;
    case DecisionKind::kConflict:
      return GstackShape::kConflict;
    case DecisionKind::kFinal:
      return GstackShape::kFinal;
    default:
      return turn.state.phase == ChainPhase::kMeta && turn.state.open == OpenPrompt::kPhase ? GstackShape::kMeta
                                                                                            : GstackShape::kMenu;
  }
}

// Our questions pass our own linter: the form of each brief, and the order of the whole chain.
TEST(ChainProperty, OurOwnLinterAcceptsEveryQuestion) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  for (int i = 0; i < 300; ++i) {
    Generator random(seed + static_cast<std::uint64_t>(i));
    auto declaration = random_chain(random, profiles);
    declaration.profile = *profiles.find("gstack");
    const ChainModel model(declaration);
    auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 2)));
    ASSERT_TRUE(turn.has_value());
    LintContext context;
    context.profile = "gstack";
    context.gs = GstackFacts{};
    context.gs->cap = turn->state.cap;
    const bool is_split = shape_of(model.chain, model.profile, turn->state.cap) == ChainShape::kSplit;
    for (int step = 0; step < 60 && turn->state.end == ChainEnd::kNo; ++step) {
      const auto prompt = chain_prompt(model, turn->state);
      if (turn->state.is_held) {
        if (is_split) context.gs->chain.push_back({turn->label, turn->question_id, GstackEvent::kResume, "", "", {}});
        *turn = chain_step(model, turn->state, "continue");
        continue;
      }
      context.gs->shape = shape_of_prompt(prompt, *turn);
      if (is_split) {
        context.gs->options = static_cast<int>(model.count());
        context.gs->chain.push_back({turn->label, turn->question_id, GstackEvent::kAsked, "", "", {}});
      }
      for (const auto& finding : lint(turn->output, context)) {
        ADD_FAILURE() << finding.rule << " SB_SEED=" << seed + static_cast<std::uint64_t>(i) << "\n" << turn->output;
      }
      ASSERT_FALSE(HasFailure());
      const std::size_t pick = below(random, prompt.options.size());
      const auto& id = prompt.options[pick].id;
      if (is_split) {
        const auto event = id == "hold" ? GstackEvent::kHold : GstackEvent::kAnswered;
        context.gs->chain.push_back({turn->label, turn->question_id, event, id, "human", 1});
      }
      *turn = *chain_answer(model, turn->state, {id});
    }
  }
}

// Labels of up to five words, keys of up to four, many options: the maximum that the profile allows.
Declaration wordy_chain(Generator& random, const Profiles& profiles) {
  auto declaration = random_chain(random, profiles);
  declaration.profile = *profiles.find("interaction");
  auto& chain = std::get<Chain>(declaration.what);
  chain.profile = "interaction";
  while (chain.options.size() < 30 && below(random, 30) != 0) {
    ChainOption option;
    option.key = "K" + std::to_string(chain.options.size());
    option.recommended = Bucket::kInclude;
    chain.options.push_back(std::move(option));
  }
  for (auto& option : chain.options) option.label = "Label of the thing " + option.key;
  if (below(random, 2) == 0) return declaration;
  for (auto& option : chain.options) {
    option.key += " of many words";
    for (auto& key : option.required_keys) key += " of many words";
    for (auto& key : option.conflicting_keys) key += " of many words";
  }
  return declaration;
}

TEST(ChainProperty, OurOwnLinterAcceptsEveryBlockOfAnInteractionChain) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  for (int i = 0; i < 300; ++i) {
    Generator random(seed + static_cast<std::uint64_t>(i));
    const auto declaration = wordy_chain(random, profiles);
    const ChainModel model(declaration);
    auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 5)));
    ASSERT_TRUE(turn.has_value());
    for (int step = 0; step < 80 && turn->state.end == ChainEnd::kNo; ++step) {
      if (turn->state.is_held) *turn = chain_step(model, turn->state, "continue");
      if (below(random, 6) == 0) *turn = chain_step(model, turn->state, "99");
      if (turn->state.is_held) continue;
      LintContext context;
      context.prompt_open = true;
      context.attempt = turn->state.attempts;
      for (const auto& finding : lint(turn->output, context)) {
        ADD_FAILURE() << finding.rule << " SB_SEED=" << seed + static_cast<std::uint64_t>(i) << "\n" << turn->output;
      }
      ASSERT_FALSE(HasFailure());
      const auto prompt = chain_prompt(model, turn->state);
      *turn = *chain_answer(model, turn->state, {prompt.options[below(random, prompt.options.size())].id});
    }
  }
}

// Anyone can write an unauthenticated blob: a state is accepted as a whole or rejected, and an accepted one can be
// shown.
TEST(ChainProperty, AForgedStateIsRejectedOrHarmless) {
  const auto profiles = Profiles::built_in();
  const std::uint64_t seed = first_seed();
  const std::vector<std::string> words = {
      "choice", "meta",        "narrow",   "groups",  "rest", "children", "course",    "child", "revise", "conflict",
      "final",  "pick-revise", "cut-more", "nothing", "no",   "done",     "cancelled", "iiii",  "----",   "hash"};
  for (int i = 0; i < 3000; ++i) {
    Generator random(seed + static_cast<std::uint64_t>(i));
    const auto declaration = random_chain(random, profiles);
    const ChainModel model(declaration);
    auto turn = chain_begin(model, 3 + static_cast<int>(below(random, 5)));
    for (int step = 0; step < 6 && turn->state.end == ChainEnd::kNo; ++step) {
      *turn = chain_step(model, turn->state, random_input(random, chain_prompt(model, turn->state), false));
    }
    Value forged = to_value(turn->state);
    for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) {
      auto& member = forged.members()[3 + below(random, forged.size() - 3)];
      if (member.value.is_bool()) {
        member.value = !member.value.as_bool();
      } else if (member.value.is_integer()) {
        member.value = static_cast<int>(below(random, 16)) - 2;
      } else if (member.value.is_string()) {
        member.value = words[below(random, words.size())];
      } else {
        const int one = static_cast<int>(below(random, 14)) - 1, other = static_cast<int>(below(random, 14)) - 1;
        member.value = member.name == "pairs"
                           ? Value(Value::Array{Value(Value::Array{one, other, 1, below(random, 2) == 0})})
                           : Value(Value::Array{one, other});
      }
    }
    const auto state = chain_state_from(forged, model);
    if (!state || state->end != ChainEnd::kNo) continue;
    const auto next = chain_step(model, *state, random_input(random, chain_prompt(model, *state), false));
    if (next.event == ChainEvent::kDone) {
      EXPECT_TRUE(open_violations(model, next.state).empty());
    }
    ASSERT_FALSE(HasFailure()) << "SB_SEED=" << seed + static_cast<std::uint64_t>(i) << "\n" << to_json(forged);
  }
}

}  // namespace
}  // namespace sb::decision
