package builtin

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
)

// ParseGlob is a Parse that knows globs and plain text.
func ParseGlob(text string) (Pattern, bool, error) {
	g, err := match.ParseGlob(text)
	if err != nil {
		return nil, false, sdk.Errorf(sdk.Validation, "%w", err)
	}
	return glob{g}, !strings.ContainsAny(text, `*?[{`), nil
}

type glob struct{ match.Glob }

// Match implements Pattern.
func (g glob) Match(path string) (bool, error) { return g.Glob.Match(path), nil }

// Search implements Pattern.
func (g glob) Search(body string) (bool, error) { return strings.Contains(body, g.String()), nil }
