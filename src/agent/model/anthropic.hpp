// Models behind Anthropic's Messages API, or another server that supports it.
//
// Sends system slots, tools and messages unchanged, and streams the reply. Sets at most four cache marks: on the last
// tool, on the last two system slots (the last one may change from turn to turn), and on the newest message.
#pragma once

#include <memory>

#include "agent/model/exchange.hpp"
#include "agent/settings/agent_settings.hpp"
#include "base/seams.hpp"

namespace sb::agent {

Value anthropic_body(const ModelSettings& settings, const ModelRequest& request);
std::unique_ptr<ReplyReader> make_anthropic_reader();

std::unique_ptr<Model> make_anthropic(const ModelSettings& settings, const Seams& seams, net::HttpClient& http);

}  // namespace sb::agent
