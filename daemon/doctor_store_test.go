package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// finding returns the one of a name.
func finding(t *testing.T, all []Finding, name string) Finding {
	t.Helper()
	for _, x := range all {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no finding %q in %+v", name, all)
	return Finding{}
}

func TestDoctorLooksAtTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bothy.db")
	if all := storeFindings(t.Context(), path); len(all) != 1 || all[0].Level != "ok" || !strings.Contains(all[0].Detail, "made at the first start") {
		t.Errorf("without one: %+v", all)
	}
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.OpenProject(t.Context(), "/p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Alias: "findable"}); err != nil {
		t.Fatal(err)
	}
	beside := storeFindings(t.Context(), path)
	for _, x := range beside {
		if x.Level == "fail" {
			t.Errorf("beside a daemon: %+v", x)
		}
	}
	if x := finding(t, beside, "journal"); !strings.Contains(x.Detail, "all 2 rows") {
		t.Errorf("%+v", x)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), `"alias":"findable"`)
	if at < 0 {
		t.Fatal("the row is not to be found")
	}
	text[at+10] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := finding(t, storeFindings(t.Context(), path), "journal"); x.Level != "fail" || !strings.Contains(x.Detail, "row 2") || !strings.Contains(x.Hint, "bothy restore FILE") {
		t.Errorf("a flipped byte: %+v", x)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("a letter ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if x := finding(t, storeFindings(t.Context(), path), "database"); x.Level != "fail" || !strings.Contains(x.Detail, "no database") {
		t.Errorf("a letter: %+v", x)
	}
}
