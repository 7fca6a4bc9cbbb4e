package rpc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// SocketName is the file name of the daemon's socket.
const SocketName = "bothy.sock"

// LockName is the name of the file beside the socket that a daemon holds locked
// for life, and that has its process id in it.
const LockName = "daemon.lock"

// MaxSocketPath is the longest path a Unix socket may have, in bytes:
// sun_path without its closing zero (unix(7)); macOS takes four less.
const MaxSocketPath = 103

// ExitRunning is the exit code of a bothyd that found another one running.
const ExitRunning = 7

// RecordName is the file in the data directory in which a daemon writes where
// it listens.
const RecordName = "socket"

// FindSocket is where clients look for the daemon: at SocketPath, and when
// there is no socket, where the daemon of the same data directory says that it
// listens. The two differ when the environment changed since it was started (a
// login made /run/user/UID), or its configuration names another socket. What
// BOTHY_LISTEN_SOCKET names is never replaced.
func FindSocket(getenv func(string) string) (string, error) {
	path, err := SocketPath(getenv)
	if err != nil || getenv("BOTHY_LISTEN_SOCKET") != "" || isSocket(path) {
		return path, err
	}
	state, err := StateDir(getenv)
	if err != nil {
		return path, nil // SocketPath did without
	}
	record, err := os.ReadFile(filepath.Join(state, RecordName))
	if recorded := strings.TrimSpace(string(record)); err == nil && filepath.IsAbs(recorded) && isSocket(recorded) {
		return recorded, nil
	}
	return path, nil
}

func isSocket(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().Type() == os.ModeSocket
}

// SocketPath is where the daemon listens when its configuration names no
// socket: $BOTHY_LISTEN_SOCKET, else $XDG_RUNTIME_DIR/bothy, else
// /run/user/UID/bothy when that directory is the caller's own, else
// $XDG_STATE_HOME/bothy/run; never a directory that others can write to. getenv
// is os.Getenv; tests give their own.
func SocketPath(getenv func(string) string) (string, error) {
	if p := getenv("BOTHY_LISTEN_SOCKET"); p != "" {
		absolute, err := filepath.Abs(p)
		if err != nil {
			return "", fmt.Errorf("BOTHY_LISTEN_SOCKET: %w", err)
		}
		return checkLength(absolute)
	}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("XDG_RUNTIME_DIR is %q, which is no absolute path: correct it or unset it", dir)
		}
		return checkLength(filepath.Join(dir, "bothy", SocketName))
	}
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Geteuid())); ownDirectory(dir) {
		return checkLength(filepath.Join(dir, "bothy", SocketName))
	}
	state, err := StateDir(getenv)
	if err != nil {
		return "", err
	}
	return checkLength(filepath.Join(state, "run", SocketName))
}

// StateDir is the daemon's data directory: $XDG_STATE_HOME/bothy, else
// ~/.local/state/bothy.
func StateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("XDG_STATE_HOME is %q, which is no absolute path: correct it or unset it", dir)
		}
		return filepath.Join(dir, "bothy"), nil
	}
	home := getenv("HOME")
	if home == "" || !filepath.IsAbs(home) {
		return "", errors.New("no directory for the daemon's state: set HOME or XDG_STATE_HOME to an absolute path")
	}
	return filepath.Join(home, ".local", "state", "bothy"), nil
}

func checkLength(path string) (string, error) {
	if len(path) > MaxSocketPath {
		return "", fmt.Errorf("socket path %s is %d bytes long, and a Unix socket's may have %d: set XDG_RUNTIME_DIR to a shorter directory",
			path, len(path), MaxSocketPath)
	}
	return path, nil
}
