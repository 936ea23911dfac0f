// Never dropped, through the state machines: random flows and chains, walked with random answers, each answer given as
// a host would give it.
#include <map>

#include "decision/chain/chain_prompt.hpp"
#include "decision/chain/machine.hpp"
#include "decision/flow/flow.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/random_declarations.hpp"
#include "decision/render/render.hpp"
#include "decision/render/simulated_host.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"
#include "decision/walk/walk.hpp"

namespace sb::decision {
namespace {

Value random_flow(Dice& dice, const std::string& profile) {
  Value steps = Value::array();
  const int count = dice.between(1, 9);
  for (int i = 0; i < count; ++i) {
    Value step = Value::object({{"key", fmt::format("step{}", i)},
                                {"instruction", "Which of these?"},
                                {"options", random_options(dice, dice.between(2, 16), false)}});
    if (dice.one_in(3)) step.set("select", "many");
    steps.push_back(std::move(step));
  }
  return Value::object({{"flow", "walk"},
                        {"profile", profile},
                        {"locale", dice.one_in(2) ? "en" : "ru"},
                        {"confirm", "always"},
                        {"steps", std::move(steps)}});
}

struct Seen {
  std::map<std::string, std::set<std::string>> labels;  // by step
  std::map<std::string, std::set<std::string>> chosen;
};

// Every entry of the question is tried; the walk continues with the pager's own entry, else with a random one.
std::string try_question(Dice& dice, const Declaration& declaration, FlowOutcome& at, Seen& seen) {
  const Prompt prompt = flow_prompt(declaration, at.state);
  const auto block = parse_block(at.output);
  if (!block) return at.output + ": " + block.error().message;
  if (block->options.size() != prompt.options.size()) return "the block has other options than the prompt";
  std::size_t next = dice.below(prompt.options.size());
  const std::string& key = declaration.flow()->steps[at.state.step].key();
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const Option& option = prompt.options[i];
    if (block->options[i] != option.label) return option.label + " is shown as " + block->options[i];
    const FlowOutcome tried = flow_step(declaration, at.state, std::to_string(i + 1));
    // "None of these" on every page is too few, and asked again.
    const bool is_taken = tried.event == FlowEvent::kNone && tried.state.streak == 0;
    if (!is_taken && option.id != kNoneId) return option.label + " cannot be chosen";
    if (option.role.empty()) seen.labels[key].insert(option.id);
    if (option.id == kMoreId) next = i;
  }
  if (prompt.options[next].id == kNoneId) next = 0;
  const Option& option = prompt.options[next];
  if (option.role.empty()) seen.chosen[key].insert(option.id);
  at = flow_step(declaration, at.state, std::to_string(next + 1));
  return "";
}

std::string compare_values(const Declaration& declaration, const Value& values, const Seen& seen) {
  for (const FlowStep& step : declaration.flow()->steps) {
    for (const Option& option : step.decision.options) {
      if (!seen.labels.at(step.key()).contains(option.id)) return option.id + " was never shown";
    }
    const auto chosen = seen.chosen.find(step.key());
    std::set<std::string> given;
    const Value& value = values[step.key()];
    if (value.is_string()) given.insert(value.as_string());
    if (value.is_array()) {
      for (const Value& id : value.items()) given.insert(id.as_string());
    }
    if (chosen != seen.chosen.end() && given != chosen->second) return step.key() + " has another value";
  }
  return "";
}

std::string walk_flow(Dice& dice, const Declaration& declaration) {
  FlowOutcome at = flow_begin(declaration);
  Seen seen;
  for (int turns = 0; at.state.phase == FlowPhase::kStep; ++turns) {
    if (turns > 500) return "the flow does not end";
    const std::string fault = try_question(dice, declaration, at, seen);
    if (!fault.empty()) return fault;
  }
  if (at.state.phase != FlowPhase::kConfirm) return "no confirmation";
  const FlowOutcome done = flow_step(declaration, at.state, "1");
  if (done.event != FlowEvent::kExecute) return "confirming does not execute";
  return compare_values(declaration, done.values, seen);
}

TEST(NeverDropped, FlowsShowAndAcceptEveryOption) {
  const std::uint64_t seed = from_environment("SB_SEED", 20'261'115);
  const std::uint64_t wanted = wanted_cases() / 100;
  std::printf("SB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Dice dice(seed);
  const Profiles profiles = all_profiles();
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const Value source = random_flow(dice, dice.of(std::vector<std::string>{"interaction", "terse", "pair"}));
    const Declaration declaration = declared_from(source, profiles);
    ASSERT_EQ(walk_flow(dice, declaration), "") << "SB_SEED=" << seed << "\n" << to_json(source);
  }
}

Value random_chain(Dice& dice, const std::string& profile) {
  const char* relation = dice.one_in(3) ? "alternatives" : dice.one_in(2) ? "independent" : "unknown";
  return Value::object({{"chain", "walk"},
                        {"skill", "review"},
                        {"profile", profile},
                        {"locale", dice.one_in(2) ? "en" : "ru"},
                        {"number", dice.between(1, 12)},
                        {"relation", relation},
                        {"options", random_options(dice, dice.between(2, 14), true)}});
}

// The ids that a host's answer maps to; for the pager's own entries, their ids.
std::vector<std::string> read_back(const Rendered& rendered, const Prompt& prompt, std::size_t place) {
  const HostAnswer answer = parse_answer(rendered.shape, pick(rendered, prompt, {place}));
  if (answer.result == HostAnswerKind::kMore) return {std::string(kMoreId)};
  if (answer.result == HostAnswerKind::kNone) return {std::string(kNoneId)};
  return answer.option_ids;
}

// How the walk continues: to the next page while there is one, never to Hold, and to the end once it is offered.
std::size_t next_place(Dice& dice, const Prompt& prompt) {
  std::size_t place = dice.below(prompt.options.size());
  if (prompt.options[place].id == "hold") place = 0;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const std::string& id = prompt.options[i].id;
    const bool is_own = !prompt.options[i].role.empty();
    if (is_own && (id == kMoreId || id == "ship" || id == "close")) return i;
  }
  return place;
}

