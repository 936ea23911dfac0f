// What a step says to the agent: a text, blocks, or a template's steps; and the fragments added to it.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kOurs = "{{wr.";
constexpr std::string_view kBindingMark = "{{wr.bindings.";

// Every {{wr.bindings.SLOT}} must name an extension point of this file.
void check_bindings(const Reader& reader, std::string_view text, const StepReadContext& reading) {
  for (auto at = text.find(kBindingMark); at != std::string_view::npos; at = text.find(kBindingMark, at + 1)) {
    const auto begin = at + kBindingMark.size();
    const auto end = text.find("}}", begin);
    if (end == std::string_view::npos) return;
    const std::string_view slot = text.substr(begin, end - begin);
    std::vector<std::string> known;
    for (const ExtensionPoint& point : reading.definition->extension_points) known.push_back(point.slot);
    if (std::ranges::find(known, slot) != known.end()) continue;
    fault(reader, "unknown_slot", fmt::format("no extension point has the slot \"{}\"", slot.substr(0, 80)),
          did_you_mean(slot, known, "Declare it in extensionPoints"));
    return;
  }
}

void read_part(const Reader& reader, const StepReadContext& reading) {
  static constexpr Table<bool> kKinds[] = {{"text", false}, {"ref", true}};
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  const auto is_ref = fields.choice<bool>("kind", kKinds);
  if (!is_ref && fields.has("kind")) return;
  // Without a kind, the other members show which one is meant.
  const std::string_view name = is_ref.value_or(fields.has("refId")) ? "refId" : "text";
  if (const auto text = fields.get(name)) {
    if (const auto read = read_text(*text, name == "refId" ? 1 : 0)) check_bindings(*text, *read, reading);
  }
  finish(fields, {"kind", name});
}

void read_block(const Reader& reader, const StepReadContext& reading) {
  if (reader.value().is_string()) return check_bindings(reader, reader.value().as_string(), reading);
  if (reader.value().is_array()) {
    for (const Value& part : reader.value().items()) read_part(reader.at(part), reading);
    return;
  }
  fault(reader, "wrong_kind",
        fmt::format("expected a string or a list of parts, found {}", kind_name(reader.value().kind())),
        "Write a string, or [{kind: text, text: ...}, {kind: ref, refId: ...}]");
}

void read_blocks(const Reader& reader, const StepReadContext& reading) {
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  if (const auto goal = fields.get("goal")) read_block(*goal, reading);
  for (const std::string_view name : {"constraints", "procedure", "verify"}) {
    for (const Reader& item : items_of(fields, name)) read_block(item, reading);
  }
  if (const auto outputs = fields.get("outputRequired"); outputs && outputs->value().is_object()) {
    for (const auto& member : outputs->value().members()) {
      const Reader part = outputs->at(member.value);
      if (const auto text = read_text(part)) check_bindings(part, *text, reading);
    }
  } else if (outputs) {
    outputs->fields();
  }
  if (finish(fields) && reader.value().size() == 0)
    fault(reader, "empty_blocks", "the blocks are empty", "Add a goal or a procedure");
}

void read_template_call(const Reader& reader, Step& step) {
  TemplateCall call;
  Fields fields = reader.fields();
  call.template_id = text_of(fields, "templateId", 1, 128);
  call.args = Value::object();
  if (const auto args = fields.get("args")) {
    args->fields();
    if (args->value().is_object()) call.args = args->value();
  }
  finish(fields, {"templateId"});
  step.template_call = std::move(call);
}

bool is_fragment_id(std::string_view id) {
  return id[0] >= 'a' && id[0] <= 'z' && std::ranges::all_of(id, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

std::string fragment_id_of(Fields& fields) {
  const auto reader = fields.get("id");
  auto id = reader ? read_text(*reader, 1, 64) : std::nullopt;
  if (!id) return {};
  if (!is_fragment_id(*id)) {
    fault(*reader, "bad_id", fmt::format("\"{}\" is not an id", *id),
          "Use lower-case letters, digits, hyphens and underscores, starting with a letter");
  }
  return std::move(*id);
}

void read_fragments(Fields& fields, Step& step) {
  std::unordered_set<std::string> ids;
  for (const Reader& item : items_of(fields, "promptFragments", {.min_items = 1})) {
    PromptFragment fragment;
    Fields inner = item.fields();
    fragment.id = fragment_id_of(inner);
    fragment.when = condition_of(inner, "when");
    fragment.text = text_of(inner, "text", 1, 4096);
    finish(inner, {"id", "text"});
    if (fragment.text.find(kOurs) != std::string::npos) {
      fault(*inner.get("text"), "early_token", "a fragment cannot use {{wr.…}}: it is added when the step is shown",
            "Put it in the prompt");
    }
    if (!fragment.id.empty() && !ids.insert(fragment.id).second) {
      fault(*inner.get("id"), "duplicate_fragment", fmt::format("two fragments have the id \"{}\"", fragment.id),
            "Rename one of them");
    }
    step.fragments.push_back(std::move(fragment));
  }
}

void check_one_prompt(const Fields& fields) {
  std::string_view first;
  for (const std::string_view name : {"prompt", "promptBlocks", "templateCall"}) {
    if (!fields.has(name)) continue;
    if (!first.empty()) {
      fault(fields.self(), "two_prompts", fmt::format("the step has both {} and {}", first, name), "Keep one of them");
      return;
    }
    first = name;
  }
}

}  // namespace

void read_prompt(Fields& fields, const StepReadContext& reading, Step& step) {
  if (const auto reader = fields.get("prompt")) {
    if (auto text = read_text(*reader, 1, reading.longest(limits::kPromptChars))) {
      check_bindings(*reader, *text, reading);
      step.prompt = std::move(*text);
    }
  }
  read_fragments(fields, step);
  if (reading.is_pinned()) return;
  if (const auto reader = fields.get("promptBlocks")) {
    read_blocks(*reader, reading);
    step.prompt_blocks = reader->value();
  }
  if (const auto reader = fields.get("templateCall")) read_template_call(*reader, step);
  check_one_prompt(fields);
}

}  // namespace sb::workflow
