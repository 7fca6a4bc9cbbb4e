package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// What a command of sh or env prints is data, beside the action that tells of the call:
// sh://turn_N/SLUG_1 is standard output, _2 standard error. They are made by the commit that begins the call, grow
// in chunks, and end with the commit that ends it: one that ends well is 200, one that fails 500, and what
// was cut short 499.

// Outputs are the paths of the entries in which the output of a command is, by the path of its action.
func Outputs(path string) []string {
	at, ok := sdk.ParseActionPath(path)
	if !ok {
		return nil
	}
	return []string{at.Output(1), at.Output(2)}
}

// Begun makes the entries of the output of a command that begins.
func Begun(x sdk.Action, line string) (writes []sdk.Write) {
	for _, path := range Outputs(x.Path) {
		empty := ""
		writes = append(writes, sdk.Write{
			Path: path, Body: &empty, State: sdk.StateStreaming, Visibility: sdk.Summarized, Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn,
			Attributes: encode(map[string]string{"summary": sdk.Head(sdk.Excerpt(line), 80), "action": x.Path}),
		})
	}
	return writes
}

// End is the end of output whose command ended so: at 200, 499 or 500.
func End(state sdk.State, outcome sdk.Outcome) (sdk.State, sdk.Outcome) {
	if state != sdk.StateFailed || slices.Contains([]int{sdk.StatusAborted, sdk.StatusFailed}, sdk.Status(state, outcome)) {
		return state, outcome
	}
	return state, sdk.Internal
}

// Of what a command printed, its action has so much; the rest is in its entries.
const (
	mostTold     = 4 << 10
	mostToldHead = 1 << 10
)

// ranText is what the action of sh or env says of a command: the line, how it ended, where its output is, and
// of that as much as is short.
func ranText(command, ended string, outputs []string, bytes [2]int, printed string) string {
	var where []string
	for i, path := range outputs {
		size := "empty"
		if bytes[i] > 0 {
			size = fmt.Sprintf("%d bytes", bytes[i])
		}
		where = append(where, fmt.Sprintf("%s (%s)", path, size))
	}
	text := fmt.Sprintf("ran '%s', %s, Output: %s", sdk.Excerpt(command), ended, strings.Join(where, ", "))
	if printed = strings.TrimRight(printed, "\n"); printed == "" {
		return text
	}
	if len(printed) > mostTold {
		head, tail := sdk.Head(printed, mostToldHead), sdk.Tail(printed, mostTold-mostToldHead)
		printed = fmt.Sprintf("%s\n[... %d bytes are left out here ...]\n%s", head, len(printed)-len(head)-len(tail), tail)
	}
	return text + "\n" + printed
}

// Ran is what a call of sh or env came to, as the action of a path keeps it, with so many bytes of each output: whole has
// what the command printed, where the result itself says it.
func Ran(path, line string, r sdk.ToolResult, bytes [2]int) (as sdk.ToolResult, whole *[2]string) {
	ended := "exit=none"
	switch code, is := r.Metadata["exit_code"]; {
	case is:
		ended = fmt.Sprintf("exit=%v", code)
	case r.Success:
		ended = "exit=0"
	}
	if r.Error != "" && !strings.HasPrefix(r.Error, "exit status ") {
		ended += " (" + sdk.Excerpt(r.Error) + ")"
	}
	out, hasOut := r.Metadata["stdout"].(string)
	failed, hasErr := r.Metadata["stderr"].(string)
	if _, partly := r.Metadata["repeated_in_part"]; hasOut && hasErr && !partly {
		whole = &[2]string{out, failed}
		bytes = [2]int{len(out), len(failed)}
	}
	r.Output = ranText(line, ended, Outputs(path), bytes, r.Output)
	metadata := map[string]any{"output_bytes": bytes}
	for name, value := range r.Metadata {
		if name != "stdout" && name != "stderr" && name != "repeated_in_part" {
			metadata[name] = value
		}
	}
	r.Metadata = metadata
	return r, whole
}
