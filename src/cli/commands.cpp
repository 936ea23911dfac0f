// The table of commands. To add one: write a file in a folder below, declare its function here, add a row.
#include "cli/command.hpp"
#include "cli/decision/state_options.hpp"

namespace sb::cli {

Action declare_ask(App& app);
Action declare_completion(App& app);
Action declare_config(App& app);
Action declare_contract(App& app);
Action declare_demo(App& app);
Action declare_doctor(App& app);
Action declare_flow(App& app);
Action declare_help(App& app);
Action declare_hook(App& app);
Action declare_inbox(App& app);
Action declare_lint(App& app);
Action declare_mcp(App& app);
Action declare_pref(App& app);
Action declare_operator(App& app);
Action declare_render(App& app);
Action declare_rules(App& app);
Action declare_run(App& app);
Action declare_runs(App& app);
Action declare_serve(App& app);
Action declare_session(App& app);
Action declare_split(App& app);
Action declare_statusline(App& app);
Action declare_store(App& app);
Action declare_trust(App& app);
Action declare_workflow(App& app);

const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = {
      {"ask", "Ask a question in this terminal, or through the inbox",
       "signalbox ask drop-table.yaml --json --wait 10m", "decisions", declare_ask},
      {"completion", "Print the script with which a shell completes commands and options",
       "signalbox completion bash > ~/.local/share/bash-completion/completions/signalbox", "", declare_completion},
      {"config", "Show, change and check the configuration", "signalbox config show", "configuration", declare_config},
      {"contract", "Show artifact contracts, and check your own", "signalbox contract show wr.contracts.review_verdict",
       "contracts", declare_contract},
      {"demo", "Turn a sample ticket into a merged change, in its own folder and without an API key",
       "signalbox demo --dir demo", "pipelines", declare_demo},
      {"doctor", "Check the setup and suggest fixes", "signalbox doctor", "clients", declare_doctor},
      {"flow", "Run a flow of questions, one call per answer", "signalbox flow start --def release.yaml", "decisions",
       declare_flow, Parsing::kOptions, kStateOptions},
      {"help", "Show the help of a command, or a guide", "signalbox help guide delivery", "", declare_help},
      {"hook", "Handle a hook event of Claude Code, or install the hook", "signalbox hook install --user", "hooks",
       declare_hook},
      {"inbox", "List and answer open decisions", "signalbox inbox answer drop-table keep", "decisions", declare_inbox},
      {"lint", "Check agent text against the question rules", "signalbox lint reply.txt", "lint", declare_lint},
      {"mcp", "Run the MCP server on stdin and stdout, or add it to a client's configuration",
       "signalbox mcp install --client claude-code", "mcp", declare_mcp},
      {"operator", "Manage operator keys and tokens, which sign answers", "signalbox operator init", "trust",
       declare_operator},
      {"pref", "Read, check and change question preferences", "signalbox pref --check ship-changelog-voice",
       "preferences", declare_pref, Parsing::kRaw},
      {"render", "Render a question for a host", "signalbox render --def release.yaml --host ask_user_question",
       "decisions", declare_render},
      {"rules", "Add the rules for asking people to a client's rules file",
       "signalbox rules install --client claude-code", "clients", declare_rules},
      {"run", "Turn a goal or a ticket into a merged change", "signalbox run \"Fix the export\" --ticket ticket.md",
       "pipelines", declare_run},
      {"runs", "List, show, resume and stop runs", "signalbox runs resume last", "pipelines", declare_runs},
      {"serve", "Run the MCP server over HTTP, and manage its tokens", "signalbox serve --port 3917", "serve",
       declare_serve},
      {"session", "Run a workflow step by step", "signalbox session start wr.shaping --goal 'Faster search'",
       "sessions", declare_session},
      {"split", "Decide many options one by one, without dropping any",
       "signalbox split plan --def integrations.yaml --cap 4", "decisions", declare_split, Parsing::kOptions,
       kStateOptions},
      {"statusline", "Print the open step and the number of open questions in one line", "signalbox statusline",
       "hooks", declare_statusline},
      {"store", "Check and repair the store", "signalbox store repair --dry-run", "recovery", declare_store},
      {"trust", "Trust a project's policy files as they are now", "signalbox trust .", "trust", declare_trust},
      {"workflow", "List, show and check workflows", "signalbox workflow check release.yaml", "workflows",
       declare_workflow},
  };
  return table;
}

}  // namespace sb::cli
