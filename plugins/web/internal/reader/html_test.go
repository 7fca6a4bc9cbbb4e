package reader

import "testing"

// TestTitleInSource: what stands behind an empty title is none.
func TestTitleInSource(t *testing.T) {
	for page, want := range map[string]string{
		"<title>Kettles</title>all of them": "Kettles",
		"<title></title>all of them":        "",
		"<p>all of them</p><title>Kettles":  "Kettles",
		"all of them":                       "",
	} {
		if got := titleInSource([]byte(page)); got != want {
			t.Errorf("%s has the title %q, want %q", page, got, want)
		}
	}
}
