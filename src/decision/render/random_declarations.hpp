// For tests: random declarations, with labels that hosts could confuse.
#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/testing/fakes.hpp"
#include "base/text/unicode.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A release build runs them all; a debug or sanitizer build, which is many times slower, only some.
inline std::uint64_t wanted_cases() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t otherwise = 5'000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr std::uint64_t otherwise = 5'000;
#else
  constexpr std::uint64_t otherwise = 100'000;
#endif
#elif defined(NDEBUG)
  constexpr std::uint64_t otherwise = 100'000;
#else
  constexpr std::uint64_t otherwise = 5'000;
#endif
  return from_environment("SB_CASES", otherwise);
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return random_.next() % end; }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::size_t>(high - low) + 1)); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  const auto& of(const List& list) {
    return list[below(list.size())];
  }

 private:
  FakeRandom random_;
};

inline Profiles all_profiles() {
  const auto terse = parse_document("terse.yaml", "profile: terse\ninherits: interaction\ncap: {max_options: 5}\n");
  const auto wide = parse_document(
      "wide.yaml", "profile: wide\ninherits: gstack\ncap: {max_options: 9}\nmarks: {ordinals: number_paren}\n");
  const auto pair = parse_document("pair.yaml", "profile: pair\ninherits: terse\ncap: {max_options: 3}\n");
  return Profiles::with({*terse, *wide, *pair}).value();
}

// Labels that hosts could confuse: commas, our own marks, the pager's words, other scripts, prefixes of each other.
inline std::string random_label(Dice& dice, std::set<std::string>& used) {
  static const std::vector<std::string> odd = {"a",
                                               "b",
                                               "a, b",
                                               "b, a",
                                               "a,b",
                                               "A) a",
                                               "B) b, C) c",
                                               "x (recommended)",
                                               "x",
                                               "Yes",
                                               "No",
                                               "Да",
                                               "Нет",
                                               "More options",
                                               "None of these",
                                               "Другие варианты",
                                               "Ничего из этого",
                                               "好的",
                                               "はい, いいえ",
                                               "naïve — yes",
                                               "\"quoted\"",
                                               "<b>",
                                               "a\\nb",
                                               "Ship, then wait",
                                               "é",

                                               "x, (recommended)",
                                               "none",
                                               "more"};
  for (;;) {
    std::string label = dice.one_in(2) ? dice.of(odd) : fmt::format("option {}", dice.below(10'000));
    if (dice.one_in(3)) label += fmt::format(" v{}", dice.below(100));
    if (used.insert(case_fold(label)).second) return label;
    label = fmt::format("choice c{}", dice.below(1'000'000));
    if (used.insert(case_fold(label)).second) return label;
  }
}

inline Value random_options(Dice& dice, int count, bool is_chain) {
  std::set<std::string> used;
  Value options = Value::array();
  for (int i = 0; i < count; ++i) {
    Value option =
        Value::object({{is_chain ? "key" : "id", fmt::format("o{}", i)}, {"label", random_label(dice, used)}});
    if (!is_chain && dice.one_in(5)) option.set("recommended", true);
    if (!is_chain && dice.one_in(4)) option.set("description", "what it is, A) and B) included");
    if (is_chain) {
      const char* bucket = dice.one_in(2) ? "include" : dice.one_in(2) ? "defer" : "cut";
      option.set("eli10", "What it is.");
      option.set("recommend", Value::object({{"choice", bucket}, {"reason", "it was asked for"}}));
    }
    options.push_back(std::move(option));
  }
  return options;
}

inline int random_count(Dice& dice) {
  return dice.one_in(8) ? dice.between(2, 60) : dice.between(2, 12);
}

// Replaces the odd labels with plain ones and returns the odd ones in order: a definition is rejected for many labels
// (an explanation, a word for "other"), but renderers must handle the worst that any profile could allow.
inline std::vector<std::string> plain_labels(Value& source) {
  std::vector<std::string> labels;
  if (Value* options = source.find("options")) {
    for (Value& option : options->items()) {
      labels.push_back(option["label"].as_string());
      option.set("label", fmt::format("choice c{}", labels.size()));
    }
  }
  if (Value* steps = source.find("steps")) {
    for (Value& step : steps->items()) {
      for (std::string& label : plain_labels(step)) labels.push_back(std::move(label));
    }
  }
  return labels;
}

inline void put_labels(Declaration& declaration, const std::vector<std::string>& labels) {
  std::size_t next = 0;
  if (auto* decision = std::get_if<Decision>(&declaration.what)) {
    for (Option& option : decision->options) option.label = labels.at(next++);
  } else if (auto* flow = std::get_if<Flow>(&declaration.what)) {
    for (FlowStep& step : flow->steps) {
      for (Option& option : step.decision.options) option.label = labels.at(next++);
    }
  } else {
    for (ChainOption& option : std::get<Chain>(declaration.what).options) option.label = labels.at(next++);
  }
}

// Adds what its profile requires of a brief, so that a decision can be shown as one.
inline void fill_brief(Decision& decision, const Profile& profile) {
  if (profile.sections_required.empty() || decision.options.empty()) return;
  const std::string point = "an argument that is long enough for a brief, with A) and B) in it";
  Sections& sections = decision.sections;
  sections.eli10 = sections.stakes = sections.net = "What it is.";
  sections.recommendation = Recommendation{decision.options.front().id, "it was asked for"};
  for (Option& option : decision.options) {
    option.recommended = &option == &decision.options.front();
    option.completeness = 5;
    option.pros = {point, point};
    option.cons = {point};
  }
}

inline void fill_brief(Declaration& declaration) {
  if (auto* decision = std::get_if<Decision>(&declaration.what)) fill_brief(*decision, declaration.profile);
  if (auto* flow = std::get_if<Flow>(&declaration.what)) {
    for (FlowStep& step : flow->steps) fill_brief(step.decision, declaration.profile);
  }
}

inline Declaration declared_from(Value source, const Profiles& profiles) {
  const std::vector<std::string> labels = plain_labels(source);
  const auto document = parse_document("random.json", to_json(source));
  auto declaration = parse_declaration(*document, profiles);
  if (!declaration) {
    ADD_FAILURE() << declaration.error().front().to_string() << "\n" << to_json(source);
    std::abort();
  }
  put_labels(*declaration, labels);
  fill_brief(*declaration);
  return std::move(*declaration);
}

}  // namespace sb::decision
