// The available models and which role or tier uses which: the keys `models`, `roles`, `tiers` and `limits` of the
// configuration, which agent_keys.hpp reads. Known prices are filled in later (agent/model/prices.hpp).
// A secret is kept as its name (`$NAME`, `file:PATH`) until it is sent. Pure.
//
//   models:
//     main:  {provider: anthropic, model: claude-sonnet-4-5, key: $ANTHROPIC_API_KEY}
//     other: {provider: openai, api: responses, model: gpt-5.2, key: $OPENAI_API_KEY, url: "http://127.0.0.1:8080/v1"}
//     cc:    {provider: command, recipe: claude-code, upstream: main}
//     demo:  {provider: scripted, script: replies.jsonl}
//   roles: {default: main, reviewer: other}
//   tiers: {heavy: main, lightweight: other}
//   limits: {turns: 200, time: 60m, stall: 2m, tokens: 2000000, cost: 5.00, depth: 3, repeats: 3}
// A model can also have max_tokens, context_tokens, prices: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75},
// in dollars per million tokens. `cost` is in dollars.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/loop/worker.hpp"
#include "agent/model/providers.hpp"
#include "base/document/reader.hpp"

namespace sb::agent {

struct ModelSettings {
  const ModelProvider* provider = nullptr;     // a row of the table of providers; set by every reader
  std::string name = {};                       // in the settings
  std::string model = {}, key = {}, url = {};  // key: `$NAME`, `file:PATH` or empty
  std::string api = {};                        // one of the provider's variants; of openai: responses, chat
  std::string script = {};                     // of scripted: absolute
  std::string recipe = {};                     // of command: claude-code, codex, or empty
  std::vector<std::string> command = {};       // of command: words, with {prompt}, {mcp_url}, {hook_url}, …
  std::string upstream = {};                   // of command: the model its proxy talks to; empty: its own login
  int max_tokens = 8'192;
  int context_tokens = 200'000;  // maximum size of a conversation
  bool has_prices = false;       // given in the file
  // Prices in millionths of a cent per token.
  std::int64_t input_price = 0, output_price = 0, cache_read_price = 0, cache_write_price = 0;

  bool is_program() const;   // an agent program, not a model
  bool is_scripted() const;  // a file of replies
};

struct AgentSettings {
  std::map<std::string, ModelSettings> models;
  std::map<std::string, std::string> roles, tiers;  // values are names of models; roles has `default`
  WorkLimits limits;
  std::vector<std::string> block_offers;  // languages besides English and Russian (decision/lint/lint.hpp)
  std::string file;                       // the user's config.yaml, for messages that say where to add a model
  // The model for a role and a tier: the role's, else the tier's, else the default. kInvalid when there is none.
  Result<const ModelSettings*> model_for(std::string_view role, std::string_view tier) const;
};

// Called after all files were read: checks that the models named by `roles`, `tiers` and `upstream` in this file exist.
void check_model_names(Fields& root, const AgentSettings& settings);

// Warns about what is allowed but unsafe: a key that is sent over an unencrypted connection.
std::vector<std::string> warnings_about(const AgentSettings& settings);

}  // namespace sb::agent
