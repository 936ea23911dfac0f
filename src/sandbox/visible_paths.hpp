// Which files a sandboxed command sees, found by looking at this machine.
//
// The home is absent except for tool chains and package caches; besides system folders nothing is visible that is not
// named. What is hidden is a second line of defence, for a workspace that is the home or contains private files.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/seams.hpp"

namespace sb::sandbox {

// What a command may not see even in folders that it sees: our own homes, keys, credentials, settings and histories.
// Only existing paths, absolute, without links. `further`: files that the settings name as secrets.
std::vector<std::string> hidden_paths(const Files& files, const Environment& environment, const HomeDirectories& homes,
                                      const std::vector<std::string>& further = {});

// The user's home, without links; empty: none, or one that cannot be left out (`/`).
std::string users_home(const Files& files, const Environment& environment);

// Tool chains and caches in the home, and folders of PATH outside of the system folders with the libraries next to
// them. Existing ones, as written.
std::vector<std::string> tool_paths(const Files& files, const Environment& environment);
// What a program needs besides its own file: the folder it was installed in. `program`: absolute.
std::vector<std::string> program_paths(const Files& files, const std::string& program);

// Of the system folders that a sandbox shows: files that only root may read, if this process is root's; otherwise the
// system protects them.
std::vector<std::string> private_system_files();
// Unix sockets below one of the folders: a read-only mount does not prevent connecting to them.
std::vector<std::string> sockets_below(const Files& files, const std::vector<std::string>& folders);

// Files that git ignores in a checkout of the user: `.env` and the like. Folders stay: dependencies and build output
// are there. Empty for work trees of ours (below `homes`) and outside of git.
std::vector<std::string> ignored_files(const Seams& seams, const HomeDirectories& homes, const std::string& workspace);

// The folders of every system that a command needs.
const std::vector<std::string>& system_folders();

}  // namespace sb::sandbox
