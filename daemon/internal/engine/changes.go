package engine

import (
	"github.com/bothyd/bothy/sdk"
)

// changeWrites are the entries of what ended actions changed: change://turn_N/...
// beside log://turn_N/..., with the list as the body.
func changeWrites(over []*action) []sdk.Write {
	var writes []sdk.Write
	for _, x := range over {
		if len(x.result.Changes) == 0 {
			continue
		}
		text := string(encode(x.result.Changes))
		path, _ := sdk.ParseActionPath(x.Path) // which actionPath made
		writes = append(writes, sdk.Write{
			Path: path.Changes(), Body: &text, Writer: sdk.WriterSystem,
			State: sdk.StateResolved, Loop: x.Loop, Turn: x.Turn,
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
