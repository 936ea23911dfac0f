// How an agent program is started: its words, variables and files, by a recipe of data/recipes.yaml or by words of the
// user's own. Pure.
//
// Everywhere, {prompt}, {mcp_url}, {mcp_token}, {hook_url}, {proxy_url}, {home}, {work_tree} and {model} stand for what
// they name; other braces stay as they are. {home} is the fresh folder, also where the program has its own login. A
// user's own words without {prompt} get it on their input; {mcp_token} is none of them, because everybody can see the
// words of a program: it has it in SIGNALBOX_PLACE_TOKEN, beside SIGNALBOX_MCP_URL, SIGNALBOX_HOOK_URL and
// SIGNALBOX_PROXY_URL.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/settings/agent_settings.hpp"

namespace sb::agent {

struct Recipe {
  std::string name;
  std::string api;  // which its proxy must speak: anthropic, openai; empty: either
  std::vector<std::string> command;
  std::vector<std::string> when_writable, when_read_only, when_own_login;  // further words
  std::string input;
  std::map<std::string, std::string> environment;
  std::vector<std::string> own_login;        // variables that are left out where it uses its own login
  std::map<std::string, std::string> files;  // below {home}
};

// kInvalid: no such recipe (with the nearest), neither recipe nor command.
Result<Recipe> recipe_for(const ModelSettings& model);
std::vector<std::string> recipe_names();

struct RecipeValues {
  std::string prompt = {}, mcp_url = {}, mcp_token = {}, hook_url = {}, proxy_url = {}, home = {}, work_tree = {},
              model = {};
  bool is_writable = true;
};
struct Launch {
  std::vector<std::string> argv;
  std::string input;
  std::map<std::string, std::string> environment, files;
};
// kInvalid: a value that cannot stand where it should, such as a quote in a model's name; kLimit: a prompt that is too
// long for a word, where the command wants it as one.
Result<Launch> fill_recipe(const Recipe& recipe, const RecipeValues& values);

}  // namespace sb::agent
