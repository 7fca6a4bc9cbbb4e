package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema, forward only: a file
// migrations/NNNN_what.sql. They lead to the versions 1, 2, 3, as they are numbered.
type migration struct {
	version int
	name    string
	sql     string
}

func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // in order
	if err != nil {
		return nil, fmt.Errorf("listing the migrations: %w", err)
	}
	steps := make([]migration, 0, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a migration: %w", err)
		}
		steps = append(steps, migration{version: i + 1, name: path.Base(name), sql: string(text)})
	}
	return steps, nil
}

// applicationID marks a file as Bothy's ("Both"); the first migration sets it.
const applicationID = 0x426f7468

// migrate brings the schema up to the last of steps. Each step is one
// transaction together with its version, so that a process that dies in one
// leaves the version before it, whole.
func migrate(ctx context.Context, conn *sql.Conn, file string, steps []migration) (err error) {
	version, err := schemaVersion(ctx, conn, file)
	if err != nil {
		return err
	}
	newest := steps[len(steps)-1].version
	if err := refuseNewer(file, version, newest); err != nil {
		return err
	}
	if version == newest {
		return nil
	}
	if version > 0 {
		if err := keepOld(ctx, conn, file, version); err != nil {
			return err
		}
	}
	schema, end, err := connectSchema(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, step := range steps {
		if step.version <= version {
			continue
		}
		if err := apply(ctx, schema, step); err != nil {
			return explain("migrating the database to "+step.name, err)
		}
	}
	return nil
}

func refuseNewer(file string, version, newest int) error {
	if version <= newest {
		return nil
	}
	return sdk.Errorf(sdk.Conflict, "%s was written by a newer Bothy (its schema is %d, this one knows %d); use that version, or restore a backup made before the upgrade (bothy restore FILE)", file, version, newest)
}

// keepOld keeps a copy of the database as it is before its schema changes,
// since an older Bothy cannot read it afterwards. One that is there already was
// made by a process that died in the migration.
func keepOld(ctx context.Context, conn *sql.Conn, file string, version int) error {
	dir := BackupDir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return refuseFile("keeping a copy from before the upgrade", dir, err)
	}
	copied := filepath.Join(dir, fmt.Sprintf("before-schema-%d.db", version+1))
	return makeFile(copied, func(partial string) error {
		return explain("keeping a copy from before the upgrade in "+dir, vacuumInto(ctx, conn, partial))
	})
}

// schemaVersion is 0 for a new file.
func schemaVersion(ctx context.Context, conn *sql.Conn, file string) (int, error) {
	var version, id, tables int
	err := conn.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version(), pragma_application_id()`).Scan(&version, &id, &tables)
	if err != nil {
		return 0, explain("reading the schema of "+file, err)
	}
	if id != applicationID && (version != 0 || tables != 0) {
		return 0, sdk.Errorf(sdk.Conflict, "%s is a database of another program; give Bothy a file of its own", file)
	}
	return version, nil
}

func apply(ctx context.Context, conn *sql.Conn, step migration) (err error) {
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollback := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
			err = errors.Join(err, rollback)
		}
	}()
	if _, err := conn.ExecContext(ctx, step.sql); err != nil {
		return err
	}
	// A PRAGMA takes no parameters; the number is ours.
	if _, err := conn.ExecContext(ctx, `PRAGMA user_version = `+strconv.Itoa(step.version)); err != nil {
		return err
	}
	failpoint.Hit(failpoint.MigrateBefore)
	if _, err = conn.ExecContext(ctx, `COMMIT`); err != nil {
		return err
	}
	failpoint.Hit(failpoint.MigrateAfter)
	return nil
}
