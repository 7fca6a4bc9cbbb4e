// Package store keeps everything that Bothy remembers in one SQLite file:
// projects, runs, loops, turns, entries, and the journal that tells what was
// committed, in order.
//
// Every write is one transaction that also writes the journal rows that tell of
// it, so that nothing can be true and untold, or told and untrue. A follower takes
// the channel of Changed, reads Journal after the seq it has, and waits on the
// channel; nothing calls it back.
//
// One process opens the file, which a lock beside it sees to. One connection
// writes, in transactions that are never held across a call to anything else; a
// pool reads. Changes that wait at the same time share a transaction, and so one
// fsync. Lock order: Store.writing, Store.gate, Store.mu.
//
// What cannot be trusted is not written to: damage, a file that is no longer under
// its name, a disk that failed, which ends the process (ADR 0073). Reading goes on.
// The rules of entries stand in docs/entries.md, the form of a row in ADR 0002,
// copies of the file in ADR 0010.
package store
