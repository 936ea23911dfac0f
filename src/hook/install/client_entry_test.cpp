#include "hook/install/client_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "hook/install/toml_text.hpp"

namespace sb::hook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const ServerEntry kProgram{"/opt/sb/signalbox", {"mcp"}, ""};
const ServerEntry kAddress{"", {}, "http://127.0.0.1:3917/mcp"};

std::string with(Client client, std::string_view text, const ServerEntry& entry = kProgram) {
  const auto out = with_entry(client, "f", text, "signalbox", entry);
  return out ? *out : "ERROR " + out.error().to_string();
}

std::string without(Client client, std::string_view text, bool drops = false) {
  const auto out = without_entry(client, "f", text, "signalbox", drops);
  return out ? *out : "ERROR " + out.error().to_string();
}

std::string json_with(std::string_view text, const ServerEntry& entry = kProgram) {
  return with(Client::kClaudeCode, text, entry);
}

std::string toml_with(std::string_view text, const ServerEntry& entry = kProgram) {
  return with(Client::kCodex, text, entry);
}

TEST(ClientEntry, JsonIsFormattedLikeItsNeighbours) {
  EXPECT_EQ(json_with("", kAddress),
            "{\n  \"mcpServers\": {\n    \"signalbox\": {\n      \"alwaysLoad\": true,\n      \"type\": \"http\",\n"
            "      \"url\": \"http://127.0.0.1:3917/mcp\"\n    }\n  }\n}\n");
  EXPECT_EQ(json_with(R"({"a":1})"),
            R"({"a":1,"mcpServers":{"signalbox":{"alwaysLoad":true,"command":"/opt/sb/signalbox","args":["mcp"]}}})");
  EXPECT_EQ(json_with("{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {\"url\": \"u\"}\r\n\t}\r\n}", kAddress),
            "{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {\"url\": \"u\"},\r\n\t\t\"signalbox\": {\r\n\t\t\t\"alwaysLoad\": "
            "true,\r\n\t\t\t\"type\": \"http\","
            "\r\n\t\t\t\"url\": \"http://127.0.0.1:3917/mcp\"\r\n\t\t}\r\n\t}\r\n}");
}

