// Any bytes as a model's streamed reply, for each API: parsing always ends, gives the same result however the bytes are
// split, and the result can be stored, read again and sent to every provider.
#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/model/anthropic.hpp"
#include "agent/model/openai.hpp"
#include "base/assert.hpp"
#include "base/document/document.hpp"

namespace {

using namespace sb;
using namespace sb::agent;

std::unique_ptr<ReplyReader> reader_of(int api) {
  if (api == 0) return make_anthropic_reader();
  return api == 1 ? make_responses_reader() : make_chat_reader(1);
}

std::string read(int api, std::string_view bytes, std::size_t step, ModelResult& replied) {
  const auto reader = reader_of(api);
  ReplyStream stream(*reader);
  std::string heard;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    if (!stream.feed(bytes.substr(at, step), [&](std::string_view text) { return heard += text, true; })) break;
  }
  replied = stream.outcome();
  if (!replied) {
    SB_ASSERT(!replied.error().error.message.empty());
    return heard + std::string(to_string(replied.error().kind));
  }
  return heard + to_canonical_json(to_value(*replied));
}

void send_back(const ModelReply& reply) {
  ModelRequest request;
  request.messages = {{Message::From::kAssistant, reply.content}};
  const auto stored = parse_json(to_canonical_json(to_value(reply)));
  SB_ASSERT(stored && reply_from(*stored));
  for (const Value& body : {anthropic_body({}, request), responses_body({}, request), chat_body({}, request)}) {
    SB_ASSERT(parse_json(to_json(body), {.depth = 128}));
  }
  SB_ASSERT(parse_json(to_canonical_json(to_value(request))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int api = data[0] % 3;
  const std::size_t step = 1 + data[1] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  ModelResult whole, cut;
  SB_ASSERT(read(api, bytes, size, whole) == read(api, bytes, step, cut));
  if (whole) send_back(*whole);
  return 0;
}
