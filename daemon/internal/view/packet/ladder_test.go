package packet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// table is a packet of rows that cost what they say, over a base that nothing makes smaller.
type table struct {
	turn, base, ceiling int
	rows                []*sdk.Row
}

func row(path string, turn, difference int, with ...func(*sdk.Row)) *sdk.Row {
	r := &sdk.Row{Path: path, Turn: turn, Visibility: sdk.Visible, Category: sdk.CategoryData, State: sdk.StateResolved, Tokens: sdk.RowTokens{Difference: difference}}
	for _, x := range with {
		x(r)
	}
	return r
}

func summarized(r *sdk.Row) { r.Visibility = sdk.Summarized }
func failed(r *sdk.Row)     { r.State, r.Outcome = sdk.StateFailed, "exit:1" }
func short(r *sdk.Row)      { r.Scheme = sdk.SummaryScheme }
func asked(r *sdk.Row)      { r.Category, r.Loop = sdk.CategoryPrompt, 1 }

// climb is the ladder on it, with what it measured.
func (x table) climb(t *testing.T) (p sdk.Prompt, all []descent, measured []int) {
	t.Helper()
	measure := func(p sdk.Prompt, _ []descent) (sdk.Prompt, error) {
		p.Tokens = x.base
		for _, r := range p.Rows {
			if r.IsVisible() {
				p.Tokens += r.Tokens.Difference
			}
		}
		measured = append(measured, p.Tokens)
		return p, nil
	}
	p, _ = measure(sdk.Prompt{Turn: x.turn, Ceiling: x.ceiling, Rows: x.rows, Loop: sdk.HookLoop{ID: 1}}, nil)
	var before []sdk.Row
	for _, r := range x.rows {
		before = append(before, *r)
	}
	p, all, err := climb(p, rungs, measure)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if x.rows[i].Visibility != before[i].Visibility {
			t.Errorf("%s was changed in the rows that were given", before[i].Path)
		}
		if p.Rows[i].State != before[i].State || p.Rows[i].Outcome != before[i].Outcome || p.Rows[i].Turn != before[i].Turn {
			t.Errorf("%s: its state or turn was changed", before[i].Path)
		}
	}
	return p, all, measured
}

// TestLadder has rows B1 to B8 of the cases, and more.
// spec: budget_enforcement
func TestLadder(t *testing.T) {
	for name, x := range map[string]struct {
		table
		measured string // the packet after each step
		demoted  string
	}{
		"B1 below the ceiling":                  {table{1, 850, 900, nil}, "850", ""},
		"B2 at the ceiling":                     {table{1, 900, 900, nil}, "900", ""},
		"one above it":                          {table{1, 901, 900, nil}, "901", ""},
		"B3 what the turn before brought":       {table{5, 730, 900, []*sdk.Row{row("a", 4, 150), row("b", 4, 60)}}, "940 730", "demoted: a b"},
		"B4 nothing of the turn before":         {table{5, 800, 900, []*sdk.Row{row("a", 3, 50), row("p", 5, 100, asked)}}, "950 850", "demoted_prompt: p"},
		"B4 all of it is out of sight":          {table{5, 800, 900, []*sdk.Row{row("a", 4, 50, summarized), row("p", 5, 150, asked)}}, "950 800", "demoted_prompt: p"},
		"B5 a long prompt in the first turn":    {table{1, 375, 900, []*sdk.Row{row("p", 1, 1725, asked)}}, "2100 375", "demoted_prompt: p"},
		"B6 the system text alone":              {table{1, 950, 900, nil}, "950", ""},
		"B7 the estimate, whatever was used":    {table{7, 700, 900, []*sdk.Row{row("a", 6, 400)}}, "1100 700", "demoted: a"},
		"B8 a fork has its parent's turns":      {table{10, 700, 900, []*sdk.Row{row("a", 9, 400), row("b", 8, 100)}}, "1200 800", "demoted: a"},
		"both, and it fits":                     {table{5, 700, 900, []*sdk.Row{row("a", 4, 100), row("p", 5, 300, asked)}}, "1100 1000 700", "demoted: a demoted_prompt: p"},
		"both, and it does not fit":             {table{5, 901, 900, []*sdk.Row{row("a", 4, 100), row("p", 5, 300, asked)}}, "1301 1201 901", "demoted: a demoted_prompt: p"},
		"the first is enough":                   {table{5, 600, 900, []*sdk.Row{row("a", 4, 200), row("p", 5, 300, asked)}}, "1100 900", "demoted: a"},
		"rows of this turn and older ones stay": {table{5, 700, 900, []*sdk.Row{row("new", 5, 200), row("old", 3, 200), row("older", 0, 1)}}, "1101", ""},
		"no scheme is exempt": {table{5, 700, 900, []*sdk.Row{
			row("known://a", 4, 90), row("unknown://b", 4, 90, func(r *sdk.Row) { r.Category = sdk.CategoryUnknown }),
			row("log://turn_4/bash/c", 4, 90, func(r *sdk.Row) { r.Category = sdk.CategoryLogging }), row("a.go", 4, 90),
		}}, "1060 700", "demoted: known://a unknown://b log://turn_4/bash/c a.go"},
		"a prompt of the turn before is the prompt": {table{5, 700, 900, []*sdk.Row{row("p", 4, 300, asked)}}, "1000 700", "demoted_prompt: p"},
		"a prompt of another loop is what it is":    {table{5, 700, 900, []*sdk.Row{row("old", 4, 300, asked, func(r *sdk.Row) { r.Loop = 7 })}}, "1000 700", "demoted: old"},
		"failures stay where the rest is enough":    {table{5, 700, 900, []*sdk.Row{row("a", 4, 200), row("f", 4, 100, failed)}}, "1000 800", "demoted: a"},
		"failures go where it is not":               {table{5, 700, 900, []*sdk.Row{row("a", 4, 50), row("f", 4, 300, failed)}}, "1050 1000 700", "demoted: a f"},
		"earlier prompts go before a summary and the prompt": {table{5, 700, 900, []*sdk.Row{
			row("old", 1, 900, asked, func(r *sdk.Row) { r.Loop = 7 }), row("summary://2", 2, 100, short), row("a", 4, 100), row("p", 5, 100, asked),
		}}, "1900 1800 900", "demoted: a demoted_prompts: old"},
		"a summary stays where the rest is enough": {table{5, 700, 900, []*sdk.Row{row("summary://2", 4, 100, short), row("a", 4, 300)}}, "1100 800", "demoted: a"},
		"a summary goes before the prompt": {table{5, 700, 900, []*sdk.Row{row("summary://2", 4, 100, short), row("a", 4, 100), row("p", 5, 300, asked)}},
			"1200 1100 1000 700", "demoted: a summary://2 demoted_prompt: p"},
		"what frees nothing is no step":    {table{5, 950, 900, []*sdk.Row{row("a", 4, 0), row("p", 5, 0, asked)}}, "950", ""},
		"nothing of it that frees nothing": {table{5, 700, 900, []*sdk.Row{row("a", 4, 0), row("b", 4, 300), row("c", 4, 0, failed)}}, "1000 700", "demoted: b"},
		"the ceiling is not known":         {table{5, 5000, 0, []*sdk.Row{row("a", 4, 100)}}, "5100", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, all, measured := x.climb(t)
			var demoted []string
			for _, d := range all {
				demoted = append(demoted, d.slug+":")
				for _, r := range d.rows {
					demoted = append(demoted, r.path)
				}
			}
			if got := strings.Trim(fmt.Sprint(measured), "[]"); got != x.measured {
				t.Errorf("measured %s, and not %s", got, x.measured)
			}
			if got := strings.Join(demoted, " "); got != x.demoted {
				t.Errorf("demoted %q, and not %q", got, x.demoted)
			}
		})
	}
}

