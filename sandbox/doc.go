// Package sandbox runs commands in rootless Podman containers, one container
// per run.
//
// A [Manager] finds Podman or starts a Podman service of its own, makes a run's
// container when its first command comes, and talks to the runner that is
// process 1 inside (see the command in sandbox/runner): a command costs a fork,
// not a container. Nothing is ever executed on the host; without Podman every
// call answers with an [Error] whose code is [CodeUnavailable].
//
// What a container gets: no network, a read-only root, no capabilities, no new
// privileges, the seccomp profile described in seccomp.md, uid 1000 mapped to
// the caller, limits for memory, processors and processes (rlimits are the
// floor where the host cannot enforce them), the project at /workspace with its
// protected paths read-only, a home on disk, and a small /tmp.
package sandbox
