package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/tool"
	"github.com/bothyd/bothy/sdk/webguard"
)

// fetchArgs are the arguments of web_fetch.
type fetchArgs struct {
	URL    string `json:"url" jsonschema:"the address, with https:// or http://"`
	Method string `json:"method" enum:"GET,HEAD" default:"GET" jsonschema:"HEAD asks what is there, and reads nothing"`
	Line   int    `json:"line" minimum:"1" default:"1" jsonschema:"the first line of the text to show"`
	Limit  int    `json:"limit" minimum:"1" maximum:"2000" default:"200" jsonschema:"how many lines to show"`
	Fresh  bool   `json:"fresh,omitempty" jsonschema:"ask again, also where the run read the same address within 15 minutes"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"of HTML, the source in place of Markdown"`
	Main   bool   `json:"main,omitempty" jsonschema:"of HTML, the article alone"`
}

// form is in which a page is asked for.
func (a fetchArgs) form() (reader.Form, error) {
	switch {
	case a.Raw && a.Main:
		return "", sdk.Errorf(sdk.Validation, "raw is the source of the whole page, and main its article as Markdown: use one of them")
	case a.Raw:
		return reader.Raw, nil
	case a.Main:
		return reader.Main, nil
	}
	return reader.Markdown, nil
}

// fetch serves web_fetch.
func (w *web) fetch(ctx context.Context, a fetchArgs, call tool.Call) (sdk.ToolResult, error) {
	in, err := a.form()
	if err != nil {
		return sdk.ToolResult{}, err
	}
	address, err := w.options.Judge(a.URL)
	if refusal, is := errors.AsType[*webguard.Refusal](err); is {
		return sdk.ToolResult{}, refused(refusal)
	}
	if err != nil {
		return sdk.ToolResult{}, err
	}
	if len(address.String()) > mostLength {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "the address has more than the %d bytes that are asked for", mostLength)
	}
	if a.Method == http.MethodGet && !a.Fresh {
		if p, is := w.kept(ctx, address.String(), in); is {
			ago := w.now().Sub(p.Time).Truncate(time.Second)
			return p.result(a, fmt.Sprintf("From the entry of %v ago; fresh = true asks again.", ago))
		}
	}
	got, err := w.ask(ctx, request{address: address, method: a.Method, form: in, sameHost: call.SameHost, notHosts: call.NotHosts})
	switch {
	case err != nil:
		return sdk.ToolResult{}, err
	case got.elsewhere != "":
		return elsewhere(got), nil
	case !got.read:
		return named(got, a.Method), nil
	}
	r, err := got.result(a, "")
	if err != nil {
		return r, err
	}
	entry, err := got.entry()
	r.Writes = []sdk.Write{entry}
	return r, err
}

// elsewhere is the result of a redirect that was not followed.
func elsewhere(got answer) sdk.ToolResult {
	r := tool.Text(fmt.Sprintf("%s redirects to another host, which was not asked. Where it leads is %s: fetch that address itself, if it is what you look for.", got.address, got.elsewhere))
	r.Metadata = got.metadata()
	r.Metadata["redirect"] = got.elsewhere
	return r
}

// named is the result of what is not read.
func named(got answer, method string) sdk.ToolResult {
	what := got.Type
	if what == "" {
		what = "of a type that is not said"
	}
	if got.length >= 0 {
		what += fmt.Sprintf(", %d bytes", got.length)
	}
	text := fmt.Sprintf("%s\nstatus %d %s, %s", got.Final, got.Status, http.StatusText(got.Status), what)
	if method != http.MethodHead {
		text += ". It is no text, and was not read."
	}
	r := tool.Text(text)
	r.Metadata = got.metadata()
	return r
}

// metadata is what programs are told of an answer.
func (p page) metadata() map[string]any {
	return map[string]any{"address": p.address, "final": p.Final, "status": p.Status, "type": p.Type}
}

// mostShown is how many bytes of a text one result shows.
const mostShown = 24_000

// result shows lines of a page, and what it is. The note says where it is from.
func (p page) result(a fetchArgs, note string) (sdk.ToolResult, error) {
	lines := strings.Count(strings.TrimSuffix(p.text, "\n"), "\n") + 1
	if a.Line > lines {
		return sdk.ToolResult{}, sdk.Errorf(sdk.Validation, "line %d is behind the end of the text, which has %d lines", a.Line, lines)
	}
	var b strings.Builder
	if p.Title != "" {
		fmt.Fprintf(&b, "%s\n", p.Title)
	}
	fmt.Fprintf(&b, "%s\nstatus %d %s, %s, %d bytes, at %s", p.Final, p.Status, http.StatusText(p.Status), p.Type, p.Bytes, p.Time.Format(time.RFC3339))
	if note != "" {
		fmt.Fprintf(&b, "\n%s", note)
	}
	shown, last, part := section(p.text, a.Line, a.Limit)
	fmt.Fprintf(&b, "\n\n%s\n\n", shown)
	more := last < lines || part
	switch {
	case part:
		fmt.Fprintf(&b, "Line %d of %d is longer than what is shown. `get` of %s reads all of it.", last, lines, entryPath(p.address))
	case more:
		fmt.Fprintf(&b, "Lines %d to %d of %d. Read on with line = %d.", a.Line, last, lines, last+1)
	default:
		fmt.Fprintf(&b, "Lines %d to %d of %d: the end", a.Line, last, lines)
		if p.Cut {
			b.WriteString(" of what was read. The text goes on, and was cut here")
		}
		b.WriteString(".")
	}
	r := tool.Text(b.String())
	r.Truncated = more || p.Cut
	r.Metadata = p.metadata()
	r.Metadata["entry"], r.Metadata["title"], r.Metadata["cut"] = entryPath(p.address), p.Title, p.Cut
	return r, nil
}

// section is lines of a text from first on, up to limit of them and to what one result shows. last is the last of them;
// part says that it is not shown to its end. A text may be all line breaks, so it is not taken apart whole.
func section(text string, first, limit int) (shown string, last int, part bool) {
	for range first - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	var b strings.Builder
	for last = first - 1; text != "" && last < first-1+limit; last++ {
		line, rest, _ := strings.Cut(text, "\n")
		if b.Len()+len(line) > mostShown {
			if last >= first {
				break
			}
			return string(reader.Whole([]byte(line[:mostShown]))), first, true
		}
		if last >= first {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		text = rest
	}
	return b.String(), max(last, first), false
}
