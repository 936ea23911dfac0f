#include "agent/loop/reply_check.hpp"

namespace sb::agent {

std::optional<std::string> final_text(const ModelReply& reply) {
  if (reply.stop != StopReason::kEndTurn && reply.stop != StopReason::kOther) return std::nullopt;
  std::string all;
  for (const Value& block : reply.content) {
    const std::string type = block.string_at("type").value_or("");
    if (type == "tool_use") return std::nullopt;
    if (type != "text") continue;
    if (!all.empty()) all += "\n\n";
    all += block.string_at("text").value_or("");
  }
  return all;
}

std::string broken_rule(const std::optional<std::string>& final_text, const std::vector<std::string>& block_offers) {
  if (!final_text) return {};
  const auto finding = decision::first_blocking(decision::lint(*final_text, decision::reply_context(block_offers)));
  return finding ? std::string(finding->rule) : std::string();
}

bool mark_attempt(const std::string& broken_rule, int attempt, Value& entry) {
  const bool is_discarded = !broken_rule.empty() && attempt <= kMostDiscarded;
  if (is_discarded || attempt > 1) entry.set("attempt", attempt);
  if (!broken_rule.empty()) entry.set(is_discarded ? "rule" : "breaks", broken_rule);
  return is_discarded;
}

}  // namespace sb::agent
