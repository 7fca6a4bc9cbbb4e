package frame

import (
	"reflect"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`/plain`: "/plain", `/a\040b`: "/a b", `/a\011`: "/a\t", `/a\134`: `/a\`,
		`/a\04`: `/a\04`, `/a\999`: `/a\999`, `\`: `\`, `/a\012b\040c`: "/a\nb c",
	} {
		if got := unescape([]byte(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestParseMounts(t *testing.T) {
	const table = `731 616 0:52 / / ro,relatime - overlay overlay rw,lowerdir=/x
330 350 0:91 / /a\040b rw,relatime shared:12 master:2 - overlay bothy-view rw
331 350 0:91 / /c\134 rw - tmpfs
no line of a table
`
	want := []Mount{{Point: "/", Type: "overlay", Source: "overlay"}, {Point: "/a b", Type: "overlay", Source: "bothy-view", Shared: true}, {Point: `/c\`}}
	if got := ParseMounts([]byte(table)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("/a b", "bothy-view", []byte("1 2 3"))
	f.Add("-", "0", []byte("0"))
	f.Fuzz(func(t *testing.T, point, source string, before []byte) {
		escape := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\n", `\012`, "\t", `\011`, "\r", `\015`).Replace
		if point == "" || source == "" {
			return
		}
		table := string(before) + "\n1 2 0:1 / " + escape(point) + " ro shared:1 - overlay " + escape(source) + " rw\n"
		got := ParseMounts([]byte(table))
		if len(got) == 0 || got[len(got)-1] != (Mount{Point: point, Type: "overlay", Source: source, Shared: true}) {
			t.Fatalf("%q: got %+v", table, got)
		}
	})
}
