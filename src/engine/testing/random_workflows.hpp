// Random workflows and random submissions, from a seed.
//
// Workflows use every kind of step and loop, nested, with conditions, needs, captures, gates and jumps over a few keys:
// `flag`, `size`, `color` for conditions, `xs` and `ys` for items, `n` for counts. Submissions set these keys to valid
// and invalid values, say stop and continue, and sometimes contain nothing.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "engine/testing/testing.hpp"

namespace sb::engine {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  template <class T>
  const T& any_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

class RandomWorkflow {
 public:
  RandomWorkflow(Dice& dice, int steps) : dice_(dice), steps_left_(steps) {}

  // In the format, as parsed from YAML.
  std::string text() {
    has_captures_ = dice_.one_in(3);
    std::string list = first_step();
    while (steps_left_ > 0) list += ", " + step(0);
    return workflow_text("[" + list + "]");
  }

 private:
  // If captures are declared, every key that conditions use must come from somewhere.
  std::string first_step() {
    ids_.push_back("setup");
    return R"({"id": "setup", "title": "S", "prompt": "P", "notesOptional": true)" +
           std::string(has_captures_ ? R"(, "captures": {"flag": {}, "size": {}, "color": {}, "n": {"type": "integer"},
             "xs": {"type": "array"}, "ys": {"type": "array"}}})"
                                     : "}");
  }

  std::string step(int depth) {
    --steps_left_;
    const int kind = dice_.below(10);
    if (kind < 3 && depth < 3) return loop(depth);
    if (kind == 3 && depth == 0) return decision();
    return work(depth, "");
  }

  std::string new_id(const char* stem) { return stem + std::to_string(++number_); }

  std::string opened(const std::string& id, const char* type) {
    std::string text = R"({"id": ")" + id + R"(", "title": "T")";
    if (*type != 0) text += R"(, "type": ")" + std::string(type) + "\"";
    if (dice_.one_in(3)) text += R"(, "runCondition": )" + condition(2);
    return text;
  }

  std::string condition(int levels) {
    if (levels > 0 && dice_.one_in(4)) {
      const bool is_and = dice_.one_in(2);
      return std::string(is_and ? R"({"and": [)" : R"({"or": [)") + condition(levels - 1) + ", " +
             condition(levels - 1) + "]}";
    }
    if (levels > 0 && dice_.one_in(6)) return R"({"not": )" + condition(levels - 1) + "}";
    return dice_.any_of<std::string>(
        {R"({"var": "flag"})", R"({"var": "flag", "equals": false})", R"({"var": "size", "gt": 2})",
         R"({"var": "size", "lte": 3})", R"({"var": "color", "in": ["red", "blue"]})",
         R"({"var": "color", "not_equals": "red"})", R"({"var": "color", "contains": "e"})"});
  }

  std::string work(int depth, const std::string& contract) {
    const std::string id = new_id("step-");
    std::string text = opened(id, "") + R"(, "prompt": "P")";
    if (!contract.empty()) text += R"(, "outputContract": {"contractRef": ")" + contract + "\"}";
    if (!dice_.one_in(4)) text += R"(, "notesOptional": true)";
    if (dice_.one_in(6)) text += R"(, "requireConfirmation": )" + (dice_.one_in(2) ? "true" : condition(1));
    if (dice_.one_in(6)) text += R"(, "needs": ["size"])";
    if (dice_.one_in(6) && contract.empty() && depth == 0) {
      text += R"(, "jumpIf": {"when": )" + condition(1) + R"(, "to": ")" + dice_.any_of(ids_) + R"(", "atMost": )" +
              std::to_string(1 + dice_.below(2)) + "}";
    }
    if (depth == 0) ids_.push_back(id);
    return text + "}";
  }

  std::string loop(int depth) {
    const std::string id = new_id("loop-");
    const std::string most = std::to_string(1 + dice_.below(3));
    const std::string names = R"(, "iterationVar": "round)" + std::to_string(number_) + R"(", "itemVar": "item)" +
                              std::to_string(number_) + R"(", "indexVar": "at)" + std::to_string(number_) + "\"";
    const int kind = dice_.below(5);
    std::string how;
    if (kind == 0) how = R"("type": "for", "count": )" + std::to_string(dice_.below(4));
    if (kind == 1) how = R"("type": "for", "count": "n")";
    if (kind == 2) how = R"("type": "forEach", "items": ")" + std::string(dice_.one_in(2) ? "xs" : "ys") + "\"";
    if (kind == 3) how = std::string(R"("type": )") + (dice_.one_in(2) ? R"("while")" : R"("until")") + artifacts();
    if (kind == 4)
      how = std::string(R"("type": )") + (dice_.one_in(2) ? R"("while")" : R"("until")") + R"(, "condition": )" +
            condition(1);
    if (kind != 2) how += R"(, "iterationVar": "round)" + std::to_string(number_) + "\"";
    if (kind == 2) how += names;
    std::string body = work(depth + 1, kind == 3 && dice_.one_in(2) ? "wr.contracts.loop_control" : "");
    for (int count = dice_.below(3); count > 0 && steps_left_ > 0; --count) body += ", " + step(depth + 1);
    if (kind == 4 && has_captures_) {
      body += R"(, {"id": ")" + new_id("set-") +
              R"(", "title": "T", "prompt": "P", "notesOptional": true, "captures": {"flag": {}, "size": {},
           "color": {}}})";
    }
    if (depth == 0) ids_.push_back(id);
    return opened(id, "loop") + R"(, "loop": {)" + how + R"(, "maxIterations": )" + most + R"(}, "body": [)" + body +
           "]}";
  }

  static std::string artifacts() {
    return R"(, "conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"})";
  }

  std::string decision() {
    const std::string id = new_id("pick-");
    ids_.push_back(id);
    return opened(id, "decision") + R"(, "decision": {"instruction": "Which?", "options": [{"id": "a", "label": "A"},
      {"id": "b", "label": "B"}]}, "captureAs": "color"})";
  }

  Dice& dice_;
  int steps_left_;
  int number_ = 0;
  bool has_captures_ = false;
  std::vector<std::string> ids_;
};

