#include "agent/programs/program_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/limits.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kOpenCalls = 1'000;  // without a result; of more, only the reply is logged
constexpr std::size_t kSummaryBytes = 200, kNameBytes = 256;

// What a call is about: the member that says it, under the names that programs use.
std::string call_summary(const Value& input) {
  constexpr std::array<std::string_view, 7> kNames = {"command", "cmd", "file_path", "path", "pattern", "url", "query"};
  const auto named = std::ranges::find_if(
      kNames, [&](std::string_view name) { return input.is_object() && input.find(name) != nullptr; });
  const Value& told = named == kNames.end() ? input : input[*named];
  std::string text = told.is_string() ? told.as_string() : to_json(told);
  std::ranges::replace(text, '\n', ' ');
  return sb::shortened(text, kSummaryBytes);
}

Value shortened(const Value& block) {
  Value logged = block;
  if (const auto text = block.string_at("text")) logged.set("text", elide_middle(*text, limits::kToolResultBytes));
  const Value& input = block["input"];
  const std::string json = input.is_string() ? input.as_string() : to_json(input);
  if (json.size() > limits::kToolResultBytes) logged.set("input", elide_middle(json, limits::kToolResultBytes));
  return logged;
}

}  // namespace

Value::Array logged_blocks(const Value::Array& blocks, const Redactor& redactor) {
  Value::Array logged;
  std::size_t bytes = 0, missing = 0;
  for (const Value& block : blocks) {
    Value next = shortened(redactor.clean_value(block));
    bytes += to_json(next).size();
    if (bytes > limits::kReplyBytes) {
      ++missing;
    } else {
      logged.push_back(std::move(next));
    }
  }
  if (missing == 0) return logged;
  logged.push_back(Value::object({{"type", "text"}, {"text", fmt::format("[{} more parts are not logged]", missing)}}));
  return logged;
}

void OwnCalls::add(const Value::Array& blocks, int turn) {
  constexpr std::string_view kServer = "mcp__signalbox__";
  for (const Value& block : blocks) {
    const std::string id = block.string_at("id").value_or("");
    const std::string tool = block.string_at("name").value_or("");
    if (block.string_at("type") != "tool_use" || open_.size() >= kOpenCalls || id.size() > kNameBytes) continue;
    if (tool.starts_with(kServer) && hosted_.contains(tool.substr(kServer.size()))) continue;
    open_[id] = {turn, redactor_.clean(utf8_prefix(tool, kNameBytes)),
                 call_summary(redactor_.clean_value(block["input"]))};
  }
}

std::vector<AgentLog::Entry> OwnCalls::answered_by(const Value::Array& results) {
  std::vector<AgentLog::Entry> entries;
  for (const Value& result : results) {
    const auto found = open_.find(result.string_at("tool_use_id").value_or(""));
    if (found == open_.end()) continue;
    const OpenCall& call = found->second;
    std::string text =
        elide_middle(redactor_.clean(as_utf8(result.string_at("content").value_or(""))), limits::kToolResultBytes);
    entries.push_back({"program_tool",
                       Value::object({{"turn", call.turn},
                                      {"call", redactor_.clean(found->first)},
                                      {"tool", call.tool},
                                      {"what", call.what},
                                      {"result", sha256_hex(text)},
                                      {"error", result["is_error"] == Value(true)}}),
                       {std::move(text)}});
    open_.erase(found);
  }
  return entries;
}

}  // namespace sb::agent
