package conformance

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/provider"
)

// kindChecks are the checks of each kind.
var kindChecks = map[string]func(sdk.Manifest) []Check{
	kindTool: ToolChecks, kindProvider: ProviderChecks, kindSkill: SkillChecks, kindHook: HookChecks, kindChannel: ChannelChecks, kindAgent: AgentChecks,
}

// Kinds are the checks of all the kinds that a manifest declares, that it serves no
// others, and of what it shows of its entries.
func Kinds(m sdk.Manifest) []Check {
	checks := []Check{{"kinds", Served}}
	for _, kind := range kinds {
		if of := kindChecks[kind]; of != nil && slices.Contains(m.Kinds, kind) {
			checks = append(checks, of(m)...)
		}
	}
	if len(m.Projections) > 0 {
		checks = append(checks, Check{"projections", projected})
	}
	return checks
}

// Served compares the kinds of the manifest with the services that answer.
func Served(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, kind := range kinds {
		declared := slices.Contains(s.Manifest.Kinds, kind)
		if kind == kindChannel {
			continue // what serves it begins to work when it is asked
		}
		switch here := !absent(probe(ctx, s, kind)); {
		case declared && !here:
			return fmt.Errorf("the kind %s is declared, and its service is not served", kind)
		case !declared && here:
			return Warn("the kind %s is served and not declared: the daemon never uses it", kind)
		}
	}
	return nil
}

// probe makes a call of a kind that does nothing.
func probe(ctx context.Context, s Subject, kind string) error {
	var err error
	switch kind {
	case kindTool:
		_, err = pieces(pb.NewToolClient(s.Conn).Invoke(ctx, &pb.InvokeRequest{Tool: noTool, ArgumentsJson: []byte("{}")}))
	case kindSkill:
		_, err = pieces(pb.NewSkillClient(s.Conn).Execute(ctx, &pb.ExecuteRequest{Skill: noSkill}))
	case kindProvider:
		_, err = provider.NewClient(s.Conn).Models(ctx)
	case kindAgent:
		_, err = pb.NewAgentClient(s.Conn).Validate(ctx, &pb.ValidateRequest{WorkJson: []byte("{}")})
	case kindHook:
		err = hook.NewClient(s.Conn).Event(ctx, noEvent, []byte("{}"))
	}
	return err
}

// Drained lets the plugin drain, and then wants it to refuse what is new.
var Drained = Check{"drain", drains}

func drains(ctx context.Context, s Subject) error {
	err := within(ctx, "Drain", patience, func(ctx context.Context) error {
		_, err := pb.NewPluginClient(s.Conn).Drain(ctx, &pb.DrainRequest{})
		return err
	})
	if err != nil {
		return fmt.Errorf("calling Drain failed: %w; it waits for the calls under way, each of which must end", err)
	}
	for _, kind := range s.Manifest.Kinds {
		if kind == kindChannel || !slices.Contains(kinds, kind) {
			continue
		}
		if err := probe(ctx, s, kind); status.Code(err) != codes.Unavailable {
			return fmt.Errorf("after Drain a new call of the kind %s was answered (%v), want the code Unavailable", kind, err)
		}
	}
	return nil
}
