package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sandbox/frame"
)

const table = `731 616 0:52 / / ro,relatime - overlay overlay rw,lowerdir=/x
760 731 254:0 /home/u/p /workspace rw,relatime - ext4 /dev/vda rw
761 760 254:0 /home/u/p/.git /workspace/.git rw,relatime - ext4 /dev/vda rw
762 761 254:0 /home/u/p/.git/hooks /workspace/.git/hooks ro,relatime - ext4 /dev/vda rw
763 760 254:0 /home/u/p/a\040b /workspace/a\040b\134c ro,relatime - ext4 /dev/vda rw
764 760 254:0 /home/u/p/gone//deleted /workspace/gone ro,relatime - ext4 /dev/vda rw
`

func TestMissingMounts(t *testing.T) {
	for name, c := range map[string]struct {
		want, missing []string
	}{
		"all there":                 {[]string{"/workspace/.git", "/workspace/.git/hooks"}, nil},
		"one gone":                  {[]string{"/workspace/.git", "/workspace/.git/config"}, []string{"/workspace/.git/config"}},
		"a space and a backslash":   {[]string{`/workspace/a b\c`}, nil},
		"a source is no mountpoint": {[]string{"/home/u/p"}, []string{"/home/u/p"}},
		"a prefix is no mountpoint": {[]string{"/work"}, []string{"/work"}},
		"nothing asked":             {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := missingMounts([]byte(table), c.want); !reflect.DeepEqual(got, c.missing) {
				t.Fatalf("got %q, want %q", got, c.missing)
			}
		})
	}
}

func TestEveryMountIsMissingFromNothing(t *testing.T) {
	want := []string{"/a", "/b"}
	if got := missingMounts(nil, want); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q", got)
	}
}

func FuzzMissingMounts(f *testing.F) {
	f.Add([]byte(table), "/workspace/.git")
	f.Add([]byte("1 2 3"), "")
	f.Add([]byte("0"), "-")
	f.Fuzz(func(t *testing.T, in []byte, path string) {
		missing := missingMounts(in, []string{path})
		if len(missing) > 1 || len(missing) == 1 && missing[0] != path {
			t.Fatalf("asked for %q, got %q", path, missing)
		}
		line := "1 2 0:1 / " + strings.NewReplacer(`\`, `\134`, " ", `\040`, "\n", `\012`, "\t", `\011`, "\r", `\015`).Replace(path) + " ro - x x rw\n"
		if path != "" && len(missingMounts([]byte(line), []string{path})) != 0 {
			t.Fatalf("%q is not found in %q", path, line)
		}
	})
}

func TestOnlyMountsOfTheHostsDirectoriesAreTold(t *testing.T) {
	var points []frame.Mount
	for _, point := range []string{"/", "/usr", "/workspace", "/workspace/.git", "/workspace/a b", "/workspace/.git", "/workspaces", "/home/bothy", "/home/u/p", "/skills", "/proc", "/proc/sys", "/dev/shm", "/sys", "/devs"} {
		points = append(points, frame.Mount{Point: point})
	}
	want := []string{"/", "/usr", "/workspace", "/workspace/.git", "/workspace/a b", "/workspaces", "/home/bothy", "/home/u/p", "/skills", "/devs"}
	if got := ofHost(points); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