// What a person gives who wants none of them: the word where the host takes text, else nothing chosen.
HostAnswer answer_none(const Rendered& rendered, const Prompt& prompt) {
  const Host* host = rendered.shape.host;
  if (host == &hosts::kBrief) return parse_answer(rendered.shape, Value("none"));
  if (host != &hosts::kAskUserQuestion) return parse_answer(rendered.shape, pick(rendered, prompt, {}));
  const std::string question = rendered.payload["questions"].items().at(0)["question"].as_string();
  const std::string said(text(prompt.locale, "none_of_these"));
  return parse_answer(rendered.shape, Value::object({{"questions", rendered.payload["questions"]},
                                                     {"answers", Value::object({{question, said}})}}));
}

// Where many may be chosen in a chain, none may be.
std::string try_none(const Declaration& declaration, const ChainState& state, const Rendered& rendered,
                     const Prompt& prompt, const Host& host) {
  if (prompt.select.mode != SelectMode::kMany) return "";
  auto walk = Walk::at(declaration, to_value(state), cap_of(host, declaration.profile));
  if (!walk) return walk.error().to_string();
  const HostAnswer none = answer_none(rendered, prompt);
  const WalkTurn turn = walk->answer(none);
  const bool is_taken = turn.kind != WalkTurn::Kind::kHeld && !turn.is_same && turn.error.empty();
  return is_taken ? "" : fmt::format("{}: none ({}) is not taken", prompt.label, to_string(none.result));
}

std::string walk_chain(Dice& dice, const Declaration& declaration, const Host& host) {
  const ChainModel model(declaration);
  auto turn = chain_begin(model, cap_of(host, declaration.profile));
  if (!turn) return turn.error().to_string();
  std::string shown;
  for (int turns = 0; turn->event == ChainEvent::kNone; ++turns) {
    if (turns > 500) return "the chain does not end";
    const Prompt prompt = chain_prompt(model, turn->state);
    const auto rendered = render(prompt, declaration.profile, host, {.nonce = "n0nce"});
    if (!rendered) return rendered.error().to_string();
    shown += rendered->text;
    for (const ShownQuestion& question : rendered->shape.questions) {
      shown += question.text;
      for (const ShownOption& option : question.options) shown += "\n" + option.label;
    }
    for (std::size_t i = 0; i < prompt.options.size(); ++i) {
      const auto ids = read_back(*rendered, prompt, i);
      if (ids != std::vector<std::string>{prompt.options[i].id}) {
        return fmt::format("{}: {} is read back as {}", prompt.label, prompt.options[i].id, fmt::join(ids, " "));
      }
      const auto tried = chain_answer(model, turn->state, ids);
      if (!tried) return tried.error().to_string();
    }
    if (std::string fault = try_none(declaration, turn->state, *rendered, prompt, host); !fault.empty()) return fault;
    const std::string id = prompt.options[next_place(dice, prompt)].id;
    turn = chain_answer(model, turn->state, {id});
  }
  if (turn->event != ChainEvent::kDone) return "the chain ended otherwise";
  for (const ChainOption& option : declaration.chain()->options) {
    if (!turn->values.find(option.key)) return option.key + " has no disposition";
    if (shown.find(option.label) == std::string::npos) return option.key + " was never shown";
  }
  return "";
}

// The text block of `interaction` shows no lists next to its options, so the chain's texts are not checked there.
TEST(NeverDropped, ChainsShowAndAcceptEveryOption) {
  const std::uint64_t seed = from_environment("SB_SEED", 20'261'115);
  const std::uint64_t wanted = wanted_cases() / 100;
  std::printf("SB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Dice dice(seed);
  const Profiles profiles = all_profiles();
  const std::vector<const Host*> shown_on = {&hosts::kBrief, &hosts::kAskUserQuestion, &hosts::kRequestUserInput,
                                             &hosts::kElicitation};
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const Value source =
        random_chain(dice, dice.of(std::vector<std::string>{"gstack", "gstack", "interaction", "wide"}));
    const Declaration declaration = declared_from(source, profiles);
    const Host& host = *dice.of(shown_on);
    ASSERT_EQ(walk_chain(dice, declaration, host), "") << "SB_SEED=" << seed << " host " << host.name << "\n"
                                                       << to_json(source);
  }
}

}  // namespace
}  // namespace sb::decision
