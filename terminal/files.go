package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostAttached is how many files go with a prompt.
const mostAttached = 50

// mentioned finds what stands behind an @ at the beginning of a word: a path, perhaps in
// quotes, perhaps with lines.
var mentioned = regexp.MustCompile(`(?:^|[\s(\[{<'"])@(?:"([^"\n]+)"(:\d+(?:-\d*)?)?|([^\s"]+))`)

// lineRange is what says the lines of a file: one, from one to another, or to the end.
var lineRange = regexp.MustCompile(`:(\d+)(-\d*)?$`)

// mentions are the files, or what may be files, that a prompt names behind an @, each once.
func mentions(text string) (all []sdk.Attachment) {
	for _, found := range mentioned.FindAllStringSubmatch(text, -1) {
		a := sdk.Attachment{Path: found[1]}
		lines := found[2]
		if a.Path == "" {
			a.Path = strings.TrimRight(found[3], `.,;:!?)]}>'`)
			lines = lineRange.FindString(a.Path)
			a.Path = strings.TrimSuffix(a.Path, lines)
		}
		if a.From, a.To = linesOf(lines); a.Path != "" && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// linesOf are the lines that a range says; 0 and 0 are all of them.
func linesOf(said string) (from, to int) {
	found := lineRange.FindStringSubmatch(said)
	if found == nil {
		return 0, 0
	}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil || n == 0 {
			return -1 // which no file has: the daemon says so
		}
		return n
	}
	from = number(found[1])
	switch found[2] {
	case "":
		return from, from
	case "-":
		return from, 0
	}
	return from, number(found[2][1:])
}

// quoted is a path as it is written behind an @.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t") || strings.TrimRight(path, `.,;:!?)]}>'`) != path || lineRange.MatchString(path) {
		return `"` + path + `"`
	}
	return path
}

// attachments asks the daemon for the files that a prompt names. A word that names none is
// text, unless it has lines. One that cannot be attached is an error that says what to do.
func (c *conversation) attachments(ctx context.Context, text string) (all []sdk.Attachment, err error) {
	for _, a := range mentions(text) {
		f, err := start.Again(ctx, c.daemon, c.cl, func() (rpc.FileText, error) {
			return c.cl.File(ctx, rpc.FileParams{Project: c.o.project, Path: a.Path, From: a.From, To: a.To})
		})
		switch {
		case sdk.OutcomeOf(err) == sdk.NotFound && a.From == 0:
			continue
		case err != nil:
			return nil, fmt.Errorf("@%s cannot go with the prompt, so it was not sent: %w. Without the @ it is text", a.Path, err)
		case f.Cut:
			return nil, sdk.Errorf(sdk.Overflow, "@%s has more than a prompt takes of a file, so it was not sent. Name lines of it, such as @%s:1-200", a.Path, a.Path)
		}
		all = append(all, a)
	}
	if len(all) > mostAttached {
		return nil, errors.New("a prompt takes " + strconv.Itoa(mostAttached) + " files along, and this one names " + strconv.Itoa(len(all)))
	}
	return all, nil
}
