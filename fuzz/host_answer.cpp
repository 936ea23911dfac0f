// Any host answer: it is parsed into ids that were shown, or into no answer.
#include "decision/render/host_answer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/document/document.hpp"
#include "decision/render/render.hpp"

namespace {

using namespace sb;
using namespace sb::decision;

constexpr const char* kQuestions[] = {
    "{decision: colour, instruction: Which colour?, options: [Red, Blue]}",
    "{decision: sets, instruction: Which sets?, select: many, options: [{id: a, label: a}, {id: ab, label: 'a, b'}, "
    "b]}",
    "{decision: page, profile: gstack, label: D3.2, instruction: Which?, options: [a1, a2, a3, a4, a5, a6]}",
    "{decision: form, instruction: Who?, select: form, fields: [{key: mail, format: email, required: true}, "
    "{key: age, type: integer, minimum: 1}]}",
    "{decision: note, instruction: Which name?, select: text}",
};

std::vector<AnswerShape> shapes() {
  const Profiles profiles = Profiles::built_in();
  std::vector<AnswerShape> all;
  for (const char* question : kQuestions) {
    const auto document = parse_document("q.yaml", question, Syntax::kYaml);
    const auto declaration = parse_declaration(*document, profiles);
    if (!declaration) std::abort();
    for (const Host* host : hosts::kAll) {
      const auto prompts = prompts_of(*declaration->decision(), declaration->profile, declaration->hash,
                                      cap_of(*host, declaration->profile));
      const auto rendered = render(prompts.front(), declaration->profile, *host, {.nonce = "n0nce", .is_local = true});
      if (rendered) all.push_back(rendered->shape);
    }
  }
  return all;
}

bool was_shown(const AnswerShape& shape, const std::string& id) {
  for (const ShownQuestion& question : shape.questions) {
    if (std::ranges::find(question.options, id, &ShownOption::id) != question.options.end()) return true;
  }
  return false;
}

void check(const AnswerShape& shape, const Value& given) {
  const HostAnswer answer = parse_answer(shape, given);
  if ((answer.result == HostAnswerKind::kSelected) == answer.option_ids.empty()) std::abort();
  for (const std::string& id : answer.option_ids) {
    if (!was_shown(shape, id)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<AnswerShape> known = shapes();
  if (size < 1) return 0;
  const AnswerShape& shape = known[data[0] % known.size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(shape, Value(text));
  const auto given = parse_json(text);
  if (!given) return 0;
  check(shape, *given);
  if (const auto stored = shape_from_value(*given)) check(*stored, *given);
  return 0;
}
