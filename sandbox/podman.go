package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver/v4"
	"github.com/hashicorp/go-hclog"
)

// oldest is the first Podman that knows keep-id with a chosen uid.
var oldest = semver.MustParse("4.3.0")

const (
	hintInstall  = "install it (Debian: sudo apt-get install podman runc uidmap) and try again"
	hintRootless = "run as an ordinary user: rootless Podman gives a command no more than that user has, and root has everything (make run makes such a user)"
	hintSubuids  = "give the user a range of ids: sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s"
	hintSeccomp  = "use a kernel, a Podman and an OCI runtime with seccomp"
	hintUIDMap   = "install newuidmap (Debian: sudo apt-get install uidmap) and try again"
)

// podman is a Podman service that answers.
type podman struct {
	logger hclog.Logger
	socket string
	// own is nil when the service is somebody else's.
	own *service
	// lacks is what the host does not have, and commands can run without.
	lacks []Finding
	// runtimes are the OCI runtimes still to be tried, the first is in use.
	runtimes []string

	mu   sync.Mutex
	api  *api
	info *hostInfo // what the service told; nil until it was asked
}

// findPodman finds a service in this order: the configured socket, the user's
// own, else one that it starts. A podman binary named by name comes before the
// user's socket. With one that it starts, first is begun before: see [service.wake].
func findPodman(ctx context.Context, cfg Config, logger hclog.Logger, first func(*service) error) (*podman, error) {
	p := &podman{logger: logger, runtimes: runtimes(cfg.Runtime)}
	if cfg.Socket != "" {
		p.socket = strings.TrimPrefix(cfg.Socket, "unix://")
		if err := p.open(ctx); err != nil {
			return nil, unavailable("the configured Podman socket "+p.socket+" does not answer",
				"start it (systemctl --user start podman.socket) or remove it from the configuration", err)
		}
		return p, p.check(ctx)
	}
	if p.socket = usersSocket(ctx, cfg); p.socket != "" {
		if p.open(ctx) == nil && p.check(ctx) == nil {
			return p, nil
		}
		p.close()
	}
	return p, p.startOwn(ctx, cfg, first)
}

// usersSocket is the socket of the user's own service, or "" where nobody listens, which
// Podman's library would find out only after trying for a while. It is not looked for
// when a podman binary is named.
func usersSocket(ctx context.Context, cfg Config) string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if cfg.Podman != "" || os.Getenv("BOTHY_PODMAN") != "" || !filepath.IsAbs(dir) {
		return ""
	}
	socket := filepath.Join(dir, "podman", "podman.sock")
	conn, err := dialUnix(ctx, socket)
	if err != nil {
		return ""
	}
	_ = conn.Close()
	return socket
}

// runtimes are the OCI runtimes to try for a configured name.
func runtimes(configured string) []string {
	if configured != "auto" && configured != "" {
		return []string{configured}
	}
	var found []string
	for _, name := range []string{"crun", "runc"} {
		if lookUp(name) != "" {
			found = append(found, name)
		}
	}
	return found
}

// lookUp finds a program in PATH or where programs of the system are.
func lookUp(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/sbin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// findBinary finds the podman program and refuses one that is too old.
func findBinary(ctx context.Context, cfg Config) (string, error) {
	binary, err := lookBinary(cfg)
	if err != nil {
		return "", err
	}
	return binary, askVersion(ctx, binary)
}

func lookBinary(cfg Config) (string, error) {
	name := cmp.Or(cfg.Podman, os.Getenv("BOTHY_PODMAN"), "podman")
	binary := lookUp(name)
	if strings.Contains(name, "/") {
		binary = name
	}
	if binary == "" {
		return "", unavailable("Podman is not installed", hintInstall, nil)
	}
	return binary, nil
}

func askVersion(ctx context.Context, binary string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return unavailable("Podman does not answer", "see why "+binary+" --version takes so long", context.Cause(ctx))
	}
	if err != nil {
		return unavailable("Podman cannot be started", hintInstall, err)
	}
	return checkVersion(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(out)), "podman version")))
}

func checkVersion(text string) error {
	version, err := semver.ParseTolerant(text)
	if err != nil {
		return unavailable(fmt.Sprintf("Podman did not tell its version but %.60q", text), hintInstall, err)
	}
	version.Pre, version.Build = nil, nil
	if version.LT(oldest) {
		return unavailable(fmt.Sprintf("Podman %s is too old: Bothy needs 4.3 or newer", version),
			"upgrade it, or name a newer one with BOTHY_PODMAN", nil)
	}
	return nil
}

// startOwn starts a service of our own with the first runtime and storage
// driver that Podman accepts.
func (p *podman) startOwn(ctx context.Context, cfg Config, first func(*service) error) error {
	binary, err := lookBinary(cfg)
	if err != nil {
		return err
	}
	if len(p.runtimes) == 0 {
		return unavailable("there is no OCI runtime", "install runc or crun (Debian: sudo apt-get install runc) and try again", nil)
	}
	works, err := firstThatWorks(p.runtimes, p.logger, func(name, driver string) error {
		own, err := newService(cfg, binary, name, driver, p.logger)
		if err != nil {
			return err
		}
		if err := own.wake(ctx, func() error { return first(own) }); err != nil {
			return err
		}
		return p.adopt(ctx, own)
	})
	if err != nil {
		// One that is too old fails for want of a flag.
		return cmp.Or(askVersion(ctx, binary), err)
	}
	p.runtimes = p.runtimes[works:]
	return p.check(ctx)
}

