#include <gmock/gmock.h>

#include "base/text/printable.hpp"
#include "decision/testing.hpp"
#include "inbox/question/question.hpp"

namespace sb::inbox {
namespace {

using ::testing::HasSubstr;

const std::string kFlow = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch should be released?", options: [main, release]}
  - {key: env, instruction: "Which environments should get it?", select: many, options: [staging, production]}
)";
const std::string kChain = R"(
chain: chat
skill: plan-ceo-review
profile: gstack
number: 3
relation: independent
options:
  - {key: E1, label: Slack bot, eli10: A bot., recommend: {choice: include, reason: many want it}}
  - {key: E2, label: Discord bot, eli10: Another., recommend: {choice: defer, reason: few want it}, requires: [E1]}
  - {key: E3, label: Teams bot, eli10: A third., recommend: {choice: cut, reason: nobody wants it}, conflicts: [E1]}
)";

Question question(const std::string& yaml) {
  return question_of(decision::declared(yaml));
}

// The answer as it would be recorded, or the error.
std::string taken(const Question& question, const std::string& choice) {
  const auto given = parse_choice(question, choice);
  const auto checked = given ? check_answer(question, *given) : given;
  if (!checked) return checked.error().message;
  if (const Status fits = check_dependencies(question, *checked); !fits) return fits.error().message;
  return checked->options.empty() ? to_json(checked->values) : to_json(Value::array(checked->options));
}

TEST(AnswerCheck, AFlowIsAnsweredByKey) {
  const Question flow = question(kFlow);
  EXPECT_EQ(taken(flow, "branch=main,env=production+staging"), R"({"branch":"main","env":["staging","production"]})");
  EXPECT_EQ(taken(flow, "env=staging,branch=release"), R"({"branch":"release","env":["staging"]})");
  EXPECT_THAT(taken(flow, "branch=main"), HasSubstr("\"env\" is not answered"));
  EXPECT_THAT(taken(flow, "branch=main,env="), HasSubstr("answer is empty"));
  EXPECT_THAT(taken(flow, "branch=main+release,env=staging"), HasSubstr("no option"));
  EXPECT_THAT(taken(flow, "branch=main,env=staging+staging"), HasSubstr("twice"));
  EXPECT_THAT(taken(flow, "branch=main,branch=main,env=staging"), HasSubstr("twice"));
  EXPECT_THAT(taken(flow, "branch=main,env=staging,more=x"), HasSubstr("no \"more\""));
  EXPECT_THAT(taken(flow, "main"), HasSubstr("not key=value"));
}

TEST(AnswerCheck, AChainKeyMayContainCommaEqualsAndPlus) {
  std::string yaml = kChain;
  const auto rename = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = yaml.find(from); at != std::string::npos; at = yaml.find(from, at + to.size())) {
      yaml.replace(at, from.size(), to);
    }
  };
  rename("E1", "\"a,b\"");
  rename("E2", "\"a,b=c\"");
  rename("E3", "\"x+y=z,\"");
  const Question chain = question(yaml);
  EXPECT_EQ(taken(chain, "a,b=include,a,b=c=defer,x+y=z,=cut"), R"({"a,b":"include","a,b=c":"defer","x+y=z,":"cut"})");
  EXPECT_EQ(taken(chain, "x+y=z,=cut,a,b=c=include,a,b=include"),
            R"({"a,b":"include","a,b=c":"include","x+y=z,":"cut"})");
  EXPECT_THAT(taken(chain, "a,b=include,a,b=c=defer"), HasSubstr("\"x+y=z,\" is not answered"));
  EXPECT_THAT(taken(chain, "a,b=include,a,b=include"), HasSubstr("is not key=value"));
}

TEST(AnswerCheck, AChainIsAnsweredOptionByOption) {
  const Question chain = question(kChain);
  EXPECT_EQ(taken(chain, "E1=include,E2=include,E3=cut"), R"({"E1":"include","E2":"include","E3":"cut"})");
  EXPECT_THAT(taken(chain, "E1=cut,E2=include,E3=cut"), HasSubstr("E2 is included but requires E1"));
  EXPECT_THAT(taken(chain, "E1=include,E2=cut,E3=include"), HasSubstr("cannot both"));
  EXPECT_THAT(taken(chain, "E1=include,E2=cut"), HasSubstr("\"E3\" is not answered"));
  EXPECT_THAT(taken(chain, "E1=hold,E2=cut,E3=cut"), HasSubstr("E1=hold cannot be given together"));
}

TEST(AnswerCheck, FormFieldsAreValidated) {
  Question form;
  form.id = "who";
  Part part;
  part.select.mode = decision::SelectMode::kForm;
  decision::Field name{.key = "name",
                       .title = "",
                       .description = "",
                       .format = "",
                       .required = true,
                       .minimum = {},
                       .maximum = {},
                       .default_value = {}};
  decision::Field age = name;
  age.key = "age";
  age.type = decision::Field::Type::kInteger;
  age.required = false;
  age.minimum = 1;
  age.maximum = 9;
  decision::Field mail = name;
  mail.key = "mail";
  mail.required = false;
  mail.format = "email";
  part.fields = {name, age, mail};
  form.parts = {part};
  EXPECT_EQ(taken(form, "name=Ann,, Lee,age=3"), R"({"name":"Ann, Lee","age":3})");
  EXPECT_THAT(taken(form, "age=3"), HasSubstr("\"name\" is missing"));
  EXPECT_THAT(taken(form, "name=Ann,age=10"), HasSubstr("above 9"));
  EXPECT_THAT(taken(form, "name=Ann,age=1.5"), HasSubstr("not an integer"));
  EXPECT_THAT(taken(form, "name=Ann,age=x"), HasSubstr("not a number"));
  EXPECT_THAT(taken(form, "name=Ann,mail=x"), HasSubstr("not a valid email"));
  EXPECT_THAT(taken(form, "name= "), HasSubstr("is empty"));
  EXPECT_THAT(taken(form, "name=Ann,nmae=x"), HasSubstr("no field \"nmae\""));
}

TEST(AnswerCheck, InvalidBytesAreRejected) {
  const Question one = question("decision: d\ninstruction: \"Which one?\"\noptions: [first, second]\n");
  for (const std::string& bad :
       {std::string(""), std::string("   "), std::string("\xff"), std::string("first,"), std::string(",first"),
        std::string("first\0", 6), std::string("First"), std::string("1")}) {
    EXPECT_NE(taken(one, bad).front(), '[') << bad;
  }
  EXPECT_EQ(taken(one, "first"), R"(["first"])");
}

TEST(Printable, NeutralizesCursorMovesAndHiddenText) {
  EXPECT_EQ(printable("a\x1b[2Jb\rc\x7f\nd\te"),
            "a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD"
            "c\xEF\xBF\xBD\nd e");
  EXPECT_EQ(printable("x\u202Ey\u200Bz\u2066"), "x\uFFFDy\uFFFDz\uFFFD");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\uFFFD31m");
  EXPECT_EQ(printable("ok \xff"), "ok \uFFFD");
  EXPECT_EQ(printable("Ж 中 é"), "Ж 中 é");
}

}  // namespace
}  // namespace sb::inbox
