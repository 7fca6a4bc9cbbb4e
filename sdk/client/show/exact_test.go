package show

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// unshown reads what exact and quote showed back into the bytes. It knows
// nothing of them but the marks and the two odd forms.
func unshown(t testing.TB, shown string) string {
	t.Helper()
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(shown, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, lineMark):
			if i > 0 {
				b.WriteByte('\n')
			}
		case !strings.HasPrefix(line, foldMark) || i == 0:
			t.Fatalf("line %d of %q has no mark", i, shown)
		}
		line = line[len(lineMark):]
		for line != "" {
			n := 1
			switch {
			case strings.HasPrefix(line, `\x`) && len(line) >= 4 && isHex(line[2]) && isHex(line[3]):
				v, _ := strconv.ParseUint(line[2:4], 16, 8)
				b.WriteByte(byte(v))
				n = 4
			case strings.HasPrefix(line, `\u{`) && strings.Contains(line, "}") && isHex(line[3]) && strings.Trim(line[3:strings.Index(line, "}")], "0123456789abcdefABCDEF") == "":
				n = strings.Index(line, "}") + 1
				v, err := strconv.ParseUint(line[3:n-1], 16, 32)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				b.WriteRune(rune(v))
			case strings.HasPrefix(line, "⇥   "):
				b.WriteByte('\t')
				n = len("⇥   ")
			default:
				b.WriteByte(line[0])
			}
			line = line[n:]
		}
	}
	return b.String()
}

var visibleSeeds = []string{
	"", "ls -la", "a\nb", "a\n", "\n\n", "tab\there", "\t   \t", "⇥   ", "\t", "\x1b[2J\x1b]0;t\a", "cr\rlf", "\xff\xc3", "\u0085\x85", "nul\x00",
	`\x1b`, `\\x1b`, `\u{202e}`, `\u{}`, `\u{zz`, `\x5c`, `grep 'a\.b' \xZZ`, "rtl \u202egnp", "e\u0301", "\u200d\u200b\ufeff\u00a0\u2028",
	"\u3164\u115f\uffa0\u2800\u00ad\u034f\ufe0f", "tag\U000e0041", "trail   ", "trail  \nx", strings.Repeat("long ", 60), "漢字🙂", "| + marks", "rm\\\n-rf",
}

func checkVisible(t testing.TB, text string, width int) {
	t.Helper()
	shown := Draw(Quote(text, "", width, nil), nil)
	if got := unshown(t, shown); got != text {
		t.Fatalf("%q is shown as %q, which reads as %q", text, shown, got)
	}
	for _, r := range shown {
		if r != '\n' && !unicode.IsPrint(r) || unicode.Is(unicode.M, r) {
			t.Fatalf("%q shows %U", text, r)
		}
	}
	for line := range strings.Lines(shown) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); width > 0 && n > max(width, 22) {
			t.Fatalf("a line of %q is %d wide, more than %d", shown, n, width)
		}
	}
	if line := ExactLine(text); unshown(t, lineMark+line) != text || strings.Contains(line, "\n") {
		t.Fatalf("%q is shown on one line as %q", text, line)
	}
	bad := Draw(Quote(text, "", width, func(string) Style { return Bad }), func(_ Style, text string) string { return "<" + text + ">" })
	if len(bad) < len(shown) || Draw(Quote(text, "", width, func(string) Style { return Bad }), func(_ Style, text string) string { return text }) != shown {
		t.Fatalf("%q is painted as another text than %q", text, shown)
	}
}

func TestExactMapsBackToTheBytes(t *testing.T) {
	for _, text := range visibleSeeds {
		for _, width := range []int{0, 24, 80} {
			checkVisible(t, text, width)
		}
	}
	alphabet := rapid.SampledFrom([]string{`\`, "x", "u", "{", "}", "1", "b", "F", " ", "\n", "\x1b", "\x85", "\u0085", "\u202e", "é", "\u0301", "\t", "⇥", "漢", "| ", "+ ", "\xf0"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(alphabet, 0, 60).Draw(rt, "text"), "")
		checkVisible(t, text, rapid.SampledFrom([]int{0, 22, 30, 80}).Draw(rt, "width"))
		checkVisible(t, string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")), 40)
	})
}

// FuzzExact holds that what is shown of any bytes maps back to them.
func FuzzExact(f *testing.F) {
	for _, text := range visibleSeeds {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkVisible(t, text, 30) })
}

func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		"ls -la": "ls -la", "grep 'a\\.b'": "grep 'a\\.b'", "a\tb\x1b": `a\x09b\x1b`, "⇥   x": `\u{21e5}   x`, "\u202e\u0085\x85": `\u{202e}\u{85}\x85`,
		`printf '\x1b'`: `printf '\x5cx1b'`, "x  ": `x\x20\x20`, "e\u0301": `e\u{301}`, "Привет": "Привет", "a\U0001d159b\u2800": `a\u{1d159}b\u{2800}`, "\U00013441\u303f\ufffc": `\u{13441}\u{303f}\u{fffc}`,
		"a   b   \n   ":                  `a   b\x20\x20\x20\x0a\x20\x20\x20`,
		strings.Repeat(" ", 1<<20) + "x": strings.Repeat(" ", 1<<20) + "x", strings.Repeat(" ", 1<<20): strings.Repeat(`\x20`, 1<<20), "\u3164\u200d": `\u{3164}\u{200d}`,
	} {
		if got := ExactLine(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
	if got := Exact("a\tb", Plain).String(); got != "a⇥   b" {
		t.Errorf("a tab is drawn as %q", got)
	}
	if got := Exact("a\x1b", Bold).Draw(func(s Style, text string) string { return strconv.Itoa(int(s)) + text }); got != "2a8\\x1b" {
		t.Errorf("an odd character is not told apart: %q", got)
	}
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
