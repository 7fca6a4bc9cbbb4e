package verbs

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk"
)

// Vars puts in what the tags of flags name as ${modes} and ${mode_words}. A parser that
// is made without it refuses the declarations. They are no kong.Vars: those are looked
// through for each flag there is, which was a third of what the start of bothy took.
func Vars() kong.Option {
	said := strings.NewReplacer("${modes}", strings.Join(sdk.ModeNames(), ","), "${mode_words}", sdk.ModeWords())
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
			if f, ok := at.(*kong.Flag); ok {
				f.Enum, f.Help = said.Replace(f.Enum), said.Replace(f.Help)
			}
			return next(nil)
		})
	})
}
