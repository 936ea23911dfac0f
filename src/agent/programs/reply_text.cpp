#include "agent/programs/reply_text.hpp"

#include <algorithm>

#include "base/document/document.hpp"

namespace sb::agent {
namespace {

class TextReader {
 public:
  explicit TextReader(Wire wire) : wire_(wire) {}

  void whole(const Value& reply) {
    switch (wire_) {
      case Wire::kMessages:
        return each(reply["content"], [&](const Value& block) { add_block(block, "text"); });
      case Wire::kResponses:
        return each(reply["output"], [&](const Value& item) { add_item(item); });
      case Wire::kChat:
        return each(reply["choices"], [&](const Value& choice) { add(choice["message"]); });
    }
  }

  void event(const Value& event) {
    const std::string type = event.string_at("type").value_or("");
    switch (wire_) {
      case Wire::kMessages:
        if (type == "content_block_start") begin_part();
        if (type == "content_block_delta") text_ += event["delta"].string_at("text").value_or("");
        return;
      case Wire::kResponses:
        if (type == "response.output_item.done") add_item(event["item"]);
        // Some repeat all items at the end, some have them only there.
        if (type == "response.completed" && text_.empty()) whole(event["response"]);
        return;
      case Wire::kChat:
        return each(event["choices"],
                    [&](const Value& choice) { text_ += choice["delta"].string_at("content").value_or(""); });
    }
  }

  std::string take() { return std::move(text_); }

 private:
  template <class Act>
  static void each(const Value& list, Act act) {
    if (!list.is_array()) return;
    for (const Value& item : list.items()) act(item);
  }

  void begin_part() {
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += "\n\n";
  }
  void add_block(const Value& block, std::string_view type) {
    if (block.string_at("type") != type) return;
    begin_part();
    text_ += block.string_at("text").value_or("");
  }
  void add_item(const Value& item) {
    if (item.string_at("type") != "message") return;
    each(item["content"], [&](const Value& part) { add_block(part, "output_text"); });
  }
  void add(const Value& message) {
    begin_part();
    text_ += message.string_at("content").value_or("");
  }

  Wire wire_;
  std::string text_;
};

}  // namespace

std::string reply_text(Wire wire, std::string_view reply) {
  TextReader reader(wire);
  const std::size_t first = reply.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (reply[first] == '{') {
    if (const auto whole = parse_json(reply.substr(first)); whole && whole->is_object()) reader.whole(*whole);
    return reader.take();
  }
  for (std::size_t at = 0; at < reply.size();) {
    const std::size_t end = std::min(reply.find('\n', at), reply.size());
    std::string_view line = reply.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("data:")) continue;
    line.remove_prefix(5);
    const auto event = parse_json(line);
    if (event && event->is_object()) reader.event(*event);
  }
  return reader.take();
}

}  // namespace sb::agent
