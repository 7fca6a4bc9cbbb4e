package main

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// The resources: what runs of the project did.
const (
	runsURI    = "bothy://runs/"
	textType   = "text/plain"
	partPrompt = "prompts"
	partDiff   = "changes"
)

// templates name them.
var templates = []*mcp.ResourceTemplate{
	{Name: "run", Title: "A run", URITemplate: runsURI + "{run}", MIMEType: textType, Description: "What a run was told, did and said, from its beginning"},
	{Name: "prompt", Title: "A prompt of a run", URITemplate: runsURI + "{run}/" + partPrompt + "/{prompt}", MIMEType: textType, Description: "One prompt of a run, by its number, and the work on it"},
	{Name: "changes", Title: "What a run changed", URITemplate: runsURI + "{run}/" + partDiff, MIMEType: "text/x-diff", Description: "What a run changed in the project's files, as one difference"},
}

// runURI names the history of a run.
func runURI(alias string) string { return runsURI + url.PathEscape(alias) }

// address is what a URI of a resource names.
type address struct {
	run    string
	part   string // partPrompt, partDiff, or nothing: the whole history
	prompt int    // with partPrompt
}

// runName is how the alias of a run is written.
var runName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// addressOf reads a URI; false for one that names nothing here.
func addressOf(uri string) (a address, is bool) {
	rest, is := strings.CutPrefix(uri, runsURI)
	if !is {
		return a, false
	}
	parts := strings.Split(rest, "/")
	run, err := url.PathUnescape(parts[0])
	if err != nil || !runName.MatchString(run) {
		return a, false
	}
	a.run = run
	switch {
	case len(parts) == 1:
		return a, true
	case len(parts) == 2 && parts[1] == partDiff:
		a.part = partDiff
		return a, true
	case len(parts) == 3 && parts[1] == partPrompt:
		a.part = partPrompt
		a.prompt, err = strconv.Atoi(parts[2])
		return a, err == nil && a.prompt > 0
	}
	return a, false
}

// runsPage is how many runs are listed at a time.
const runsPage = 50

// listResources lists the runs that were given a prompt, the last one first.
func (b *bridge) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	query := rpc.RunsParams{Project: b.o.project, Last: true, Limit: runsPage}
	if req.Params != nil && req.Params.Cursor != "" {
		at, err := strconv.Atoi(req.Params.Cursor)
		if err != nil || at < 0 {
			return nil, refuse(sdk.Validation, "the cursor %q is none that was given", req.Params.Cursor)
		}
		query.Offset = at
	}
	runs, err := repeat(ctx, b, func() ([]rpc.RunSummary, error) { return b.cl.Runs(ctx, query) })
	if err != nil {
		return nil, fault(err)
	}
	list := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: mcp.Cacheable{CacheScope: "private"}}
	for _, r := range runs {
		list.Resources = append(list.Resources, &mcp.Resource{
			URI: runURI(r.Alias), Name: r.Alias, Description: show.Line(r.Summary), MIMEType: textType,
			Annotations: &mcp.Annotations{LastModified: r.LastActivity.UTC().Format(time.RFC3339)},
		})
	}
	if len(runs) == runsPage {
		list.NextCursor = strconv.Itoa(query.Offset + runsPage)
	}
	return list, nil
}

// readResource reads one.
func (b *bridge) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	a, is := addressOf(uri)
	if !is {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	mime := textType
	var body string
	var err error
	if a.part == partDiff {
		mime = "text/x-diff"
		body, err = b.changed(ctx, a.run)
	} else {
		body, err = b.history(ctx, a)
	}
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, fault(err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: body}}}, nil
}

// changed is what a run changed in files.
func (b *bridge) changed(ctx context.Context, run string) (string, error) {
	found, err := repeat(ctx, b, func() (rpc.Changes, error) { return b.cl.Changes(ctx, rpc.ChangesOf{Run: run, Project: b.o.project}) })
	var diff strings.Builder
	for _, d := range found.Differences {
		diff.WriteString(d.Diff)
		if diff.Len() > mostOutput {
			break
		}
	}
	text := sdk.Head(diff.String(), mostOutput)
	if text == "" {
		text = "(Nothing in the project's files.)\n"
	}
	if diff.Len() > mostOutput {
		text += "\n(This is not all: `bothy runs diff " + run + "` has it.)\n"
	}
	return text, err
}

// follow tells clients of runs in which something was done. It is one watch of the project,
// whatever they have subscribed to, and starts no daemon.
func (b *bridge) follow() {
	after := int64(-1)
	for b.ctx.Err() == nil {
		last := map[int64]time.Time{}
		err := b.cl.Follow(b.ctx, client.Watch{Project: b.o.project, After: after}, func(e client.Event) error {
			if e.Row == nil || e.Row.Run == 0 {
				return nil
			}
			row := *e.Row
			after = row.Seq
			ends := row.Kind == sdk.KindLoopEnded || row.Kind == sdk.KindTurnClosed
			if !ends && row.Time.Sub(last[row.Run]) < lostTime {
				return nil // it was told a moment ago, and the end will be
			}
			last[row.Run] = row.Time
			if alias := b.aliasOf(row); alias != "" {
				for _, uri := range []string{runURI(alias), runURI(alias) + "/" + partDiff} {
					_ = b.server.ResourceUpdated(b.ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // those who are gone do not hear it
				}
			}
			return nil
		})
		b.log.Debug("runs are not followed", "error", err)
		b.pause(lostTime)
	}
}

// aliasOf is the alias of the run of a row; empty where that is not known.
func (b *bridge) aliasOf(row sdk.JournalRow) string {
	b.mu.Lock()
	alias := b.names[row.Run]
	b.mu.Unlock()
	if row.Kind == sdk.KindRunRenamed {
		var d struct{ To string }
		_ = json.Unmarshal(row.Data, &d) // without a name it is asked for
		alias = d.To
	}
	if alias == "" {
		d, err := b.cl.Run(b.ctx, rpc.RunRef{Run: strconv.FormatInt(row.Run, 10)})
		if err != nil {
			return ""
		}
		alias = d.Run
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[row.Run] = alias
	return alias
}
