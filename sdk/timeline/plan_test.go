package timeline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

func TestPlan(t *testing.T) {
	var line Timeline
	seq := int64(0)
	for _, c := range []struct{ kind, path, body, attributes, want string }{
		{sdk.KindEntrySet, "plan://2", "b", `{"status":"not_asked"}`, "- 2. b (not asked for)"},
		{sdk.KindEntrySet, "plan://1", "a\nmore", `{"status":"open"}`, "○ 1. a,- 2. b (not asked for)"},
		{sdk.KindEntrySet, "plan://10", "c", `{"status":"open"}`, "○ 1. a,- 2. b (not asked for),○ 10. c"},
		{sdk.KindEntrySet, "plan://1", "", `{"status":"done","note":"it holds"}`, "✓ 1. a: it holds,- 2. b (not asked for),○ 10. c"},
		{sdk.KindEntrySet, "plan://1", "", `{"note":null}`, "✓ 1. a,- 2. b (not asked for),○ 10. c"},
		{sdk.KindEntrySet, "plan://1", "", `{"status":"finished"}`, "✓ 1. a,- 2. b (not asked for),○ 10. c"},
		{sdk.KindEntrySet, "plan://1", "", `[]`, "✓ 1. a,- 2. b (not asked for),○ 10. c"},
		{sdk.KindEntryRemoved, "plan://2", "", ``, "✓ 1. a,○ 10. c"},
	} {
		seq++
		row := sdk.JournalRow{Seq: seq, Kind: c.kind, Path: c.path}
		if c.body != "" {
			row.Body = &c.body
		}
		if c.attributes != "" {
			row.Data = json.RawMessage(`{"state":"resolved","attributes":` + c.attributes + `}`)
		}
		if change := line.Take(row); !change.Plan {
			t.Errorf("%s %s changes no plan", c.path, c.attributes)
		}
		got := ""
		for _, s := range line.Plan {
			got += "," + s.Line()
		}
		if fmt.Sprint(got) != ","+c.want {
			t.Errorf("%s %s gives %s", c.path, c.attributes, got)
		}
	}
	for _, path := range []string{"plan://0", "plan://x", "plan://03", "known://plan/1", "prompt://1"} {
		if line.Take(sdk.JournalRow{Kind: sdk.KindEntrySet, Path: path, Data: json.RawMessage(`{}`)}).Plan {
			t.Errorf("%s changes the plan", path)
		}
	}
	if line.Take(sdk.JournalRow{Kind: sdk.KindEntryRemoved, Path: "plan://7"}).Plan || len(line.Plan) != 2 {
		t.Error("a step that is not there was taken away")
	}
}

// TestPlanOfAFork: a fork's plan is in rows that change nothing else.
func TestPlanOfAFork(t *testing.T) {
	var line Timeline
	text := "a"
	for _, row := range []sdk.JournalRow{
		{Path: "plan://1", Body: &text, Data: json.RawMessage(`{"state":"resolved","look":true,"attributes":{"status":"doing"}}`), Loop: 7},
		{Path: "plan://1", Data: json.RawMessage(`{"state":"resolved","visibility":"archived","look":true}`)},
		{Path: "plan://2", Data: json.RawMessage(`{"state":"resolved","look":true}`)},
	} {
		row.Kind = sdk.KindEntrySet
		line.Take(row)
	}
	if len(line.Plan) != 1 || line.Plan[0].Line() != "⧗ 1. a (in progress)" || len(line.Loops) != 0 {
		t.Errorf("%+v", line)
	}
}
