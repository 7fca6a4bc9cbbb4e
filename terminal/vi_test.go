package main

import (
	"strings"
	"testing"
)

// TestVi: keys of normal mode over a text in which | is the cursor. An i, a, o or c leaves
// keys to be text, which ends at an esc (written ~).
func TestVi(t *testing.T) {
	for _, tt := range []struct{ text, keys, want string }{
		{"one |two", "h", "one| two"},
		{"|one", "h", "|one"},
		{"on|e", "l", "on|e"},
		{"|one two three", "w", "one |two three"},
		{"|one two three", "2w", "one two |three"},
		{"|foo.bar", "w", "foo|.bar"},
		{"one two |three", "b", "one |two three"},
		{"|one two", "e", "on|e two"},
		{"on|e two", "e", "one tw|o"},
		{"  on|e", "0", "|  one"},
		{"  on|e", "^", "  |one"},
		{"|one\ntwo", "$", "on|e\ntwo"},
		{"|one\ntwo", "j", "one\n|two"},
		{"one\ntw|o", "k", "on|e\ntwo"},
		{"one\n|two\nsix", "gg", "|one\ntwo\nsix"},
		{"|one\ntwo\nsix", "G", "one\ntwo\n|six"},
		{"|one", "x", "|ne"},
		{"|one", "2x", "|e"},
		{"on|e", "x", "o|n"},
		{"on|e", "X", "o|e"},
		{"one |two", "D", "one| "},
		{"one |two", "Csix~", "one si|x"},
		{"|one two", "dw", "|two"},
		{"|one two three", "d2w", "|three"},
		{"|one two three", "2dw", "|three"},
		{"one |two", "dw", "one| "},
		{"one |two\nsix", "dw", "one| \nsix"},
		{"one |two", "db", "|two"},
		{"|one two", "de", "| two"},
		{"one |two", "d0", "|two"},
		{"one |two", "d$", "one| "},
		{"|one two", "cwsix~", "si|x two"},
		{"|one two", "cesix~", "si|x two"},
		{"one\nt|wo\nsix", "dd", "one\n|six"},
		{"one\nt|wo", "dd", "|one"},
		{"|one\ntwo\nsix", "2dd", "|six"},
		{"o|ne", "dd", "|"},
		{"one\nt|wo\nsix", "cc7~", "one\n|7\nsix"},
		{"|one\ntwo", "yyp", "one\n|one\ntwo"},
		{"|one\ntwo", "yyP", "|one\none\ntwo"},
		{"|one two", "ywP", "one| one two"},
		{"|one", "xp", "n|oe"},
		{"|ab", "x2p", "ba|a"},
		{"o|ne", "iX~", "o|Xne"},
		{"o|ne", "aX~", "on|Xe"},
		{"  on|e", "IX~", "  |Xone"},
		{"|one", "AX~", "one|X"},
		{"|one\nsix", "oX~", "one\n|X\nsix"},
		{"one\n|six", "OX~", "one\n|X\nsix"},
		{"|one", "rX", "|Xne"},
		{"|one", "2rX", "X|Xe"},
		{"on|e", "3rX", "on|e"},
		{"one |two", "d~x", "one |wo"},
		{"one |two", "dq", "one |two"},
		{"|", "dd", "|"},
		{"|", "wbe$x0", "|"},
		{"|äöü", "lx", "ä|ü"},
		{"|one\ntwo\nsix", "dG", "|"},
		{"one\ntwo\nsi|x", "dgg", "|"},
	} {
		t.Run(tt.text+" "+tt.keys, func(t *testing.T) {
			before, _, _ := strings.Cut(tt.text, "|")
			f := field{[]rune(strings.Replace(tt.text, "|", "", 1)), len([]rune(before))}
			v := vi{normal: true}
			for _, r := range tt.keys {
				switch {
				case !v.normal && r == '~':
					f = v.leave(f)
				case !v.normal:
					f = f.put(f.at, []rune{r})
				case r == '~':
					f, _ = v.key(f, 27)
				default:
					f, _ = v.key(f, r)
				}
			}
			if got := string(f.text[:f.at]) + "|" + string(f.text[f.at:]); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestViAsks: what normal mode leaves to others.
func TestViAsks(t *testing.T) {
	for _, tt := range []struct {
		keys string
		want viDid
	}{{"\x1b", viIdle}, {"d\x1b", viEdited}, {"2\x1b", viEdited}, {"u", viUndo}, {"k", viEarlier}, {"jj", viLater}, {"j", viEdited}} {
		f, v, got := field{[]rune("one\ntwo"), 0}, vi{normal: true}, viEdited
		for _, r := range tt.keys {
			f, got = v.key(f, r)
		}
		if got != tt.want {
			t.Errorf("%q wants %d, not %d", tt.keys, got, tt.want)
		}
	}
}