// firstThatWorks tries the storage drivers, each with every runtime, and returns
// the index of the runtime that try takes. The error is that of the first try.
func firstThatWorks(runtimes []string, logger hclog.Logger, try func(name, driver string) error) (int, error) {
	var first error
	for _, driver := range []string{"overlay", "vfs"} {
		for i, name := range runtimes {
			err := try(name, driver)
			if err == nil {
				return i, nil
			}
			logger.Debug("Podman does not work this way", "runtime", name, "driver", driver, "error", err)
			first = cmp.Or(first, err)
		}
	}
	return 0, unavailable("Podman does not work here", hintFor(first), first)
}

func (p *podman) adopt(ctx context.Context, own *service) error {
	p.own, p.socket = own, own.socket()
	_, err := own.ensure(ctx)
	if err == nil {
		err = p.open(ctx)
	}
	if err != nil {
		own.stop()
	}
	return err
}

// hintFor turns Podman's usual complaints into what to do about them.
func hintFor(err error) string {
	text := err.Error()
	if f := namespacesFinding("/proc"); f.Level == LevelFail {
		return f.Hint
	}
	switch {
	case strings.Contains(text, "newuidmap"):
		return hintUIDMap
	case strings.Contains(text, "subuid"), strings.Contains(text, "user namespace"):
		return fmt.Sprintf(hintSubuids, userName())
	}
	return "run podman info as this user to see what it lacks"
}

func userName() string { return cmp.Or(os.Getenv("USER"), "$USER") }

// open connects, anew when there was a connection.
func (p *podman) open(ctx context.Context) error {
	a, err := connect(ctx, p.socket)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api != nil {
		p.api.close()
	}
	p.api = a
	return nil
}

// check refuses a service that cannot give what the sandbox promises.
func (p *podman) check(ctx context.Context) error {
	if err := checkVersion(p.api.version); err != nil {
		return err
	}
	var info hostInfo
	err := errors.ErrUnsupported
	if p.own != nil {
		info, err = p.own.known(p.api.version)
	}
	if err != nil {
		info, err = p.host(ctx)
	}
	if err != nil {
		return unavailable("Podman does not tell about its host", "run podman info as this user to see why", err)
	}
	p.lacks = nil
	for _, f := range findings(info) {
		switch f.Level {
		case LevelFail:
			return unavailable(f.Detail, f.Hint, nil)
		case LevelWarn:
			p.lacks = append(p.lacks, f)
		}
	}
	return nil
}

// host is what Podman says of its host, which may take a second. It is asked once, but
// again while it has no program to make a network with: a person may install one.
func (p *podman) host(ctx context.Context) (hostInfo, error) {
	p.mu.Lock()
	told := p.info
	p.mu.Unlock()
	if told != nil {
		return *told, nil
	}
	var info hostInfo
	err := p.call(ctx, func(a *api) (err error) {
		info, err = a.info(ctx)
		return err
	})
	if err != nil {
		return info, err
	}
	if _, err := opened(info); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.info = &info
	}
	return info, nil
}

// call makes requests. A service of our own that died is started again, and a
// call that could not reach it is made once more.
func (p *podman) call(ctx context.Context, f func(*api) error) error {
	a, err := p.ready(ctx)
	if err != nil {
		return err
	}
	err = f(a)
	if err == nil || answered(err) || ctx.Err() != nil {
		return err
	}
	p.logger.Debug("Podman could not be reached; trying again", "error", err)
	if p.own == nil {
		if openErr := p.open(ctx); openErr != nil {
			return errors.Join(err, openErr)
		}
	}
	if a, err = p.ready(ctx); err != nil {
		return err
	}
	return f(a)
}

func (p *podman) ready(ctx context.Context) (*api, error) {
	if p.own != nil {
		started, err := p.own.ensure(ctx)
		if err != nil {
			return nil, err
		}
		if started {
			p.logger.Warn("the Podman service had ended and was started again")
			if err := p.open(ctx); err != nil {
				return nil, err
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.api, nil
}

// close ends what is ours.
func (p *podman) close() {
	p.mu.Lock()
	if p.api != nil {
		p.api.close()
		p.api, p.info = nil, nil
	}
	p.mu.Unlock()
	if p.own != nil {
		p.own.stop()
	}
}

// nextRuntime gives up the OCI runtime that failed; it answers false when there
// is no other. A service of our own starts again with the next one.
func (p *podman) nextRuntime(failed string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runtimes) == 0 {
		return false
	}
	if p.runtimes[0] != failed {
		return true
	}
	if len(p.runtimes) == 1 {
		return false
	}
	p.runtimes = p.runtimes[1:]
	if p.own != nil {
		p.own.use(p.runtimes[0])
	}
	return true
}

// runtime is the OCI runtime in use, or "" for the service's own choice.
func (p *podman) runtime() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runtimes) == 0 {
		return ""
	}
	return p.runtimes[0]
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}
