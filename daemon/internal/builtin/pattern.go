package builtin

import "github.com/bothyd/bothy/sdk/match"

// Patterns begins to read patterns of all kinds there are, whose cost is bounded together.
func Patterns() Parse {
	budget := match.NewBudget()
	return func(text string) (Pattern, bool, error) {
		p, err := match.Parse(text)
		if err != nil {
			return nil, false, err
		}
		return p.Within(budget), p.Kind() == match.KindLiteral, nil
	}
}
