package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

func put(t testing.TB, s Store, text string) string {
	t.Helper()
	digest, size, err := s.Put(strings.NewReader(text))
	if err != nil || size != int64(len(text)) {
		t.Fatalf("put %d bytes: %d, %v", len(text), size, err)
	}
	return digest
}

func read(s Store, digest string) (string, error) {
	r, err := s.Open(digest)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

// names are the files of a store, the lock left out.
func names(t testing.TB, s Store) []string {
	t.Helper()
	list, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range list {
		if x.Name() != lockName {
			out = append(out, x.Name())
		}
	}
	return out
}

// rest makes contents look as if they had not been used for a while.
func rest(t testing.TB, s Store, name string, d time.Duration) {
	t.Helper()
	then := time.Now().Add(-d)
	if err := os.Chtimes(filepath.Join(s.Dir, name), then, then); err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrip: whatever is put comes back to the byte, by its SHA-256, once.
func TestRoundTrip(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "data", "undo")}
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(rt, "contents")
		sum := sha256.Sum256(b)
		digest, size, err := s.Put(bytes.NewReader(b))
		if err != nil || digest != hex.EncodeToString(sum[:]) || size != int64(len(b)) || !s.Has(digest) {
			rt.Fatalf("put: %s, %d, %v", digest, size, err)
		}
		before := len(names(t, s))
		if _, _, err := s.Put(bytes.NewReader(b)); err != nil || len(names(t, s)) != before {
			rt.Fatalf("put twice: %d files, then %d, %v", before, len(names(t, s)), err)
		}
		if got, err := read(s, digest); err != nil || got != string(b) {
			rt.Fatalf("read %q, %v", got, err)
		}
	})
	info, err := os.Stat(s.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	for _, name := range names(t, s) {
		if info, err := os.Stat(filepath.Join(s.Dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", name, info.Mode(), err)
		}
	}
}

// TestBatch: what is put into a batch is there once that has ended, with the sync of each or of all.
func TestBatch(t *testing.T) {
	for _, n := range []int{3, manyFiles + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := Store{Dir: t.TempDir()}
			b := s.Begin()
			var digests []string
			for i := range n {
				digest, _, err := b.Put(strings.NewReader(fmt.Sprintf("contents %d", i)))
				if err != nil {
					t.Fatal(err)
				}
				digests = append(digests, digest)
			}
			if _, _, err := b.Put(strings.NewReader("contents 0")); err != nil {
				t.Fatal(err)
			}
			if s.Has(digests[0]) {
				t.Error("it is found before the batch has ended")
			}
			if err := b.End(); err != nil {
				t.Fatal(err)
			}
			for i, digest := range digests {
				if text, err := read(s, digest); err != nil || text != fmt.Sprintf("contents %d", i) {
					t.Fatalf("%d: %q, %v", i, text, err)
				}
			}
			if got := names(t, s); len(got) != n {
				t.Errorf("%d files of %d contents", len(got), n)
			}
		})
	}
}

// broken is a reader that fails in the middle.
type broken struct{ err error }

func (b broken) Read(p []byte) (int, error) { return copy(p, "half"), b.err }

// TestHalf: what could not be read to its end is not kept, and nothing of it is left.
func TestHalf(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	failure := errors.New("gone")
	if _, _, err := s.Put(broken{failure}); !errors.Is(err, failure) {
		t.Errorf("said %v", err)
	}
	if got := names(t, s); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// TestNotThere: what is not kept is not found, and no digest leads elsewhere.
func TestNotThere(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for digest, want := range map[string]sdk.Outcome{
		strings.Repeat("a", 64): sdk.NotFound,
		strings.Repeat("A", 64): sdk.Validation,
		"":                      sdk.Validation,
		"../../etc/passwd":      sdk.Validation,
		strings.Repeat("a", 62): sdk.Validation,
	} {
		if _, err := s.Open(digest); sdk.OutcomeOf(err) != want {
			t.Errorf("%q: %v", digest, err)
		}
		if s.Has(digest) {
			t.Errorf("%q is there", digest)
		}
	}
}

// TestDamaged: what rotted on the disk is an error at the end at the latest, and never taken for the contents.
func TestDamaged(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	digest, other := put(t, s, strings.Repeat("contents ", 1000)), put(t, s, "others")
	path := filepath.Join(s.Dir, digest+ending)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"empty": {}, "cut": whole[:len(whole)/2], "flipped": append(append([]byte{}, whole[:30]...), append([]byte{whole[30] ^ 1}, whole[31:]...)...),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(s, digest); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Rename(filepath.Join(s.Dir, other+ending), path); err != nil {
		t.Fatal(err)
	}
	if _, err := read(s, digest); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("other contents: %v", err)
	}
}

