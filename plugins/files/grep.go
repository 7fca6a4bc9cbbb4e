package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/protect"
)

// The limits of grep. Lines longer than maxMatched are matched by their
// beginning; shownText is how much of a line is shown.
const (
	usualMatches = 100
	mostMatches  = 1000
	countedUpTo  = 10_000
	mostContext  = 20
	maxPattern   = 4096
	maxMatched   = 1 << 20
	shownText    = 400
)

// grepArgs are the arguments of grep.
type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"a regular expression (RE2, as in Go), looked for line by line"`
	Path       string `json:"path,omitempty" jsonschema:"the file or folder to search, relative to the project; left out, the whole project"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files that fit, such as src/**/*.go; without a slash it speaks of file names in every folder"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"take upper and lower case as the same"`
	Context    int    `json:"context,omitempty" jsonschema:"how many lines to show around each match, at most 20"`
	Limit      *int   `json:"limit,omitempty" jsonschema:"how many matching lines to show, 100 unless given, at most 1000"`
}

// found is one line that matches, with the lines around it.
type found struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// grepData is what grep found. Total counts every matching line; it stops at
// 10000, which Stopped then says.
type grepData struct {
	Matches    []found  `json:"matches"`
	Total      int      `json:"total"`
	Stopped    bool     `json:"stopped,omitempty"`
	Files      int      `json:"files"`            // searched
	Binary     int      `json:"binary,omitempty"` // skipped
	Secret     []string `json:"secret,omitempty"` // skipped, for they hold credentials
	Unreadable []string `json:"unreadable,omitempty"`
}

// search is one grep on its way through the files.
type search struct {
	pattern *regexp.Regexp
	context int
	most    int
	size    int // bytes of lines in data
	data    grepData
}

// grep shows the lines that match a regular expression. Binary files, links and
// .git are left out.
func (p *project) grep(ctx context.Context, a grepArgs) (answer, error) {
	s, filter, err := newSearch(a)
	if err != nil {
		return answer{}, err
	}
	t, err := p.tree(a.Path)
	if err != nil {
		return answer{}, err
	}
	defer t.close()
	if !t.isDir() {
		if err := s.file(ctx, entry{t.path, t.dir, t.base, t.info.Mode()}); err != nil && !errors.Is(err, fs.SkipAll) {
			return answer{}, fault("search", a.Path, err)
		}
		return s.answer(t), nil
	}
	t.deep = true
	t.visit = func(e entry) error {
		if !e.mode.IsRegular() || !filter(e, t.path) {
			return nil
		}
		if protect.Secret(e.path) && !protect.Secret(t.path) {
			s.data.Secret = append(s.data.Secret, e.path)
			return nil
		}
		err := s.file(ctx, e)
		if err == nil || errors.Is(err, fs.SkipAll) || ctx.Err() != nil {
			return err
		}
		t.failed(e.path, err)
		return nil
	}
	if err := t.walk(ctx, "search"); err != nil {
		return answer{}, err
	}
	return s.answer(t), nil
}

func newSearch(a grepArgs) (*search, func(e entry, folder string) bool, error) {
	switch {
	case a.Pattern == "":
		return nil, nil, sdk.Errorf(sdk.Validation, "the pattern is empty; give a regular expression to look for")
	case len(a.Pattern) > maxPattern:
		return nil, nil, sdk.Errorf(sdk.Validation, "the pattern is %d bytes long; at most %d can be used", len(a.Pattern), maxPattern)
	case a.Context < 0 || a.Context > mostContext:
		return nil, nil, sdk.Errorf(sdk.Validation, "context is %d; it can be 0 to %d lines", a.Context, mostContext)
	}
	source := a.Pattern
	if a.IgnoreCase {
		source = "(?i)" + source
	}
	pattern, err := regexp.Compile(source)
	if err != nil {
		return nil, nil, sdk.Errorf(sdk.Validation, `the pattern is no regular expression of RE2; a literal ( [ { . needs a backslash before it: %w`, err)
	}
	s := &search{pattern: pattern, context: a.Context, most: limit(a.Limit, usualMatches, mostMatches)}
	s.data.Matches = []found{}
	wanted, _, err := filterOf(a.Glob)
	return s, wanted, err
}

