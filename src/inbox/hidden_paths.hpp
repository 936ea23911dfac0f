// What a command of an agent may not see: sandbox::hidden_paths(), and the configuration of every client that
// `signalbox mcp install` gave a secret. The secret makes its reader a person's client.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace sb::inbox {

std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      std::vector<std::string> further = {});

}  // namespace sb::inbox
