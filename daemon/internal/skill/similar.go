package skill

import (
	"slices"
	"strings"
)

// Similar are at most three names, of all skills whatever their status, that may
// have been meant by one that is not there.
func (c *Catalogue) Similar(name string) []string {
	name = plainName(name)
	type candidate struct {
		name string
		far  int
	}
	var all []candidate
	for i, d := range c.all {
		if i > 0 && c.all[i-1].Name == d.Name {
			continue
		}
		other := plainName(d.Name)
		far := distance([]rune(name), []rune(other))
		if len(name) > 2 && (strings.Contains(other, name) || strings.Contains(name, other)) {
			far = min(far, 1)
		}
		if far <= max(1, len(name)/3) {
			all = append(all, candidate{d.Name, far})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, x := range all[:min(len(all), 3)] {
		names = append(names, x.name)
	}
	return names
}

// distance is how many characters have to be put in, left out or changed.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