func fits(glob match.Glob, e entry, folder string) bool {
	if !glob.HasSlash() {
		return glob.Match(e.name)
	}
	return glob.Match(relative(e.path, folder))
}

// file searches one file in bounded memory. fs.SkipAll means that enough was
// counted.
func (s *search) file(ctx context.Context, e entry) error {
	f, _, err := openRegular(e.dir, e.name, e.path)
	if err != nil {
		return err
	}
	defer closeRead(f)
	r := bufio.NewReaderSize(f, 64<<10)
	binary, _, err := looksBinary(r)
	if err != nil {
		return err
	}
	if binary {
		s.data.Binary++
		return nil
	}
	s.data.Files++
	return s.lines(ctx, r, e.path)
}

func (s *search) lines(ctx context.Context, r *bufio.Reader, path string) error {
	var before []string // the last lines, for what comes next
	var waiting []int   // matches that still want lines behind them
	for n := 1; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, more, err := readLine(ctx, r)
		if err != nil || !more {
			return err
		}
		var text string
		if s.context > 0 {
			text = clip(line, 0)
		}
		waiting = s.behind(waiting, text)
		if at := s.pattern.FindIndex(line); at != nil {
			s.data.Total++
			if len(s.data.Matches) < s.most && s.size <= shownBytes {
				s.add(found{Path: path, Line: n, Text: clip(line, at[0]), Before: slices.Clone(before)})
				waiting = append(waiting, len(s.data.Matches)-1)
			}
			if s.data.Total == countedUpTo {
				s.data.Stopped = true
				return fs.SkipAll
			}
		}
		if s.context > 0 {
			if before = append(before, text); len(before) > s.context {
				before = before[1:]
			}
		}
	}
}

func (s *search) add(m found) {
	s.data.Matches = append(s.data.Matches, m)
	s.size += len(m.Path) + len(m.Text)
	for _, line := range m.Before {
		s.size += len(line)
	}
}

// behind adds a line to the matches before it that still want one, and returns
// those that want more.
func (s *search) behind(waiting []int, text string) []int {
	if s.context == 0 {
		return nil
	}
	s.size += len(waiting) * len(text)
	for _, i := range waiting {
		s.data.Matches[i].After = append(s.data.Matches[i].After, text)
	}
	for len(waiting) > 0 && len(s.data.Matches[waiting[0]].After) == s.context {
		waiting = waiting[1:]
	}
	return waiting
}

// clip shows the part of a line around an offset.
func clip(line []byte, at int) string {
	if len(line) <= shownText {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	start := max(0, min(at-shownText/4, len(line)-shownText))
	text := strings.ToValidUTF8(string(line[start:start+shownText]), "\uFFFD")
	if start > 0 {
		text = "…" + text
	}
	if start+shownText < len(line) {
		text += "…"
	}
	return text
}

func (s *search) answer(t *tree) answer {
	s.data.Unreadable = t.unreadable
	var text strings.Builder
	s.write(&text)
	more := s.data.Total - len(s.data.Matches)
	switch {
	case s.data.Total == 0:
		fmt.Fprintf(&text, "no line matches in the %s searched in %s\n", plural(s.data.Files, "file"), shown(t.path))
	case s.data.Stopped:
		fmt.Fprintf(&text, "[more than %d lines match; make the pattern or the glob narrower]\n", s.data.Total)
	case more > 0:
		fmt.Fprintf(&text, "[%d more of %d matching lines; make the pattern or the glob narrower]\n", more, s.data.Total)
	}
	if s.data.Binary > 0 {
		fmt.Fprintf(&text, "[%s skipped]\n", plural(s.data.Binary, "binary file"))
	}
	for i, at := range s.data.Secret {
		if i == mostNotes {
			fmt.Fprintf(&text, "[and %d more with credentials skipped]\n", len(s.data.Secret)-i)
			break
		}
		fmt.Fprintf(&text, "[%s skipped: credentials are kept there; to search it, name it]\n", shown(at))
	}
	text.WriteString(t.notes())
	return answer{text: text.String(), data: s.data, truncated: more > 0 || s.data.Stopped || t.incomplete}
}
