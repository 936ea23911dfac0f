// Models behind OpenAI's APIs, or another server that supports them (most self-hosted ones do): Responses and Chat
// Completions. Both stream, and nothing is stored at the provider; encrypted reasoning is sent back with the next
// request.
#pragma once

#include <memory>

#include "agent/model/exchange.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/seams.hpp"

namespace sb::agent {

Value responses_body(const ModelSettings& settings, const ModelRequest& request);
std::unique_ptr<ReplyReader> make_responses_reader();

Value chat_body(const ModelSettings& settings, const ModelRequest& request);
// `turn` makes generated ids, for calls that have none, differ from earlier ones.
std::unique_ptr<ReplyReader> make_chat_reader(int turn);

// Chosen by settings.api.
std::unique_ptr<Model> make_openai(const ModelSettings& settings, const Seams& seams, net::HttpClient& http);

// Shared by both: a call's input as text, and a result's text, marked if it is an error.
std::string arguments_text(const Value& input);
std::string result_text(const Value& block);
// Token counts. OpenAI includes cached tokens in the input; here they are separate.
Usage openai_usage(const Value& usage, std::string_view input, std::string_view output);

}  // namespace sb::agent
