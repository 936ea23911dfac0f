// Untrusted session exports. The first byte selects whether the lines are used as they are, or their hash chain is
// fixed first, because a fuzzer would not find a valid one.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/state/events.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/chain.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace {

using namespace sb;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

void make_chain_right(std::vector<std::string>& lines) {
  Digest previous{};
  std::string stream;
  for (std::string& text : lines) {
    auto line = parse_json(text);
    if (!line || !line->is_object()) return;
    const auto time = parse_rfc3339(line->string_at("time").value_or(""));
    const Value* seq = line->find("seq");
    const Value* payload = line->find("payload");
    if (!time || seq == nullptr || !seq->is_integer() || payload == nullptr) return;
    if (stream.empty()) stream = engine::session_stream(payload->string_at("session").value_or(""));
    const Digest hash = store::event_hash(previous, stream, seq->as_integer(), line->string_at("type").value_or(""),
                                          *time, to_canonical_json(*payload));
    line->set("previous", to_hex(as_bytes(previous)));
    line->set("hash", to_hex(as_bytes(hash)));
    previous = hash;
    text = to_json(*line);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static store::TempSqliteStore place;
  static const std::unique_ptr<store::Store> store = std::move(*place.open());
  if (size == 0) return 0;
  std::vector<std::string> lines = lines_of({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (data[0] % 2 == 1) make_chain_right(lines);
  std::size_t next = 0;
  const auto imported = engine::import_session(*store, [&]() -> Result<std::optional<std::string>> {
    if (next == lines.size()) return std::nullopt;
    return lines[next++];
  });
  if (!imported) {
    SB_ASSERT(!imported.error().message.empty());
    return 0;
  }
  const auto damages = engine::verify_session(*store, *imported);
  SB_ASSERT(damages && damages->empty());
  SB_ASSERT(engine::remove_session(*store, *imported).has_value());
  return 0;
}
