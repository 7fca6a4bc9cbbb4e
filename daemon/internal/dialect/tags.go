package dialect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/dialect/tags"
	"github.com/bothyd/bothy/sdk"
)

// Tags is the dialect of models that write calls as tags into their text (package tags). The calls stand in the text, so
// whoever has that has them: reading it again gives the same, as long as the same tools are offered.
type Tags struct{}

// Native implements the engine's Dialect: the provider is sent no tools, and delivers no calls.
func (Tags) Native() bool { return false }

// Whole is an answer as it is recorded and read. Calls that a server took out of the text, as some do with the forms that they know,
// stand in it again; what is no UTF-8 is replaced.
func (Tags) Whole(c sdk.Completion) sdk.Completion {
	var b strings.Builder
	b.WriteString(strings.ToValidUTF8(c.Text, "\uFFFD"))
	for _, call := range c.Calls {
		arguments := json.RawMessage(call.Arguments)
		if !json.Valid(arguments) {
			arguments, _ = json.Marshal(call.Arguments) // a text always has JSON
		}
		// A text and valid JSON always have JSON.
		taken, _ := json.Marshal(struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{call.Tool, arguments})
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<tool_call>%s</tool_call>", taken) // which says that it is one, whatever its name
	}
	c.Text = b.String()
	if len(c.Calls) > 0 && c.Finish == "calls" {
		c.Finish = "stop"
	}
	c.Calls = nil
	return c
}

// Read takes the calls that stand in the text of a completion (see Whole), in their order. Each has an id of its place among them. A
// call that nothing closed in an answer that was cut off is kept with a Fault: its body may be the half of one.
func (Tags) Read(c sdk.Completion, offered []sdk.Tool) sdk.Reading {
	found := tags.Read(tags.NewSet(tags.Offered(offered)), c.Text)
	r := sdk.Reading{Narration: found.Narration, Lost: found.Lost || c.Lost}
	for i, call := range found.Calls {
		read := sdk.ReadCall{
			ID: "call_" + strconv.Itoa(i+1), Tool: call.Tool, Raw: c.Text[call.At.Start:call.At.End], Fault: call.Fault,
			At: sdk.Span(call.At), BodyAt: sdk.Span(call.BodyAt), Behind: call.Behind,
		}
		if call.Open && (c.Finish == "length" || c.Finish == "filter") {
			read.Fault = "the answer was cut off within <" + call.Tool + ">. Nothing was done: write it again, in smaller parts where it is long."
		}
		if read.Fault == "" {
			read.Arguments, read.Fault = readArguments(string(call.JSON()))
		}
		if read.Fault != "" {
			read.Raw = shorten(read.Raw)
		}
		r.Calls = append(r.Calls, read)
	}
	for _, w := range found.Warnings {
		r.Warnings = append(r.Warnings, w.Message)
	}
	return again(r, c)
}

// shownTarget is how much of what a call is about is shown while it comes, in bytes.
const shownTarget = 200

// Watch says of the text of an answer what people are shown of it while it comes: the text outside of calls, and calls as soon as it is
// known what they are about. The last piece is last.
func (Tags) Watch(offered []sdk.Tool) func(piece string, last bool) (text string, begun []sdk.Forming) {
	w := tags.NewWatch(tags.NewSet(tags.Offered(offered)))
	return func(piece string, last bool) (text string, begun []sdk.Forming) {
		text, calls := w.Write(piece)
		if last {
			rest, more := w.End()
			text, calls = text+rest, append(calls, more...)
		}
		for _, call := range calls {
			begun = append(begun, sdk.Forming{Tool: call.Tool, Target: sdk.Head(strings.ToValidUTF8(call.Target(), "\uFFFD"), shownTarget)})
		}
		return text, begun
	}
}
