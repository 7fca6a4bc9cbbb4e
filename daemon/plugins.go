package daemon

import (
	"context"
	"errors"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// plugins are the plugins as models and skills use them: the error of one that
// cannot start is the configuration's, with file and line.
type plugins struct{ *host.Supervisor }

// Ensure implements model.Host.
func (p plugins) Ensure(ctx context.Context, instance string) error {
	err := p.Supervisor.Ensure(ctx, instance)
	switch sdk.OutcomeOf(err) {
	case sdk.NotFound, sdk.Validation:
		return misconfigured(err.Error())
	}
	return err
}

// Models implements model.Host.
func (p plugins) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	list, err := p.Supervisor.Models(ctx, instance)
	return list, placed(err)
}

// Complete implements model.Host.
func (p plugins) Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error, onRetry func(sdk.Retry) error) error {
	return placed(p.Supervisor.Complete(ctx, instance, req, send, onRetry))
}

// Execute executes a code skill; see host.Supervisor.Execute for its errors.
func (p plugins) Execute(ctx context.Context, instance string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
	r, err := p.Supervisor.Execute(ctx, instance, call, out)
	return r, placed(err)
}

// placed names file and line of what keeps a plugin from starting, as `status`
// shows it. Any other error stays as it is.
func placed(err error) error {
	var refused *host.Unstartable
	if !errors.As(err, &refused) {
		return err
	}
	return misconfigured(refused.Text)
}

// misconfigured is an error that a person mends in the configuration.
func misconfigured(text string) error {
	return &sdk.Error{Outcome: sdk.Validation, Message: text, Cause: engine.ErrConfig}
}

// pluginText writes a diagnostic of a plugin for people. One without a place says
// all that there is to say in its summary.
func (d *Daemon) pluginText(x inspect.Diagnostic) string {
	text := x.Summary
	if x.Subject != nil || x.Detail != "" {
		text = config.At(x.Diagnostic, d.current().Files).Error()
	}
	return d.secrets.Redact(text)
}
