#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"
#include "served/served.hpp"

namespace sb::server_tests {
namespace {

using testing::HasSubstr;

std::string token_for(const Folder& folder, const std::string& name) {
  return make_token(SB_PROGRAM, folder.path(), name);
}

TEST(Serve, AnswersUntilItIsStopped) {
  const Folder folder;
  const std::string ada = token_for(folder, "ada");
  Server server(SB_PROGRAM, folder.path());
  ASSERT_NE(server.port(), 0);
  Client client(server.port());
  EXPECT_EQ(client.ask("GET", "/healthz", {}).message()["name"], Value("signalbox"));
  Session session(server.port(), ada);
  const Value tools = session.request("tools/list", Value::object()).message()["result"]["tools"];
  EXPECT_TRUE(tools.is_array() && tools.size() > 5) << to_json(tools);
  EXPECT_TRUE(stateless_call(client, ada, 1, "list_workflows", Value::object()).message()["result"].is_object());
  Client listener(server.port());
  ASSERT_TRUE(session.listen(listener));
  server.signal(SIGTERM);
  EXPECT_TRUE(listener.ends_well());
  EXPECT_EQ(server.wait(), 0);
}

TEST(Serve, ResumesSessionsAfterARestart) {
  const Folder folder;
  const std::string ada = token_for(folder, "ada");
  auto server = std::make_unique<Server>(SB_PROGRAM, folder.path());
  const int port = server->port();
  Session session(port, ada);
  ASSERT_TRUE(session.is_open());
  server->signal(SIGKILL);
  server->wait();
  server = std::make_unique<Server>(SB_PROGRAM, folder.path(), std::vector<std::string>{}, port);
  ASSERT_EQ(server->port(), port);
  session.client().close();
  const Answer answer = session.call("list_workflows", Value::object());
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(answer.message()["result"].is_object()) << answer.body;
}

TEST(Serve, DoesNotListenOutsideLoopbackWithoutTokens) {
  const Folder folder;
  const ProgramResult ended = run_program(SB_PROGRAM, folder.path(), {"serve", "--bind", "0.0.0.0", "--port", "0"});
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.errors, HasSubstr("signalbox serve token"));
}

TEST(Serve, AcceptsLocalhostAsAddress) {
  const Folder folder;
  Server server(SB_PROGRAM, folder.path(), {"--bind", "localhost"});
  EXPECT_TRUE(Session(server.port(), token_for(folder, "ada")).is_open());
}

TEST(Serve, StartsWithoutATokenAndShowsClientsHowToGetOne) {
  const Folder folder;
  Server server(SB_PROGRAM, folder.path());
  ASSERT_NE(server.port(), 0);
  Client client(server.port());
  for (const char* method : {"POST", "GET", "DELETE"}) {
    const Answer refused = client.ask(method, "/mcp", {{"Content-Type", "application/json"}}, "{}");
    EXPECT_EQ(refused.status, 401) << method;
    EXPECT_THAT(refused.body, HasSubstr("signalbox mcp install --client claude-code"));
    EXPECT_THAT(refused.body, HasSubstr("signalbox serve token NAME"));
    EXPECT_THAT(refused.header("WWW-Authenticate"), HasSubstr("Bearer"));
  }
  EXPECT_TRUE(Session(server.port(), token_for(folder, "ada")).is_open()) << "created while it runs";
}

// The arguments of the client's configuration, from the output of install.
std::string installed_token(const Folder& folder, const std::string& name, int port) {
  const ProgramResult printed =
      run_program(SB_PROGRAM, folder.path(),
                  {"mcp", "install", "--client", "other", "--name", name, "--port", std::to_string(port)});
  const auto config = parse_json(printed.output);
  EXPECT_TRUE(config) << printed.output << printed.errors;
  if (!config) return {};
  const Value& headers = (*config)["mcpServers"]["signalbox"]["headers"];
  return headers.string_at("Authorization").value_or("Bearer ").substr(std::string("Bearer ").size());
}

TEST(Serve, LetsAnInstalledClientInUntilItIsUninstalled) {
  const Folder folder;
  Server server(SB_PROGRAM, folder.path());
  const std::string first = installed_token(folder, "zed", server.port());
  Session session(server.port(), first);
  ASSERT_TRUE(session.is_open());
  const std::string again = installed_token(folder, "zed", server.port());
  EXPECT_FALSE(Session(server.port(), first).is_open());
  EXPECT_TRUE(Session(server.port(), again).is_open());
  ASSERT_EQ(run_program(SB_PROGRAM, folder.path(), {"mcp", "uninstall", "--client", "other", "--name", "zed"}).code, 0);
  EXPECT_FALSE(Session(server.port(), again).is_open());
  EXPECT_EQ(session.request("tools/list", Value::object()).status, 401) << "also in an open session";
}

TEST(Serve, AcceptsOnlyClientsWithAToken) {
  const Folder folder;
  const std::string ada = token_for(folder, "ada"), bob = token_for(folder, "bob");
  Server server(SB_PROGRAM, folder.path(), {"--bind", "0.0.0.0"});
  ASSERT_NE(server.port(), 0);
  EXPECT_FALSE(Session(server.port()).is_open());
  EXPECT_FALSE(Session(server.port(), "guess").is_open());
  EXPECT_TRUE(Session(server.port(), ada).is_open());
  EXPECT_TRUE(Session(server.port(), bob).is_open());
  EXPECT_EQ(run_program(SB_PROGRAM, folder.path(), {"serve", "token", "revoke", "ada"}).code, 0);
  EXPECT_FALSE(Session(server.port(), ada).is_open());
  EXPECT_TRUE(Session(server.port(), bob).is_open());
  EXPECT_THAT(run_program(SB_PROGRAM, folder.path(), {"serve", "token", "list"}).output, HasSubstr("  used 2"));
}

TEST(Serve, AcceptsATokenFileThatOnlyItsOwnerCanRead) {
  const Folder folder;
  const std::string path = folder.path() + "/tokens";
  std::ofstream(path) << "ada 0123456789abcdef\n";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  const ProgramResult refused = run_program(SB_PROGRAM, folder.path(), {"serve", "--port", "0", "--token-file", path});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.errors, HasSubstr("chmod 600"));
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  Server server(SB_PROGRAM, folder.path(), {"--bind", "0.0.0.0", "--token-file", path});
  EXPECT_TRUE(Session(server.port(), "0123456789abcdef").is_open());
}

