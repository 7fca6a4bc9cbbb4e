package engine

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// findRun returns the run of an alias, an empty one when there is none.
func (e *Engine) findRun(ctx context.Context, project int64, alias string) (sdk.Run, error) {
	if !validAlias(alias) {
		return sdk.Run{}, badAlias(alias)
	}
	r, err := e.cfg.Store.RunByAlias(ctx, project, alias)
	if err != nil && sdk.OutcomeOf(err) == sdk.NotFound {
		return sdk.Run{}, nil
	}
	return r, err
}

func badAlias(alias string) error {
	return sdk.Errorf(sdk.Validation, "%.80q cannot name a run: it takes 1 to 64 of A-Z a-z 0-9 _ -", alias)
}

func validAlias(alias string) bool {
	return alias != "" && len(alias) <= 64 && !strings.ContainsFunc(alias, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	})
}
