// Finds commits in a WAL that SQLite silently skips.
//
// SQLite reads a WAL up to the first frame with a wrong checksum and assumes that a crash cut it off there. That is
// right if the frame belongs to the last transaction, which was never acknowledged. If complete transactions follow,
// something that was synced has been damaged since, and acknowledged commits would be lost silently and overwritten by
// the next one.
//
// The checksums prove it, because each continues that of the previous frame: a frame that continues a commit frame was
// written after that commit was on disk. If there is such a pair after the part SQLite reads, commits are lost. Damage
// in the last transaction, or in the one checksum by which the last continues the one before, cannot be distinguished
// from a crash.
//
// How far SQLite reads is in the shared memory: the 32-bit number at offset 16, in native byte order. Ask SQLite for
// it, never read the file: closing FILE or FILE-shm, however opened, drops every lock that this process holds on it.
// The layout of the WAL is in wal_file.hpp.
//
// A torn header makes the WAL look empty, followed by frames that are in the file already: those are not lost.
#pragma once

#include "base/result.hpp"
#include "store/sqlite/connection.hpp"

namespace sb::store::sqlite {

// For a connection that has read from its file. kCorrupt names the frame; this is certain only inside a transaction
// while no other process writes. Reads only a few bytes if all is well.
Status check_wal(Connection& connection);

}  // namespace sb::store::sqlite
