package daemon

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Paths are the places that one daemon uses. All are absolute.
type Paths struct {
	Prefix  string // the installation: bin, libexec/bothy and share/bothy lie below it
	Libexec string // Prefix/libexec/bothy
	Data    string // $XDG_STATE_HOME/bothy: the database, the log, the runs
	Store   string // the database
	Plugins string // $XDG_DATA_HOME/bothy/plugins: the store of installed plugins
	Log     string
	Socket  string // where people reach the daemon
	Sockets string // a short 0700 folder for the sockets of plugins and containers
}

// findPaths fills in what the configuration leaves open. It creates nothing.
func findPaths(cfg *config.Config) (Paths, error) {
	var p Paths
	var err error
	if p.Prefix, err = findPrefix(); err != nil {
		return p, err
	}
	p.Libexec = filepath.Join(p.Prefix, "libexec", "bothy")
	p.Plugins = pluginStore()
	if p.Data, err = rpc.StateDir(os.Getenv); err != nil {
		return p, err
	}
	if p.Socket, err = socketPath(cfg); err != nil {
		return p, err
	}
	p.Sockets = filepath.Join(filepath.Dir(p.Socket), "p")
	p.Store = filepath.Join(p.Data, "bothy.db")
	if cfg != nil && cfg.Store.Path != "" {
		if p.Store, err = filepath.Abs(cfg.Store.Path); err != nil {
			return p, fmt.Errorf("store.path: %w", err)
		}
	}
	p.Log = filepath.Join(p.Data, logfile.Name)
	return p, nil
}

// pluginStore is where installed plugins lie, empty when there is no place for
// them: only installing one needs it.
func pluginStore() string {
	dir := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(dir) { // such a one does not count
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "bothy", "plugins")
}

// socketPath is listen.socket, else where clients look for it.
func socketPath(cfg *config.Config) (string, error) {
	if cfg != nil && cfg.Listen.Socket != "" {
		return filepath.Abs(cfg.Listen.Socket)
	}
	return rpc.SocketPath(os.Getenv)
}

// findPrefix is BOTHY_PREFIX, else what lies above the folder of this binary,
// links resolved.
func findPrefix() (string, error) {
	if p := os.Getenv("BOTHY_PREFIX"); p != "" {
		return filepath.Abs(p)
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the installation: %w; set BOTHY_PREFIX", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return filepath.Dir(filepath.Dir(exe)), nil
}

// makePrivate creates a folder that only its owner may enter, and refuses one
// that others own or may write to.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create %s: %w; point XDG_STATE_HOME to a folder that can be written", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	if !ownedByUs(info) {
		return fmt.Errorf("%s belongs to another user; remove it or point XDG_STATE_HOME elsewhere", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("make %s private: %w", dir, err)
		}
	}
	return nil
}
