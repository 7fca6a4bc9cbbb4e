package builtin

import "github.com/bothyd/bothy/sdk/match"

// ParsePattern is a Parse of all kinds of patterns there are.
func ParsePattern(text string) (Pattern, bool, error) {
	p, err := match.Parse(text)
	if err != nil {
		return nil, false, err
	}
	return p, p.Kind() == match.KindLiteral, nil
}