TEST(ClientEntry, OtherJsonIsPreservedByteForByte) {
  const std::string before =
      "{\"big\": 123456789012345678901234567890, \"cost\":1.10,\n \"odd}{\\\"\\u006d\" : [ { } , \"]\" ],\n"
      "   \"mcp\\u0053ervers\": { \"a\" : {\"command\":\"x\"} , "
      "\"signal\\u0062ox\":{\"url\":\"http://[::1]:9/mcp\",\"k\":1} }}";
  const std::string after = json_with(before, kAddress);
  std::string expected = before;
  const std::string old = R"({"url":"http://[::1]:9/mcp","k":1})";
  expected.replace(before.find(old), old.size(),
                   R"({"url":"http://127.0.0.1:3917/mcp","k":1, "type": "http", "alwaysLoad": true})");
  EXPECT_EQ(after, expected);
  EXPECT_EQ(json_with(after, kAddress), after);
  EXPECT_EQ(without(Client::kClaudeCode, before),
            before.substr(0, before.find(" , \"signal")) + before.substr(before.find(" }}")));
}

TEST(ClientEntry, JsonContainersAreRemovedOnlyOnRequest) {
  const std::string text = json_with("{\n  \"a\": 1\n}");
  EXPECT_EQ(without(Client::kClaudeCode, text, true), "{\n  \"a\": 1\n}");
  EXPECT_EQ(without(Client::kClaudeCode, text, false), "{\n  \"a\": 1,\n  \"mcpServers\": {}\n}");
  EXPECT_EQ(without(Client::kClaudeCode, R"({"mcpServers":{"signalbox":{},"b":{}}})"), R"({"mcpServers":{"b":{}}})");
}

TEST(ClientEntry, ATokenIsReferencedByItsVariable) {
  const ServerEntry secret{"", {}, "https://box.example/mcp", "SB_TOKEN"};
  const std::string json =
      R"({"mcpServers":{"signalbox":{"alwaysLoad":true,"type":"http","url":"https://box.example/mcp","headers":{"X":"y"}}}})";
  const std::string with_token = json_with(json, secret);
  EXPECT_THAT(with_token, HasSubstr(R"("headers":{"X":"y","Authorization":"Bearer ${SB_TOKEN}"})"));
  EXPECT_EQ(json_with(with_token, secret), with_token);
  EXPECT_EQ(json_with(with_token, {"", {}, secret.url}), json);
  EXPECT_EQ(toml_with("", secret),
            "[mcp_servers.signalbox]\nurl = \"https://box.example/mcp\"\nbearer_token_env_var = \"SB_TOKEN\"\n");
  EXPECT_EQ(toml_with(toml_with("", secret)), toml_with(""));
  EXPECT_EQ(json_with(json_with("", secret)), json_with(""));
}

TEST(ClientEntry, CommentsStayWhereTheClientReadsThem) {
  const std::string before = "{\n  // top\n  \"mcp\": {\n    \"x\": {\"a\": 1}, // why, x\n  },\n  /* end */\n}\n";
  const std::string after = with(Client::kOpenCode, before);
  EXPECT_EQ(
      after,
      "{\n  // top\n  \"mcp\": {\n    \"x\": {\"a\": 1}, // why, x\n    \"signalbox\": {\n      \"enabled\": true,\n"
      "      \"type\": \"local\",\n      \"command\": [\n        \"/opt/sb/signalbox\",\n        \"mcp\"\n      ]\n"
      "    }\n  },\n  /* end */\n}\n");
  EXPECT_EQ(with(Client::kOpenCode, after), after);
  EXPECT_EQ(without(Client::kOpenCode, after),
            "{\n  // top\n  \"mcp\": {\n    \"x\": {\"a\": 1} // why, x\n  },\n  /* end */\n}\n");
  const std::string alone =
      "{\"mcp\": {\"signalbox\": {\"command\": [\"/x/signalbox\", \"mcp\"]}, // a\n// b\n\"y\": {}}}";
  EXPECT_EQ(without(Client::kOpenCode, alone), "{\"mcp\": { // a\n// b\n\"y\": {}}}");
  const std::string long_comment = "{\n  \"mcp\": {\n    \"x\": {} /* one\n two */ // three\n  }\n}\n";
  const std::string with_long = with(Client::kOpenCode, long_comment);
  EXPECT_THAT(with_long, HasSubstr("\"x\": {}, /* one\n two */\n    \"signalbox\": {"));
  EXPECT_EQ(without(Client::kOpenCode, with_long), long_comment);
  const std::string only = "{\"mcp\": {\"signalbox\": {\"command\": [\"/x/signalbox\", \"mcp\"]}, /* a */ }}";
  EXPECT_EQ(without(Client::kOpenCode, only), "{\"mcp\": { /* a */ }}");
  EXPECT_THAT(with(Client::kClaudeCode, before), HasSubstr("ERROR"));
}

TEST(ClientEntry, EachClientReadsBackWhatWasWritten) {
  const ServerEntry owned{"/opt/sb/signalbox", {"mcp"}, "", "", "sbs_1"};
  const ServerEntry address{"", {}, "http://127.0.0.1:3917/mcp", "", "sbs_1"};
  for (const ClientRow& row : clients()) {
    for (const ServerEntry& entry : {owned, address}) {
      const std::string text = with(row.client, "", entry);
      const auto entries = read_entries(row.client, "f", text);
      ASSERT_TRUE(entries) << row.word << text;
      ASSERT_EQ(entries->size(), 1u) << row.word << text;
      EXPECT_EQ(entries->front().entry, entry) << row.word << text;
      EXPECT_EQ(with(row.client, text, entry), text) << row.word;
      // Either way of connecting replaces the other.
      EXPECT_EQ(with(row.client, with(row.client, text, address), entry), with(row.client, text, entry)) << row.word;
    }
  }
}

TEST(ClientEntry, TheFormOfEachClient) {
  const auto entry = [](std::string_view word) {
    return format_entry(find_client(word)->client, "signalbox", kProgram);
  };
  const auto json = [&](std::string_view word) { return to_json(parse_json(entry(word)).value()); };
  EXPECT_EQ(json("opencode"),
            R"({"mcp":{"signalbox":{"enabled":true,"type":"local","command":["/opt/sb/signalbox","mcp"]}}})");
  EXPECT_EQ(json("gemini-cli"), R"({"mcpServers":{"signalbox":{"command":"/opt/sb/signalbox","args":["mcp"]}}})");
  EXPECT_EQ(json("qwen-code"), json("gemini-cli"));
  EXPECT_EQ(
      json("copilot-cli"),
      R"({"mcpServers":{"signalbox":{"tools":["*"],"type":"local","command":"/opt/sb/signalbox","args":["mcp"]}}})");
  EXPECT_EQ(
      json("cline"),
      R"({"mcpServers":{"signalbox":{"transport":{"type":"stdio","command":"/opt/sb/signalbox","args":["mcp"]}}}})");
  EXPECT_EQ(entry("continue"),
            "mcpServers:\n  - name: \"signalbox\"\n    command: \"/opt/sb/signalbox\"\n    args: [\"mcp\"]\n");
  EXPECT_FALSE(check_entry(Client::kCline, {"", {}, "http://x/mcp", "TOKEN"}));
}

TEST(ClientEntry, AYamlListIsChangedByLine) {
  const auto yaml_with = [](std::string_view text) { return with(Client::kContinue, text); };
  const std::string ours = "- name: \"signalbox\"\n@  command: \"/opt/sb/signalbox\"\n@  args: [\"mcp\"]\n";
  const auto item = [&](const std::string& indent) {
    std::string text = indent + ours;
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, indent);
    return text;
  };
  EXPECT_EQ(yaml_with(""), "name: Local Config\nversion: 1.0.0\nschema: v1\nmcpServers:\n" + item("  "));
  const std::string head = "name: x # mine\n\nmcpServers: # servers\n", tail = "# last\n\nmodels: []\n";
  const std::string other = "- name: a\n  args:\n  - b\n  # inner\n\n";
  const std::string before = head + other + tail;
  const std::string after = head + "- name: a\n  args:\n  - b\n  # inner\n" + item("") + "\n" + tail;
  EXPECT_EQ(yaml_with(before), after);
  EXPECT_EQ(without(Client::kContinue, after), before);
  EXPECT_EQ(yaml_with("name: x\nmcpServers: [] # none\na: 1"), "name: x\nmcpServers: # none\n" + item("  ") + "a: 1");
  EXPECT_EQ(without(Client::kContinue, "name: x\nmcpServers: # none\n" + item("  ") + "a: 1"),
            "name: x\nmcpServers: [] # none\na: 1");
  EXPECT_EQ(without(Client::kContinue, "name: x\nmcpServers:\n" + item("  ") + "a: 1\n", true), "name: x\na: 1\n");
  EXPECT_EQ(yaml_with("mcpServers:\n  - name: signalbox\n    command: /old/signalbox # mine\n    cwd: /x # where\n"
                      "    args:\n      - mcp\n"),
            "mcpServers:\n  - name: signalbox\n    command: \"/opt/sb/signalbox\"\n    cwd: /x # where\n"
            "    args:\n      - mcp\n");
  const std::string marked = "\xef\xbb\xbfname: x\n";
  EXPECT_EQ(yaml_with(marked), marked + "mcpServers:\n" + item("  "));
  EXPECT_EQ(yaml_with(yaml_with(marked)), yaml_with(marked));
  EXPECT_EQ(without(Client::kContinue, yaml_with(marked), true), marked);
  for (const char* text : {"mcpServers: {a: 1}\n", "- a\n", "mcpServers: [{name: a}]\n", "a: [\n"}) {
    EXPECT_THAT(yaml_with(text), testing::AllOf(HasSubstr("ERROR f:"), HasSubstr("nothing was changed"))) << text;
  }
}

