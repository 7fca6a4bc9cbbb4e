package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Report is what Inspect found in a database file.
type Report struct {
	Path   string
	Bytes  int64 // of the file
	WAL    int64 // of its write-ahead log
	Schema int   // of the file
	Newest int   // that this build knows, and the daemon brings the file to
	Seq    int64 // the journal's last row
	Runs   int64
	Free   int64 // bytes left on its disk; -1 is unknown

	// Place is why a daemon would refuse the file as it lies there: its owner,
	// its folder, its filesystem.
	Place error

	// What is wrong; nil is nothing. Structure is what SQLite's own check says,
	// Journal what the chain and the bodies say (a *sdk.JournalDamage is in it).
	Structure error
	Journal   error
}

// Whole returns nil, or all that is wrong.
func (r *Report) Whole() error { return errors.Join(r.Structure, r.Journal) }

// Inspect looks at a database file as a whole and changes nothing: the check of
// SQLite, foreign keys, the whole chain and every body. A daemon may have it open.
// An error means that it could not be read as Bothy's: what is wrong in one that
// could stands in the Report.
func Inspect(ctx context.Context, path string) (Report, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Report{}, fmt.Errorf("finding the database: %w", err)
	}
	r := Report{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		return r, refuseLook(path, err)
	}
	if !info.Mode().IsRegular() {
		return r, sdk.Errorf(sdk.Validation, "%s is no regular file, so it is no database", path)
	}
	r.Place = checkPlace(path, info)
	r.Free = freeSpace(filepath.Dir(path))
	for {
		still := noLog(path)
		r = Report{Path: path, Bytes: info.Size(), Place: r.Place, Free: r.Free}
		err = lookInto(ctx, path, still, func(conn *sql.Conn) error { return r.check(ctx, conn) })
		if !still || noLog(path) {
			return r, err
		}
		// A daemon began to write while we took the file to be at rest: once more.
	}
}

// inspectWhole is Inspect, and an error for a file in which something is wrong.
func inspectWhole(ctx context.Context, path string) (Report, error) {
	r, err := Inspect(ctx, path)
	if err == nil {
		err = r.Whole()
	}
	return r, err
}

// checkPlace says what Open would say of the place, and changes nothing.
func checkPlace(path string, info fs.FileInfo) error {
	dir := filepath.Dir(path)
	folder, err := ownFolder(dir)
	if err != nil {
		return err
	}
	if folder.Mode().Perm()&0o022 != 0 {
		return openToOthers(dir, folder)
	}
	return errors.Join(refuseOthers(path, info), mayWrite(dir), mayWrite(path), refuseFilesystem(dir, filesystemKind))
}

func refuseLook(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &sdk.Error{Outcome: sdk.NotFound, Message: "there is no file " + path, Cause: err}
	}
	return refuseFile("looking at the database", path, err)
}

// noLog reports whether the file has no write-ahead log: nobody has it open,
// and whoever had it last closed it in order.
func noLog(path string) bool {
	_, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// lookInto opens a file for do to read it. One at rest is taken as immutable, so
// that SQLite makes no files beside it.
func lookInto(ctx context.Context, path string, still bool, do func(*sql.Conn) error) error {
	q := url.Values{"mode": {"ro"}}
	if still {
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", uri(path, q))
	if err != nil {
		return explain("opening "+path, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(explain("opening "+path, err), db.Close())
	}
	return errors.Join(do(conn), conn.Close(), db.Close())
}

func (r *Report) check(ctx context.Context, conn *sql.Conn) error {
	if info, err := os.Stat(r.Path + "-wal"); err == nil {
		r.WAL = info.Size()
	}
	steps, err := migrations()
	if err != nil {
		return err
	}
	r.Newest = steps[len(steps)-1].version
	if r.Schema, err = schemaVersion(ctx, conn, r.Path); err != nil {
		return err
	}
	if err := refuseNewer(r.Path, r.Schema, r.Newest); err != nil {
		return err
	}
	if r.Schema == 0 {
		return sdk.Errorf(sdk.Conflict, "%s is empty: it holds nothing of Bothy", r.Path)
	}
	r.Structure = checkStructure(ctx, conn)
	r.Journal = verifyJournal(ctx, conn, r.Path, 0)
	if err := r.count(ctx, conn); err != nil && r.Whole() == nil {
		return explain("counting what is in "+r.Path, err)
	}
	return ctx.Err()
}

func (r *Report) count(ctx context.Context, conn *sql.Conn) error {
	runs := `SELECT count(*) FROM runs WHERE deleted IS NULL`
	if r.Schema < 2 {
		runs = `SELECT count(*) FROM runs`
	}
	return errors.Join(
		conn.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM journal`).Scan(&r.Seq),
		conn.QueryRowContext(ctx, runs).Scan(&r.Runs),
	)
}

// checkStructure asks SQLite whether pages, indexes and references agree.
func checkStructure(ctx context.Context, conn *sql.Conn) error {
	var found []string
	for _, q := range []string{`PRAGMA integrity_check(10)`, `SELECT 'a row of ' || "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check LIMIT 10`} {
		rows, err := conn.QueryContext(ctx, q)
		err = eachRow(rows, err, func(scan scanner) error {
			line, err := scanValue[string](scan)
			if line != "ok" && err == nil {
				found = append(found, line)
			}
			return err
		})
		if err != nil {
			return explain("checking the database", err)
		}
	}
	if found == nil {
		return nil
	}
	return sdk.Errorf(sdk.Internal, "the file is damaged: %s", strings.Join(found, "; "))
}
