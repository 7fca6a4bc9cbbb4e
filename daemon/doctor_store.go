package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/store"
)

// What is worth a warning about the database's files.
const (
	longLog  = 256 << 20 // a write-ahead log that somebody keeps from ending
	lowSpace = 512 << 20
	noSpace  = 32 << 20
)

// storeFindings looks at the database as a whole, without a daemon or beside
// the one that runs, and changes nothing.
func storeFindings(ctx context.Context, path string) []Finding {
	r, err := store.Inspect(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{Name: "database", Level: "ok", Detail: path + " (made at the first start)"}}
	}
	restore := fmt.Sprintf("bothy stop, then bothy restore FILE, which keeps this one aside; backups lie in %s", store.BackupDir(path))
	if err != nil {
		return []Finding{{Name: "database", Level: "fail", Detail: err.Error(), Hint: restore}}
	}
	findings := []Finding{
		{Name: "database", Level: "ok", Detail: fmt.Sprintf("%s, %s, %d runs, %s", r.Path, sizeText(r.Bytes), r.Runs, schemaText(r))},
		{Name: "database structure", Level: "ok", Detail: "pages, indexes and references agree"},
		{Name: "journal", Level: "ok", Detail: fmt.Sprintf("all %d rows and what they gave verify", r.Seq)},
		{Name: "write-ahead log", Level: "ok", Detail: sizeText(r.WAL)},
		{Name: "free space", Level: "ok", Detail: sizeText(r.Free) + " on the disk of " + filepath.Dir(path)},
	}
	blame := func(i int, level, detail, hint string) {
		findings[i].Level, findings[i].Detail, findings[i].Hint = level, detail, hint
	}
	if r.Place != nil {
		blame(0, "fail", r.Place.Error(), "")
	}
	if r.Structure != nil {
		blame(1, "fail", r.Structure.Error(), restore)
	}
	if r.Journal != nil {
		blame(2, "fail", r.Journal.Error(), restore)
	}
	if r.WAL > longLog {
		blame(3, "warn", sizeText(r.WAL)+": something has read the database for long and keeps the log from ending",
			"close what reads "+path+" (lsof shows it), or bothy stop")
	}
	switch {
	case r.Free < 0:
		findings[4].Detail = "unknown"
	case r.Free < noSpace:
		blame(4, "fail", findings[4].Detail, "free some space: without it nothing can be recorded, and what cannot be recorded is not done")
	case r.Free < max(lowSpace, r.Bytes):
		blame(4, "warn", findings[4].Detail, "a backup beside the database would have no room; free some space, or back up to another disk")
	}
	return findings
}

func schemaText(r store.Report) string {
	if r.Schema < r.Newest {
		return fmt.Sprintf("schema %d (the next start of the daemon brings it to %d)", r.Schema, r.Newest)
	}
	return fmt.Sprintf("schema %d", r.Schema)
}

func sizeText(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