const ServerEntry kOwned{"/opt/sb/signalbox", {"mcp"}, "", "", "sbs_1"};
const ServerEntry kOwnedAddress{"", {}, "http://127.0.0.1:3917/mcp", "", "sbs_1"};

TEST(ClientEntry, ASecretIsAVariableOfAProgramAndATokenOfAConnection) {
  EXPECT_THAT(json_with(R"({"mcpServers":{}})", kOwned), HasSubstr(R"("env":{"SIGNALBOX_CLIENT_SECRET":"sbs_1"})"));
  EXPECT_THAT(json_with(R"({"mcpServers":{}})", kOwnedAddress),
              HasSubstr(R"("headers":{"Authorization":"Bearer sbs_1"})"));
  EXPECT_EQ(toml_with("", kOwned),
            "[mcp_servers.signalbox]\ncommand = \"/opt/sb/signalbox\"\nargs = [\"mcp\"]\n"
            "env = { \"SIGNALBOX_CLIENT_SECRET\" = \"sbs_1\" }\n");
  EXPECT_EQ(toml_with("", kOwnedAddress),
            "[mcp_servers.signalbox]\nurl = \"http://127.0.0.1:3917/mcp\"\n"
            "http_headers = { \"Authorization\" = \"Bearer sbs_1\" }\n");
  for (const Client client : {Client::kClaudeCode, Client::kCodex}) {
    for (const ServerEntry& entry : {kOwned, kOwnedAddress}) {
      const std::string text = with(client, "", entry);
      EXPECT_EQ(read_entries(client, "f", text)->front().entry, entry) << text;
      EXPECT_EQ(with(client, text, entry), text);
    }
  }
}

