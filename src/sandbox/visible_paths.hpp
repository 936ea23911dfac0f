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
// Of these, the names below the home of those that also look for it there when HOME is another folder.
std::vector<std::string> tools_of_every_home(const Files& files, const std::string& home);
// What a program needs besides its own file: the folder it was installed in. `program`: absolute.
std::vector<std::string> program_paths(const Files& files, const std::string& program);

// Of the system folders that a sandbox shows: files that only root may read, if this process is root's; otherwise the
// system protects them.
std::vector<std::string> private_system_files();
// Unix sockets below one of the folders, by the names that their owners gave them: a read-only mount does not prevent
// connecting to them. Of this network namespace, and not those with relative names; fast.
std::vector<std::string> sockets_below(const Files& files, const std::vector<std::string>& folders);
// Sockets and named pipes below a folder, found by looking at every entry, and folders that cannot be looked into.
// `hidden`: parts not to look at. kLimit: too many entries, or too many found to hide them one by one.
Result<std::vector<std::string>> special_files(const std::string& folder, const std::vector<std::string>& hidden);

// What git ignores in a checkout of the user, and in checkouts within it: `.env`, folders of secrets and the like.
// Dependencies and build output stay (`kept` in data/paths.yaml). Empty outside of git. Fails if git does, or if there
// is too much to hide.
struct CheckoutPaths {
  std::vector<std::string> ignored;
  std::vector<std::string> nested;  // the `.git` of checkouts within it
};
Result<CheckoutPaths> checkout_paths(const Seams& seams, const std::string& workspace);
// The `.git` of the submodules of a linked work tree that git itself put there.
std::vector<std::string> submodules_of(const Files& files, const std::string& work_tree);
// Whether a path is in a folder of ours, where only agents and we make files.
bool is_ours(const Files& files, const HomeDirectories& homes, const std::string& path);

// The folders of every system that a command needs.
const std::vector<std::string>& system_folders();

}  // namespace sb::sandbox
