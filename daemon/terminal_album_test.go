//go:build linux

package daemon

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// update writes the golden screens anew.
var update = flag.Bool("update", false, "write the golden files anew")

// album is a golden file: looks behind their titles.
type album struct {
	file   string
	kept   map[string]string // by the title
	legend legend
	taken  []string
}

// titleMark begins the title of a look.
const titleMark = "=== "

// openAlbum reads a golden file. With -update it is begun anew.
func openAlbum(name string) (*album, error) {
	a := &album{file: filepath.Join("testdata", "terminal", name+".txt"), kept: map[string]string{}, legend: legend{letters: map[string]string{}}}
	if *update {
		return a, nil
	}
	text, err := os.ReadFile(a.file)
	if err != nil {
		return nil, err
	}
	head, rest, _ := strings.Cut(string(text), titleMark)
	for line := range strings.Lines(head) {
		if letter, style, is := strings.Cut(strings.TrimSuffix(line, "\n"), " is "); is {
			a.legend.letters[style] = letter
			a.legend.used = append(a.legend.used, style)
		}
	}
	for _, part := range strings.Split("\n"+rest, "\n"+titleMark) {
		title, look, _ := strings.Cut(strings.TrimPrefix(part, "\n"), "\n")
		a.kept[title] = strings.TrimRight(look, "\n") + "\n"
	}
	return a, nil
}

// compare compares what stands on a terminal with the look that is kept.
func (a *album) compare(s *seat, title string) {
	s.t.Helper()
	take := func() string { return s.look(&a.legend) }
	if *update {
		a.taken = append(a.taken, titleMark+title+"\n"+s.settled(take))
		return
	}
	want, is := a.kept[title]
	got := s.awaits(func(look string) bool { return look == want }, take)
	if got != want {
		s.t.Errorf("%s, %s (kept: %v):\n%s", a.file, title, is, differing(want, got))
	}
}

// differing is a wanted look and another one from the first line on in which they differ.
func differing(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < min(len(w), len(g)) && w[n] == g[n] {
		n++
	}
	n = max(0, n-2)
	return "want\n" + strings.Join(w[min(n, len(w)):], "\n") + "got\n" + strings.Join(g[min(n, len(g)):], "\n")
}

// save writes the album with -update.
func (a *album) save() error {
	if !*update {
		return nil
	}
	slices.SortStableFunc(a.legend.used, func(x, y string) int { return strings.Compare(a.legend.letters[x], a.legend.letters[y]) })
	text := a.legend.String() + "\n" + strings.Join(a.taken, "\n")
	return errors.Join(os.MkdirAll(filepath.Dir(a.file), 0o755), os.WriteFile(a.file, []byte(text), 0o644))
}
