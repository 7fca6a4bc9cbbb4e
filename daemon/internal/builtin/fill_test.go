package builtin

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func TestFill(t *testing.T) {
	for name, c := range map[string]struct {
		text, input, want string
		placed            bool
	}{
		"nothing to fill":         {"plain $ text", "in", "plain $ text", false},
		"the whole input":         {"Fix $ARGUMENTS now.", "issue 12", "Fix issue 12 now.", true},
		"no input":                {"Fix $ARGUMENTS now.", "", "Fix  now.", true},
		"a word of it":            {"From $ARGUMENTS[0] to $ARGUMENTS[1].", "a b", "From a to b.", true},
		"a word that is missing":  {"To $ARGUMENTS[7].", "a", "To .", true},
		"the short form":          {"From $0 to $1.", `"a b" 'c d'`, "From a b to c d.", true},
		"no such word":            {"costs $5", "a", "costs $5", false},
		"a price":                 {"costs $100", "a b", "costs $100", false},
		"a name that goes on":     {"$ARGUMENTS_FILE $0x", "a", "$ARGUMENTS_FILE $0x", false},
		"in code":                 {"`awk '{print $1}'` and $1", "a b", "`awk '{print $1}'` and b", true},
		"in a block":              {"```sh\necho $0 $ARGUMENTS\n```\n$0", "a", "```sh\necho $0 a\n```\na", true},
		"in a block of tildes":    {"~~~~\n$0\n```\n~~~\n$0\n~~~~\n$0", "a", "~~~~\n$0\n```\n~~~\n$0\n~~~~\na", true},
		"a span of two":           {"``a ` $0`` $0", "x", "``a ` $0`` x", true},
		"an open span":            {"a ` $0\n\n$0", "x", "a ` $0\n\nx", true},
		"the folder":              {"run ${CLAUDE_SKILL_DIR}/a {baseDir}/b", "", "run /skills/s/a /skills/s/b", false},
		"a shell substitution":    {"now: !`date $ARGUMENTS`", "-u", "now: !`date -u`", true},
		"input is not read again": {"$ARGUMENTS $ARGUMENTS[0]", "$ARGUMENTS {baseDir} $0", "$ARGUMENTS {baseDir} $0 $ARGUMENTS", true},
		"an open bracket":         {"$ARGUMENTS[x] $ARGUMENTS[0", "a", "a[x] a[0", true},
		"at the end":              {"$", "a", "$", false},
		"empty":                   {"", "a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, placed, err := fill(c.text, c.input, "/skills/s"); err != nil || got != c.want || placed != c.placed {
				t.Errorf("got %q %v, want %q %v", got, placed, c.want, c.placed)
			}
		})
	}
}

// TestFillIsBounded: a text that asks for a long input again and again is
// refused before it takes the memory of the daemon.
func TestFillIsBounded(t *testing.T) {
	input := strings.Repeat("x", 1<<20)
	if got, _, err := fill("$ARGUMENTS and $0", input, ""); err != nil || len(got) < 2<<20 {
		t.Errorf("an input that is asked for twice: %d bytes, %v", len(got), err)
	}
	if _, _, err := fill(strings.Repeat("$ARGUMENTS", 256<<10/10), input, ""); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("an input that is asked for without end: %v", err)
	}
}

// TestFillKeepsTheRest: what is no placeholder is there afterwards, byte for
// byte, and an input is put in as it is, however odd both are.
func TestFillKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", " ", "\n", "`", "```", "~~~", "{", "}", "[0]", "é", "\xff", "!", "\n\n"})).Draw(t, "pieces")
		input := rapid.String().Draw(t, "input")
		text, want := "", ""
		for _, p := range pieces {
			text, want = text+p+"$ARGUMENTS ", want+p+input+" "
		}
		if got, placed, err := fill(text, input, ""); err != nil || got != want || placed != (len(pieces) > 0) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSplit(t *testing.T) {
	for input, want := range map[string]string{
		"":                  "",
		"  a   b\t\nc ":     "a|b|c",
		`"a b" c`:           "a b|c",
		`x"y z"w 'q"r'`:     `xy zw|q"r`,
		`it's`:              "it's",
		`"" a`:              "|a",
		"\u00a0 nbsp\u00a0": "\u00a0|nbsp\u00a0",
	} {
		if got := strings.Join(split(input), "|"); got != want {
			t.Errorf("split(%q) is %q, want %q", input, got, want)
		}
	}
}

func TestTypedText(t *testing.T) {
	for prompt, want := range map[string]string{
		"/greet Ann":         "greet|Ann",
		"/greet":             "greet|",
		"/greet\nall of you": "greet|all of you",
		"/greet  a  b ":      "greet|a  b",
		" /greet":            "", "/etc/passwd is": "", "//x": "", "/ x": "", "/": "", "greet": "",
	} {
		name, input, ok := typed(prompt)
		if got := name + "|" + input; ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q %v, want %q", prompt, got, ok, want)
		}
	}
}