TEST(Serve, AcceptsHookEventsOnlyWithAToken) {
  const Folder folder;
  Server server(SB_PROGRAM, folder.path());
  Client client(server.port());
  const std::string event = fmt::format(
      R"({{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{}","tool_name":"Read","tool_input":{{}}}})",
      folder.path());
  Headers headers = {{"Content-Type", "application/json"}};
  EXPECT_EQ(client.ask("POST", "/hook", headers, event).status, 401);
  headers.emplace_back("Authorization", "Bearer " + token_for(folder, "claude"));
  const Answer answer = client.ask("POST", "/hook", headers, event);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(client.ask("POST", "/hook", headers, "{").status, 200) << "the host must not notice";
  EXPECT_EQ(client.ask("GET", "/hook", headers).status, 405);
  EXPECT_EQ(client.ask("POST", "/other", headers, event).status, 404);
}

TEST(Serve, ReportsAPortThatIsInUse) {
  const Folder folder;
  Server server(SB_PROGRAM, folder.path());
  const ProgramResult second =
      run_program(SB_PROGRAM, folder.path(), {"serve", "--port", std::to_string(server.port())});
  EXPECT_NE(second.code, 0);
  EXPECT_THAT(second.errors, HasSubstr(std::to_string(server.port())));
}

}  // namespace
}  // namespace sb::server_tests
