package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestEditsAtOnce: of those who edit a file at the same time nobody loses what another wrote.
func TestEditsAtOnce(t *testing.T) {
	const editors, each = 4, 25
	path := filepath.Join(t.TempDir(), "config.hcl")
	var all sync.WaitGroup
	for i := range editors {
		all.Go(func() {
			for j := range each {
				if _, err := SetSkill(path, fmt.Sprintf("s-%d-%d", i, j), false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := strings.Count(read(t, path), "skill \"s-"); n != editors*each {
		t.Errorf("%d of %d blocks are there", n, editors*each)
	}
}