TEST(ClientEntry, ASecretFollowsTheEntryAndNoOtherAddress) {
  const ServerEntry far{"", {}, "https://box.example/mcp"};
  for (const Client client : {Client::kClaudeCode, Client::kCodex}) {
    for (const ServerEntry& before : {kOwned, kOwnedAddress}) {
      for (const ServerEntry& after : {kOwned, kOwnedAddress}) {
        const std::string text = with(client, with(client, "", before), after);
        EXPECT_EQ(read_entries(client, "f", text)->front().entry, after) << text;
        EXPECT_EQ(text.find("sbs_1"), text.rfind("sbs_1")) << text;
      }
      const std::string text = with(client, with(client, "", before), far);
      EXPECT_EQ(text.find("sbs_1"), std::string::npos) << text;
    }
  }
}

TEST(ClientEntry, ASecretIsAddedToWhatTheUserWrote) {
  const std::string start = "[mcp_servers.signalbox]\ncommand = \"/opt/sb/signalbox\"\nargs = [\"mcp\"]\n";
  EXPECT_THAT(toml_with(start + "env = { A = \"b\" } # mine\n", kOwned),
              HasSubstr("env = { \"A\" = \"b\", \"SIGNALBOX_CLIENT_SECRET\" = \"sbs_1\" } # mine\n"));
  const std::string table = toml_with(start + "[mcp_servers.signalbox.env]\nA = \"b\"\n", kOwned);
  EXPECT_EQ(table, start + "[mcp_servers.signalbox.env]\nSIGNALBOX_CLIENT_SECRET = \"sbs_1\"\nA = \"b\"\n");
  EXPECT_THAT(toml_with(table, kAddress), Not(HasSubstr("sbs_1")));
  EXPECT_THAT(toml_with(start + "env.A = \"b\"\n", kOwned), HasSubstr("env.SIGNALBOX_CLIENT_SECRET = \"sbs_1\"\n"));
  EXPECT_THAT(toml_with(start + "env = { A = 3 }\n", kOwned), HasSubstr("env is not a table of strings"));
  EXPECT_THAT(toml_with(start + "env.SIGNALBOX_CLIENT_SECRET = 'old' # it\n", kOwned),
              HasSubstr("env.SIGNALBOX_CLIENT_SECRET = \"sbs_1\" # it\n"));
  const std::string json =
      R"({"mcpServers":{"signalbox":{"command":"/opt/sb/signalbox","args":["mcp"],"env":{"A":"b"}}}})";
  EXPECT_THAT(json_with(json, kOwned), HasSubstr(R"("env":{"A":"b","SIGNALBOX_CLIENT_SECRET":"sbs_1"})"));
  EXPECT_THAT(json_with(json_with(json, kOwned), kAddress), HasSubstr(R"("env":{"A":"b"})"));
}

TEST(ClientEntry, MembersAddedByUsersStay) {
  const std::string text =
      R"({"mcpServers":{"signalbox":{"type":"stdio","command":"/old/signalbox","args":["mcp"],"env":{"A":"b"}}}})";
  EXPECT_EQ(
      json_with(text),
      R"({"mcpServers":{"signalbox":{"type":"stdio","command":"/opt/sb/signalbox","args":["mcp"],"env":{"A":"b"},"alwaysLoad":true}}})");
}

