package skill

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkValues holds that the values of a block are those of goldmark-meta, also
// where that was not asked. Lists and maps are the nodes', and keys that are
// merged in from an anchor are no fields.
func checkValues(t interface {
	Helper()
	Fatalf(string, ...any)
}, src []byte) {
	t.Helper()
	b, err := decodeBlock(src)
	if err != nil || b.root == nil {
		return
	}
	via, ok := viaMarkdown(src)
	if !ok {
		return
	}
	for k, got := range b.values {
		want, there := via[k]
		if there && !nested(want) && !nestedPlain(got) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %s is %#v, and %#v for goldmark-meta", src, k, got, want)
		}
	}
}

func nestedPlain(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"name: a\ndescription: d\n", "a: 1\nb: 1.5\nc: -7\n", "a: yes\n", "b: n\nc: [no, y]\n", "a: 'yes'\nb: \"1\"\nc: |\n  x\n", "a: 2026-03-06\nb: 10:30\n",
		"a: &x yes\nb: *x\n", "<<: {a: b}\n", "a: 0o7\nb: 0b1\nc: 1_0\nd: 0x_\n", "a: !!str 1\nb: !x y\nc: ! z\n", "yes: on\n", "a: =\nb: <<\n", "a: \"\\x85\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < MaxFrontmatter {
			checkValues(t, append(src, '\n'))
		}
	})
}

// TestValuesAgree makes blocks of every kind of value and compares.
func TestValuesAgree(t *testing.T) {
	word := rapid.SampledFrom([]string{"yes", "No", "ON", "off", "y", "N", "true", "False", "TRUE", "null", "~", "", "1", "-1", "+1", "0o17", "017", "0b11", "0x1F", "1_000", "1e3", ".5", "5.", ".inf", "-.INF", ".nan", "1:30", "190:20:30",
		"2026-03-06", "2026-03-06T10:00:00Z", "2026-3-6 1:2:3", "<<", "=", "text", "two words", "中文", "'yes'", "\"1\"", "! 1", "!!str 1", "!!int \"1\"", "!!binary aGk=", "!x y", "&a yes", "&b text", "[a, yes]", "{a: no, y: n}", "|\n  yes", ">-\n  1",
		"\n  - yes\n  - 1", "\n  y: no\n  2: x", "1 # c", "yes # c", "a\n  b", "0.10", "1.10", "9999999999999999999999", "1e999", "nULL", "tRue"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i, w := range rapid.SliceOfN(word, 1, 5).Draw(t, "values") {
			b.WriteString(rapid.SampledFrom([]string{"a", "b", "y", "no", "1", "null", "\"c d\"", "<<", "name"}).Draw(t, "key"))
			b.WriteString(": " + w + "\n")
			if i == 2 && rapid.Bool().Draw(t, "alias") {
				b.WriteString("z: *a\n")
			}
		}
		checkValues(t, []byte(b.String()))
	})
}
