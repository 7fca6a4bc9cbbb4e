package store

import (
	"database/sql"
	"errors"
)

// scanner reads the columns of the present row.
type scanner func(dest ...any) error

// reader runs a query and calls each for every row: on the pool, or within a
// transaction.
type reader func(q string, args []any, each func(scanner) error) error

// list reads all rows, each by scan.
func list[T any](read reader, scan func(scanner) (T, error), q string, args ...any) ([]T, error) {
	var all []T
	err := read(q, args, func(s scanner) error {
		row, err := scan(s)
		all = append(all, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// first reads a row, and tells whether there was one.
func first[T any](read reader, scan func(scanner) (T, error), q string, args ...any) (row T, found bool, err error) {
	err = read(q, args, func(s scanner) (err error) {
		found = true
		row, err = scan(s)
		return err
	})
	return row, found, err
}

// scanValue is the scan of a row of one column.
func scanValue[T any](scan scanner) (value T, err error) {
	err = scan(&value)
	return value, err
}

// eachRow takes what a statement answered, calls each for every row and closes
// the rows.
func eachRow(rows *sql.Rows, err error, each func(scanner) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
