package daemon

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Execute executes a code skill by the plugin of a block, which is started now
// when the block says on_use; see host.Supervisor.Execute for its errors.
func (p *plugins) Execute(ctx context.Context, instance string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
	if err := p.awaken(ctx, instance, call.Skill); err != nil {
		return sdk.ToolResult{}, err
	}
	r, err := p.host.Execute(ctx, instance, call, out)
	return r, p.placed(err)
}

// awaken starts the plugin of a block with on_use when it does not run yet.
func (p *plugins) awaken(ctx context.Context, instance, name string) error {
	if p.isBegun(instance) {
		return nil
	}
	p.changing.RLock()
	defer p.changing.RUnlock()
	cfg := p.config()
	block, ok := labelled(cfg.Plugins, instance)
	switch {
	case ok && !block.Enabled:
		return sdk.Errorf(sdk.Unavailable, "the skill %s is executed by the plugin %s, which is switched off: take enabled = false out of its block in the configuration", name, instance)
	case ok && block.OnUse:
		p.begin(ctx, cfg, block)
	}
	return nil // what has no block at all is told by the host
}
