// signalbox-forge-stand-in: see stand_in.hpp. Prints `http://127.0.0.1:PORT` when it listens; ends on SIGTERM.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "forge_stand_in/stand_in.hpp"
#include "net/loop.hpp"

int main(int argc, char** argv) {
  sb::tests::StandInSettings settings;
  int port = 0;
  std::vector<std::string> cut;
  CLI::App app("Stands in for GitHub's REST API in tests");
  app.add_option("--port", port);
  app.add_option("--repository", settings.repository)->required();
  app.add_option("--state", settings.state)->required();
  app.add_option("--log", settings.log);
  app.add_option("--cut-request", cut, "N before|after")->expected(2);
  app.add_flag("--refuse-merge", settings.refuse_merge);
  CLI11_PARSE(app, argc, argv);
  if (cut.size() == 2) {
    settings.cut_request = std::atoi(cut[0].c_str());
    settings.cut_after = cut[1] == "after";
  }
  if (const char* token = std::getenv("FORGE_STAND_IN_TOKEN")) settings.token = token;
  sb::net::EventLoop loop;
  sb::tests::ForgeStandIn forge(loop, port, settings);
  if (const sb::Status opened = forge.open(); !opened) {
    std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
    return 3;
  }
  std::printf("http://127.0.0.1:%d\n", forge.port());
  std::fflush(stdout);
  loop.run();
  return 0;
}
