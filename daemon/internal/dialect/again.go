package dialect

import "github.com/bothyd/bothy/sdk"

// again is the reading of an answer that was recorded, with the calls that were: one for each, where it stands. One that is not
// read there any more, because a secret was taken out of its tag, or because another tool is offered than then, has a Fault. So no call is
// taken for another one.
func again(r sdk.Reading, c sdk.Completion) sdk.Reading {
	if c.Found == nil {
		return r
	}
	read := map[sdk.Span][]sdk.ReadCall{}
	for _, call := range r.Calls {
		read[call.At] = append(read[call.At], call)
	}
	r.Calls = make([]sdk.ReadCall, len(c.Found))
	for i, f := range c.Found {
		if here := read[f.At]; len(here) > 0 && here[0].Tool == f.Tool {
			read[f.At], here[0].ID = here[1:], f.ID
			r.Calls[i] = here[0]
			continue
		}
		text, _ := f.At.Of(c.Text)
		r.Calls[i] = sdk.ReadCall{
			ID: f.ID, Tool: f.Tool, At: f.At, Raw: shorten(text),
			Fault: "this call was not made: it cannot be read again as it was written. Make it again.",
		}
	}
	return r
}
