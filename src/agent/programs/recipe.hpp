// How an agent program is started: its arguments, variables and files, from a recipe of data/recipes.yaml or from the
// user's own command line. Pure.
//
// {prompt}, {mcp_url}, {mcp_token}, {hook_url}, {proxy_url}, {home}, {work_tree}, {model} and {signalbox} (our program)
// are replaced everywhere; other braces stay. {home} is the fresh folder, also where the program has its own login. A
// command line of the user without {prompt} gets it on stdin. {mcp_token} is not available there, because everyone can
// see a program's arguments: it is in SIGNALBOX_PLACE_TOKEN, along with SIGNALBOX_MCP_URL, SIGNALBOX_HOOK_URL and
// SIGNALBOX_PROXY_URL.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/settings/agent_settings.hpp"

namespace sb::agent {

struct Recipe {
  std::string name;
  std::string api;  // that its proxy must provide: anthropic, openai; empty: either
  std::vector<std::string> command;
  std::vector<std::string> when_writable, when_read_only, when_own_login;  // further arguments
  std::string input;
  std::map<std::string, std::string> environment;
  std::vector<std::string> own_login;        // variables omitted when it uses its own login
  std::vector<std::string> login_servers;    // host:port that it reaches then
  std::map<std::string, std::string> files;  // below {home}
};

// kInvalid: unknown recipe (with the nearest), or neither recipe nor command.
Result<Recipe> recipe_for(const ModelSettings& model);
std::vector<std::string> recipe_names();

struct RecipeValues {
  std::string prompt = {}, mcp_url = {}, mcp_token = {}, hook_url = {}, proxy_url = {}, home = {}, work_tree = {},
              model = {}, signalbox = {};
  bool is_writable = true;
};
struct Launch {
  std::vector<std::string> argv;
  std::string input;
  std::map<std::string, std::string> environment, files;
};
// kInvalid: a value that cannot be used in its place, such as a quote in a model's name; kLimit: a prompt that is too
// long for an argument, where the command takes it as one.
Result<Launch> fill_recipe(const Recipe& recipe, const RecipeValues& values);

}  // namespace sb::agent