// TestLadderStopsWhereMeasuringFails, and says what it had demoted by then.
func TestLadderStopsWhereMeasuringFails(t *testing.T) {
	broken := errors.New("broken")
	p := sdk.Prompt{Turn: 5, Ceiling: 10, Tokens: 20, Rows: []*sdk.Row{row("a", 4, 1)}}
	_, all, err := climb(p, rungs, func(p sdk.Prompt, _ []descent) (sdk.Prompt, error) { return p, broken })
	if !errors.Is(err, broken) || len(all) != 1 {
		t.Errorf("%v, %+v", err, all)
	}
}

// TestOverflowTells names what was demoted, the ceiling and what is left over.
func TestOverflowTells(t *testing.T) {
	p := sdk.Prompt{Turn: 7, Ceiling: 900, Tokens: 950, Model: "m", Loop: sdk.HookLoop{ID: 3}}
	all := []descent{{slugDemoted, 1160, []demotion{{"a", 150}, {"b", 60}}}, {slugPrompt, 1000, []demotion{{"prompt://1", 50}}}}
	for _, want := range []string{"950 tokens", "50 more than the 900", "2 entries, which frees 210 tokens: a (150), b (60)", "1 entry, which frees 50 tokens: prompt://1 (50)"} {
		if err := overflow(&p, all); sdk.OutcomeOf(err) != sdk.Overflow || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	w := writes(&p, 7, all)
	if len(w) != 5 || !w[0].Look || w[0].Visibility != sdk.Summarized || w[0].Body != nil || w[0].State != "" {
		t.Fatalf("writes %+v", w)
	}
	for i, want := range map[int][]string{
		2: {"log://turn_7/error/demoted", "1160 tokens, 260 more than the 900", "the turn before", "a (150), b (60)"},
		4: {"log://turn_7/error/demoted_prompt", "1000 tokens, 100 more", "the prompt was demoted", "get"},
	} {
		if w[i].Path != want[0] || sdk.Status(w[i].State, w[i].Outcome) != sdk.StatusOverflow || w[i].Loop != 3 || w[i].Turn != 7 {
			t.Errorf("it is told by %+v", w[i])
		}
		for _, text := range want[1:] {
			if !strings.Contains(*w[i].Body, text) {
				t.Errorf("%q is not in: %s", text, *w[i].Body)
			}
		}
	}
}

// TestManyAreNotAllNamed bounds what a model reads about them.
func TestManyAreNotAllNamed(t *testing.T) {
	d := descent{slug: slugDemoted, before: 9999}
	for i := range 500 {
		d.rows = append(d.rows, demotion{fmt.Sprintf("known://%d", i), 2})
	}
	if text := d.text(900); len(text) > 1500 || !strings.Contains(text, "500 entries, which frees 1000 tokens") || !strings.Contains(text, "470 more") {
		t.Error(text)
	}
}
