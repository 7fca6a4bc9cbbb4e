// Command bothy-runner is process 1 of a sandbox container. It executes the
// commands that the sandbox's manager sends it, one at a time.
//
// It dials the manager's socket, which lies in a directory that is mounted
// read-only, and dials again whenever the link breaks; so nothing inside the
// container can take its place, and a manager that restarts finds it again.
// The kernel names the peer: only a process outside the container's PID
// namespace is obeyed. Without a manager for 60 seconds it exits, and the
// container goes with it.
//
// Commands run with the same uid as the runner. What keeps them apart is that
// the runner is process 1 (its namespace cannot kill or stop it), handles every
// signal, and is not dumpable (so it cannot be traced, nor its memory or
// descriptors read). When a command returns, times out or is cancelled,
// everything but the runner is killed with kill(-1), which no daemonising,
// session or fork bomb escapes.
//
// When the link breaks, a command runs on, within its own time: the manager may
// have died, and its successor asks how the command ended. The runner holds the
// end and the output of a call until another command begins. What still runs
// when a manager is there again is killed before it is greeted.
//
// Usage:
//
//	bothy-runner SOCKET
package main
