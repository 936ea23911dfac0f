// The table of hosts: what is derived from it, and that one more row is all a new host needs.
#include "decision/render/hosts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "decision/render/drafts.hpp"
#include "decision/render/host_answer.hpp"
#include "decision/render/readers.hpp"
#include "decision/render/render.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A made-up host: a text message that is answered with a keyword and a letter, `PICK a`.
void draft_sms(const Prompt& prompt, const Profile&, const RenderOptions&, Rendered& rendered, ShownFields& shown) {
  rendered.text = drafts::sentence_of(prompt, "", shown);
  ShownQuestion question{"", rendered.text, false, {}};
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const std::string letter(1, static_cast<char>('a' + i));
    question.text += fmt::format("\n{}: {}", letter, prompt.options[i].label);
    question.options.push_back({prompt.options[i].id, prompt.options[i].label, "PICK " + letter});
  }
  rendered.text = question.text;
  rendered.shape.questions.push_back(std::move(question));
}

void set_sms_question(Rendered& rendered, std::size_t index) {
  rendered.text = rendered.shape.questions[index].text;
}

HostAnswer read_sms(const AnswerShape& shape, const Value& given) {
  if (!given.is_string()) return readers::invalid("shape");
  const auto& options = shape.questions.front().options;
  const auto found = std::ranges::find(options, given.as_string(), &ShownOption::shown);
  return found == options.end() ? readers::free_text(given.as_string()) : readers::chosen(shape, {&*found});
}

constinit const Host kSms = {
    .name = "sms",
    .limits = {.questions = 1, .options = 3},
    .draft = draft_sms,
    .set_question = set_sms_question,
    .read = read_sms,
};
constexpr std::array kWithSms = {&hosts::kText, &kSms};

constexpr const char* kBranch = R"(
decision: branch
instruction: Which branch?
options:
  - {id: main, label: Main, description: what everyone has}
  - {id: next, label: Next}
)";

Result<Rendered> on_sms(const std::string& yaml) {
  const Declaration declaration = declared(yaml);
  const auto prompts =
      prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(kSms, declaration.profile));
  return render(prompts.front(), declaration.profile, kSms, {.nonce = "n0nce"});
}

TEST(MadeUpHost, IsFoundByNameInItsTableOnly) {
  EXPECT_EQ(host_named("sms", kWithSms), &kSms);
  EXPECT_EQ(host_names(kWithSms), "text or sms");
  EXPECT_EQ(host_named("sms"), nullptr);
}

TEST(MadeUpHost, RendersWithMarkerAndNamesWhatItDoesNotShow) {
  const auto rendered = on_sms(kBranch);
  ASSERT_TRUE(rendered) << rendered.error().to_string();
  EXPECT_EQ(rendered->bytes(), "Which branch? <sb:n0nce>\na: Main\nb: Next");
  EXPECT_THAT(rendered->omitted_fields, ElementsAre("description"));
}

TEST(MadeUpHost, ReadsTheAnswerFromTheStoredShape) {
  const Value stored = to_value(on_sms(kBranch)->shape);
  EXPECT_FALSE(shape_from_value(stored)) << "the host is not in the program's table";
  const auto shape = shape_from_value(stored, kWithSms);
  ASSERT_TRUE(shape);
  const HostAnswer answer = parse_answer(*shape, Value("PICK b"));
  EXPECT_EQ(answer.result, HostAnswerKind::kSelected);
  EXPECT_THAT(answer.option_ids, ElementsAre("next"));
  EXPECT_EQ(parse_answer(*shape, Value("b")).result, HostAnswerKind::kFreeText);
}

TEST(MadeUpHost, FollowsItsRow) {
  const auto paged = on_sms("decision: many\ninstruction: Which?\noptions: [a1, a2, a3, a4, a5]\n");
  ASSERT_TRUE(paged);
  EXPECT_EQ(paged->shape.questions.front().options.size(), 3u) << "three fit, the last of them is the pager's";
  const auto form = on_sms("decision: who\nselect: form\ninstruction: Who?\nfields: [{key: mail}]\n");
  ASSERT_FALSE(form);
  EXPECT_THAT(form.error().to_string(), HasSubstr("\"who\" cannot be shown on sms: it is a form"));
  const auto url = on_sms("decision: login\nselect: url\ninstruction: Log in?\nurl: 'https://a.example/'\n");
  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().to_string(), HasSubstr("Use --host elicitation"));
}

TEST(Hosts, HaveDistinctNamesAndAreFoundByThem) {
  std::set<std::string_view> names;
  for (const Host* host : hosts::kAll) {
    EXPECT_TRUE(names.insert(host->name).second) << host->name;
    EXPECT_EQ(host_named(host->name), host);
    EXPECT_TRUE(host->draft && host->read) << host->name;
  }
  EXPECT_EQ(host_named("Text"), nullptr);
  EXPECT_EQ(host_named(""), nullptr);
  EXPECT_EQ(host_names(), "text, brief, ask_user_question, request_user_input or elicitation");
  EXPECT_EQ(hosts_with(&Host::takes_text), "text or elicitation");
}

// What a row says about the note decides what an error suggests, so it must be what the host does.
TEST(Hosts, ShowTheNoteOfAOneWayDecisionWhereTheirRowSaysSo) {
  const Declaration declaration = declared(
      "decision: drop\ninstruction: Drop the table?\ndoor: one-way\nirreversible_note: The rows cannot be restored.\n"
      "options: [Drop it, Keep it]\n");
  const auto prompts = prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
  for (const Host* host : hosts::kAll) {
    const auto rendered = render(prompts.front(), declaration.profile, *host);
    EXPECT_EQ(rendered.has_value(), host->shows_irreversible_note) << host->name;
  }
}

}  // namespace
}  // namespace sb::decision
