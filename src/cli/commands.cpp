// The table of commands. A new one is a file beside this, its declare function here, and a line below.
#include "cli/command.hpp"
#include "cli/decision/state_options.hpp"

namespace sb::cli {

Action declare_ask(App& app);
Action declare_config(App& app);
Action declare_contract(App& app);
Action declare_demo(App& app);
Action declare_doctor(App& app);
Action declare_flow(App& app);
Action declare_hook(App& app);
Action declare_inbox(App& app);
Action declare_lint(App& app);
Action declare_mcp(App& app);
Action declare_pref(App& app);
Action declare_operator(App& app);
Action declare_render(App& app);
Action declare_run(App& app);
Action declare_runs(App& app);
Action declare_serve(App& app);
Action declare_session(App& app);
Action declare_split(App& app);
Action declare_statusline(App& app);
Action declare_trust(App& app);
Action declare_workflow(App& app);

const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = {
      {"ask", "Ask a person here, or through the inbox", "signalbox ask drop-table.yaml --json --wait 10m",
       declare_ask},
      {"config", "Check what config.yaml and a workspace's signalbox.yaml say", "signalbox config check",
       declare_config},
      {"contract", "See what artifacts must look like, and check contracts of your own",
       "signalbox contract show wr.contracts.review_verdict", declare_contract},
      {"demo", "See a ticket become a merged change, in a folder of its own and without any key",
       "signalbox demo --dir demo", declare_demo},
      {"doctor", "Look at everything Signalbox needs, and say how to mend what is wrong", "signalbox doctor",
       declare_doctor},
      {"flow", "Lead a person through a flow of questions, one call an answer",
       "signalbox flow start --def release.yaml", declare_flow, Parsing::kOptions, kStateOptions},
      {"hook", "Answer one hook event of Claude Code, or install the hook there", "signalbox hook install --user",
       declare_hook},
      {"inbox", "See and answer open decisions", "signalbox inbox answer drop-table keep", declare_inbox},
      {"lint", "Tell whether a text keeps the contract for asking people", "signalbox lint reply.txt", declare_lint},
      {"mcp", "Serve an agent's client on the standard streams, or put Signalbox into its configuration",
       "signalbox mcp install --client claude-code", declare_mcp},
      {"pref", "Read, check and change what you prefer to be asked", "signalbox pref --check ship-changelog-voice",
       declare_pref, Parsing::kRaw},
      {"operator", "Keys and tokens of the people who may sign", "signalbox operator init", declare_operator},
      {"render", "Give what a host is to be shown, and record that it was planned",
       "signalbox render --def release.yaml --host ask_user_question", declare_render},
      {"run", "Take a goal or a ticket to a merged change", "signalbox run \"Mend the export\" --ticket ticket.md",
       declare_run},
      {"runs", "See runs, drive them on, stop them", "signalbox runs resume last", declare_runs},
      {"serve", "Serve many clients over HTTP, and make the tokens that let them in", "signalbox serve --port 3917",
       declare_serve},
      {"session", "Lead a workflow step by step, and see what was done",
       "signalbox session start wr.shaping --goal 'Faster search'", declare_session},
      {"split", "Decide many options one by one, none of them dropped",
       "signalbox split plan --def integrations.yaml --cap 4", declare_split, Parsing::kOptions, kStateOptions},
      {"statusline", "Say in one line which step is open and how many questions wait", "signalbox statusline",
       declare_statusline},
      {"trust", "Let a project's own policy files count, as they are now", "signalbox trust .", declare_trust},
      {"workflow", "See which workflows there are, what is in them and what is wrong with them",
       "signalbox workflow check release.yaml", declare_workflow},
  };
  return table;
}

}  // namespace sb::cli
