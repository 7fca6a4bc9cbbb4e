package tags

import (
	"fmt"
	"strings"
	"testing"
)

// What may have been meant as a call and is none is lost, told or not; what is quoted, put right, or JSON that may be of anything, is not.
func TestLost(t *testing.T) {
	for answer, lost := range map[string]bool{
		`<get path="a"/>`: false, `<get path="a>`: false, "```\n<get path=\"a\"/>\n```": false, "`<get the file>`": false, `<get path="a">x`: false, `see {"name":"weather","arguments":{}}`: false, `<p>x</p>`: false,
		`<get the file>`: true, `<get path="a`: true, `<known>x</known>`: true, `<GET path="a"/>`: true, `call:weather{}`: true, `<tool_call>{"name":"weather","arguments":{}}</tool_call>`: true, `[TOOL_CALLS]weather{}`: true, `{"name":"get","arguments":{`: true,
		strings.Repeat(`<get path="a"/>`, MaxCalls+1): true, strings.Repeat("```\n<get path=\"a\"/>\n```\n", maxWarnings+1) + `<get the file>`: true,
	} {
		if got := Read(offered, answer); got.Lost != lost {
			t.Errorf("%.60q: lost is %t; %v", answer, got.Lost, got.Warnings)
		}
	}
}

// Each call says what stands before it that may have been meant as a call and is none, the first of that; what is quoted, put right or
// fails by itself is none of that.
func TestBehind(t *testing.T) {
	for answer, want := range map[string]string{
		`<get path="a"/><cp a b><rm path="a"/><update>x</update>`:                                            `get, rm behind <cp>, update behind <cp>`,
		"<cp a b\n<rm path=\"a\"/>":                                                                          `rm behind <cp>`,
		`<known>x</known><cp a b><rm path="a"/>`:                                                             `rm behind <known>`,
		`<RM path="b"/><rm path="a"/>`:                                                                       `rm behind <RM>`,
		`{"name":"cp","arguments":{"path":` + "\n" + `<rm path="a"/>`:                                        `rm behind a call in JSON`,
		`{"name":"cp","arguments":"a"}<rm path="a"/>`:                                                        `rm behind a call in JSON`,
		"```tool_call\ncp a b\n```\n<rm path=\"a\"/>":                                                        `rm behind a block that says that it holds calls`,
		`<tool_call>cp a b</tool_call><rm path="a"/>`:                                                        `rm behind a call in another program's form`,
		`[TOOL_CALLS] [{"name":"no","arguments":{}},{"name":"rm","arguments":{}}]`:                           `rm behind "no"`,
		`call:{}<function=>{}</function><rm path="a"/>`:                                                      `rm behind ""`,
		strings.Repeat("```\n<cp/>\n```\n", maxWarnings) + `<cp a b><rm path="a"/>`:                          `rm behind <cp>`,
		`<get path="a.go</get>` + "\n" + `<rm path="a"/>`:                                                    `get, rm`,
		`<set path="a"><rm path="a"/>`:                                                                       `set, rm`,
		`<set path="a">x</cp><rm path="a"/>`:                                                                 `set, rm`,
		"`<cp a b>` <rm path=\"a\"/>":                                                                        `rm`,
		"```\n<cp a b>\n```\n<rm path=\"a\"/>":                                                               `rm`,
		`</cp><p>x</p>{"name":"no","arguments":{}}<update status="x">y</update><rm path="a" body="b">c</rm>`: `update, rm`,
		`<|tool_call><rm path="a"/><tool_call|>`:                                                             `rm`,
	} {
		var got []string
		for _, c := range Read(offered, answer).Calls {
			if c.Behind != "" {
				c.Tool += " behind " + c.Behind
			}
			got = append(got, c.Tool)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.60q: %q, want %q", answer, got, want)
		}
	}
}

// Warnings are bounded, and what is not told is counted.
func TestWarningsAreBounded(t *testing.T) {
	got := Read(offered, strings.Repeat("<known>x</known>", 10*maxWarnings))
	if n := len(got.Warnings); n != maxWarnings+1 || got.Warnings[n-1].Message != fmt.Sprint(9*maxWarnings, " more warnings are not told.") {
		t.Errorf("%d warnings, the last of which is %v", n, got.Warnings[n-1])
	}
}

// Up to the limit all calls are taken, and what is beyond is counted in one warning.
func TestCap(t *testing.T) {
	call := "<get path=\"a\"/>\n"
	if got := Read(offered, strings.Repeat(call, MaxCalls)); len(got.Calls) != MaxCalls || len(got.Warnings) != 0 {
		t.Errorf("%d calls, %v", len(got.Calls), got.Warnings)
	}
	got := Read(offered, strings.Repeat(call, MaxCalls+3))
	if len(got.Calls) != MaxCalls || len(got.Warnings) != 1 || got.Warnings[0].Kind != Cap || !strings.HasPrefix(got.Warnings[0].Message, "3 calls were") {
		t.Errorf("%d calls, %v", len(got.Calls), got.Warnings)
	}
}

// TestWarningsSay: quotes that were put right are counted, and of what is no tool a model is told what to write in its place.
// spec: response_healing
func TestWarningsSay(t *testing.T) {
	for _, c := range []struct{ name, answer, says string }{
		{"49", `<get path="a.go</get>` + "\n" + `<update status="102">x</update>`, "1 quote of an attribute was put right"},
		{"50", `<set path="a.md>body</set><get path="b"/>`, "1 quote of an attribute was put right"},
		{"51", `<get path="a" line="3/><get path="b"/>`, "1 quote of an attribute was put right"},
		{"49 twice", `<get path="a.go</get>` + "\n" + `<get path="b.go</get>`, "2 quotes of attributes were put right"},
		{"90 known", `<known path="k">y</known>`, `<set path="known://`},
		{"90 unknown", `<unknown>q</unknown>`, `<set path="unknown://`},
		{"90 summarize", `<summarize>d</summarize>`, `<set path="`},
		{"61", `call:nosuch{a:"b"}`, "nosuch"},
		{"24", `<update status="abc">x</update>`, "102"},
	} {
		if got := Read(offered, c.answer); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, c.says) {
			t.Errorf("%s: %v, want one with %q", c.name, got.Warnings, c.says)
		}
	}
}
