#include "agent/model/script_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/document/reader.hpp"

namespace sb::agent {

namespace {

// One text or several.
std::vector<std::string> texts_of(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name);
  if (!reader) return {};
  if (reader->value().is_array()) return reader->strings();
  auto text = reader->string(sb::limits::kInputBytes);
  return text ? std::vector{std::move(*text)} : std::vector<std::string>{};
}

TextCondition condition_of(Fields& fields) {
  return {.contains = texts_of(fields, "contains"), .lacks = texts_of(fields, "lacks")};
}

void read_conditions(Fields& root, ScriptLine& line) {
  if (const auto reader = root.get("when")) {
    Fields when = reader->fields();
    line.workflow = when.string("workflow");
    line.step = when.string("step");
    line.role = when.string("role");
    line.when = condition_of(when);
    when.finish();
  }
  if (const auto reader = root.get("expect")) {
    Fields expect = reader->fields();
    line.expect = condition_of(expect);
    expect.finish();
  }
}

Value::Array blocks_with_ids(Value content, int line) {
  Value::Array blocks = content.is_array() ? std::move(content.items()) : Value::Array{};
  if (content.is_string()) blocks.push_back(Value::object({{"type", "text"}, {"text", content.as_string()}}));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Value& block = blocks[i];
    if (block.string_at("type") != "tool_use") continue;
    if (!block.find("id")) block.set("id", fmt::format("toolu_{}_{}", line, i));
    if (!block.find("input")) block.set("input", Value::object());
  }
  return blocks;
}

void read_content(const Reader& reader, ScriptLine& line) {
  if (!reader.value().is_array() && !reader.value().is_string()) {
    return reader.fault("Content must be a text or a list of blocks");
  }
  line.reply.content = blocks_with_ids(reader.value(), line.number);
  const auto checked = blocks_from(line.reply.content);
  if (!checked) reader.fault(checked.error().message);
}

void read_error(const Reader& reader, ScriptLine& line) {
  Fields fields = reader.fields();
  const auto name = fields.string("kind", Need::kRequired);
  const auto message = fields.string("message");
  ModelError error;
  if (const auto wait = fields.integer("retry_after_ms", 0, 86'400'000)) error.retry_after_ms = *wait;
  fields.finish();
  if (!name) return;
  const auto kind = model_error_named(*name);
  if (!kind) {
    const std::vector<std::string> known(model_error_names().begin(), model_error_names().end());
    const std::string nearest = nearest_name(*name, known);
    return reader.fault(fmt::format("Unknown error kind {}", quote_json(*name)),
                        nearest.empty() ? fmt::format("Known kinds: {}", fmt::join(known, ", "))
                                        : fmt::format("Did you mean {}?", nearest));
  }
  error.kind = *kind;
  error.error = {ErrorCode::kUnavailable, message.value_or(fmt::format("The script says: {}", *name)), {}, {}};
  line.error = std::move(error);
}

void read_rest(Fields& root, ScriptLine& line) {
  const bool uses_tools =
      std::ranges::any_of(line.reply.content, [](const Value& block) { return block.string_at("type") == "tool_use"; });
  line.reply.stop = uses_tools ? StopReason::kToolUse : StopReason::kEndTurn;
  if (const auto stop = root.string("stop_reason")) line.reply.stop = stop_reason_named(*stop);
  if (const auto reader = root.get("usage")) {
    Fields usage = reader->fields();
    constexpr std::int64_t kMost = 1'000'000'000;
    line.reply.usage.input = usage.integer("input_tokens", 0, kMost).value_or(0);
    line.reply.usage.output = usage.integer("output_tokens", 0, kMost).value_or(0);
    line.reply.usage.cache_read = usage.integer("cache_read_input_tokens", 0, kMost).value_or(0);
    line.reply.usage.cache_write = usage.integer("cache_creation_input_tokens", 0, kMost).value_or(0);
    usage.finish();
  }
  line.delay_ms = root.integer("delay_ms", 0, 86'400'000).value_or(0);
  line.is_kept = root.boolean("repeat").value_or(false);
}

Result<ScriptLine> read_line(const std::string& name, int number, std::string_view text) {
  const auto placed = [&](Error error) {
    error.location.file = name;
    error.location.line = number;
    error.location.column = std::max(error.location.column, 1);
    return std::unexpected(std::move(error));
  };
  auto document = parse_document(name, std::string(text), Syntax::kJson);
  if (!document) return placed(std::move(document).error());
  ScriptLine line;
  line.number = number;
  Faults faults;
  Fields root = Reader(*document, faults).fields();
  read_conditions(root, line);
  const auto content = root.get("content");
  const auto error = root.get("error");
  if (content) read_content(*content, line);
  if (error) read_error(*error, line);
  read_rest(root, line);
  root.finish();
  if (faults.empty() && content.has_value() == error.has_value()) {
    root.self().fault("A line needs either content or an error", "Remove one, or add the missing one");
  }
  if (!faults.empty()) return placed(std::move(faults.front()));
  return line;
}

void gather(const Value& value, std::string& all) {
  if (value.is_string()) {
    all += value.as_string();
    all += '\n';
  } else if (value.is_array()) {
    for (const Value& item : value.items()) gather(item, all);
  } else if (value.is_object()) {
    for (const auto& [name, part] : value.members()) {
      all += name;
      all += '\n';
      gather(part, all);
    }
  }
}

}  // namespace

std::string TextCondition::violation(std::string_view texts) const {
  for (const std::string& text : contains) {
    if (!texts.contains(text)) return fmt::format("{} is missing", quote_json(text));
  }
  for (const std::string& text : lacks) {
    if (texts.contains(text)) return fmt::format("{} must not occur", quote_json(text));
  }
  return {};
}

Result<std::vector<ScriptLine>> read_script(const std::string& name, std::string_view text) {
  std::vector<ScriptLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line[start] == '#') continue;
    lines.push_back(SB_TRY(read_line(name, number, line)));
  }
  return lines;
}

std::string all_texts(const ModelRequest& request) {
  std::string all;
  for (const std::string& slot : request.system) (all += slot) += '\n';
  for (const Message& message : request.messages) {
    for (const Value& block : message.content) gather(block, all);
  }
  for (const ToolDeclaration& tool : request.tools) {
    ((((all += tool.name) += '\n') += tool.description) += '\n');
    gather(tool.input_schema, all);
  }
  return all;
}

}  // namespace sb::agent
