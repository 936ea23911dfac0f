// Models by the Messages API of Anthropic, and whoever else speaks it.
//
// What is sent: system slots, tools and messages as they are, streamed. Cache marks, at most four: on the last tool, on
// the last system slot and the one before it (the last may change from turn to turn), and on the newest message.
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
