package verbs

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk"
)

// Vars are what the tags of flags name as ${NAME}. A parser that is made without
// them refuses the declarations.
func Vars() kong.Vars {
	return kong.Vars{"modes": strings.Join(sdk.ModeNames(), ","), "mode_words": sdk.ModeWords()}
}
