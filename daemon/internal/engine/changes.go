package engine

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// changeScheme is where it is kept what actions changed in the project's files.
const changeScheme = "change://"

// changeWrites are the entries of what ended actions changed: change://turn_N/...
// beside log://turn_N/..., with the list as the body.
func changeWrites(over []*action) []sdk.Write {
	var writes []sdk.Write
	for _, x := range over {
		if len(x.result.Changes) == 0 {
			continue
		}
		text := string(encode(x.result.Changes))
		writes = append(writes, sdk.Write{
			Path: changeScheme + strings.TrimPrefix(x.path, "log://"), Body: &text, Writer: sdk.WriterSystem,
			State: sdk.StateResolved, Loop: x.loop, Turn: x.turn,
		})
	}
	return writes
}

// endWrites finalise actions, each in its place, and keep what they changed.
func endWrites(over []*action) []sdk.Write {
	var writes []sdk.Write
	for _, x := range over {
		writes = append(writes, x.endWrite())
	}
	return append(writes, changeWrites(over)...)
}
