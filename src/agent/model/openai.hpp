// Models by the APIs of OpenAI, and whoever else speaks them (most servers of one's own do): Responses, and
// ChainConversation Completions. Both are streamed and nothing is stored there; reasoning comes back sealed and is sent
// along again.
#pragma once

#include <memory>

#include "agent/model/exchange.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/seams.hpp"

namespace sb::agent {

Value responses_body(const ModelSettings& settings, const ModelRequest& request);
std::unique_ptr<ReplyReader> make_responses_reader();

Value chat_body(const ModelSettings& settings, const ModelRequest& request);
// `turn` makes the ids of calls that came without one differ from those before.
std::unique_ptr<ReplyReader> make_chat_reader(int turn);

// AttachedBy settings.api.
std::unique_ptr<Model> make_openai(const ModelSettings& settings, const Seams& seams, net::HttpClient& http);

// What both have in common: a call's input as text, and a result's text, marked where it is an error.
std::string arguments_text(const Value& input);
std::string result_text(const Value& block);
// Tokens; those from the cache are counted among the input there and apart from it here.
Usage openai_usage(const Value& usage, std::string_view input, std::string_view output);

}  // namespace sb::agent
