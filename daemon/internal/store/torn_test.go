package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// torn is a database that died with many commits in its log.
type torn struct {
	database, log []byte
	run           int64
	dir           string
}

const tornCommits = 50

func newTorn(t *testing.T) *torn {
	t.Helper()
	f := newFixture(t)
	for i := range tornCommits {
		f.commit(known(fmt.Sprintf("known://%d", i), strings.Repeat(fmt.Sprint(i, " "), 20)))
	}
	x := &torn{run: f.run.ID, dir: memoryDir(t)}
	for path, to := range map[string]*[]byte{f.path: &x.database, f.path + "-wal": &x.log} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		*to = b
	}
	return x
}

// put lays out the database with a log that was torn.
func (x *torn) put(t *testing.T, log []byte) string {
	t.Helper()
	path := filepath.Join(x.dir, "bothy.db")
	for suffix, b := range map[string][]byte{"": x.database, "-wal": log} {
		if err := os.WriteFile(path+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeIfThere(path + "-shm"); err != nil {
		t.Fatal(err)
	}
	return path
}

// prefix opens what is left as SQLite does and wants it to be the first commits
// and nothing else. It returns how many.
func (x *torn) prefix(t *testing.T, path string) int {
	t.Helper()
	var entries int
	err := lookInto(t.Context(), path, false, func(conn *sql.Conn) error {
		var tables int
		err := conn.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
		if err != nil || tables == 0 { // torn before the schema was made
			return err
		}
		if err := verifyJournal(t.Context(), conn, path, 0); err != nil {
			return err
		}
		var rows, right int
		err = conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM journal WHERE kind = 'entry.set'), count(*),
			count(*) FILTER (WHERE path = 'known://' || (SELECT count(*) FROM entries o WHERE o.id < e.id)) FROM entries e`).Scan(&rows, &entries, &right)
		if err == nil && (rows != entries || right != entries) {
			err = fmt.Errorf("%d rows, %d entries, %d of them in their place", rows, entries, right)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestTornLogGivesAPrefix cuts and spoils the write-ahead log at every 512
// bytes. All places would take long, so it takes some of them by chance.
func TestTornLogGivesAPrefix(t *testing.T) {
	const some = 60
	x := newTorn(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 3))
	places := random.Perm(len(x.log)/512 + 1)
	seen := map[int]bool{}
	tried := 0
	for ; tried < min(some, len(places)); tried++ {
		at := places[tried] * 512
		cut := x.prefix(t, x.put(t, x.log[:min(at, len(x.log))]))
		seen[cut] = true
		if at >= len(x.log) {
			if cut != tornCommits {
				t.Fatalf("the whole log gives %d commits", cut)
			}
			continue
		}
		spoiled := bytes.Clone(x.log)
		spoiled[at+random.IntN(min(512, len(x.log)-at))] ^= 1 << random.IntN(8)
		if n := x.prefix(t, x.put(t, spoiled)); n > tornCommits {
			t.Fatalf("seed %d: spoiled at %d, there are %d commits", seed, at, n)
		} else {
			seen[n] = true
		}
	}
	t.Logf("seed %d: %d of %d places, %d different prefixes", seed, tried, len(places), len(seen))
	if len(seen) < 10 {
		t.Errorf("only the prefixes %v were seen", seen)
	}
}

// TestStoreGoesOnBehindATornLog opens a few of them in full.
func TestStoreGoesOnBehindATornLog(t *testing.T) {
	x := newTorn(t)
	for i := range 12 {
		path := x.put(t, x.log[:len(x.log)*(i+1)/12-100*i])
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Health() != nil {
			t.Fatal(s.Health())
		}
		f := &fixture{Store: s, t: t, path: path}
		f.run.ID = x.run
		if _, err := s.Run(t.Context(), x.run); err == nil {
			f.commit(sdk.Write{Path: "known://next", Body: body("x"), Writer: sdk.WriterModel})
		}
		f.verify()
		checkIntegrity(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
