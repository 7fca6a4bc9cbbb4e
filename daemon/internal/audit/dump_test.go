package audit

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rows shows a text 16 bytes a row, with each row's position.
func rows(text, position string, row func(part string) string) string {
	var b strings.Builder
	for at := 0; at < len(text); at += 16 {
		if position != "" {
			fmt.Fprintf(&b, position, at)
		}
		b.WriteString(row(text[at:min(len(text), at+16)]) + "\n")
	}
	return b.String()
}

func beside(part string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, part)
}

// words are the bytes of a row in hex, size of them together.
func words(part string, size int, swap bool) string {
	var b strings.Builder
	for i := 0; i < len(part); i += size {
		word := []byte(part[i:min(len(part), i+size)])
		if swap && len(word) == 2 {
			word[0], word[1] = word[1], word[0]
		}
		fmt.Fprintf(&b, " %x", word)
	}
	return b.String()
}

// dumps are how programs show a file byte by byte.
var dumps = map[string]func(string) string{
	"xxd": func(s string) string {
		return rows(s, "%08x:", func(p string) string { return fmt.Sprintf("%-41s %s", words(p, 2, false), beside(p)) })
	},
	"xxd -u": func(s string) string {
		return rows(s, "%08x:", func(p string) string {
			return fmt.Sprintf("%-41s %s", strings.ToUpper(words(p, 2, false)), beside(p))
		})
	},
	"hexdump -C": func(s string) string { return hex.Dump([]byte(s)) },
	"hexdump":    func(s string) string { return rows(s, "%07x", func(p string) string { return words(p, 2, true) }) },
	"od -tx1":    func(s string) string { return rows(s, "%07o", func(p string) string { return words(p, 1, false) }) },
	"od -An -tx1": func(s string) string {
		return rows(s, "", func(p string) string { return words(p, 1, false) })
	},
	"od -c": func(s string) string {
		return rows(s, "%07o", func(p string) string {
			var b strings.Builder
			for i := range len(p) {
				switch c := p[i]; {
				case c == '\n':
					b.WriteString(`  \n`)
				case c > '~':
					fmt.Fprintf(&b, " %03o", c)
				default:
					fmt.Fprintf(&b, "   %c", c)
				}
			}
			return b.String()
		})
	},
}

// shown are pieces of a secret by which it could be put together, but for its
// first bytes, which a row may end behind.
func shown(text, secret string) []string {
	var found []string
	for i := 0; i+4 <= len(secret); i++ {
		part := secret[i : i+4]
		for _, written := range []string{part, words(part, 1, false), words(part, 2, false), words(part, 2, true), strings.Join(strings.Split(part, ""), "   ")} {
			if strings.Contains(strings.ToLower(text), strings.ToLower(written)) {
				found = append(found, written)
			}
		}
	}
	return found
}

// TestRedactDumps: wherever a secret begins in a row, and however often the whole
// was quoted.
func TestRedactDumps(t *testing.T) {
	for _, secret := range []string{"canary-0123456789abcdef", "two words-and:more/of=them", "short1"} {
		var r Redactor
		for i := range 10 {
			r.Add(fmt.Sprintf("%.3sother-%d", secret, i)) // that begin alike
		}
		r.Add(secret)
		for name, dump := range dumps {
			for before := range 33 {
				if before%16 > 16-dumpStarts && len(secret) < 2*dumpStarts {
					continue // too little of it is left to know it by
				}
				text := dump(strings.Repeat("be: ", 9)[:before] + secret + " and all that comes behind, in rows of 16\n")
				for _, text := range []string{text, inJSON(text, true), inJSON(inJSON(text, true), true)} {
					got := r.Redact(text)
					if left := shown(got, secret); len(left) > 0 || !strings.Contains(got, Hidden) {
						t.Fatalf("%s of %q at %d shows %q:\n%s\nof\n%s", name, secret, before, left, got, text)
					}
					if got := pieces(&r, strings.SplitAfter(text, "6")); got != r.Redact(text) {
						t.Fatalf("%s of %q at %d in pieces:\n%s", name, secret, before, got)
					}
				}
			}
		}
	}
}

// TestRedactLeavesDumps that hold no secret, or half of one.
func TestRedactLeavesDumps(t *testing.T) {
	var r Redactor
	r.Add("canary-0123456789abcdef")
	for name, dump := range dumps {
		for _, text := range []string{"can canary- canary-012345678 abcdef, and so on\n", strings.Repeat("canary-\n", 90), "canary-0123456789abcde"} {
			if text = dump(text); r.Redact(text) != text {
				t.Errorf("%s became\n%s", name, r.Redact(text))
			}
		}
	}
}

// TestDumpsOfPrograms that are installed are those of the tests.
func TestDumpsOfPrograms(t *testing.T) {
	text := "k=canary-0123456789abcdef tail\nand a second line\n"
	var r Redactor
	r.Add("canary-0123456789abcdef")
	for _, line := range []string{"xxd", "xxd -u", "hexdump -C", "hexdump", "od -tx1", "od -An -tx1", "od -c", "od -x", "base32", "rev"} {
		args := strings.Fields(line)
		if _, err := exec.LookPath(args[0]); err != nil {
			continue
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := r.Redact(string(out)); !strings.Contains(got, Hidden) || len(shown(got, "canary-0123456789abcdef")) > 0 {
			t.Errorf("%s shows\n%s", line, got)
		}
	}
}

// TestDumpInPieces: however a dump is cut, the pieces give what the whole gives.
func TestDumpInPieces(t *testing.T) {
	var r Redactor
	known := []string{"canary-0123456789abcdef", "canary-0123", "aaaaaaaa", "q\"uo\\te<d>", "with a blank in it"}
	for _, s := range known {
		r.Add(s)
	}
	names := make([]string, 0, len(dumps))
	for name := range dumps {
		names = append(names, name)
	}
	filler := rapid.SampledFrom([]string{"", " ", "a", "canary", "\n", "\\", "word ", "aaaaaaa", "0123456789abcdef0123456789"})
	rapid.Check(t, func(t *rapid.T) {
		var plain, text string
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			plain += filler.Draw(t, "filler") + rapid.SampledFrom(append(known, "")).Draw(t, "secret")
			if rapid.Bool().Draw(t, "shown") {
				text += dumps[rapid.SampledFrom(names).Draw(t, "dump")](plain)
				plain = ""
			}
		}
		if rapid.Bool().Draw(t, "quoted") {
			text = inJSON(text, true)
		}
		var parts []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "piece")
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		if got, whole := pieces(&r, parts), r.Redact(text); got != whole {
			t.Fatalf("%q in %q\nis    %q\nnot   %q", text, parts, got, whole)
		}
	})
}

// TestRedactAllocates little for a text without a secret, however long.
func TestRedactAllocates(t *testing.T) {
	var r Redactor
	for i := range 20 {
		r.Add(fmt.Sprintf("sk-live-%d-%x", i, i*7919))
	}
	plain := strings.Repeat("if err != nil { return fmt.Errorf(\"read %s: %w\", name, err) }\n", 1000)
	for name, text := range map[string]string{"text": plain, "dump": dumps["xxd"](plain), "dump of words": dumps["hexdump"](plain)} {
		r.Redact(text)
		if n := testing.AllocsPerRun(5, func() { r.Redact(text) }); n > 40 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
