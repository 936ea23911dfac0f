// An agent that sends the shown example must pass: every example against the check it is shown for.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/testing/fakes.hpp"
#include "engine/advance/advance.hpp"
#include "engine/answer/answer.hpp"
#include "engine/testing/testing.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The JSON after each `Example: ` in a text.
std::vector<Value> examples_in(const std::string& text) {
  constexpr std::string_view kPrefix = "\n  Example: ";
  std::vector<Value> found;
  for (std::size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at)) {
    at += kPrefix.size();
    auto value = parse_json(text.substr(at, text.find('\n', at) - at));
    if (!value) {
      ADD_FAILURE() << text;
      continue;
    }
    found.push_back(std::move(*value));
  }
  return found;
}

bool is_of_examples(const Blocker& blocker) {
  return blocker.code == BlockerCode::kMissingOutput || blocker.code == BlockerCode::kInvalidOutput ||
         blocker.code == BlockerCode::kAssessmentFollowup || blocker.code == BlockerCode::kInvalidContext;
}

// What is wrong with the examples a step shows in this context, in its text and in its refusals.
std::vector<std::string> faults_of(const Program& program, const std::string& step, const Value& context) {
  Node node;
  node.position.step = step;
  Submission sent;
  sent.notes = "Done.";
  sent.context = Value::object();
  const auto check_sent = [&](std::string_view where) {
    std::vector<std::string> faults;
    Value after = context;
    for (const auto& member : sent.context.members()) after.set(member.name, member.value);
    for (const Blocker& blocker : check(program, node, after, sent)) {
      if (is_of_examples(blocker)) faults.push_back(fmt::format("{}: {}: {}", where, step, blocker.message));
    }
    return faults;
  };
  const std::vector<Blocker> refused = check(program, node, context, sent);
  sent.artifacts = examples_in(requirement_text(program, node.position, context));
  std::vector<std::string> faults = check_sent("shown");
  sent.artifacts.clear();
  for (const Blocker& blocker : refused) {
    if (blocker.code == BlockerCode::kMissingContext) {
      EXPECT_TRUE(blocker.example.is_object()) << step << ": " << blocker.message;
      if (blocker.example.is_object()) {
        for (const auto& member : blocker.example.members()) sent.context.set(member.name, member.value);
      }
    } else if (blocker.example.is_array()) {
      for (const Value& artifact : blocker.example.items()) sent.artifacts.push_back(artifact);
    } else if (blocker.example.is_object()) {
      sent.artifacts.push_back(blocker.example);
    }
  }
  for (std::string& fault : check_sent("refused")) faults.push_back(std::move(fault));
  return faults;
}

TEST(ShownExamples, OfEveryBundledStepPassTheirOwnCheck) {
  const FakeFiles files;
  const auto catalog = workflow::Catalog::open(files, {}, HomeDirectories{"/config", "/data", "/state"}, std::string());
  ASSERT_TRUE(catalog);
  const Value contexts[] = {Value::object(),
                            json(R"({"reviewTargetFound": true, "checklistFailedCount": 0, "isFixOrRetry": true})"),
                            json(R"({"reviewTargetFound": true, "checklistFailedCount": 2})"),
                            json(R"({"reviewTargetFound": true, "acceptanceCriteriaSource": "none"})")};
  int steps = 0;
  for (const workflow::CatalogEntry* entry : catalog->list(true)) {
    const auto bundle = catalog->compile(*entry);
    ASSERT_TRUE(bundle) << entry->id;
    const Program program(bundle->back());
    for (StepNo number = 0; number < program.size(); ++number) {
      if (kind_at(program, {program.at(number).step->id, {}}) != NodeKind::kStep) continue;
      for (const Value& context : contexts) {
        EXPECT_THAT(faults_of(program, program.at(number).step->id, context), IsEmpty()) << entry->id;
      }
      ++steps;
    }
  }
  EXPECT_GT(steps, 60);
}

constexpr const char* kNarrowed = R"([{id: one, title: T, prompt: P, outputContract: {
  contractRef: wr.contracts.review_verdict, narrow: [
    {schema: {properties: {confidence: {enum: [medium, low]}}}, message: No more than medium.},
    {schema: {properties: {confidence: {const: low}, findings: {minItems: 3}}}, message: Three findings.},
    {when: {var: other, equals: true}, schema: {properties: {verdict: {const: clean}}}, message: Not said here.}]}}])";

TEST(ShownExamples, FitTheNarrowedContract) {
  const auto program = program_of(kNarrowed);
  const std::string lines = requirement_text(*program, {"one", {}}, Value::object());
  const auto shown = examples_in(lines);
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0]["confidence"], Value("low"));
  EXPECT_EQ(shown[0]["findings"].size(), 3u);
  EXPECT_EQ(shown[0]["verdict"], Value("blocking"));
  EXPECT_THAT(lines, HasSubstr("Three findings."));
  EXPECT_THAT(lines, testing::Not(HasSubstr("Not said here.")));
}

}  // namespace
}  // namespace sb::engine
