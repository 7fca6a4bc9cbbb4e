package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/sent"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/daemon/internal/view/packet"
	"github.com/bothyd/bothy/sdk"
)

// packets are what packets need to know of entries, and of the plugins that say what theirs show.
func (d *Daemon) packets(g ground) packet.Config {
	return packet.Config{Scheme: g.store.Scheme, Projectors: d.host.Projectors, Project: d.host.Project, Redact: d.secrets.Redact}
}

// viewsBeside make views for what turns saw, beside those at work.
func (d *Daemon) viewsBeside(g ground) map[string]func() sent.View {
	return map[string]func() sent.View{
		sdk.ViewTranscript: func() sent.View { return view.NewTranscript(time.Now) },
		sdk.ViewPacket:     func() sent.View { return packet.Beside(d.packets(g)) },
	}
}

// startEngine makes the engine, which takes up what was left.
func (d *Daemon) startEngine(g ground, copies skill.Copies, rules *rulebook.Book, w written, ruling policy.Live, files project.InstructionFiles, tree *project.Tree, history *project.History) (*engine.Engine, error) {
	g.hooks.RunCreated.On(sdk.DefaultPriority, "skills", copies.Fork)
	e, err := engine.New(engine.Config{
		Store:        g.store,
		Tools:        d.host,
		Builtin:      d.own,
		Verbs:        d.verbs,
		Services:     g.services.Services,
		Access:       ruling,
		Models:       d.models,
		Views:        map[string]engine.Assembler{sdk.ViewTranscript: view.NewTranscript(time.Now), sdk.ViewPacket: packet.New(d.packets(g), g.hooks)},
		Dialects:     map[string]engine.Dialect{sdk.DialectTools: dialect.Tools{}, sdk.DialectTags: dialect.Tags{}},
		Policy:       ruling,
		Hooks:        g.hooks,
		Agents:       d.agents,
		DataDir:      d.paths.Data,
		Log:          d.log.Named("engine"),
		Results:      engine.Results{Done: history.Done, Validate: d.host.Validate},
		Instructions: files,
		Attachments:  tree,
		Files:        tree,
		Attended:     g.clients.Attended,
		Mode:         func() sdk.Mode { return d.current().Policy.Mode },
		Expiry:       func() time.Duration { return d.current().Policy.Expiry },
		Rules:        rules,
		Narrow:       w.narrowing,
		Lent:         d.loans.Servers,
		Awaited:      d.host.AwaitReady,
		Unsaved:      g.clients.Unsaved,
		Preview:      g.clients.Preview,
		Previewed:    g.clients.Previewed,
		Redacting:    func() stream.Pieces { return d.secrets.Stream() },
		Redact:       d.secrets.Redact, RedactText: d.secrets.Text, Leaks: d.secrets.Leaks, Conceal: d.secrets.Add, Hidden: audit.Hidden,
		Unopened: d.unopened,
		Grace:    d.cfg.Stop.Grace,
		Frozen:   g.store.Health() != nil,
	})
	if err != nil {
		return nil, err
	}
	d.work.add("engine", func() error {
		ctx, cancel := context.WithTimeout(d.hurried, d.cfg.Stop.Grace+drainTime)
		defer cancel()
		if d.lost() != nil {
			cancel() // nothing that ends could be recorded
		}
		return e.Close(ctx)
	})
	return e, nil
}

// startUpkeep has runs rest and expire, by the configuration in force.
func (d *Daemon) startUpkeep(e *engine.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { e.Upkeep(ctx, d.keep) })
	d.work.add("upkeep", func() error {
		cancel()
		done.Wait()
		return nil
	})
}

func (d *Daemon) keep() engine.Keep {
	const day = 24 * time.Hour
	store := d.current().Store
	return engine.Keep{
		Sandbox: time.Duration(store.IdleDays) * day, Run: time.Duration(store.RetentionDays) * day,
		UndoSize: store.UndoSize, Undo: time.Duration(store.UndoDays) * day, Rest: store.Rest, ChannelRest: store.ChannelRest,
	}
}
