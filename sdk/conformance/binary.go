package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Options say which binary is checked, and how.
type Options struct {
	Path string   // absolute
	Args []string // of a block's args, for the plugin itself
	Env  []string // of a block's env, NAME=VALUE each
	// Bundle is the name and the version in its bothy-plugin.hcl, with a blank between;
	// empty for a plugin of one file.
	Bundle string
	// Config is the block's attributes, a JSON object; those that are absent
	// take their defaults.
	Config json.RawMessage
	// Call allows what may have effects; see Subject.
	Call bool
	// Seed decides which requests look as if a later daemon had sent them.
	Seed uint64
}

// maxSocketDir leaves room for the names of sockets in the 107 bytes of a path.
const maxSocketDir = 60

// Binary starts a plugin as the daemon does and tries all that it promises,
// telling of each finding as it is made. The error is for a test that could
// not be made at all; that the plugin failed is in the findings.
func Binary(ctx context.Context, o Options, told func(Finding)) error {
	dir, err := socketFolder()
	if err != nil {
		return fmt.Errorf("make a folder for sockets: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // of the temporary files, which are cleared some day
	t := &trial{o: o, dir: dir, told: told}
	t.said, err = commandDescribe(ctx, o)
	told(finding("sub-command describe", err))

	p, line, err := launch(ctx, o, dir)
	if err == nil {
		defer p.kill()
		err = p.dial(line)
	}
	told(finding("handshake", err))
	if err != nil {
		return ctx.Err()
	}
	return t.connected(ctx, p)
}

// socketFolder is short enough for sockets, and nobody else's.
func socketFolder() (string, error) {
	dir, err := os.MkdirTemp(os.Getenv("XDG_RUNTIME_DIR"), "bothy-test")
	if err == nil && len(dir) <= maxSocketDir {
		return dir, nil
	}
	if err == nil {
		err = os.Remove(dir)
	}
	short, again := os.MkdirTemp("/tmp", "bothy-test")
	if again != nil {
		return "", errors.Join(err, again)
	}
	return short, nil
}

// commandDescribe is the manifest that the sub-command prints.
func commandDescribe(ctx context.Context, o Options) (*sdk.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, starting)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.Path, "describe")
	var errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.WaitDelay = environment(), "/", &errs, time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s describe: %w: %.200q: without it the plugin can be neither locked nor checked before it runs", filepath.Base(o.Path), err, errs.String())
	}
	m, err := sdk.ReadManifest(out)
	if err != nil {
		return nil, fmt.Errorf("%s describe printed no manifest: %w: with this argument alone it must print its manifest as JSON, and nothing else", filepath.Base(o.Path), err)
	}
	return &m, nil
}

// trial is one test of one binary.
type trial struct {
	o    Options
	dir  string
	told func(Finding)
	said *sdk.Manifest // what the sub-command describe printed; nil when it did not
}

// connected tries everything from the first Describe to the end of the process.
func (t *trial) connected(ctx context.Context, p *process) error {
	s := Subject{Conn: NewGrease(p.conn, t.o.Seed), Call: t.o.Call, Project: filepath.Join(t.dir, "project"), RunDir: filepath.Join(t.dir, "run")}
	for _, d := range []string{s.Project, s.RunDir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	services, err := serveHost(t.dir)
	if err != nil {
		return fmt.Errorf("offer the daemon's services: %w", err)
	}
	defer services.server.Stop()

	s.Manifest, err = Describe(ctx, s)
	t.told(finding("describe before configure", err))
	if err != nil {
		return ctx.Err()
	}
	t.told(finding("manifest", errors.Join(Manifest(s.Manifest), t.named(s.Manifest))))
	t.told(finding("describe says what the sub-command says", t.agrees(s.Manifest)))
	var refused error
	if s.Settings, refused, err = t.settings(s.Manifest); err != nil {
		return err
	}
	if err = refused; err == nil {
		err = Configure(ctx, s, services.at)
	}
	t.told(finding("configure", t.refusal(err)))
	if err == nil {
		if s.Manifest, err = Describe(ctx, s); err == nil {
			err = Manifest(s.Manifest) // tools may depend on the configuration
		}
		t.told(finding("manifest, configured", err))
		Run(ctx, s, Base(services.at), t.told)
		Run(ctx, s, Kinds(s.Manifest), t.told)
		t.told(finding("callbacks", services.behaved()))
		Run(ctx, s, []Check{Drained}, t.told)
	}
	t.told(finding("output", p.quiet()))
	t.told(finding("end with the connection", p.leave()))
	return ctx.Err()
}

// named compares the manifest's name with the file's, and with what its bundle says.
func (t *trial) named(m sdk.Manifest) error {
	file := filepath.Base(t.o.Path)
	if name, ok := strings.CutPrefix(file, "bothy-plugin-"); ok && name != m.Name {
		return fmt.Errorf("the file is %s and the manifest's name %q: the daemon looks for bothy-plugin-%s", file, m.Name, m.Name)
	}
	if said := m.Name + " " + m.Version; t.o.Bundle != "" && t.o.Bundle != said {
		return fmt.Errorf("bothy-plugin.hcl calls it %s, and the manifest %s: it can be neither installed nor locked before both say the same", t.o.Bundle, said)
	}
	return nil
}

func (t *trial) agrees(m sdk.Manifest) error {
	if t.said == nil {
		return Skip("the sub-command printed no manifest")
	}
	if !reflect.DeepEqual(canonical(*t.said), canonical(m)) {
		return errors.New("what the sub-command describe printed is another manifest than that of Describe: the daemon keeps the one and trusts the other")
	}
	return nil
}

// canonical is a manifest without the differences that JSON leaves open.
func canonical(m sdk.Manifest) (v any) {
	b, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		return err
	}
	return v
}

// settings are the defaults of the schema, and over them what was given; and why the
// daemon would refuse a block that says so.
func (t *trial) settings(m sdk.Manifest) (given sdk.Settings, refused, err error) {
	values := map[string]json.RawMessage{}
	if m.Config != nil {
		for _, a := range m.Config.Attributes {
			if a.Default != nil {
				values[a.Name] = a.Default
			}
		}
	}
	if len(t.o.Config) > 0 {
		if err := json.Unmarshal(t.o.Config, &values); err != nil {
			return given, nil, sdk.Errorf(sdk.Validation, "the settings are no JSON object: write one, as in --settings '{\"base_url\": \"http://127.0.0.1\"}'")
		}
	}
	refused = m.Config.CheckValues(values)
	b, err := json.Marshal(values)
	if err != nil {
		return given, nil, err
	}
	sockets, data := filepath.Join(t.dir, "s"), filepath.Join(t.dir, "data")
	for _, d := range []string{sockets, data} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return given, nil, err
		}
	}
	given = sdk.Settings{Instance: m.Name, Generation: 1, Config: b, DataDir: data, SocketDir: sockets, Prefix: t.dir}
	if slices.Contains(m.Grants, sdk.GrantSandbox) {
		given.Sandbox = &sdk.Sandbox{}
	}
	return given, refused, nil
}

// refusal says what to do about settings that were not taken.
func (t *trial) refusal(err error) error {
	own := answered(err)
	switch {
	case own == nil:
		return err
	case own.Outcome == sdk.Unavailable:
		return Warn("the plugin cannot work here, so that only its beginning was tried: %s", own.Message)
	}
	return fmt.Errorf("the settings were refused: %w; give --settings with what its block must say", err)
}
