package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// shown writes a text with its entities as marks around their parts, as in <bold>this</bold>.
func shown(s styled) string {
	code := utf16.Encode([]rune(s.Text))
	var b strings.Builder
	for at := 0; at <= len(code); at++ {
		for i := len(s.Entities) - 1; i >= 0; i-- {
			if e := s.Entities[i]; e.Offset+e.Length == at {
				fmt.Fprintf(&b, "</%s>", e.Type)
			}
		}
		for _, e := range s.Entities {
			if e.Offset == at {
				fmt.Fprintf(&b, "<%s>", strings.TrimSpace(e.Type+" "+e.URL+e.Language))
			}
		}
		if at < len(code) {
			if utf16.IsSurrogate(rune(code[at])) && at+1 < len(code) {
				b.WriteString(string(utf16.DecodeRune(rune(code[at]), rune(code[at+1]))))
				at++
			} else {
				b.WriteRune(rune(code[at]))
			}
		}
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, markdown, want string }{
		{"plain", "Hello, world.", "Hello, world."},
		{"styles", "a **b** *c* ~~d~~ `e`", "a <bold>b</bold> <italic>c</italic> <strikethrough>d</strikethrough> <code>e</code>"},
		{"nested", "**b *i* b**", "<bold>b <italic>i</italic> b</bold>"},
		{"code ends what is around it", "**a `b` c**", "<bold>a </bold><code>b</code><bold> c</bold>"},
		{"offsets in UTF-16", "😀 **é𝒳** x", "😀 <bold>é𝒳</bold> x"},
		{"heading", "# A *title*\n\ntext", "<bold>A <italic>title</italic></bold>\n\ntext"},
		{"fence", "```go\nif a < b {\n\n\t*c*\n}\n```", "<pre go>if a < b {\n\n\t*c*\n}</pre>"},
		{"indented code", "    x\n    y\n", "<pre>x\ny</pre>"},
		{"list", "- a\n- b\n  - c\n\n1. d\n2. e", "• a\n• b\n  • c\n\n1. d\n2. e"},
		{"numbers begin where they begin", "7. a\n8. b", "7. a\n8. b"},
		{"tasks", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"quote", "> a **b**\n> c", "<blockquote>a <bold>b</bold>\nc</blockquote>"},
		{"link", "[the **page**](https://x.test/a?b=1&c)", "<text_link https://x.test/a?b=1&c>the <bold>page</bold></text_link>"},
		{"link to elsewhere", "[this](file:///etc/passwd) [that](javascript:x)", "this (file:///etc/passwd) that (javascript:x)"},
		{"address", "see <https://x.test>", "see https://x.test"},
		{"HTML is text", "a <b>b</b>\n\n<script>\nx\n</script>", "a <b>b</b>\n\n<script>\nx\n</script>"},
		{"escapes", `\*a\* &lt;b&gt; &amp;c \&amp; & d`, "*a* <b> &c &amp; & d"},
		{"no escapes in code", "`\\*a&amp;`", "<code>\\*a&amp;</code>"},
		{"table", "| a | b |\n|---|--:|\n| **long** | 1 |", "<pre>a    | b\n-----+--\nlong | 1</pre>"},
		{"image without a text", "a ![](https://x.test/p.png)", "a <text_link https://x.test/p.png>https://x.test/p.png</text_link>"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"two styles meet", "**x *y*** *z* w", "<bold>x <italic>y</italic></bold> <italic>z</italic> w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var texts []string
			for _, m := range messages(c.markdown) {
				texts = append(texts, shown(m))
			}
			if got := strings.Join(texts, "\n<MESSAGE>\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// wrongWith is what is wrong with a message as Telegram takes it; empty is nothing.
func wrongWith(m styled) string {
	code := utf16.Encode([]rune(m.Text))
	if len(code) == 0 || len(code) > mostUnits || strings.TrimSpace(m.Text) == "" {
		return fmt.Sprintf("a message of %d units", len(code))
	}
	for _, e := range m.Entities {
		end := e.Offset + e.Length
		if e.Offset < 0 || e.Length <= 0 || end > len(code) {
			return fmt.Sprintf("%v has no place in %d units", e, len(code))
		}
		for _, at := range []int{e.Offset, end} {
			if at < len(code) && code[at] >= 0xDC00 && code[at] <= 0xDFFF {
				return fmt.Sprintf("%v cuts a character", e)
			}
		}
		for _, o := range m.Entities {
			if e.Offset < o.Offset && o.Offset < end && end < o.Offset+o.Length {
				return fmt.Sprintf("%v and %v overlap", e, o)
			}
		}
	}
	return ""
}

func TestSplitAtBlocks(t *testing.T) {
	block := strings.Repeat("word ", 500) // 2,499 units
	for _, m := range messages(block + "\n\n" + block + "\n\n```\n" + strings.Repeat("line of code\n", 500) + "```\n\nend") {
		if bad := wrongWith(m); bad != "" {
			t.Error(bad)
		}
	}
	all := messages(block + "\n\n" + block)
	if len(all) != 2 || all[0].Text != strings.TrimSpace(block) || all[1].Text != all[0].Text {
		t.Errorf("two paragraphs are %d messages", len(all))
	}
	code := messages("```\n" + strings.Repeat("line of code\n", 500) + "```")
	if len(code) != 2 || !strings.HasSuffix(code[0].Text, "line of code") || len(code[1].Entities) != 1 {
		t.Errorf("long code is %d messages", len(code))
	}
}

// TestMessagesAreTaken: whatever a model writes, its messages are such as Telegram takes, and no word is lost.
func TestMessagesAreTaken(t *testing.T) {
	words := rapid.SampledFrom([]string{"**", "*", "`", "```", "\n", "\n\n", "- ", "> ", "1. ", "# ", "[", "](https://x.test)", "|", "|-|", "~~", "\\", "&amp;", "<b>", "a", "😀", "𝒳é", " ", "    ", strings.Repeat("long ", 900), strings.Repeat("😀", 2100)})
	rapid.Check(t, func(t *rapid.T) {
		markdown := strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), "")
		smileys := 0
		for _, m := range messages(markdown) {
			if bad := wrongWith(m); bad != "" {
				t.Fatalf("%s: %q", bad, m.Text)
			}
			smileys += strings.Count(m.Text, "😀")
		}
		if want := strings.Count(markdown, "😀"); smileys < want && !strings.Contains(markdown, "```") && !strings.Contains(markdown, "|") {
			t.Fatalf("%d of %d characters arrived of %q", smileys, want, markdown)
		}
	})
}

// TestHostileMarkdown: a text whose reading would take for ever, or all memory, is read otherwise.
func TestHostileMarkdown(t *testing.T) {
	for name, markdown := range map[string]string{
		"a wide table":        "|" + strings.Repeat("a|", 8<<10) + "\n|" + strings.Repeat("-|", 8<<10) + "\n" + strings.Repeat("a\n", 4<<10),
		"quotes in quotes":    strings.Repeat(">", 8<<20),
		"lists in lists":      strings.Repeat("- ", 4<<20) + "a",
		"links in links":      strings.Repeat("[a](", 2<<20),
		"half of a character": strings.Repeat("**b** ", 10) + "\xf0\x9f\xf0\x9f *i*",
	} {
		t.Run(name, func(t *testing.T) {
			all := messages(markdown)
			if len(all) == 0 {
				t.Error("nothing arrives")
			}
			for _, m := range all {
				if bad := wrongWith(m); bad != "" {
					t.Fatalf("%s: %.100q", bad, m.Text)
				}
			}
		})
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("# a\n\n**b** `c`\n\n```go\nd\n```\n| a |\n|---|\n| b |")
	f.Fuzz(func(t *testing.T, markdown string) {
		for _, m := range messages(markdown) {
			if bad := wrongWith(m); bad != "" {
				t.Fatalf("%s: %q", bad, m.Text)
			}
		}
	})
}
