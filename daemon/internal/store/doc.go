// Package store keeps everything that Bothy remembers in one SQLite file:
// projects, runs, loops, turns, entries, and the journal that tells what was
// committed, in order.
//
// It has one way in and one way to follow. Every write is a Change, an Enqueue,
// a ClaimLoop or a creation; each is one transaction that also writes the
// journal rows that tell of it, so that nothing can be true and untold, or told
// and untrue. A follower takes the channel of Changed, reads Journal after the
// seq it has, and waits on the channel; nothing calls it back.
//
// One process opens the file, which a lock beside it sees to. Inside it there
// is one writing connection, whose transactions begin IMMEDIATE and are never
// held across a call to anything else, and a pool of connections that cannot
// write. Changes that wait at the same time share a transaction, and so one
// fsync. Lock order: Store.writing (one transaction at a time), then
// Store.gate (the connections, while they are closed), then Store.mu (the
// channel of the followers).
//
// What cannot be trusted is not written to: a database whose last rows do not
// verify, a file that is no longer under its name, a disk that failed: that ends
// the process (ADR 0073). Health says which; reading goes on.
// Backup, Restore and Inspect deal with copies, always as a whole (ADR 0010).
//
// The rules of entries stand in docs/entries.md; the form of a journal row and
// what its hash covers stand in ADR 0002.
package store