TEST(ClientEntry, TomlIsAppendedAndChangedInPlace) {
  const std::string fresh = "[mcp_servers.signalbox]\ncommand = \"/opt/sb/signalbox\"\nargs = [\"mcp\"]\n";
  EXPECT_EQ(toml_with(""), fresh);
  EXPECT_EQ(toml_with("a = 1"), "a = 1\n\n" + fresh);
  EXPECT_EQ(toml_with("[mcp_servers.x]\ncommand = \"y\"\n"), "[mcp_servers.x]\ncommand = \"y\"\n\n" + fresh);
  const std::string theirs =
      "[ mcp_servers . \"signalbox\" ] # here\n\targs = [\n  'mcp', # why\n]\nstartup_timeout_sec = 20\n"
      "command = '''/old/signalbox'''  # was\n[mcp_servers.signalbox.env]\nA = \"b\"\n\n# tail\n[z]\n";
  EXPECT_EQ(toml_with(theirs),
            "[ mcp_servers . \"signalbox\" ] # here\n\targs = [\n  'mcp', # why\n]\nstartup_timeout_sec = 20\n"
            "command = \"/opt/sb/signalbox\"  # was\n[mcp_servers.signalbox.env]\nA = \"b\"\n\n# tail\n[z]\n");
  EXPECT_EQ(without(Client::kCodex, theirs), "# tail\n[z]\n");
  EXPECT_EQ(toml_with(toml_with("", kAddress)), fresh);
  EXPECT_EQ(toml_with("[mcp_servers.signalbox]"), fresh);
}

TEST(ClientEntry, TomlThatCannotBeEditedByLineIsRejectedWithItsLine) {
  for (const char* text : {"mcp_servers = {}\n", "x = 1\nmcp_servers.a.command = \"b\"\n", "[[mcp_servers]]\n",
                           "[mcp_servers]\nsignalbox = { command = \"x\" }\n",
                           "[mcp_servers]\nsignalbox.command = 'x'\n", "[[mcp_servers.signalbox]]\n"}) {
    EXPECT_THAT(toml_with(text), HasSubstr("cannot be changed safely")) << text;
    EXPECT_THAT(without(Client::kCodex, text), HasSubstr("cannot be changed safely")) << text;
  }
  EXPECT_THAT(toml_with("[mcp_servers]\nother.command = 'x'\n"), HasSubstr("\n\n[mcp_servers.signalbox]\n"));
}

TEST(ClientEntry, ServersAreReadInAnyForm) {
  const auto entries = read_entries(Client::kCodex, "f",
                                    "mcp_servers.a.command = \"x\"\n[mcp_servers.b]\nurl = \"u\"\n[mcp_servers]\n"
                                    "c = { command = 'z', args = ['1'] }\nd = 3\n")
                           .value();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].entry.command, "x");
  EXPECT_EQ(entries[1].entry.url, "u");
  EXPECT_THAT(entries[2].entry.args, ElementsAre("1"));
  EXPECT_EQ(entries[3].entry, ServerEntry{});
}

TEST(ClientEntry, OurEntryIsRecognized) {
  EXPECT_TRUE(is_signalbox_entry(kProgram));
  EXPECT_TRUE(is_signalbox_entry(kAddress));
  EXPECT_TRUE(is_signalbox_entry({"", {}, "http://localhost/mcp"}));
  EXPECT_TRUE(is_signalbox_entry({"signalbox", {"mcp", "--x"}, ""}));
  EXPECT_FALSE(is_signalbox_entry({"/opt/sb/signalbox", {"serve"}, ""}));
  EXPECT_FALSE(is_signalbox_entry({"/opt/other", {"mcp"}, ""}));
  EXPECT_FALSE(is_signalbox_entry({"", {}, "http://127.0.0.1.evil.example/mcp"}));
  EXPECT_FALSE(is_signalbox_entry({"", {}, "http://127.0.0.1:1/mcp2"}));
  EXPECT_FALSE(is_signalbox_entry({"", {}, "http://127.0.0.1:/x"}));
  EXPECT_FALSE(is_signalbox_entry({}));
}

