package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// open brings a process to the point where it can be called: found, started,
// described, configured.
func (i *instance) open(ctx context.Context, spec inspect.Spec, generation int) (*link, *inspect.Fault) {
	ctx, done := i.attempt(ctx)
	defer done()
	i.tries(spec)
	b, fail := i.s.inspect.Verified(spec)
	if fail != nil {
		return nil, fail
	}
	defer b.Close()
	i.found(b)
	begin := i.connect
	if spec.Foreign != nil {
		begin = i.attach
	}
	l, fail := begin(ctx, spec, b, generation)
	if fail != nil {
		return nil, fail
	}
	if fail := i.prepare(ctx, l); fail != nil {
		i.needs(nil)
		l.close()
		return nil, fail
	}
	return l, nil
}

// welcome makes what a process needs besides, before it starts or meanwhile: a folder
// for its sockets, and the daemon's services. What it may ask of them is allowed when
// it is known what it declares.
func (i *instance) welcome(l *link) {
	if err := os.MkdirAll(i.sockets(), 0o700); err != nil {
		l.unwelcome = &inspect.Fault{Summary: "it has no folder for its sockets", Detail: err.Error()}
		return
	}
	if l.back = i.callbacks.Process(); l.back == nil {
		return
	}
	if err := l.serve(l.back); err != nil {
		l.unwelcome = &inspect.Fault{Summary: "it cannot be offered the daemon's services", Detail: err.Error()}
	}
}

// sockets is the folder for those that the plugin makes itself.
func (i *instance) sockets() string { return filepath.Join(i.s.cfg.SocketDir, i.name) }

// prepare describes and configures a process that has started.
func (i *instance) prepare(ctx context.Context, l *link) *inspect.Fault {
	b, spec := l.binary, l.spec
	if !b.Unchanged() {
		return &inspect.Fault{Summary: "its binary is refused", Detail: b.Path + " changed while it was started"}
	}
	if l.unwelcome != nil {
		return l.unwelcome
	}
	if fail := l.describe(ctx); fail != nil {
		return fail
	}
	m := l.manifest.Load()
	if m.Protocol != 0 && m.Protocol != plugin.Protocol {
		return versionError("manifest's protocol", fmt.Sprint(m.Protocol), fmt.Sprint(plugin.Protocol))
	}
	if spec.Foreign == nil && len(spec.Args)+len(spec.Env) == 0 { // it is its file's alone
		i.s.inspect.Remember(b, "", *m)
	}
	if _, known := i.s.inspect.Subscriptions(i.name); !known && spec.Foreign == nil {
		i.s.inspect.Subscribes(i.name, subscribedBy(m)) // by its configuration it may hear more
		i.s.cfg.Changed()
	}
	settings, fail := i.settings(m, spec, l.settings.Generation)
	if fail != nil {
		return fail
	}
	if fail := i.require(ctx, l, spec, m); fail != nil {
		return fail
	}
	i.register(ctx, spec, m) // it may write when it is configured; what is wrong is said below
	l.back.Allow(spec, m)
	foreseen := make(chan []*offered, 1) // most have the same tools when they are configured
	go func() { foreseen <- i.offer(m, spec, false, "", i.s.tools().alike(m)...) }()
	if fail := l.configure(ctx, settings); fail != nil {
		return fail
	}
	l.foreseen = <-foreseen
	configured := l.manifest.Load()
	if spec.Foreign == nil && !isLent(i.name) {
		i.s.inspect.Remember(b, i.name, *configured)
	}
	if fail := checkLock(spec, b, *configured); fail != nil {
		return fail
	}
	l.said = configured
	if slices.Contains(configured.Features, sdk.FeatureRelease) {
		l.calls.runs = map[string]*keptRun{}
	}
	l.warnings = slices.Concat(callback.Wants(spec, m), unlimited(spec), unopened(spec, m, l.pin), i.register(ctx, spec, configured), untaken(spec, configured), unheld(spec, l.lacks))
	return nil
}

func (i *instance) settings(m *sdk.Manifest, spec inspect.Spec, generation int) (sdk.Settings, *inspect.Fault) {
	config, secrets, diags := spec.Decode(m.Config)
	if diags.HasErrors() {
		return sdk.Settings{}, &inspect.Fault{Summary: "its block is wrong", Permanent: true, Config: diags}
	}
	for _, v := range secrets {
		i.s.cfg.Redact(v)
	}
	s := sdk.Settings{
		Instance: i.name, Generation: generation, Config: config,
		DataDir: i.s.cfg.DataDir, SocketDir: i.sockets(), Prefix: i.s.cfg.Prefix,
	}
	if spec.Confine != nil {
		s.DataDir = filepath.Join(i.s.cfg.DataDir, confinedDir, spec.Instance, "home")
	}
	if spec.Granted(sdk.GrantSandbox) {
		s.Sandbox = spec.Sandbox
	}
	return s, nil
}
