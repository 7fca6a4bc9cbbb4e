package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// TestSchemesOfPlugins: the first plugin has a name as long as it is configured,
// another may mean the same by it, and the names of Bothy are nobody's.
func TestSchemesOfPlugins(t *testing.T) {
	st, err := store.Open(t.Context(), t.TempDir()+"/bothy.db", store.Options{Log: hclog.NewNullLogger(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	gone := map[string]bool{}
	s := newSchemes(st, func(instance string) bool { return !gone[instance] })
	fact, other := sdk.Scheme{Name: "fact", Category: sdk.CategoryData}, sdk.Scheme{Name: "fact", Category: sdk.CategoryUnknown}
	steps := []struct {
		instance string
		declares []sdk.Scheme
		want     string // of the error
	}{
		{"a", []sdk.Scheme{fact}, ""},
		{"b", []sdk.Scheme{fact}, ""},
		{"c", []sdk.Scheme{other, {Name: "second"}}, "fact:// belongs to the plugin a"},
		{"c", []sdk.Scheme{{Name: "known"}, {Name: "third"}}, "known:// belongs to Bothy"},
	}
	for _, c := range steps {
		err := s.register(t.Context(), c.instance, c.declares)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s declares %v: %v, want %q", c.instance, c.declares, err, c.want)
		}
	}
	for _, name := range []string{"fact", "second", "third"} {
		if x, ok := st.Scheme(name); !ok || name == "fact" && x.Category != sdk.CategoryData {
			t.Errorf("%s is %+v, %v", name, x, ok)
		}
	}
	gone["a"] = true
	if err := s.register(t.Context(), "c", []sdk.Scheme{other}); err != nil {
		t.Error(err)
	}
	if x, _ := st.Scheme("fact"); x.Category != sdk.CategoryUnknown {
		t.Errorf("the one that took over has %+v", x)
	}
}