TEST(TomlText, InvalidTextIsRejectedWithItsLocation) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a", "f:1:2: expected ="},
      {"a = ", "f:1:5: expected a value"},
      {"a = \"b", "f:1:5: unterminated string"},
      {"a = 'b\n'", "f:1:5: unterminated string"},
      {"\n a = \"\"\"b\n\n", "f:2:6: unterminated string"},
      {"a = \"\\q\"", "f:1:6: invalid escape"},
      {"a = \"\\ud800\"", "f:1:6: invalid character"},
      {"a = \"\\u12\"", "f:1:6: invalid escape"},
      {"a = [1", "f:1:7: expected , or ]"},
      {"a = {b = 1,}", "f:1:12: expected a key"},
      {"a = {b = 1, b = 2}", "duplicate key"},
      {"a = 1 b = 2", "f:1:7: unexpected text"},
      {"[a", "f:1:3: expected ]"},
      {"[[a]", "f:1:4: expected ]]"},
      {"[]", "f:1:2: expected a key"},
      {"a = 1\na = 2", "f:2:1: duplicate key"},
      {"é = 1", "f:1:1: expected a key"},
      {"\"é\" = x", "f:1:7: expected a value"},
      {"a = 1 # \x01", "a control character"},
      {"a = \"\x01\"", "a control character"},
      {std::string("a = 1\0", 6), "f:1:6: unexpected text"},
      {"\xff", "is not UTF-8"},
  };
  for (const auto& [text, expected] : cases) {
    const auto items = scan_toml("f", text);
    ASSERT_FALSE(items) << text;
    EXPECT_THAT(items.error().to_string(), HasSubstr(expected)) << text;
  }
}

TEST(TomlText, DeepAndLongTextsTerminate) {
  EXPECT_FALSE(scan_toml("f", "a = " + std::string(1'000'000, '[')));
  std::string keys = "a";
  for (int i = 0; i < 1'000; ++i) keys += ".a";
  EXPECT_FALSE(scan_toml("f", keys + " = 1"));
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "k" + std::to_string(i) + " = 1\n";
  EXPECT_EQ(scan_toml("f", many)->back().line, 50'000);
}

TEST(TomlText, ValuesOfEveryTypeAreAccepted) {
  const auto items = scan_toml("f",
                               "\xef\xbb\xbf# c\r\na.b = \"x\\u00e9\\n\"\r\n'q r' = 1979-05-27 07:32:00Z\nn = -0x1F\n"
                               "f = +1.5e-3\ni = -inf\nt = 07:32:00.5\nb = true\nm = \"\"\"\n  x \\\n   y\"\"\"\"\"\n"
                               "l = [ {a.b = 'c'}, [], # d\n ]\n[[p]]\n[p.q]\n[[p]]\n[p.q]\n")
                         .value();
  EXPECT_EQ(items[0].value, Value("x\xc3\xa9\n"));
  EXPECT_EQ(items[1].key, std::vector<std::string>{"q r"});
  EXPECT_EQ(items[6].value, Value(true));
  EXPECT_EQ(items[7].value, Value("  x y\"\""));
  EXPECT_EQ(to_json(items[8].value), R"([{"a":{"b":"c"}},[]])");
  EXPECT_EQ(items.size(), 13u);
}

// Random changes to an editable text: it can still be read, and removing our entry restores the others.
TEST(ClientEntry, RandomlyChangedTextsAreRejectedOrStayReadable) {
  const std::string json = "{\n  \"a\": [1, \"x\\\"}\"],\n  \"mcpServers\": {\"b\": {\"command\": \"c\"}}\n}\n";
  const std::string toml = "# c\na = \"x\"\n[mcp_servers.b]\ncommand = \"c\" # d\n\n[t.u]\nl = [1, \"]\"]\n";
  FakeRandom random(7);
  for (int i = 0; i < 4'000; ++i) {
    const Client client = i % 2 == 0 ? Client::kClaudeCode : Client::kCodex;
    std::string text = client == Client::kClaudeCode ? json : toml;
    for (std::uint64_t n = random.next() % 3; n-- > 0;) {
      const std::size_t at = random.next() % text.size();
      const std::string_view pieces = "{}[]\",=.#'\\\n\r\t x1";
      if (random.next() % 2 == 0)
        text.insert(at, 1, pieces[random.next() % pieces.size()]);
      else
        text.erase(at, 1 + random.next() % 3);
      if (text.empty()) text = " ";
    }
    const auto before = read_entries(client, "f", text);
    const auto after = with_entry(client, "f", text, "signalbox", kProgram);
    if (!after) {
      ASSERT_NE(after.error().code, ErrorCode::kInternal) << text;
      continue;
    }
    const auto removed = without_entry(client, "f", *after, "signalbox", false);
    ASSERT_TRUE(removed) << *after;
    const auto rest = read_entries(client, "f", *removed);
    ASSERT_TRUE(rest) << *removed;
    ASSERT_EQ(rest->size(), before->size()) << text << "\n---\n" << *removed;
    for (std::size_t k = 0; k < rest->size(); ++k) ASSERT_EQ((*rest)[k].entry, (*before)[k].entry) << text;
  }
}

}  // namespace
}  // namespace sb::hook