// `mark` becomes a separate context key, so that later it is visible who set what.
inline Submission random_submission(Dice& dice, const std::string& mark) {
  Submission submission;
  submission.notes = dice.one_in(5) ? "" : "notes";
  submission.context = Value::object({{mark, true}});
  const auto maybe = [&](const char* key, const std::vector<const char*>& values) {
    if (!dice.one_in(3)) submission.context.set(key, json(dice.any_of(values)));
  };
  maybe("flag", {"true", "false", "\"yes\"", "null", "0"});
  maybe("size", {"1", "3", "5", "\"3\"", "2"});
  maybe("color", {"\"red\"", "\"Blue\"", "\"green\"", "7"});
  maybe("xs", {"[]", "[1]", "[1, 2, 3, 4]", "[1, 2]", "\"no list\"", "null"});
  maybe("ys", {"[\"a\"]", "[]", "[{}, {}]", "3"});
  maybe("n", {"0", "1", "2", "4", "\"2\"", "-1", "[]"});
  const auto decide = [&](const std::vector<std::string>& loops) {
    submission.artifacts.push_back(
        loop_control(dice.any_of<std::string>({"continue", "stop", "stop", "perhaps"}), dice.any_of(loops)));
  };
  const int decisions = dice.below(3);
  if (decisions == 1) decide({"", "", "", "loop-1", "loop-2", "nowhere"});
  if (decisions == 2) decide({"loop-1"}), decide({"loop-2", "nowhere"});
  if (dice.one_in(5)) submission.artifacts.push_back(json(R"({"kind": "surprise"})"));
  return submission;
}

}  // namespace sb::engine