// TestPrune: what was not used for too long goes, then what was not used for longest until the rest fits.
func TestPrune(t *testing.T) {
	noise := func(seed byte) string { // that does not get smaller
		var b []byte
		sum := sha256.Sum256([]byte{seed})
		for len(b) < 4096 {
			sum = sha256.Sum256(sum[:])
			b = append(b, sum[:]...)
		}
		return string(b)
	}
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		size int64
		age  time.Duration
		left []int
	}{
		"no bounds":     {0, 0, []int{1, 2, 3}},
		"wide bounds":   {1 << 20, 100 * day, []int{1, 2, 3}},
		"age":           {0, 5 * day, []int{1, 3}},
		"size":          {9000, 0, []int{1, 3}},
		"both":          {5000, 5 * day, []int{1}},
		"less than one": {1, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{Dir: t.TempDir()}
			digests := map[int]string{}
			for i, age := range map[int]time.Duration{1: 9 * day, 2: 8 * day, 3: 3 * day} {
				digests[i] = put(t, s, noise(byte(i)))
				rest(t, s, digests[i]+ending, age)
			}
			if _, err := read(s, digests[1]); err != nil { // it was used just now
				t.Fatal(err)
			}
			removed, err := s.Prune(c.size, c.age)
			if err != nil || removed != 3-len(c.left) {
				t.Errorf("removed %d, %v", removed, err)
			}
			for i := 1; i <= 3; i++ {
				want := false
				for _, x := range c.left {
					want = want || x == i
				}
				if s.Has(digests[i]) != want {
					t.Errorf("%d is kept: %v", i, !want)
				}
			}
		})
	}
}

// TestPruneLeftovers: what a writer left that died goes after a while, what one writes now does not.
func TestPruneLeftovers(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for _, name := range []string{newPrefix + "old", newPrefix + "now", "another.txt"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rest(t, s, newPrefix+"old", 2*abandoned)
	rest(t, s, "another.txt", 2*abandoned)
	if removed, err := s.Prune(1, time.Minute); err != nil || removed != 0 {
		t.Errorf("removed %d, %v", removed, err)
	}
	if got := strings.Join(names(t, s), " "); got != newPrefix+"now another.txt" {
		t.Errorf("left %s", got)
	}
	if _, err := (Store{Dir: filepath.Join(s.Dir, "none")}).Prune(1, 1); err != nil {
		t.Errorf("a store that is not there: %v", err)
	}
}

// TestPutWhilePruned: what was put is there, though it was there already and about to be pruned.
func TestPutWhilePruned(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	stop := make(chan struct{})
	var pruners, putters sync.WaitGroup
	for range 2 {
		pruners.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Prune(0, time.Hour); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 4 {
		putters.Go(func() {
			text := fmt.Sprintf("contents %d", i)
			for range 200 {
				digest, _, err := s.Put(strings.NewReader(text))
				if err != nil || !s.Has(digest) {
					t.Errorf("put %s, which is not there: %v", digest, err)
					return
				}
				then := time.Now().Add(-2 * time.Hour) // it goes now, or counts as used again
				if err := os.Chtimes(filepath.Join(s.Dir, digest+ending), then, then); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	putters.Wait()
	close(stop)
	pruners.Wait()
	for _, name := range names(t, s) {
		if strings.HasPrefix(name, newPrefix) {
			t.Errorf("%s was left", name)
		}
	}
}
